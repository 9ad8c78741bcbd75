//! `cargo xtask test`: every suite, in an order that finds cheap faults first.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode};
use std::thread;

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::command::{self, Finished};
use crate::env::{self, Node, Python, PythonVersion, Workspace};
use crate::python::{self, Abi, Venv};
use crate::summary::Report;
use crate::{checks, conformance, counts, docs, interop, kotlin, node, swift};

/// A part of the tests that can be run alone.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Suite {
    /// Formatting and lints of the Rust sources.
    Lint,
    /// Lock files, versions and licences agree.
    Checks,
    /// Unit, integration and documentation tests in Rust.
    Rust,
    /// pytest on every supported Python found here, and mypy.
    Python,
    /// The npm package: types and tests.
    Node,
    /// The Kotlin package, its tests against others, and its examples.
    Kotlin,
    /// The Swift package, its tests against others, and its examples.
    Swift,
    /// Our packages against each other and against the official SDKs.
    Interop,
    /// The public conformance suite.
    Conformance,
    /// rustdoc without warnings, and links that lead somewhere.
    Docs,
}

pub(crate) fn run(workspace: &Workspace, only: &[Suite]) -> Result<ExitCode> {
    let mut report = Report::new(workspace);
    for suite in Suite::value_variants() {
        if only.is_empty() || only.contains(suite) {
            match suite {
                Suite::Lint => report.suite("lint", |report| lint(workspace, report)),
                Suite::Checks => report.suite("checks", |report| checks::run(workspace, report)),
                Suite::Rust => report.suite("rust", |report| rust(workspace, report)),
                Suite::Python => report.suite("python", |report| pythons(workspace, report)),
                Suite::Node => report.suite("node", |report| node_package(workspace, report)),
                Suite::Kotlin => report.suite("kotlin", |report| kotlin::run(workspace, report)),
                Suite::Swift => report.suite("swift", |report| swift::run(workspace, report)),
                Suite::Interop => report.suite("interop", |report| interop::run(workspace, report)),
                Suite::Conformance => report.suite("conformance", |report| {
                    conformance::add(workspace, report, &[], &[], &[])
                }),
                Suite::Docs => report.suite("docs", |report| docs::run(workspace, report)),
            }
        }
    }
    Ok(report.finish())
}

/// What the Rust crate has only where it is asked for.
const HTTP: &str = "oxmcp/border";
const ALL: &str = "oxmcp/border,oxmcp/redis";

fn lint(workspace: &Workspace, report: &mut Report) -> Result<()> {
    report.program("cargo fmt --check", || {
        let mut fmt = Command::new("cargo");
        fmt.args(["fmt", "--all", "--check", "--", "--color=never"])
            .current_dir(&workspace.root);
        command::capture(workspace, "fmt", &mut fmt)
    });
    report.program("cargo clippy, no warning allowed", || {
        let mut clippy = command::cargo(workspace, "clippy");
        clippy.args([
            "--workspace",
            "--exclude",
            "oxmcp-bindgen",
            "--all-targets",
            "--features",
            ALL,
            "--",
            "--deny",
            "warnings",
        ]);
        command::capture(workspace, "clippy", &mut clippy)
    });
    report.program("cargo clippy, the crate as it is without features", || {
        let mut clippy = command::cargo(workspace, "clippy");
        clippy.args(["--package", "oxmcp", "--all-targets", "--", "--deny", "warnings"]);
        command::capture(workspace, "clippy-plain", &mut clippy)
    });
    Ok(())
}

fn rust(workspace: &Workspace, report: &mut Report) -> Result<()> {
    let servers = env::servers();
    let features = if servers.is_ok() { ALL } else { HTTP };
    let run = || {
        let mut test = command::cargo(workspace, "test");
        test.args([
            "--workspace",
            "--exclude",
            "oxmcp-bench",
            "--exclude",
            "oxmcp-bindgen",
            "--features",
            features,
            "--no-fail-fast",
        ]);
        command::capture(workspace, "cargo-test", &mut test)
    };
    report.runner("cargo test", run, |finished| Ok(counts::cargo(&finished.output)));
    match servers {
        Err(missing) if workspace.ci && cfg!(target_os = "linux") => {
            report.check("several server processes", || Err(missing));
        }
        Err(missing) => report.skip(&missing.to_string()),
        Ok(()) => {}
    }
    Ok(())
}

fn pythons(workspace: &Workspace, report: &mut Report) -> Result<()> {
    let main = env::python()?;
    let venv = python::install(workspace, &main)?;
    install_tools(workspace, &venv)?;
    let tests = workspace.path("bindings-python/tests");
    report_pytest(workspace, report, &venv, &main.version(), &tests, &[]);
    report.program("mypy --strict", || {
        let mut mypy = Command::new(venv.python());
        mypy.args(["-m", "mypy", "--strict", "--python-version", "3.10", "--cache-dir"]);
        mypy.arg(workspace.state("mypy"))
            .arg("python/oxmcp")
            .current_dir(workspace.path("bindings-python"));
        command::capture(workspace, "mypy", &mut mypy)
    });

    let found = env::pythons();
    let mut others = Vec::new();
    for version in PythonVersion::supported().filter(|&version| version != main.version) {
        let Some(other) = found.iter().find(|python| python.version == version) else {
            report.skip(&format!("Python {version} is not installed here"));
            continue;
        };
        let abi = if version.free_threaded {
            Abi::Version
        } else {
            Abi::Stable
        };
        let name = match abi {
            Abi::Version => version.to_string(),
            Abi::Stable => format!("{version}, abi3"),
        };
        match other_python(workspace, &main, other, abi) {
            Ok(venv) => others.push((venv, name)),
            Err(error) => report.check(&format!("set up Python {}", other.version()), || Err(error)),
        }
    }
    // Side by side: the tests wait for most of their time.
    thread::scope(|scope| {
        let started: Vec<_> = others
            .iter()
            .map(|(venv, name)| (name, scope.spawn(|| pytest(workspace, venv, name, &tests, &[]))))
            .collect();
        for (name, run) in started {
            let join = || run.join().unwrap_or_else(|_| bail!("the thread that ran it panicked"));
            report.runner(&format!("pytest ({name})"), join, |finished| {
                Ok(counts::pytest(&finished.output))
            });
        }
    });
    Ok(())
}

/// One stable wheel serves every version but the first, which has a wheel of its own: so both kinds are tested. Builds
/// without the interpreter's lock have no stable interface, so each of them has its own too.
fn other_python(workspace: &Workspace, main: &Python, other: &Python, abi: Abi) -> Result<Venv> {
    let by_main = abi == Abi::Stable && !main.version.free_threaded;
    let builder = if by_main { main } else { other };
    let wheel = python::wheel(workspace, builder, abi)?;
    let venv = python::install_wheel(workspace, other, &wheel)?;
    install_tools(workspace, &venv)?;
    Ok(venv)
}

fn install_tools(workspace: &Workspace, venv: &Venv) -> Result<()> {
    venv.install_requirements(workspace, &workspace.path("bindings-python/requirements-dev.txt"))
}

/// Runs the tests in a folder with pytest and adds their counts.
pub(crate) fn report_pytest(
    workspace: &Workspace,
    report: &mut Report,
    venv: &Venv,
    name: &str,
    tests: &Path,
    variables: &[(&str, &Path)],
) {
    report.runner(
        &format!("pytest ({name})"),
        || pytest(workspace, venv, name, tests, variables),
        |finished| Ok(counts::pytest(&finished.output)),
    );
}

fn pytest(
    workspace: &Workspace,
    venv: &Venv,
    name: &str,
    tests: &Path,
    variables: &[(&str, &Path)],
) -> Result<Finished> {
    let mut pytest = Command::new(venv.python());
    let log = format!("pytest-{}", name.replace(", ", "-"));
    pytest.args(["-m", "pytest", "-q", "-rsxfE", "--color=no", "-o"]);
    pytest
        .arg(format!("cache_dir={}", workspace.state(&log).display()))
        .arg(tests);
    pytest
        .current_dir(workspace.path("bindings-python"))
        .env("PYTHONDONTWRITEBYTECODE", "1");
    pytest.envs(variables.iter().copied());
    command::capture(workspace, &log, &mut pytest)
}

fn node_package(workspace: &Workspace, report: &mut Report) -> Result<()> {
    let node = node::build(workspace)?;
    node::compile_tests(workspace, &node)?;
    report_node(
        workspace,
        report,
        &node,
        "npm package",
        &workspace.path("bindings-node/test-dist"),
        &[],
    );
    Ok(())
}

/// Runs every `*.test.js`, `*.test.mjs` and `*.test.cjs` under a folder with Node's runner and adds their counts.
pub(crate) fn report_node(
    workspace: &Workspace,
    report: &mut Report,
    node: &Node,
    name: &str,
    tests: &Path,
    variables: &[(&str, &Path)],
) {
    let log = format!("node-test-{}", name.replace(' ', "-"));
    let tap = workspace.state("log").join(format!("{log}.tap"));
    let run = || -> Result<Finished> {
        let files = test_files(tests)?;
        if files.is_empty() {
            bail!("there is no *.test.js, *.test.mjs or *.test.cjs in {}", tests.display());
        }
        command::make_dir(&workspace.state("log"))?;
        let mut test = Command::new(&node.program);
        test.args([
            "--test",
            "--test-timeout=120000",
            "--test-reporter=spec",
            "--test-reporter-destination=stdout",
        ]);
        test.arg("--test-reporter=tap")
            .arg(format!("--test-reporter-destination={}", tap.display()))
            .args(files);
        test.current_dir(tests).envs(variables.iter().copied());
        command::capture(workspace, &log, &mut test)
    };
    report.runner(&format!("node --test ({name})"), run, |_| counts::node(&tap));
}

/// Every file under a folder that Node's runner is given.
pub(crate) fn test_files(folder: &Path) -> Result<Vec<PathBuf>> {
    let mut files = Vec::new();
    for entry in folder.read_dir()? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() && name != "node_modules" {
            files.extend(test_files(&path)?);
        } else if [".test.js", ".test.mjs", ".test.cjs"]
            .iter()
            .any(|end| name.ends_with(end))
        {
            files.push(path);
        }
    }
    files.sort();
    Ok(files)
}
