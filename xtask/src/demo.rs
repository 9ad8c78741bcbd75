//! `cargo xtask demo`: sets both packages up and hands over to the demo program, which does all the telling.

use std::process::{Command, ExitCode};

use anyhow::Result;

use crate::env::{self, Workspace};
use crate::{command, node, python};

/// Runs `examples/node/demo.mjs`, which finds a Python with our package in `OXMCP_PYTHON`.
pub(crate) fn run(workspace: &Workspace, args: &[String]) -> Result<ExitCode> {
    let venv = python::install(workspace, &env::python()?)?;
    let node = node::build(workspace)?;
    let folder = workspace.path("examples/node");
    node::link_package(workspace, &folder)?;
    let mut demo = Command::new(&node.program);
    demo.arg(folder.join("demo.mjs"))
        .args(args)
        .current_dir(&workspace.root);
    demo.env("OXMCP_PYTHON", venv.python());
    command::hand_over(&mut demo)
}
