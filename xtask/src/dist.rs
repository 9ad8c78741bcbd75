//! `cargo xtask dist`: what would be published for this platform, each artifact installed and loaded once.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::command::{self, make_dir};
use crate::env::{self, Missing, Node, Workspace};
use crate::kotlin;
use crate::node;
use crate::python::{self, Abi, Venv};
use crate::swift;

/// What can be published.
#[derive(Clone, Copy, PartialEq, Eq, clap::ValueEnum)]
pub(crate) enum Package {
    /// The wheels and the sources of the Python package.
    Python,
    /// The npm packages.
    Node,
    /// The jars, in a Maven repository.
    Kotlin,
    /// The Swift package with its native library.
    Swift,
}

impl Package {
    const ALL: [Self; 4] = [Self::Python, Self::Node, Self::Kotlin, Self::Swift];

    fn may_be_skipped(self) -> bool {
        matches!(self, Self::Kotlin | Self::Swift)
    }

    /// How the names of its artifacts end.
    fn endings(self) -> &'static [&'static str] {
        match self {
            Self::Python => &[".whl", ".tar.gz"],
            Self::Node => &[".tgz"],
            Self::Kotlin => &[".jar", ".pom"],
            Self::Swift => &[".zip"],
        }
    }
}

/// The folder of the Maven repository.
const MAVEN: &str = "maven";

/// Builds the chosen packages, or all. What the others left stays.
pub(crate) fn run(workspace: &Workspace, only: &[Package]) -> Result<()> {
    let out = workspace.target().join("dist");
    make_dir(&out)?;
    for package in Package::ALL {
        if !only.is_empty() && !only.contains(&package) {
            continue;
        }
        clear(&out, package)?;
        let outcome = match package {
            Package::Python => wheels(workspace, &out),
            Package::Node => npm_packages(workspace, &out),
            Package::Kotlin => jars(workspace, &out),
            Package::Swift => swift_package(workspace, &out),
        };
        match outcome {
            // Not every machine has a JDK and Swift.
            Err(error) if error.is::<Missing>() && package.may_be_skipped() && !workspace.ci => {
                println!("  skipped: {error:#}");
            }
            outcome => outcome?,
        }
    }
    println!("\n{}", out.display());
    let mut files = Vec::new();
    files_under(&out, &mut files)?;
    files.sort();
    for file in files {
        let size = file.metadata()?.len().div_ceil(1024);
        println!("  {size:>6} KiB  {}", file.strip_prefix(&out)?.display());
    }
    Ok(())
}

/// All files but the sums and lists that belong to them.
fn files_under(folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    const BESIDE: [&str; 4] = ["md5", "sha1", "sha256", "xml"];
    for entry in folder.read_dir()?.flatten() {
        let path = entry.path();
        if path.is_dir() {
            files_under(&path, files)?;
        } else if !path
            .extension()
            .is_some_and(|kind| BESIDE.iter().any(|beside| kind == *beside))
        {
            files.push(path);
        }
    }
    Ok(())
}

/// Removes what an earlier run made of it.
fn clear(out: &Path, package: Package) -> Result<()> {
    for entry in out.read_dir()?.flatten() {
        let name = entry.file_name().to_string_lossy().into_owned();
        if package.endings().iter().any(|ending| name.ends_with(ending)) {
            fs::remove_file(entry.path())?;
        }
    }
    Ok(())
}

fn wheels(workspace: &Workspace, out: &Path) -> Result<()> {
    let python = env::python()?;
    let venv = Venv::create(workspace, workspace.target().join("venv/dist"), &python)?;
    for abi in [Abi::Version, Abi::Stable] {
        let wheel = python::wheel(workspace, &python, abi)?;
        fs::copy(&wheel, out.join(wheel.file_name().context("a wheel has a name")?))?;
        ensure_clean(workspace, &venv, &wheel)?;
        venv.install_wheel(workspace, &wheel)?;
        load_python(workspace, &venv, out, &wheel)?;
    }

    let sources = out.join(format!("oxmcp-{}.tar.gz", env!("CARGO_PKG_VERSION")));
    let mut sdist = python::maturin(workspace, &python)?;
    sdist.args(["sdist", "--out"]).arg(out);
    command::step(workspace, "pack the Python sources", "sdist", &mut sdist)?;
    let mut pip = Command::new(venv.python());
    pip.args(["-m", "pip", "install", "--quiet", "--force-reinstall", "--no-deps"])
        .arg(&sources);
    // What the sources are built from is a copy, so that this build can't lean on the checkout.
    pip.env("CARGO_TARGET_DIR", workspace.state("sdist-target"));
    command::step(
        workspace,
        "build and install from the packed sources",
        "sdist-install",
        &mut pip,
    )?;
    load_python(workspace, &venv, out, &sources)
}

/// A wheel holds sources, types and the module, and nothing that tools left beside them.
fn ensure_clean(workspace: &Workspace, venv: &Venv, wheel: &Path) -> Result<()> {
    const STRAYS: &str = "import sys, zipfile; \
        kinds = ('.py', '.pyi', '.so', '.pyd', '/py.typed'); \
        names = zipfile.ZipFile(sys.argv[1]).namelist(); \
        print(*[name for name in names if '.dist-info/' not in name and not name.endswith(kinds)])";
    let mut list = Command::new(venv.python());
    list.args(["-c", STRAYS]).arg(wheel);
    let strays = command::succeed(workspace, "dist-wheel-files", &mut list)?;
    ensure!(
        strays.trim().is_empty(),
        "{} holds what is no part of the package: {}",
        wheel.display(),
        strays.trim()
    );
    Ok(())
}

fn load_python(workspace: &Workspace, venv: &Venv, out: &Path, artifact: &Path) -> Result<()> {
    let mut load = Command::new(venv.python());
    load.args(["-c", "import oxmcp; print(oxmcp.__version__)"])
        .current_dir(out);
    ensure_version(&command::succeed(workspace, "dist-python", &mut load)?, artifact)
}

fn npm_packages(workspace: &Workspace, out: &Path) -> Result<()> {
    let node = node::build(workspace)?;
    let package = workspace.path("bindings-node");
    let stage = workspace.state("npm");
    if stage.exists() {
        fs::remove_dir_all(&stage)?;
    }
    make_dir(&stage)?;
    for name in ["package.json", "README.md", "LICENSE-MIT", "LICENSE-APACHE"] {
        fs::copy(package.join(name), stage.join(name)).with_context(|| format!("cannot copy {name}"))?;
    }
    for folder in ["dist", "docs"] {
        copy_tree(&package.join(folder), &stage.join(folder))?;
    }

    let mut create = Command::new(&node.program);
    create
        .arg(package.join("node_modules/@napi-rs/cli/dist/cli.js"))
        .arg("create-npm-dirs")
        .current_dir(&stage);
    command::step(
        workspace,
        "lay out the package for this platform",
        "napi-create-npm-dirs",
        &mut create,
    )?;
    let mut licenses = Command::new(&node.program);
    licenses.arg(package.join("scripts/licenses.mjs")).arg(&stage);
    command::succeed(workspace, "npm-licenses", &mut licenses)?;
    let platform = stage.join("npm").join(&node.platform);
    let addon = node::addon_path(workspace, &node);
    ensure!(
        platform.is_dir(),
        "no npm package is planned for {}: see napi.targets in package.json",
        node.platform
    );
    fs::copy(
        &addon,
        platform.join(addon.file_name().context("the addon has a name")?),
    )?;
    // Only this platform's addon is here, so only its package is named. A release names all of them.
    let dependency = format!(
        "optionalDependencies.oxmcp-{}={}",
        node.platform,
        env!("CARGO_PKG_VERSION")
    );
    let mut set = env::npm();
    set.args(["pkg", "set", &dependency]).current_dir(&stage);
    command::succeed(workspace, "npm-pkg-set", &mut set)?;

    let packed = stage.join("packed");
    make_dir(&packed)?;
    for folder in [&platform, &stage] {
        let mut pack = env::npm();
        pack.args(["pack", "--pack-destination"])
            .arg(&packed)
            .current_dir(folder);
        command::step(workspace, "pack an npm package", "npm-pack", &mut pack)?;
    }
    let tarballs: Vec<PathBuf> = packed.read_dir()?.flatten().map(|entry| entry.path()).collect();
    load_packages(workspace, &node, &stage.join("load"), &tarballs)?;
    for tarball in tarballs {
        fs::copy(&tarball, out.join(tarball.file_name().context("a tarball has a name")?))?;
    }
    Ok(())
}

/// Installs the packed packages in an empty project and loads them both ways.
fn load_packages(workspace: &Workspace, node: &Node, project: &Path, tarballs: &[PathBuf]) -> Result<()> {
    make_dir(project)?;
    fs::write(project.join("package.json"), "{ \"private\": true }\n")?;
    let mut install = env::npm();
    // The packages of the other platforms are not published yet, and this one is given by name.
    install
        .args(["install", "--omit=optional", "--no-audit", "--no-fund"])
        .args(tarballs)
        .current_dir(project);
    command::step(
        workspace,
        "install the npm packages",
        "npm-install-packed",
        &mut install,
    )?;
    let ways = [
        ["--input-type=commonjs", "console.log(require('oxmcp').version)"],
        [
            "--input-type=module",
            "import { version } from 'oxmcp'; console.log(version)",
        ],
    ];
    for [kind, code] in ways {
        let mut load = Command::new(&node.program);
        load.args([kind, "--eval", code]).current_dir(project);
        ensure_version(&command::succeed(workspace, "dist-npm", &mut load)?, project)?;
    }
    Ok(())
}

fn jars(workspace: &Workspace, out: &Path) -> Result<()> {
    let repository = out.join(MAVEN);
    if repository.exists() {
        fs::remove_dir_all(&repository)?;
    }
    let jar = kotlin::jars(workspace, &repository)?;
    ensure_version(&kotlin::load_jar(workspace, &jar)?, &jar)
}

fn swift_package(workspace: &Workspace, out: &Path) -> Result<()> {
    let archive = swift::archive(workspace, out)?;
    ensure_version(&swift::load_archive(workspace, &archive)?, &archive)
}

/// Copies a folder, without what is hidden in it.
pub(crate) fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    make_dir(to)?;
    for entry in from
        .read_dir()
        .with_context(|| format!("cannot read {}", from.display()))?
    {
        let path = entry?.path();
        let name = path.file_name().context("an entry has a name")?;
        if path.is_dir() {
            copy_tree(&path, &to.join(name))?;
        } else if !name.to_string_lossy().starts_with('.') {
            fs::copy(&path, to.join(name))?;
        }
    }
    Ok(())
}

fn ensure_version(printed: &str, artifact: &Path) -> Result<()> {
    let wanted = env!("CARGO_PKG_VERSION");
    ensure!(
        printed.trim() == wanted,
        "{} loads as version {}, not {wanted}",
        artifact.display(),
        printed.trim()
    );
    Ok(())
}
