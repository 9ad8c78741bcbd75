//! Measures MCP servers and clients of several SDKs over stdio, side by side. `benchmarks/README.md` says what is
//! measured and how to read it.

mod client_load;
mod machine;
mod placement;
mod process;
mod reply;
mod results;
mod rounds;
mod server_load;
mod stats;
mod subjects;
mod svg;
mod table;
mod wire;

use std::io::{IsTerminal, Write};
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use clap::Parser;

use crate::machine::Machine;
use crate::placement::Placement;
use crate::process::Result;
use crate::results::Results;
use crate::rounds::Budget;
use crate::subjects::{Places, SUBJECTS, Subject};

/// Measures MCP servers and clients over stdio, side by side.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// Python with the packages of subjects/requirements.txt and oxmcp
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// Node; the packages are looked up from subjects/node_modules
    #[arg(long, default_value = "node")]
    node: PathBuf,
    /// Folder of the compiled subjects [default: the folder of this program]
    #[arg(long)]
    bin_dir: Option<PathBuf>,
    /// The project's folder benchmarks: its subjects are run and its results written
    #[arg(long, default_value = "benchmarks")]
    dir: PathBuf,
    /// How often every subject runs [default: 7, with --quick 2]
    #[arg(long)]
    rounds: Option<NonZeroUsize>,
    /// Fewer and shorter rounds: for a first look, not for a comparison
    #[arg(long)]
    quick: bool,
    /// Where load and subject run
    #[arg(long, value_enum, default_value_t = Placement::One)]
    placement: Placement,
    /// Only subjects whose name contains one of these, separated by commas; --list shows the names
    #[arg(long, value_delimiter = ',', value_name = "SUBSTR")]
    only: Vec<String>,
    /// Write the results to this file as JSON, too
    #[arg(long, value_name = "FILE")]
    json: Option<PathBuf>,
    /// Write RESULTS.md and results/ even from a run that was quick or not whole, or in which a subject failed
    #[arg(long)]
    write: bool,
    /// Show the subjects' names and end
    #[arg(long)]
    list: bool,
}

fn main() -> ExitCode {
    match run(&Options::parse()) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("oxmcp-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

fn run(options: &Options) -> Result<ExitCode> {
    let subjects = options.subjects()?;
    if options.list {
        for subject in subjects {
            println!("{}", subject.name());
        }
        return Ok(ExitCode::SUCCESS);
    }
    let places = options.places()?;
    let (budget, rounds) = if options.quick {
        (Budget::QUICK, 2)
    } else {
        (Budget::FULL, 7)
    };
    let rounds = options.rounds.map_or(rounds, NonZeroUsize::get);
    let machine = Machine::look(&places);
    options.placement.apply()?;
    let outcomes = rounds::run(&subjects, &places, rounds, &budget, show_progress);
    show_progress("");
    let results = Results::new(machine, options.placement, rounds, outcomes, &places);

    print!("{}", table::terminal(&results));
    if let Some(file) = &options.json {
        write(file, &json(&results)?)?;
    }
    match options.why_not_written(&results) {
        Some(reason) => println!("\nRESULTS.md and results/ are left as they were: {reason}."),
        None => publish(&options.dir, &results)?,
    }
    let failed = results.failed().count();
    if failed > 0 {
        eprintln!("oxmcp-bench: {failed} of {} subjects failed", results.subjects.len());
        return Ok(ExitCode::FAILURE);
    }
    Ok(ExitCode::SUCCESS)
}

impl Options {
    fn subjects(&self) -> Result<Vec<&'static Subject>> {
        let wanted = |subject: &&Subject| {
            let name = subject.name();
            self.only.is_empty() || self.only.iter().any(|part| name.contains(&part.to_lowercase()))
        };
        let subjects: Vec<&Subject> = SUBJECTS.iter().filter(wanted).collect();
        if subjects.is_empty() {
            return Err(format!("no subject's name contains {:?}; --list shows the names", self.only).into());
        }
        Ok(subjects)
    }

    fn places(&self) -> Result<Places> {
        let subjects = self.dir.join("subjects");
        if !subjects.is_dir() {
            return Err(format!(
                "{} is no folder: run from the project's root, or say --dir where its folder benchmarks is",
                subjects.display()
            )
            .into());
        }
        let bin = match &self.bin_dir {
            Some(bin) => bin.clone(),
            None => std::env::current_exe()?
                .parent()
                .map(Path::to_path_buf)
                .unwrap_or_default(),
        };
        Ok(Places {
            python: self.python.clone(),
            node: self.node.clone(),
            bin,
            subjects,
        })
    }

    /// The published results are those of a whole run in which everything worked, unless one insists.
    fn why_not_written(&self, results: &Results) -> Option<&'static str> {
        let reasons = [
            (cfg!(debug_assertions), "this is not a release build"),
            (!self.only.is_empty(), "--only left subjects out"),
            (
                self.placement != Placement::One,
                "--placement is not the one of the published results",
            ),
            (self.quick, "--quick is too short a run"),
            (results.failed().next().is_some(), "a subject failed"),
        ];
        reasons
            .into_iter()
            .find(|(holds, _)| *holds && !self.write)
            .map(|(_, reason)| reason)
    }
}

fn publish(dir: &Path, results: &Results) -> Result<()> {
    let folder = dir.join("results");
    std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
    println!();
    write(&folder.join("latest.json"), &json(results)?)?;
    write(&folder.join("stdio.svg"), &svg::picture(results))?;
    write(&dir.join("RESULTS.md"), &table::markdown(results))
}

fn json(results: &Results) -> Result<String> {
    Ok(serde_json::to_string_pretty(results)? + "\n")
}

fn write(file: &Path, text: &str) -> Result<()> {
    std::fs::write(file, text).map_err(|error| format!("cannot write {}: {error}", file.display()))?;
    println!("wrote {}", file.display());
    Ok(())
}

/// One line on a terminal, rewritten each time; one line per round elsewhere.
fn show_progress(what: &str) {
    let mut stderr = std::io::stderr();
    // Progress that cannot be shown is no reason to stop.
    let _ = if stderr.is_terminal() {
        write!(stderr, "\r\x1b[2K{what}").and_then(|()| stderr.flush())
    } else if what.contains(" took ") {
        writeln!(stderr, "{what}")
    } else {
        Ok(())
    };
}
