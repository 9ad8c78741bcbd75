//! Runs other programs. What they print goes to a log file; a person sees one line, and the log's end on failure.

use std::ffi::OsStr;
use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::env::Workspace;

/// How much of a failed program's output is shown. The whole of it stays in the log.
const TAIL_LINES: usize = 80;

/// What a finished program left.
pub(crate) struct Finished {
    /// Whether it exited with 0.
    pub(crate) ok: bool,
    /// Both its streams, in the order they were written.
    pub(crate) output: String,
    pub(crate) log: PathBuf,
    line: String,
}

impl Finished {
    /// The error of a program that failed: its command line, the end of its output and where the rest is.
    pub(crate) fn error(&self) -> anyhow::Error {
        let lines: Vec<&str> = self.output.trim_end().lines().collect();
        let from = lines.len().saturating_sub(TAIL_LINES);
        let mut tail = String::new();
        for line in &lines[from..] {
            tail.push_str("    | ");
            tail.push_str(line);
            tail.push('\n');
        }
        anyhow::anyhow!("`{}` failed\n{tail}    (all of it: {})", self.line, self.log.display())
    }
}

/// Runs a program to its end and keeps its output, whether it succeeds or not.
pub(crate) fn capture(workspace: &Workspace, name: &str, command: &mut Command) -> Result<Finished> {
    let log = workspace.state("log").join(format!("{name}.log"));
    fs::create_dir_all(log.parent().expect("the log is in a folder"))?;
    let file = File::create(&log).with_context(|| format!("cannot write {}", log.display()))?;
    let line = display(command);
    let status = command
        .stdin(Stdio::null())
        .stdout(file.try_clone()?)
        .stderr(file)
        .status()
        .with_context(|| format!("cannot start `{line}`"))?;
    let output = String::from_utf8_lossy(&fs::read(&log)?).into_owned();
    Ok(Finished {
        ok: status.success(),
        output,
        log,
        line,
    })
}

/// Runs a program that has to succeed and returns what it printed.
pub(crate) fn succeed(workspace: &Workspace, name: &str, command: &mut Command) -> Result<String> {
    let finished = capture(workspace, name, command)?;
    if finished.ok {
        Ok(finished.output)
    } else {
        Err(finished.error())
    }
}

/// Runs a program that has to succeed, under a line that says what is going on.
pub(crate) fn step(workspace: &Workspace, title: &str, name: &str, command: &mut Command) -> Result<()> {
    let started = begin(title);
    let result = succeed(workspace, name, command);
    end(if result.is_ok() { "done" } else { "FAILED" }, started.elapsed());
    result.map(drop)
}

/// Starts a line of progress. [`end`] completes it.
pub(crate) fn begin(title: &str) -> Instant {
    print!("  {title:<58} ");
    // The line is worth seeing while the step runs; a closed stdout is found out by the next one.
    drop(io::stdout().flush());
    Instant::now()
}

/// Completes the line that [`begin`] started.
pub(crate) fn end(verdict: &str, took: Duration) {
    println!("{verdict} ({:.1} s)", took.as_secs_f64());
}

/// Hands the terminal to a program and ends as it ends.
pub(crate) fn hand_over(command: &mut Command) -> Result<ExitCode> {
    let line = display(command);
    let status = command.status().with_context(|| format!("cannot start `{line}`"))?;
    match status.code() {
        Some(0) => Ok(ExitCode::SUCCESS),
        Some(code) => Ok(ExitCode::from(u8::try_from(code).unwrap_or(1))),
        None => bail!("`{line}` was ended by a signal"),
    }
}

/// Cargo as it was called, with the flags every call of ours shares.
pub(crate) fn cargo(workspace: &Workspace, subcommand: &str) -> Command {
    let mut command = Command::new(std::env::var_os("CARGO").as_deref().unwrap_or(OsStr::new("cargo")));
    command.arg(subcommand).current_dir(&workspace.root);
    if workspace.ci {
        command.arg("--locked");
    }
    command
}

/// A folder's child that may or may not exist, made if it does not.
pub(crate) fn make_dir(path: &Path) -> Result<&Path> {
    fs::create_dir_all(path).with_context(|| format!("cannot make the folder {}", path.display()))?;
    Ok(path)
}

fn display(command: &Command) -> String {
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    words
        .map(|word| word.to_string_lossy().into_owned())
        .collect::<Vec<_>>()
        .join(" ")
}
