//! What this machine has: the workspace, the Pythons and the Node.

use std::env;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result};

/// The oldest and the newest minor version of Python 3 that is supported.
const PYTHON_MINORS: std::ops::RangeInclusive<u32> = 10..=14;
/// The first minor version of Python 3 whose builds without the interpreter's lock are supported, as 3.14t is.
const FREE_THREADED_MINOR: u32 = 14;
/// The oldest supported major version of Node.
const NODE_MAJOR: u32 = 20;

/// The checkout.
pub(crate) struct Workspace {
    /// Its top folder.
    pub(crate) root: PathBuf,
    /// Whether a CI service runs this, where a missing tool is a failure and not a skip.
    pub(crate) ci: bool,
}

impl Workspace {
    pub(crate) fn find() -> Result<Self> {
        let here = Path::new(env!("CARGO_MANIFEST_DIR"));
        let root = here.parent().context("xtask lies in no workspace")?.to_path_buf();
        Ok(Self {
            root,
            ci: env::var("CI").is_ok_and(|value| value == "true" || value == "1"),
        })
    }

    pub(crate) fn path(&self, relative: &str) -> PathBuf {
        self.root.join(relative)
    }

    /// Where Cargo puts what it builds.
    pub(crate) fn target(&self) -> PathBuf {
        env::var_os("CARGO_TARGET_DIR").map_or_else(|| self.path("target"), |dir| self.root.join(dir))
    }

    /// A folder for our own state, beside what Cargo builds.
    pub(crate) fn state(&self, name: &str) -> PathBuf {
        self.target().join("xtask").join(name)
    }

    /// A folder that outlives `target`: whatever is in it can be made again.
    pub(crate) fn cache(&self, name: &str) -> PathBuf {
        let home = env::var_os("HOME").or_else(|| env::var_os("USERPROFILE"));
        home.map_or_else(|| self.state("cache"), |home| Path::new(&home).join(".cache/oxmcp"))
            .join(name)
    }
}

/// A tool that is not there, or too old. Its message says how to get it.
#[derive(Debug)]
pub(crate) struct Missing(String);

impl Missing {
    pub(crate) fn new(what: impl Into<String>) -> Self {
        Self(what.into())
    }
}

impl fmt::Display for Missing {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Missing {}

/// A version of Python, as far as wheels tell them apart.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct PythonVersion {
    /// 11 for Python 3.11.
    pub(crate) minor: u32,
    /// It was built without the interpreter's lock.
    pub(crate) free_threaded: bool,
}

impl PythonVersion {
    /// All that are supported, oldest first.
    pub(crate) fn supported() -> impl Iterator<Item = Self> {
        let of = |free_threaded| move |minor| Self { minor, free_threaded };
        let free_threaded = FREE_THREADED_MINOR..=*PYTHON_MINORS.end();
        PYTHON_MINORS.map(of(false)).chain(free_threaded.map(of(true)))
    }

    fn is_supported(self) -> bool {
        Self::supported().any(|version| version == self)
    }
}

/// `3.11` or `3.14t`, as people write it.
impl fmt::Display for PythonVersion {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "3.{}{}", self.minor, if self.free_threaded { "t" } else { "" })
    }
}

/// An interpreter that can make virtual environments.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Python {
    /// The interpreter itself, past any shim.
    pub(crate) program: PathBuf,
    /// Which one it is.
    pub(crate) version: PythonVersion,
}

impl Python {
    /// `3.11`, as people write it.
    pub(crate) fn version(&self) -> String {
        self.version.to_string()
    }
}

/// The Python that builds and tests: the one the variable `PYTHON` names, else `python3`, else the newest supported one.
pub(crate) fn python() -> Result<Python> {
    if let Some(chosen) = env::var_os("PYTHON") {
        let python = probe_python(Path::new(&chosen));
        return python.with_context(|| {
            let chosen = chosen.to_string_lossy();
            format!("PYTHON={chosen} is no Python 3.10 to 3.14 with the modules venv and ensurepip")
        });
    }
    ["python3", "python"]
        .iter()
        .find_map(|name| probe_python(Path::new(name)))
        .or_else(|| pythons().into_iter().rfind(|python| !python.version.free_threaded))
        .ok_or_else(|| {
            Missing(
                "no Python 3.10 to 3.14 with the modules venv and ensurepip was found; install one \
                 (on Debian: apt-get install python3 python3-venv) or name it in the variable PYTHON"
                    .to_owned(),
            )
            .into()
        })
}

/// One interpreter of each supported version that is on `PATH` or installed by pyenv, oldest first.
pub(crate) fn pythons() -> Vec<Python> {
    PythonVersion::supported().filter_map(find_python).collect()
}

fn find_python(version: PythonVersion) -> Option<Python> {
    let mut candidates = vec![PathBuf::from(format!("python{version}"))];
    let pyenv = env::var_os("PYENV_ROOT").map(PathBuf::from);
    let pyenv = pyenv.or_else(|| env::var_os("HOME").map(|home| Path::new(&home).join(".pyenv")));
    if let Some(versions) = pyenv.and_then(|root| root.join("versions").read_dir().ok()) {
        let prefix = format!("3.{}.", version.minor);
        let installed = versions
            .flatten()
            .filter(|entry| entry.file_name().to_string_lossy().starts_with(&prefix));
        candidates.extend(installed.map(|entry| entry.path().join("bin/python3")));
    }
    candidates
        .iter()
        .filter_map(|path| probe_python(path))
        .find(|python| python.version == version)
}

fn probe_python(path: &Path) -> Option<Python> {
    const PROBE: &str = "import sys, sysconfig, venv, ensurepip; \
        is_free = int(bool(sysconfig.get_config_var('Py_GIL_DISABLED'))); \
        print(sys.version_info[0], sys.version_info[1], is_free, sys.executable)";
    let output = Command::new(path)
        .args(["-c", PROBE])
        .stderr(Stdio::null())
        .output()
        .ok()?;
    let text = String::from_utf8(output.stdout).ok()?;
    let mut words = text.trim().splitn(4, ' ');
    let (major, minor) = (words.next()?, words.next()?.parse().ok()?);
    let free_threaded = words.next()? == "1";
    let program = PathBuf::from(words.next()?);
    let version = PythonVersion { minor, free_threaded };
    (output.status.success() && major == "3" && version.is_supported()).then_some(Python { program, version })
}

/// Node on `PATH`, with what its version and platform decide.
pub(crate) struct Node {
    /// The program itself.
    pub(crate) program: PathBuf,
    /// The platform as npm packages name it, such as `linux-x64-gnu`.
    pub(crate) platform: String,
}

pub(crate) fn node() -> Result<Node> {
    const PROBE: &str = "const { platform, arch, execPath, versions, report } = process;
        const libc = platform === 'linux' ? (report.getReport().header.glibcVersionRuntime ? '-gnu' : '-musl') : '';
        console.log(versions.node, `${platform}-${arch}${platform === 'win32' ? '-msvc' : libc}`, execPath)";
    let missing = |found: &str| {
        Missing(format!(
            "Node {NODE_MAJOR} or newer is needed on PATH, {found}; install it, npm comes with it"
        ))
    };
    let output = Command::new("node").args(["-e", PROBE]).stderr(Stdio::null()).output();
    let output = output.map_err(|_| missing("none was found"))?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    let mut words = text.trim().splitn(3, ' ');
    let (Some(version), Some(platform), Some(program)) = (words.next(), words.next(), words.next()) else {
        return Err(missing("the one there does not run").into());
    };
    let major: u32 = version
        .split('.')
        .next()
        .and_then(|major| major.parse().ok())
        .unwrap_or(0);
    if major < NODE_MAJOR {
        return Err(missing(&format!("found {version}")).into());
    }
    Ok(Node {
        program: program.into(),
        platform: platform.to_owned(),
    })
}

/// The programs that the tests of several server processes start, with the Debian packages they are in.
const SERVERS: [(&str, &str); 2] = [("redis-server", "redis-server"), ("nginx", "nginx-light")];

/// Sees to it that a Redis server and nginx can be started: installs them where that can be done without asking.
pub(crate) fn servers() -> Result<()> {
    if !cfg!(target_os = "linux") {
        return Err(Missing::new("the tests of several server processes run on Linux only").into());
    }
    let missing = || {
        let absent = SERVERS.iter().filter(|(program, _)| !runs(program, &["-v"]));
        absent.map(|(_, package)| *package).collect::<Vec<_>>()
    };
    let packages = missing();
    if !packages.is_empty() && runs("apt-get", &["--version"]) && is_root() {
        println!("  installing {}", packages.join(" and "));
        let mut install = Command::new("apt-get");
        install
            .args(["install", "-y", "-qq", "--no-install-recommends"])
            .args(&packages);
        install.env("DEBIAN_FRONTEND", "noninteractive").stdout(Stdio::null());
        // Whether it worked is seen below.
        let _ = install.status();
    }
    let packages = missing();
    if packages.is_empty() {
        return Ok(());
    }
    let packages = packages.join(" ");
    Err(Missing::new(format!(
        "the tests of several server processes need a Redis server and nginx on PATH (on Debian: apt-get install {packages})"
    ))
    .into())
}

fn runs(program: &str, args: &[&str]) -> bool {
    let mut command = Command::new(program);
    command
        .args(args)
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    command.status().is_ok_and(|status| status.success())
}

fn is_root() -> bool {
    let output = Command::new("id").arg("-u").output();
    output.is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}

/// npm, whose name ends in `.cmd` on Windows.
pub(crate) fn npm() -> Command {
    Command::new(if cfg!(windows) { "npm.cmd" } else { "npm" })
}
