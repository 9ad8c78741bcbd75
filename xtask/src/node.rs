//! The npm package in the checkout: its dependencies, its native addon and its compiled sources.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::command::{self, make_dir};
use crate::env::{self, Node, Workspace};
use crate::inputs::Stamp;
use crate::python::rustc_version;

/// Builds what changed, and says which Node it is for.
pub(crate) fn build(workspace: &Workspace) -> Result<Node> {
    let node = env::node()?;
    build_addon(workspace, &node)?;
    install_packages(workspace, &workspace.path("bindings-node"))?;
    let build = Script {
        file: "scripts/build.mjs",
        arguments: &[],
    };
    compile(workspace, &node, &build, "ts", "dist")?;
    Ok(node)
}

/// Compiles the package's tests, against the declarations that its users see.
pub(crate) fn compile_tests(workspace: &Workspace, node: &Node) -> Result<()> {
    let tsc = Script {
        file: "node_modules/typescript/bin/tsc",
        arguments: &["--project", "tsconfig.test.json"],
    };
    compile(workspace, node, &tsc, "test", "test-dist")
}

/// What makes JavaScript of TypeScript.
struct Script {
    file: &'static str,
    arguments: &'static [&'static str],
}

/// `npm ci` in a folder, unless its lock file is installed as it stands.
pub(crate) fn install_packages(workspace: &Workspace, folder: &Path) -> Result<()> {
    let name = folder
        .strip_prefix(&workspace.root)
        .unwrap_or(folder)
        .to_string_lossy()
        .replace('\\', "/");
    let inputs = [folder.join("package.json"), folder.join("package-lock.json")];
    let stamp = Stamp::of(folder.join("node_modules/.stamp"), &inputs, &[])?;
    if stamp.is_fresh() {
        return Ok(());
    }
    let mut npm = env::npm();
    npm.args(["ci", "--no-audit", "--no-fund"]).current_dir(folder);
    command::step(
        workspace,
        &format!("npm ci in {name}"),
        &format!("npm-{}", name.replace('/', "-")),
        &mut npm,
    )?;
    stamp.save()
}

/// Compiles one folder of the package, unless its sources are those of the last time.
fn compile(workspace: &Workspace, node: &Node, script: &Script, source: &str, out: &str) -> Result<()> {
    let folder = workspace.path("bindings-node");
    // The tests depend on the package's own sources as well.
    let inputs = [
        source,
        "ts",
        "scripts",
        "tsconfig.json",
        "tsconfig.test.json",
        "package.json",
        "package-lock.json",
    ];
    let inputs = inputs.map(|path| folder.join(path));
    let out = folder.join(out);
    let stamp = Stamp::of(out.join(".stamp"), &inputs, &[])?;
    if stamp.is_fresh() {
        return Ok(());
    }
    if out.exists() {
        fs::remove_dir_all(&out)?;
    }
    let mut compiler = Command::new(&node.program);
    compiler
        .arg(folder.join(script.file))
        .args(script.arguments)
        .current_dir(&folder);
    command::step(
        workspace,
        &format!("compile bindings-node/{source}"),
        &format!("tsc-{source}"),
        &mut compiler,
    )?;
    stamp.save()
}

/// Makes `import 'oxmcp'` work from a folder: the checkout's package, as a link in its `node_modules`.
pub(crate) fn link_package(workspace: &Workspace, folder: &Path) -> Result<()> {
    let modules = folder.join("node_modules");
    let link = modules.join("oxmcp");
    make_dir(&modules)?;
    let package = workspace.path("bindings-node");
    if fs::canonicalize(&link).is_ok_and(|found| fs::canonicalize(&package).is_ok_and(|wanted| wanted == found)) {
        return Ok(());
    }
    if link.symlink_metadata().is_ok() {
        fs::remove_file(&link).or_else(|_| fs::remove_dir_all(&link))?;
    }
    symlink(&package, &link).with_context(|| format!("cannot make the link {}", link.display()))
}

#[cfg(unix)]
fn symlink(package: &Path, link: &Path) -> std::io::Result<()> {
    std::os::unix::fs::symlink(package, link)
}

#[cfg(windows)]
fn symlink(package: &Path, link: &Path) -> std::io::Result<()> {
    std::os::windows::fs::symlink_dir(package, link)
}

/// The addon in the checkout: `bindings-node/native/oxmcp.PLATFORM.node`.
pub(crate) fn addon_path(workspace: &Workspace, node: &Node) -> PathBuf {
    workspace
        .path("bindings-node/native")
        .join(format!("oxmcp.{}.node", node.platform))
}

fn build_addon(workspace: &Workspace, node: &Node) -> Result<()> {
    let addon = addon_path(workspace, node);
    let inputs = [
        "Cargo.toml",
        "Cargo.lock",
        "core",
        "bindings-node/Cargo.toml",
        "bindings-node/build.rs",
        "bindings-node/src",
    ];
    let inputs: Vec<PathBuf> = inputs.iter().map(|path| workspace.path(path)).collect();
    let stamp = Stamp::of(
        workspace.state("addon-stamp"),
        &inputs,
        &[&node.platform, &rustc_version()?],
    )?;
    if stamp.is_fresh() && addon.exists() {
        return Ok(());
    }
    let mut cargo = command::cargo(workspace, "build");
    cargo.args(["--release", "--package", "oxmcp-node"]);
    command::step(workspace, "build the addon for Node", "addon", &mut cargo)?;
    make_dir(&workspace.path("bindings-node/native"))?;
    let name = format!(
        "{}oxmcp_node{}",
        std::env::consts::DLL_PREFIX,
        std::env::consts::DLL_SUFFIX
    );
    let built = workspace.target().join("release").join(name);
    // A running Node may have the old file mapped: replace it, never write into it.
    let fresh = addon.with_extension("new");
    fs::copy(&built, &fresh).with_context(|| format!("cannot copy {}", built.display()))?;
    fs::rename(&fresh, &addon)?;
    stamp.save()
}
