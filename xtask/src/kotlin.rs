//! The Kotlin package: its native library, its generated sources, and Maven.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{self, Finished, make_dir};
use crate::env::{self, Missing, Workspace};
use crate::summary::Report;
use crate::{bindgen, conformance, counts, node, python};

/// The oldest JDK that is good for it.
const JAVA_MAJOR: u32 = 17;

/// Builds the library, checks the generated sources, and runs the tests of the package and of its example.
pub(crate) fn run(workspace: &Workspace, report: &mut Report) -> Result<()> {
    find_jdk()?;
    let maven = find_maven()?;
    let library = bindgen::library(workspace)?;
    report.check("generated Kotlin sources are the generator's", || {
        bindgen::check(workspace, bindgen::Language::Kotlin, &library)
    });
    let native = stage(workspace, &library)?;
    let programs = programs(workspace, report)?;
    let run = || run_maven(workspace, maven, &native, &programs);
    report.runner("mvn test (Kotlin)", run, |finished| {
        Ok(counts::surefire(&finished.output))
    });
    Ok(())
}

/// Maven with the modules of the package, its tests against others, and the example.
fn run_maven(
    workspace: &Workspace,
    mut maven: Command,
    native: &Path,
    programs: &[(&str, PathBuf)],
) -> Result<Finished> {
    maven
        .args(["--batch-mode", "--no-transfer-progress", "--fail-at-end", "--file"])
        .arg(workspace.path("bindings-uniffi/kotlin/all/pom.xml"))
        .arg(format!("-Doxmcp.native={}", native.display()))
        .arg("test");
    maven.env("MAVEN_OPTS", "-Xmx1g");
    maven.envs(programs.iter().map(|(variable, program)| (variable, program)));
    command::capture(workspace, "maven", &mut maven)
}

/// The programs in other languages that the tests start, each in the variable that names it.
fn programs(workspace: &Workspace, report: &mut Report) -> Result<Vec<(&'static str, PathBuf)>> {
    let mut programs = vec![(
        "OXMCP_HTTP_SERVER",
        conformance::build_example(workspace, "interop_server")?,
    )];
    for (variable, found) in [
        ("OXMCP_PYTHON", with_python(workspace)),
        ("OXMCP_NODE", with_node(workspace)),
    ] {
        match found {
            Ok(program) => programs.push((variable, program)),
            Err(error) if error.is::<Missing>() && !workspace.ci => report.skip(&format!("{error:#}")),
            Err(error) => return Err(error),
        }
    }
    Ok(programs)
}

fn with_python(workspace: &Workspace) -> Result<PathBuf> {
    Ok(python::install(workspace, &env::python()?)?.python())
}

fn with_node(workspace: &Workspace) -> Result<PathBuf> {
    let node = node::build(workspace)?;
    let interop = workspace.path("tests/interop");
    node::install_packages(workspace, &interop)?;
    node::link_package(workspace, &interop)?;
    Ok(node.program)
}

fn find_jdk() -> Result<()> {
    let output = Command::new("javac").arg("-version").output();
    let output = output.map_err(|_| missing("there is no javac in PATH"))?;
    let said = String::from_utf8_lossy(&output.stdout).into_owned();
    let major = said.split(['.', ' ']).nth(1);
    let major = major.and_then(|major| major.trim().parse::<u32>().ok());
    if major.is_none_or(|major| major < JAVA_MAJOR) {
        bail!(missing(&format!("javac is too old: {}", said.trim())));
    }
    Ok(())
}

fn find_maven() -> Result<Command> {
    let program = if cfg!(windows) { "mvn.cmd" } else { "mvn" };
    let found = Command::new(program).arg("--version").output();
    if !found.is_ok_and(|output| output.status.success()) {
        bail!(missing("there is no mvn in PATH"));
    }
    Ok(Command::new(program))
}

fn missing(what: &str) -> Missing {
    Missing::new(format!(
        "{what}; install a JDK {JAVA_MAJOR} or newer and Maven (on Debian: apt-get install default-jdk-headless maven)"
    ))
}

/// Puts the library where the jar takes it from: in a folder that JNA knows this system by.
fn stage(workspace: &Workspace, library: &Path) -> Result<PathBuf> {
    let native = workspace.state("kotlin-native");
    let folder = native.join(system()?);
    make_dir(&folder)?;
    let name = library.file_name().context("the library has a name")?;
    fs::copy(library, folder.join(name)).with_context(|| format!("cannot copy {}", library.display()))?;
    Ok(native)
}

/// JNA's name of this system.
fn system() -> Result<String> {
    let architecture = match std::env::consts::ARCH {
        "x86_64" => "x86-64",
        "aarch64" => "aarch64",
        "x86" => "x86",
        other => bail!("there is no Kotlin package for {other}"),
    };
    let system = match std::env::consts::OS {
        "linux" => "linux",
        "macos" => "darwin",
        "windows" => "win32",
        other => bail!("there is no Kotlin package for {other}"),
    };
    Ok(format!("{system}-{architecture}"))
}
