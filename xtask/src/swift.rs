//! The Swift package: its toolchain, its native library, its generated sources, and its tests.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::command::{self, Finished};
use crate::dist::copy_tree;
use crate::env::{self, Missing, Workspace};
use crate::summary::Report;
use crate::{bindgen, counts, kotlin};

/// The oldest Swift that is good for it.
const SWIFT_MAJOR: u32 = 6;

/// The folder of the package.
const PACKAGE: &str = "bindings-uniffi/swift/oxmcp";

/// The programs that are measured.
const SUBJECTS: [&str; 4] = ["bare-server", "bare-client", "oxmcp-server", "oxmcp-client"];

/// Where Swift comes from.
enum Toolchain {
    /// It is on `PATH`.
    Installed,
    /// The script that brings one of its own; see there.
    Own(PathBuf),
}

impl Toolchain {
    fn find(workspace: &Workspace) -> Result<Self> {
        if let Ok(output) = Command::new("swift").arg("--version").output() {
            let said = String::from_utf8_lossy(&output.stdout).into_owned();
            if major(&said).is_some_and(|major| major >= SWIFT_MAJOR) {
                return Ok(Self::Installed);
            }
        }
        let script = workspace.path("bindings-uniffi/swift/with-swift");
        let missing = |why: &str| Missing::new(format!("Swift {SWIFT_MAJOR} or newer is not on PATH; {why}"));
        if !cfg!(target_os = "linux") {
            bail!(missing("install it, see https://www.swift.org/install"));
        }
        let began = command::begin("find the Swift toolchain, fetch it if need be");
        let output = Command::new(&script).output();
        let ok = output.as_ref().is_ok_and(|output| output.status.success());
        command::end(if ok { "done" } else { "not there" }, began.elapsed());
        match output {
            Ok(output) if output.status.success() => Ok(Self::Own(script)),
            Ok(output) => bail!(missing(String::from_utf8_lossy(&output.stderr).trim())),
            Err(error) => bail!(missing(&format!("{}: {error}", script.display()))),
        }
    }

    /// A tool of it.
    fn tool(&self, workspace: &Workspace, tool: &str) -> Command {
        match self {
            Self::Installed => Command::new(tool),
            Self::Own(script) => {
                let mut command = Command::new(script);
                command.arg(tool);
                // The script's own folder may not see what is built elsewhere.
                command.env("OXMCP_SWIFT_BIND", workspace.target());
                command
            }
        }
    }

    /// The words that start a program that it built.
    fn words(&self, program: PathBuf) -> Vec<PathBuf> {
        match self {
            Self::Installed => vec![program],
            Self::Own(script) => vec![script.clone(), "--run".into(), program],
        }
    }

    /// Puts a program that it built where it is started by its path alone, at the least cost.
    fn place(&self, program: &Path, at: &Path) -> Result<()> {
        match self {
            Self::Installed => drop(fs::copy(program, at)?),
            Self::Own(script) => {
                let output = Command::new(script).arg("--loader").output()?;
                ensure!(output.status.success(), "{} --loader failed", script.display());
                let loader = String::from_utf8(output.stdout)?;
                let words = loader.lines().map(Path::new).chain([program]);
                let words: Vec<String> = words.map(|word| format!("'{}'", word.display())).collect();
                write_program(at, &format!("#!/bin/sh\nexec {} \"$@\"\n", words.join(" ")))?;
            }
        }
        Ok(())
    }
}

/// A Swift package of ours.
struct Package<'a> {
    workspace: &'a Workspace,
    /// The folder with its manifest.
    folder: &'static str,
    /// The folder that it is built in.
    name: &'static str,
    /// As the manifest has it.
    title: &'static str,
}

impl Package<'_> {
    fn scratch(&self) -> PathBuf {
        self.workspace.target().join("swift").join(self.name)
    }

    fn tool(&self, toolchain: &Toolchain, verb: &str) -> Command {
        let mut swift = toolchain.tool(self.workspace, "swift");
        swift
            .arg(verb)
            .arg("--package-path")
            .arg(self.workspace.path(self.folder));
        swift.arg("--scratch-path").arg(self.scratch());
        swift.env("OXMCP_LIBRARY_DIR", self.workspace.target().join("release"));
        swift.current_dir(&self.workspace.root);
        swift
    }

    fn build(&self, toolchain: &Toolchain, arguments: &[&str]) -> Result<()> {
        let mut swift = self.tool(toolchain, "build");
        swift.args(arguments);
        let title = format!("build {}", self.folder);
        command::step(
            self.workspace,
            &title,
            &format!("swift-build-{}", self.name),
            &mut swift,
        )
    }

    /// Where the programs of a configuration lie.
    fn programs(&self, configuration: &str) -> PathBuf {
        self.scratch().join(configuration)
    }

    /// Builds the tests and runs all of them.
    fn test(&self, toolchain: &Toolchain, programs: &[(&str, PathBuf)]) -> Result<Finished> {
        self.build(toolchain, &["--build-tests"])?;
        let mut tests = match toolchain {
            Toolchain::Installed => {
                let mut swift = self.tool(toolchain, "test");
                swift.arg("--skip-build");
                swift
            }
            Toolchain::Own(script) => {
                let bundle = self
                    .programs("debug")
                    .join(format!("{}PackageTests.xctest", self.title));
                let mut tests = Command::new(script);
                tests.arg("--run").arg(bundle).current_dir(&self.workspace.root);
                tests.env("OXMCP_SWIFT_RUNNER", script);
                tests
            }
        };
        tests.env("OXMCP_SWIFT_PROGRAMS", self.programs("debug"));
        tests.envs(programs.iter().map(|(variable, program)| (variable, program)));
        command::capture(self.workspace, &format!("swift-test-{}", self.name), &mut tests)
    }
}

/// Builds the library, checks the generated sources, and runs the tests of the package and of its examples.
pub(crate) fn run(workspace: &Workspace, report: &mut Report) -> Result<()> {
    let toolchain = Toolchain::find(workspace)?;
    let library = bindgen::library(workspace)?;
    report.check("generated Swift sources are the generator's", || {
        bindgen::check(workspace, bindgen::Language::Swift, &library)
    });
    let programs = kotlin::programs(workspace, report)?;
    let packages = [
        (PACKAGE, "package", "oxmcp"),
        ("examples/swift", "examples", "examples"),
    ];
    for (folder, name, title) in packages {
        let package = Package {
            workspace,
            folder,
            name,
            title,
        };
        let run = || package.test(&toolchain, &programs);
        report.runner(&format!("swift test ({folder})"), run, |finished| {
            Ok(counts::xctest(&finished.output))
        });
    }
    Ok(())
}

/// The words that start a program of the conformance suite's, once it is built.
pub(crate) fn conformance_program(workspace: &Workspace, target: &str) -> Result<Vec<PathBuf>> {
    let (folder, name) = ("tests/conformance/swift", "conformance");
    build_program(workspace, (folder, name), target, "debug")
}

fn build_program(
    workspace: &Workspace,
    (folder, name): (&'static str, &'static str),
    target: &str,
    configuration: &str,
) -> Result<Vec<PathBuf>> {
    let toolchain = Toolchain::find(workspace)?;
    bindgen::library(workspace)?;
    let package = Package {
        workspace,
        folder,
        name,
        title: name,
    };
    package.build(&toolchain, &["--configuration", configuration, "--product", target])?;
    Ok(toolchain.words(package.programs(configuration).join(target)))
}

/// The server and the client that those in other languages are tried with, started by their paths alone.
pub(crate) fn interop_programs(workspace: &Workspace) -> Result<[PathBuf; 2]> {
    let toolchain = Toolchain::find(workspace)?;
    bindgen::library(workspace)?;
    let package = Package {
        workspace,
        folder: PACKAGE,
        name: "package",
        title: "oxmcp",
    };
    let folder = workspace.state("swift-interop");
    command::make_dir(&folder)?;
    let programs = ["OurServer", "OurClient"];
    for program in programs {
        package.build(&toolchain, &["--product", program])?;
        toolchain.place(&package.programs("debug").join(program), &folder.join(program))?;
    }
    Ok(programs.map(|program| folder.join(program)))
}

/// A folder with what is measured: the programs, a release build, and the version of their compiler.
pub(crate) fn subjects(workspace: &Workspace) -> Result<PathBuf> {
    let toolchain = Toolchain::find(workspace)?;
    bindgen::library(workspace)?;
    let package = Package {
        workspace,
        folder: "benchmarks/subjects/swift",
        name: "subjects",
        title: "subjects",
    };
    package.build(&toolchain, &["--configuration", "release"])?;
    let built = package.programs("release");
    let folder = workspace.state("swift-subjects");
    command::make_dir(&folder)?;
    for program in SUBJECTS {
        toolchain.place(&built.join(program), &folder.join(program))?;
    }
    let said = toolchain.tool(workspace, "swift").arg("--version").output()?;
    let said = String::from_utf8_lossy(&said.stdout).into_owned();
    fs::write(folder.join("version"), version(&said).unwrap_or_default())?;
    Ok(folder)
}

/// What is published for systems without XCFrameworks: the package with the native library of this platform beside its
/// sources, in a folder `oxmcp`. Gives the archive.
pub(crate) fn archive(workspace: &Workspace, out: &Path) -> Result<PathBuf> {
    // Without a compiler it could not be tried.
    Toolchain::find(workspace)?;
    let library = kotlin::stripped_library(workspace)?;
    let folder = workspace.state("swift-dist");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let package = folder.join("oxmcp");
    let native = package.join("lib");
    command::make_dir(&native)?;
    fs::copy(
        &library,
        native.join(library.file_name().context("the library has a name")?),
    )?;
    let sources = workspace.path(PACKAGE);
    fs::copy(sources.join("Package.swift"), package.join("Package.swift"))?;
    for part in ["Sources", "Generated"] {
        copy_tree(&sources.join(part), &package.join(part))?;
    }
    fs::copy(
        workspace.path("bindings-uniffi/swift/README.md"),
        package.join("README.md"),
    )?;
    for license in ["LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(workspace.path(license), package.join(license))?;
    }
    let (system, architecture) = (std::env::consts::OS, std::env::consts::ARCH);
    let archive = out.join(format!(
        "oxmcp-swift-{}-{system}-{architecture}.zip",
        env!("CARGO_PKG_VERSION")
    ));
    let mut pack = Command::new(env::python()?.program);
    pack.args(["-m", "zipfile", "-c"])
        .arg(&archive)
        .arg("oxmcp")
        .current_dir(&folder);
    command::step(workspace, "pack the Swift package", "swift-archive", &mut pack)?;
    Ok(archive)
}

/// Prints the version that the packed package says it has, from a program that depends on it.
pub(crate) fn load_archive(workspace: &Workspace, archive: &Path) -> Result<String> {
    let toolchain = Toolchain::find(workspace)?;
    let folder = workspace.state("swift-load");
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    command::make_dir(&folder.join("Sources/Load"))?;
    let mut unpack = Command::new(env::python()?.program);
    unpack.args(["-m", "zipfile", "-e"]).arg(archive).arg(&folder);
    command::succeed(workspace, "swift-unpack", &mut unpack)?;
    fs::write(folder.join("Package.swift"), LOAD_MANIFEST)?;
    fs::write(
        folder.join("Sources/Load/main.swift"),
        "import OxMCP\nprint(oxmcpVersion)\n",
    )?;
    let mut build = toolchain.tool(workspace, "swift");
    build.args(["build", "--package-path"]).arg(&folder);
    build.env_remove("OXMCP_LIBRARY_DIR").current_dir(&workspace.root);
    command::step(
        workspace,
        "build a program with the packed package",
        "swift-load",
        &mut build,
    )?;
    let words = toolchain.words(folder.join(".build/debug/Load"));
    let mut load = Command::new(&words[0]);
    load.args(&words[1..]);
    command::succeed(workspace, "dist-swift", &mut load)
}

const LOAD_MANIFEST: &str = r#"// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "load",
    platforms: [.macOS(.v13)],
    dependencies: [.package(path: "oxmcp")],
    targets: [.executableTarget(name: "Load", dependencies: [.product(name: "OxMCP", package: "oxmcp")])]
)
"#;

#[cfg(unix)]
fn write_program(at: &Path, text: &str) -> Result<()> {
    use std::os::unix::fs::PermissionsExt;
    fs::write(at, text)?;
    Ok(fs::set_permissions(at, fs::Permissions::from_mode(0o755))?)
}

#[cfg(not(unix))]
fn write_program(at: &Path, _: &str) -> Result<()> {
    bail!(
        "{} would be a shell script, which this system does not run",
        at.display()
    )
}

/// `Swift version 6.0.3 (…)`, on a line of its own or after `Apple`.
fn version(said: &str) -> Option<&str> {
    let (_, version) = said.split_once("Swift version ")?;
    version.split_whitespace().next()
}

fn major(said: &str) -> Option<u32> {
    version(said)?.split('.').next()?.parse().ok()
}

/// Lays the generator's files out as the package has its targets.
pub(crate) fn lay_out(folder: &Path) -> Result<()> {
    for (file, target, name) in [
        ("OxMCPNative.swift", "OxMCPNative", "OxMCPNative.swift"),
        ("OxMCPNativeFFI.h", "OxMCPNativeFFI", "OxMCPNativeFFI.h"),
        ("OxMCPNativeFFI.modulemap", "OxMCPNativeFFI", "module.modulemap"),
    ] {
        let to = folder.join(target);
        command::make_dir(&to)?;
        fs::rename(folder.join(file), to.join(name))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_as_each_system_says_it() {
        let apple = "swift-driver version: 1.115 Apple Swift version 6.0.3 (swiftlang-6.0.3.1.10)\nTarget: arm64-apple-macosx15.0";
        assert_eq!(version(apple), Some("6.0.3"));
        assert_eq!(major(apple), Some(6));
        assert_eq!(major("Swift version 5.9.2 (swift-5.9.2-RELEASE)\n"), Some(5));
        assert_eq!(major("swift: command not found"), None);
    }
}
