//! Virtual environments with the Python package in them.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::command::{self, make_dir};
use crate::env::{Python, Workspace};
use crate::inputs::Stamp;

/// What builds the wheels.
const MATURIN: &str = "maturin==1.16.0";

/// A virtual environment.
pub(crate) struct Venv {
    /// Its folder.
    pub(crate) folder: PathBuf,
}

impl Venv {
    /// The interpreter in it.
    pub(crate) fn python(&self) -> PathBuf {
        self.program("python")
    }

    /// A program installed in it.
    pub(crate) fn program(&self, name: &str) -> PathBuf {
        if cfg!(windows) {
            self.folder.join("Scripts").join(format!("{name}.exe"))
        } else {
            self.folder.join("bin").join(name)
        }
    }

    /// Makes the environment, unless a working one is there.
    pub(crate) fn create(workspace: &Workspace, folder: PathBuf, python: &Python) -> Result<Self> {
        let venv = Self { folder };
        let works = Command::new(venv.python()).args(["-c", "import pip"]).output();
        if !works.is_ok_and(|output| output.status.success()) {
            if venv.folder.exists() {
                fs::remove_dir_all(&venv.folder)?;
            }
            let title = format!("make a virtual environment of Python {}", python.version());
            let mut make = Command::new(&python.program);
            make.args(["-m", "venv"]).arg(&venv.folder);
            command::step(workspace, &title, &format!("venv-{}", python.version()), &mut make)?;
        }
        Ok(venv)
    }

    /// `pip install` with these arguments.
    pub(crate) fn pip_install(&self, workspace: &Workspace, title: &str, args: &[&Path]) -> Result<()> {
        let mut pip = Command::new(self.python());
        pip.args(["-m", "pip", "install", "--quiet", "--disable-pip-version-check"])
            .args(args);
        let name = format!("pip-{}", self.folder.file_name().unwrap_or_default().to_string_lossy());
        command::step(workspace, title, &name, &mut pip)
    }

    /// Installs a wheel of ours, unless this very file is installed.
    pub(crate) fn install_wheel(&self, workspace: &Workspace, wheel: &Path) -> Result<()> {
        let stamp = Stamp::of(self.folder.join("stamp-wheel"), &[wheel.to_path_buf()], &[])?;
        if stamp.is_fresh() {
            return Ok(());
        }
        let name = wheel.file_name().unwrap_or_default().to_string_lossy();
        // The version does not change with every build, so pip has to be told to replace what is there.
        let replace = [Path::new("--force-reinstall"), Path::new("--no-deps"), wheel];
        self.pip_install(workspace, &format!("install {name}"), &replace)?;
        self.pip_install(workspace, "install what it depends on", &[wheel])?;
        stamp.save()
    }

    /// Installs a requirements file, unless it is installed as it stands.
    pub(crate) fn install_requirements(&self, workspace: &Workspace, file: &Path) -> Result<()> {
        let name = file
            .strip_prefix(&workspace.root)
            .unwrap_or(file)
            .to_string_lossy()
            .replace(['/', '\\'], "-");
        let stamp = Stamp::of(self.folder.join(format!("stamp-{name}")), &[file.to_path_buf()], &[])?;
        if stamp.is_fresh() {
            return Ok(());
        }
        let version = self.folder.file_name().unwrap_or_default().to_string_lossy();
        let title = format!("install {name} ({version})");
        self.pip_install(workspace, &title, &[Path::new("--requirement"), file])?;
        stamp.save()
    }
}

/// Which wheel to build.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Abi {
    /// For one version of Python.
    Version,
    /// For every version from 3.10 on.
    Stable,
}

/// The environment of this Python with the package in it, as a release build for this very version.
pub(crate) fn install(workspace: &Workspace, python: &Python) -> Result<Venv> {
    let wheel = wheel(workspace, python, Abi::Version)?;
    install_wheel(workspace, python, &wheel)
}

/// The environment of this Python with that wheel in it.
pub(crate) fn install_wheel(workspace: &Workspace, python: &Python, wheel: &Path) -> Result<Venv> {
    let folder = workspace.target().join("venv").join(format!("py{}", python.version()));
    let venv = Venv::create(workspace, folder, python)?;
    venv.install_wheel(workspace, wheel)?;
    Ok(venv)
}

/// A release wheel, built unless its sources are those of the last one.
pub(crate) fn wheel(workspace: &Workspace, python: &Python, abi: Abi) -> Result<PathBuf> {
    let tag = match abi {
        Abi::Version => format!("cp{}", python.version().replace('.', "")),
        Abi::Stable => "abi3".to_owned(),
    };
    let folder = workspace.state("wheels").join(&tag);
    let program = python.program.to_string_lossy();
    let stamp = Stamp::of(
        folder.join("stamp"),
        &sources(workspace),
        &[MATURIN, &program, &rustc_version()?],
    )?;
    if stamp.is_fresh() {
        return only_wheel(&folder);
    }
    if folder.exists() {
        fs::remove_dir_all(&folder)?;
    }
    let mut build = maturin(workspace, python)?;
    build.args(["build", "--release", "--out"]).arg(make_dir(&folder)?);
    build.arg("--interpreter").arg(&python.program);
    if abi == Abi::Stable {
        build.args(["--features", "abi3"]);
    }
    if workspace.ci {
        build.arg("--locked");
    }
    command::step(
        workspace,
        &format!("build the {tag} wheel"),
        &format!("wheel-{tag}"),
        &mut build,
    )?;
    stamp.save()?;
    only_wheel(&folder)
}

/// Maturin, ready for a subcommand, in the folder of the Python package.
pub(crate) fn maturin(workspace: &Workspace, python: &Python) -> Result<Command> {
    let venv = Venv::create(workspace, workspace.target().join("venv").join("tools"), python)?;
    let stamp = Stamp::of(venv.folder.join("stamp-maturin"), &[], &[MATURIN])?;
    if !stamp.is_fresh() {
        venv.pip_install(workspace, "install maturin", &[Path::new(MATURIN)])?;
        stamp.save()?;
    }
    let mut maturin = Command::new(venv.program("maturin"));
    maturin.current_dir(workspace.path("bindings-python"));
    Ok(maturin)
}

fn sources(workspace: &Workspace) -> Vec<PathBuf> {
    let package = ["src", "python", "build.rs", "Cargo.toml", "pyproject.toml", "README.md"];
    let package = package.iter().map(|path| workspace.path("bindings-python").join(path));
    let core = ["Cargo.toml", "Cargo.lock", "core"];
    core.iter().map(|path| workspace.path(path)).chain(package).collect()
}

/// The compiler decides what comes out as much as the sources do.
pub(crate) fn rustc_version() -> Result<String> {
    let output = Command::new("rustc")
        .arg("--version")
        .output()
        .context("cannot run `rustc --version`")?;
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_owned())
}

fn only_wheel(folder: &Path) -> Result<PathBuf> {
    let files = folder
        .read_dir()
        .with_context(|| format!("cannot read {}", folder.display()))?;
    let mut wheels: Vec<PathBuf> = files.flatten().map(|entry| entry.path()).collect();
    wheels.retain(|path| path.extension().is_some_and(|extension| extension == "whl"));
    match wheels.as_slice() {
        [wheel] => Ok(wheel.clone()),
        _ => bail!(
            "{} should hold one wheel and holds {}; remove that folder",
            folder.display(),
            wheels.len()
        ),
    }
}
