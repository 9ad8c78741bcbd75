//! `cargo xtask bench`: sets up every subject, ours and our peers', and runs the benchmark program.

use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::env::{self, Missing, Workspace};
use crate::python::{self, Abi, Venv};
use crate::{command, kotlin, node, swift};

pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let subjects = workspace.path("benchmarks/subjects");
    let main = env::python()?;
    // Our server runs among the peers' packages: one interpreter, one set of installed packages for all of them.
    let venv = Venv::create(workspace, workspace.target().join("venv/bench"), &main)?;
    venv.install_requirements(workspace, &subjects.join("requirements.txt"))?;
    let wheel = python::wheel(workspace, &main, Abi::Version)?;
    venv.install_wheel(workspace, &wheel)?;

    let node = node::build(workspace)?;
    node::install_packages(workspace, &subjects)?;
    node::link_package(workspace, &subjects)?;

    let mut ours = command::cargo(workspace, "build");
    ours.args(["--release", "--package", "oxmcp-bench"]);
    command::step(workspace, "build the benchmark program", "bench-build", &mut ours)?;
    // Once more without what it does not need, as a server over stdio is built by its users.
    let mut plain = command::cargo(workspace, "build");
    plain.args(["--release", "--package", "oxmcp-bench", "--no-default-features"]);
    plain.args(["--bin", "oxmcp-server"]);
    command::step(workspace, "build the server over stdio", "bench-plain", &mut plain)?;
    let mut rmcp = command::cargo(workspace, "build");
    rmcp.args(["--release", "--manifest-path"])
        .arg(subjects.join("rmcp/Cargo.toml"));
    rmcp.arg("--target-dir").arg(workspace.target());
    command::step(workspace, "build the server written with rmcp", "bench-rmcp", &mut rmcp)?;

    let bin_dir = workspace.target().join("release");
    let mut bench = Command::new(bin_dir.join("oxmcp-bench"));
    bench
        .arg("--python")
        .arg(venv.python())
        .arg("--node")
        .arg(&node.program)
        .arg("--bin-dir")
        .arg(&bin_dir);
    for (name, flag, subjects) in [
        ("Kotlin", "--kotlin", kotlin::subjects(workspace)),
        ("Swift", "--swift", swift::subjects(workspace)),
    ] {
        match subjects {
            Ok(path) => drop(bench.arg(flag).arg(path)),
            Err(error) if error.is::<Missing>() && !workspace.ci => println!("  skipped: {name}: {error:#}"),
            Err(error) => return Err(error),
        }
    }
    bench.args(args).current_dir(&workspace.root);
    command::hand_over(&mut bench)
}
