//! What has to agree across files: lock files, versions, licences.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::codegen;
use crate::command;
use crate::env::Workspace;
use crate::summary::Report;

/// This crate's version is the workspace's.
const VERSION: &str = env!("CARGO_PKG_VERSION");
/// Folders with a package that is published on its own and so carries the licences itself.
const PACKAGES: [&str; 2] = ["bindings-python", "bindings-node"];

pub(crate) fn run(workspace: &Workspace, report: &mut Report) -> Result<()> {
    report.program("Cargo.lock is up to date", || {
        let mut metadata = Command::new("cargo");
        metadata
            .args(["metadata", "--locked", "--format-version", "1"])
            .current_dir(&workspace.root);
        command::capture(workspace, "cargo-metadata", &mut metadata)
    });
    report.check("one version everywhere", || versions(workspace));
    report.check("the POMs have that version", || poms(workspace));
    report.check("npm lock files name no registry", || npm_locks(workspace));
    report.check("every package carries the licences", || licences(workspace));
    report.check(codegen::check_title(workspace), || {
        codegen::run(workspace, None, true).map(drop)
    });
    Ok(())
}

fn versions(workspace: &Workspace) -> Result<()> {
    let manifest = read(&workspace.path("Cargo.toml"))?;
    for name in ["oxmcp", "oxmcp-proto"] {
        let line = manifest.lines().find(|line| line.starts_with(&format!("{name} = ")));
        let line = line.with_context(|| format!("Cargo.toml has no {name} in [workspace.dependencies]"))?;
        ensure!(
            line.contains(&format!("version = \"{VERSION}\"")),
            "Cargo.toml: `{line}` should have version {VERSION}"
        );
    }
    let package = json(&workspace.path("bindings-node/package.json"))?;
    let lock = json(&workspace.path("bindings-node/package-lock.json"))?;
    let found = [
        ("package.json", &package["version"]),
        ("package-lock.json", &lock["version"]),
        ("package-lock.json, packages", &lock["packages"][""]["version"]),
    ];
    for (file, version) in found {
        ensure!(
            version == VERSION,
            "bindings-node/{file} has version {version}, the workspace has {VERSION}"
        );
    }
    Ok(())
}

/// The POMs of Maven say the version themselves; a module names that of the package, too.
fn poms(workspace: &Workspace) -> Result<()> {
    let outside = [
        "../../examples/kotlin/",
        "../../tests/conformance/kotlin/",
        "../../benchmarks/subjects/kotlin/",
    ];
    for pom in ["", "all/", "interop/"].into_iter().chain(outside) {
        let pom = workspace.path(&format!("bindings-uniffi/kotlin/{pom}pom.xml"));
        let text = read(&pom)?;
        let ours = text.matches("<groupId>dev.oxmcp</groupId>").count();
        let versions = text.matches(&format!("<version>{VERSION}</version>")).count();
        ensure!(
            ours > 0 && versions >= ours,
            "{} should have version {VERSION}",
            pom.display()
        );
    }
    Ok(())
}

/// A host in a lock file ties everyone to the registry of whoever wrote it last.
fn npm_locks(workspace: &Workspace) -> Result<()> {
    let mut locks = Vec::new();
    find(&workspace.root, "package-lock.json", &mut locks)?;
    ensure!(!locks.is_empty(), "no package-lock.json was found");
    for lock in locks {
        let value = json(&lock)?;
        let packages = value["packages"]
            .as_object()
            .with_context(|| format!("{}: no packages", lock.display()))?;
        for (name, package) in packages {
            let resolved = package["resolved"].as_str().unwrap_or_default();
            if resolved.contains("://") {
                bail!(
                    "{}: `{name}` names a registry; write the file with npm's option omit-lockfile-registry-resolved",
                    lock.display()
                );
            }
        }
    }
    Ok(())
}

fn licences(workspace: &Workspace) -> Result<()> {
    for file in ["LICENSE-MIT", "LICENSE-APACHE"] {
        let ours = read(&workspace.path(file))?;
        for package in PACKAGES {
            let copy = workspace.path(package).join(file);
            ensure!(read(&copy)? == ours, "{} should be a copy of {file}", copy.display());
        }
    }
    Ok(())
}

/// Every file of that name outside what is built or installed.
pub(crate) fn find(folder: &Path, suffix: &str, found: &mut Vec<PathBuf>) -> Result<()> {
    for entry in folder
        .read_dir()
        .with_context(|| format!("cannot read {}", folder.display()))?
    {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        let hidden = name.starts_with('.') && name != ".github";
        if path.is_dir() && !path.is_symlink() {
            if !hidden && !["target", "node_modules", "dist", "test-dist"].contains(&name.as_ref()) {
                find(&path, suffix, found)?;
            }
        } else if name.ends_with(suffix) {
            found.push(path);
        }
    }
    found.sort();
    Ok(())
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

fn json(path: &Path) -> Result<Value> {
    let text = read(path)?;
    serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))
}
