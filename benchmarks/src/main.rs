//! Measures MCP servers and clients of several SDKs over stdio and HTTP, side by side. `benchmarks/README.md` says what is
//! measured and how to read it.

mod client_load;
mod http;
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

use clap::{Parser, ValueEnum};

use crate::machine::Machine;
use crate::placement::Placement;
use crate::process::Result;
use crate::results::Results;
use crate::rounds::Budget;
use crate::subjects::{Language, Places, SUBJECTS, Subject};

/// Measures MCP servers and clients, side by side.
#[derive(Debug, Parser)]
#[command(version)]
struct Options {
    /// Over what
    #[arg(long, value_enum, default_value_t = Transport::Stdio)]
    transport: Transport,
    /// Make so many calls of our server over HTTP, and see whether it then holds nothing any more
    #[arg(long, value_name = "CALLS")]
    soak: Option<usize>,
    /// Python with the packages of subjects/requirements.txt and oxmcp
    #[arg(long, default_value = "python3")]
    python: PathBuf,
    /// Node; the packages are looked up from subjects/node_modules
    #[arg(long, default_value = "node")]
    node: PathBuf,
    /// Java
    #[arg(long, default_value = "java")]
    java: PathBuf,
    /// File with arguments for Java: the class path of the subjects in Kotlin [default: they are left out]
    #[arg(long, value_name = "FILE")]
    kotlin: Option<PathBuf>,
    /// Folder of the compiled subjects in Swift [default: they are left out]
    #[arg(long, value_name = "FOLDER")]
    swift: Option<PathBuf>,
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

#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
enum Transport {
    Stdio,
    Http,
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
    if let Some(calls) = options.soak {
        return soak(options, calls);
    }
    match options.transport {
        Transport::Stdio => over_stdio(options),
        Transport::Http => over_http(options),
    }
}

fn over_stdio(options: &Options) -> Result<ExitCode> {
    let subjects = options.chosen(SUBJECTS, Subject::name)?;
    if options.list {
        return Ok(list(subjects.iter().map(|subject| subject.name())));
    }
    let places = options.places()?;
    let subjects = options.runnable(subjects)?;
    let budget = if options.quick { Budget::QUICK } else { Budget::FULL };
    let rounds = options.rounds();
    let machine = Machine::look(&places);
    options.placement.apply()?;
    let outcomes = rounds::run(&subjects, &places, rounds, &budget, show_progress);
    show_progress("");
    let results = Results::new(machine, options.placement, rounds, outcomes, &places);

    print!("{}", table::terminal(&results));
    let report = Report {
        json: json(&results)?,
        markdown: table::markdown(&results),
        picture: results.picture(),
        failed: results.failed().count(),
        of: results.subjects.len(),
    };
    report.finish(options)
}

fn over_http(options: &Options) -> Result<ExitCode> {
    let all: Vec<_> = http::subjects::SUBJECTS
        .iter()
        .flat_map(|subject| subject.modes.iter().map(move |mode| (subject, *mode)))
        .collect();
    let subjects = options.chosen(&all, |(subject, mode)| subject.name(*mode))?;
    let subjects: Vec<_> = subjects.into_iter().copied().collect();
    if options.list {
        return Ok(list(subjects.iter().map(|(subject, mode)| subject.name(*mode))));
    }
    let places = options.places()?;
    let budget = match options.quick {
        true => http::rounds::Budget::QUICK,
        false => http::rounds::Budget::FULL,
    };
    let rounds = options.rounds();
    let machine = Machine::look(&places);
    options.placement.apply()?;
    let outcomes = http::rounds::run(&subjects, &places, rounds, &budget, show_progress);
    show_progress("");
    let results = http::report::Results::new(machine, options.placement, rounds, outcomes, &places);

    print!("{}", http::report::terminal(&results));
    let report = Report {
        json: json(&results)?,
        markdown: http::report::markdown(&results),
        picture: results.picture(),
        failed: results.failed().count(),
        of: results.subjects.len(),
    };
    report.finish(options)
}

fn soak(options: &Options, calls: usize) -> Result<ExitCode> {
    match http::soak::run(&options.places()?, calls) {
        Ok(soaked) => {
            println!("{soaked}");
            Ok(ExitCode::SUCCESS)
        }
        Err(failure) => Err(format!("the soak failed: {}\n{}", failure.error, failure.stderr).into()),
    }
}

fn list(names: impl Iterator<Item = String>) -> ExitCode {
    names.for_each(|name| println!("{name}"));
    ExitCode::SUCCESS
}

/// What a run leaves behind.
struct Report {
    json: String,
    markdown: String,
    picture: String,
    failed: usize,
    of: usize,
}

impl Report {
    fn finish(&self, options: &Options) -> Result<ExitCode> {
        if let Some(file) = &options.json {
            write(file, &self.json)?;
        }
        match options.why_not_written(self.failed) {
            Some(reason) => println!("\nRESULTS.md and results/ are left as they were: {reason}."),
            None => self.publish(options)?,
        }
        if self.failed > 0 {
            eprintln!("oxmcp-bench: {} of {} subjects failed", self.failed, self.of);
            return Ok(ExitCode::FAILURE);
        }
        Ok(ExitCode::SUCCESS)
    }

    fn publish(&self, options: &Options) -> Result<()> {
        let folder = options.dir.join("results");
        std::fs::create_dir_all(&folder).map_err(|error| format!("cannot make {}: {error}", folder.display()))?;
        println!();
        let name = options.transport.name();
        write(&folder.join(format!("{name}.json")), &self.json)?;
        write(&folder.join(format!("{name}.svg")), &self.picture)?;
        let file = options.dir.join("RESULTS.md");
        let before = std::fs::read_to_string(&file).unwrap_or_default();
        write(&file, &table::with_part(&before, &self.markdown))
    }
}

impl Transport {
    const fn name(self) -> &'static str {
        match self {
            Self::Stdio => "stdio",
            Self::Http => "http",
        }
    }
}

impl Options {
    /// The subjects that `--only` names, or all.
    fn chosen<'a, T>(&self, all: &'a [T], name: impl Fn(&T) -> String) -> Result<Vec<&'a T>> {
        let wanted = |subject: &&T| {
            let name = name(subject);
            self.only.is_empty() || self.only.iter().any(|part| name.contains(&part.to_lowercase()))
        };
        let subjects: Vec<&T> = all.iter().filter(wanted).collect();
        if subjects.is_empty() {
            return Err(format!("no subject's name contains {:?}; --list shows the names", self.only).into());
        }
        Ok(subjects)
    }

    /// Subjects are left out, and named, where there is nothing to run them with.
    fn runnable<'a>(&self, subjects: Vec<&'a Subject>) -> Result<Vec<&'a Subject>> {
        let lacks = |subject: &Subject| match subject.language {
            Language::Kotlin if self.kotlin.is_none() => Some("--kotlin names no class path"),
            Language::Swift if self.swift.is_none() => Some("--swift names no folder"),
            _ => None,
        };
        let (kept, left_out): (Vec<&Subject>, Vec<&Subject>) =
            subjects.into_iter().partition(|subject| lacks(subject).is_none());
        for subject in left_out {
            println!(
                "left out: {}, for {}",
                subject.name(),
                lacks(subject).unwrap_or_default()
            );
        }
        if kept.is_empty() {
            return Err("nothing is left to measure".into());
        }
        Ok(kept)
    }

    fn rounds(&self) -> usize {
        let usual = if self.quick { 2 } else { 7 };
        self.rounds.map_or(usual, NonZeroUsize::get)
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
            java: self.java.clone(),
            kotlin: self.kotlin.clone(),
            swift: self.swift.clone(),
            bin,
            subjects,
        })
    }

    /// The published results are those of a whole run in which everything worked, unless one insists.
    fn why_not_written(&self, failed: usize) -> Option<&'static str> {
        let reasons = [
            (cfg!(debug_assertions), "this is not a release build"),
            (!self.only.is_empty(), "--only left subjects out"),
            (
                self.transport == Transport::Stdio && self.kotlin.is_none(),
                "the subjects in Kotlin were left out",
            ),
            (
                self.transport == Transport::Stdio && self.swift.is_none(),
                "the subjects in Swift were left out",
            ),
            (
                self.placement != Placement::One,
                "--placement is not the one of the published results",
            ),
            (self.quick, "--quick is too short a run"),
            (failed > 0, "a subject failed"),
        ];
        reasons
            .into_iter()
            .find(|(holds, _)| *holds && !self.write)
            .map(|(_, reason)| reason)
    }
}

fn json(results: &impl serde::Serialize) -> Result<String> {
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
