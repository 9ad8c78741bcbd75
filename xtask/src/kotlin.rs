//! The Kotlin package: its native library, its generated sources, and Maven.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::command::{self, Finished, make_dir};
use crate::env::{self, Missing, Workspace};
use crate::inputs::Stamp;
use crate::summary::Report;
use crate::{bindgen, conformance, counts, interop, node, python, swift};

/// Where Cargo names its own folders to the loader: JNA looks there before it looks into the jar, and a library without
/// optimisation, perhaps of older sources, may lie there.
const LOADER_PATH: &str = "LD_LIBRARY_PATH";

/// The oldest JDK that is good for it.
const JAVA_MAJOR: u32 = 17;

/// What everything in Kotlin is built with.
struct Tools {
    maven: &'static str,
}

impl Tools {
    fn find() -> Result<Self> {
        find_jdk()?;
        Ok(Self { maven: find_maven()? })
    }

    /// Maven for one of our projects. `native` has the native library, laid out as in the jar.
    fn maven(&self, project: &Path, native: &Path) -> Command {
        let mut maven = Command::new(self.maven);
        maven
            .args(["--batch-mode", "--no-transfer-progress", "--file"])
            .arg(project);
        maven.arg(format!("-Doxmcp.native={}", native.display()));
        maven.env("MAVEN_OPTS", "-Xmx1g");
        maven.env_remove(LOADER_PATH);
        maven
    }
}

/// Builds the library, checks the generated sources, and runs the tests of the package and of its example.
pub(crate) fn run(workspace: &Workspace, report: &mut Report) -> Result<()> {
    let tools = Tools::find()?;
    let library = bindgen::library(workspace)?;
    let native = stage(workspace, "kotlin-native", &library)?;
    report.check("generated Kotlin sources are the generator's", || {
        bindgen::check(workspace, bindgen::Language::Kotlin, &library)
    });
    let mut programs = programs(workspace, report)?;
    match swift::interop_programs(workspace) {
        Ok([server, client]) => programs.extend([("OXMCP_SWIFT_SERVER", server), ("OXMCP_SWIFT_CLIENT", client)]),
        // A machine that tests Kotlin need not have Swift, and be it one of a CI service.
        Err(error) if error.is::<Missing>() => report.skip(&format!("with Swift: {error:#}")),
        Err(error) => return Err(error),
    }
    let run = || run_maven(workspace, &tools, &native, &programs);
    report.runner("mvn test (Kotlin)", run, |finished| {
        Ok(counts::surefire(&finished.output))
    });
    Ok(())
}

/// The words that start a program of the conformance suite's, once it is built.
pub(crate) fn conformance_program(workspace: &Workspace, main: &str) -> Result<Vec<PathBuf>> {
    let class_path = class_path(workspace, "oxmcp-conformance", "tests/conformance/kotlin")?;
    let library = workspace.state("kotlin-native").join(system()?);
    let library = format!("-Djna.library.path={}", library.display());
    // Each of them runs for a moment.
    let words = [
        "java",
        &library,
        "-Xmx256m",
        "-XX:TieredStopAtLevel=1",
        "-cp",
        &class_path,
        main,
    ];
    Ok(words.map(PathBuf::from).to_vec())
}

/// A file with arguments for Java: the class path of what is measured.
pub(crate) fn subjects(workspace: &Workspace) -> Result<PathBuf> {
    let class_path = class_path(workspace, "oxmcp-subjects", "benchmarks/subjects/kotlin")?;
    let file = workspace.state("kotlin-subjects").join("arguments");
    if let Some(folder) = file.parent() {
        make_dir(folder)?;
    }
    let library = workspace.state("kotlin-native").join(system()?);
    let escaped = |text: &str| text.replace('\\', "\\\\");
    fs::write(
        &file,
        format!(
            "\"-Djna.library.path={}\" -cp \"{}\"\n",
            escaped(&library.display().to_string()),
            escaped(&class_path)
        ),
    )?;
    Ok(file)
}

/// Compiles a module and what it stands on, unless that was done with these sources; gives its class path.
fn class_path(workspace: &Workspace, module: &str, folder: &str) -> Result<String> {
    let tools = Tools::find()?;
    let native = stage(workspace, "kotlin-native", &bindgen::library(workspace)?)?;
    let project = workspace.path("bindings-uniffi/kotlin");
    let folder = workspace.path(folder);
    let inputs = [
        project.join("pom.xml"),
        project.join("src/main"),
        native.clone(),
        folder.clone(),
    ];
    let target = folder.join("target");
    let stamp = Stamp::of(workspace.state("kotlin-compiled").join(module), &inputs, &[])?;
    if !stamp.is_fresh() || !target.join("classpath").is_file() {
        let mut maven = tools.maven(&project.join("all/pom.xml"), &native);
        maven.args(["--projects", &format!(":{module}"), "--also-make", "process-classes"]);
        command::step(workspace, &format!("compile {module}"), module, &mut maven)?;
        stamp.save()?;
    }
    let libraries = fs::read_to_string(target.join("classpath"))?;
    let paths = std::env::split_paths(libraries.trim());
    let paths = std::env::join_paths(std::iter::once(target.join("classes")).chain(paths))?;
    paths.into_string().ok().context("the class path is no text")
}

/// The plugin that writes a Maven repository.
const DEPLOY: &str = "org.apache.maven.plugins:maven-deploy-plugin:3.1.4:deploy";

/// What is published, as a Maven repository: the jar with the native library of this platform, its sources and its docs.
/// Gives the jar.
pub(crate) fn jars(workspace: &Workspace, repository: &Path) -> Result<PathBuf> {
    let tools = Tools::find()?;
    let native = stage(workspace, "kotlin-dist", &stripped_library(workspace)?)?;
    let project = workspace.path("bindings-uniffi/kotlin");
    let mut maven = tools.maven(&project.join("pom.xml"), &native);
    maven.args(["--activate-profiles", "release", "-Dmaven.test.skip=true"]);
    maven.arg(format!(
        "-DaltDeploymentRepository=oxmcp::{}",
        file_url(&make_dir(repository)?.canonicalize()?)
    ));
    maven.args(["clean", "package", DEPLOY]);
    command::step(workspace, "pack the jars", "kotlin-jars", &mut maven)?;
    let version = env!("CARGO_PKG_VERSION");
    let folder = repository.join("dev/oxmcp/oxmcp").join(version);
    for name in ["-sources.jar", "-javadoc.jar", ".pom", ".jar"] {
        let file = folder.join(format!("oxmcp-{version}{name}"));
        ensure!(file.is_file(), "{} was not packed", file.display());
    }
    Ok(folder.join(format!("oxmcp-{version}.jar")))
}

fn file_url(path: &Path) -> String {
    let path = path.display().to_string().replace('\\', "/").replace(' ', "%20");
    format!("file:///{}", path.trim_start_matches('/'))
}

/// The native library without the symbols that only the generator reads.
pub(crate) fn stripped_library(workspace: &Workspace) -> Result<PathBuf> {
    let library = bindgen::library(workspace)?;
    let mut cargo = command::cargo(workspace, "build");
    cargo.args(["--release", "--package", "oxmcp-uniffi", "--config"]);
    cargo.arg("profile.release.package.oxmcp-uniffi.strip=\"symbols\"");
    command::step(
        workspace,
        "link the library without its symbols",
        "uniffi-stripped",
        &mut cargo,
    )?;
    Ok(library)
}

/// Prints the version that the jar says it has, from a program of one file beside it.
pub(crate) fn load_jar(workspace: &Workspace, jar: &Path) -> Result<String> {
    let folder = workspace.state("kotlin-load");
    make_dir(&folder)?;
    let program = folder.join("Load.java");
    fs::write(&program, LOAD)?;
    let libraries = fs::read_to_string(workspace.path("bindings-uniffi/kotlin/target/classpath"))?;
    let paths = std::env::split_paths(libraries.trim());
    let paths = std::env::join_paths(std::iter::once(jar.to_path_buf()).chain(paths))?;
    let mut java = Command::new("java");
    java.arg("-cp")
        .arg(paths)
        .arg(program)
        .env_remove(LOADER_PATH)
        .current_dir(&folder);
    command::succeed(workspace, "dist-jar", &mut java)
}

const LOAD: &str = "class Load {
    public static void main(String[] args) {
        System.out.println(dev.oxmcp.TypesKt.getVERSION());
    }
}
";

/// Maven with the modules of the package, its tests against others, and the example.
fn run_maven(workspace: &Workspace, tools: &Tools, native: &Path, programs: &[(&str, PathBuf)]) -> Result<Finished> {
    let mut maven = tools.maven(&workspace.path("bindings-uniffi/kotlin/all/pom.xml"), native);
    maven.args(["--fail-at-end", "test"]);
    maven.envs(programs.iter().map(|(variable, program)| (variable, program)));
    command::capture(workspace, "maven", &mut maven)
}

/// The programs in other languages that the tests start, each in the variable that names it.
pub(crate) fn programs(workspace: &Workspace, report: &mut Report) -> Result<Vec<(&'static str, PathBuf)>> {
    let mut programs = vec![
        (
            "OXMCP_HTTP_SERVER",
            conformance::build_example(workspace, "interop_server")?,
        ),
        (
            "OXMCP_HTTP_CLIENT",
            conformance::build_example(workspace, "interop_client")?,
        ),
    ];
    for (variable, found) in [
        ("OXMCP_PYTHON", with_python(workspace)),
        ("OXMCP_PEER_PYTHON", with_peers(workspace)),
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

fn with_peers(workspace: &Workspace) -> Result<PathBuf> {
    Ok(interop::peers(workspace, &env::python()?)?.python())
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

fn find_maven() -> Result<&'static str> {
    let program = if cfg!(windows) { "mvn.cmd" } else { "mvn" };
    let found = Command::new(program).arg("--version").output();
    if !found.is_ok_and(|output| output.status.success()) {
        bail!(missing("there is no mvn in PATH"));
    }
    Ok(program)
}

fn missing(what: &str) -> Missing {
    Missing::new(format!(
        "{what}; install a JDK {JAVA_MAJOR} or newer and Maven (on Debian: apt-get install default-jdk-headless maven)"
    ))
}

/// Puts the library where the jar takes it from: in a folder that JNA knows this system by.
fn stage(workspace: &Workspace, name: &str, library: &Path) -> Result<PathBuf> {
    let native = workspace.state(name);
    let folder = native.join(system()?);
    make_dir(&folder)?;
    let name = library.file_name().context("the library has a name")?;
    // Under another name first: a program that runs has the old one open.
    let half = folder.join("half");
    fs::copy(library, &half).with_context(|| format!("cannot copy {}", library.display()))?;
    fs::rename(&half, folder.join(name))?;
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
