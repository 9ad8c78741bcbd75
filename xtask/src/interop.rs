//! Our packages against each other and against the official SDKs, each SDK in an environment of its own.

use std::fs;
use std::path::Path;

use anyhow::{Result, ensure};

use crate::env::{self, Python, Workspace};
use crate::inputs::Stamp;
use crate::python::{self, Venv};
use crate::summary::Report;
use crate::{checks, conformance, node, test};

/// Runs `tests/interop`. Its tests find their programs in `OXMCP_PYTHON` (a Python with our package),
/// `OXMCP_PEER_PYTHON` (one with the official SDK), `OXMCP_NODE`, `OXMCP_HTTP_SERVER` and `OXMCP_HTTP_CLIENT` (programs on
/// the crate).
pub(crate) fn run(workspace: &Workspace, report: &mut Report) -> Result<()> {
    let folder = workspace.path("tests/interop");
    let main = env::python()?;
    let node = node::build(workspace)?;
    let venv = python::install(workspace, &main)?;
    venv.install_requirements(workspace, &workspace.path("bindings-python/requirements-dev.txt"))?;
    let peers = peers(workspace, &main)?;
    node::install_packages(workspace, &folder)?;
    node::link_package(workspace, &folder)?;
    let server = conformance::build_example(workspace, "interop_server")?;
    let client = conformance::build_example(workspace, "interop_client")?;

    let (ours, theirs) = (venv.python(), peers.python());
    let variables: [(&str, &Path); 5] = [
        ("OXMCP_PYTHON", &ours),
        ("OXMCP_PEER_PYTHON", &theirs),
        ("OXMCP_NODE", &node.program),
        ("OXMCP_HTTP_SERVER", &server),
        ("OXMCP_HTTP_CLIENT", &client),
    ];
    // Either runner's tests may be the only ones; a runner without a test would fail.
    let mut in_python = Vec::new();
    checks::find(&folder, ".py", &mut in_python)?;
    in_python.retain(|file| {
        file.file_name()
            .is_some_and(|name| name.to_string_lossy().starts_with("test_"))
    });
    let in_node = test::test_files(&folder)?;
    ensure!(
        !(in_python.is_empty() && in_node.is_empty()),
        "there is no test in {}",
        folder.display()
    );
    if !in_python.is_empty() {
        test::report_pytest(workspace, report, &venv, "interop", &folder, &variables);
    }
    if !in_node.is_empty() {
        test::report_node(workspace, report, &node, "interop", &folder, &variables);
    }
    Ok(())
}

/// An environment with other people's packages. It is costly to make and depends on one file alone, so it is kept
/// outside `target`, under a name that changes with the file.
pub(crate) fn peers(workspace: &Workspace, python: &Python) -> Result<Venv> {
    let requirements = workspace.path("tests/interop/requirements.txt");
    ensure!(
        requirements.is_file(),
        "{} does not exist: it names the packages to test against",
        requirements.display()
    );
    let program = python.program.to_string_lossy();
    let stamp = Stamp::of(
        Path::new("unused").into(),
        std::slice::from_ref(&requirements),
        &[&program, &python.version()],
    )?;
    let folder = workspace.cache("peers").join(stamp.digest());
    if let Some(parent) = folder.parent() {
        fs::create_dir_all(parent)?;
    }
    let venv = Venv::create(workspace, folder, python)?;
    venv.install_requirements(workspace, &requirements)?;
    Ok(venv)
}
