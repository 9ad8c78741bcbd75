//! The sources that `UniFFI` writes for Kotlin and Swift: committed, and compared with what its generator writes.

use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};

use crate::env::Workspace;
use crate::inputs::Stamp;
use crate::{command, swift};

/// A language that the generator writes.
#[derive(Clone, Copy)]
pub(crate) enum Language {
    Kotlin,
    Swift,
}

impl Language {
    const ALL: [Self; 2] = [Self::Kotlin, Self::Swift];

    const fn name(self) -> &'static str {
        match self {
            Self::Kotlin => "kotlin",
            Self::Swift => "swift",
        }
    }

    /// Where its generated files lie.
    const fn folder(self) -> &'static str {
        match self {
            Self::Kotlin => "bindings-uniffi/kotlin/src/main/generated",
            Self::Swift => "bindings-uniffi/swift/oxmcp/Generated",
        }
    }
}

/// `cargo xtask bindgen`: writes the sources, or says whether they are what would be written.
pub(crate) fn run(workspace: &Workspace, check_only: bool) -> Result<()> {
    let library = library(workspace)?;
    for language in Language::ALL {
        if check_only {
            check(workspace, language, &library)?;
        } else {
            generate(workspace, language, &library, &workspace.path(language.folder()))?;
        }
    }
    Ok(())
}

/// Builds the native library, with the symbols that the generator reads.
pub(crate) fn library(workspace: &Workspace) -> Result<PathBuf> {
    let mut cargo = command::cargo(workspace, "build");
    cargo.args(["--release", "--package", "oxmcp-uniffi"]);
    command::step(
        workspace,
        "build the library for Kotlin and Swift",
        "uniffi",
        &mut cargo,
    )?;
    let name = format!(
        "{}oxmcp_uniffi{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let library = workspace.target().join("release").join(name);
    ensure!(library.is_file(), "{} was not built", library.display());
    Ok(library)
}

/// Fails if the committed files are not what the generator writes.
pub(crate) fn check(workspace: &Workspace, language: Language, library: &Path) -> Result<()> {
    let fresh = workspace.state("bindgen").join(language.name());
    if fresh.exists() {
        fs::remove_dir_all(&fresh)?;
    }
    generate(workspace, language, library, &fresh)?;
    let committed = workspace.path(language.folder());
    let mut files = Vec::new();
    list(&fresh, &fresh, &mut files)?;
    ensure!(!files.is_empty(), "the generator wrote nothing");
    let mut known = Vec::new();
    list(&committed, &committed, &mut known)?;
    ensure!(
        files == known,
        "{}: the generator writes {files:?}, there is {known:?}; run `cargo xtask bindgen`",
        language.folder()
    );
    for file in files {
        let same = fs::read(fresh.join(&file))? == fs::read(committed.join(&file))?;
        ensure!(
            same,
            "{}/{} is not what the generator writes; run `cargo xtask bindgen`",
            language.folder(),
            file.display()
        );
    }
    Ok(())
}

fn generate(workspace: &Workspace, language: Language, library: &Path, folder: &Path) -> Result<()> {
    let mut bindgen = Command::new(generator(workspace)?);
    bindgen
        .arg("generate")
        .arg(library)
        .args(["--language", language.name(), "--no-format", "--config"])
        .arg(workspace.path("bindings-uniffi/uniffi.toml"))
        .arg("--out-dir")
        .arg(folder);
    command::succeed(workspace, &format!("bindgen-{}", language.name()), &mut bindgen)?;
    match language {
        Language::Kotlin => Ok(()),
        Language::Swift => swift::lay_out(folder),
    }
}

/// The generator takes minutes to build and changes with its version alone, so it is kept outside `target`.
fn generator(workspace: &Workspace) -> Result<PathBuf> {
    let lock = fs::read_to_string(workspace.path("Cargo.lock"))?;
    let version = version(&lock, "uniffi_bindgen").context("Cargo.lock names no uniffi_bindgen")?;
    let sources = workspace.path("bindings-uniffi/bindgen");
    let stamp = Stamp::of(PathBuf::from("unused"), &[sources], &[version])?;
    let folder = workspace.cache("bindgen").join(stamp.digest());
    let program = folder.join(format!("oxmcp-bindgen{}", std::env::consts::EXE_SUFFIX));
    if program.is_file() {
        return Ok(program);
    }
    let target = workspace.target().join("bindgen");
    let mut cargo = command::cargo(workspace, "build");
    cargo
        .args(["--package", "oxmcp-bindgen", "--target-dir"])
        .arg(&target)
        .env("CARGO_PROFILE_DEV_DEBUG", "0");
    command::step(
        workspace,
        "build the generator of Kotlin and Swift",
        "bindgen",
        &mut cargo,
    )?;
    command::make_dir(&folder)?;
    let built = target
        .join("debug")
        .join(program.file_name().unwrap_or(OsStr::new("oxmcp-bindgen")));
    // Whole or not at all, should two runs build it at once.
    let half = program.with_extension(format!("{}", std::process::id()));
    fs::copy(&built, &half).with_context(|| format!("cannot copy {}", built.display()))?;
    fs::rename(&half, &program)?;
    fs::remove_dir_all(&target)?;
    Ok(program)
}

/// The version that a lock file has of a package.
fn version<'a>(lock: &'a str, package: &str) -> Option<&'a str> {
    let (_, after) = lock.split_once(&format!("name = \"{package}\"\nversion = \""))?;
    after.split('"').next()
}

/// The files under a folder, by their paths in it, in order.
fn list(folder: &Path, top: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    let entries = folder
        .read_dir()
        .with_context(|| format!("cannot read {}", folder.display()))?;
    for entry in entries {
        let path = entry?.path();
        if path.is_dir() {
            list(&path, top, files)?;
        } else if let Ok(inside) = path.strip_prefix(top) {
            files.push(inside.to_path_buf());
        } else {
            bail!("{} is not in {}", path.display(), top.display());
        }
    }
    files.sort();
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_version_is_read_out_of_a_lock_file() {
        let lock = "[[package]]\nname = \"a\"\nversion = \"1.0\"\n\n[[package]]\nname = \"b\"\nversion = \"2.3\"\nsource = \"x\"\n";
        assert_eq!(version(lock, "b"), Some("2.3"));
        assert_eq!(version(lock, "c"), None);
    }
}
