//! `cargo xtask codegen`: the protocol's types, from the JSON Schemas that the specification publishes.
//!
//! [`schema`] reads each revision into one [`model`], newest first; [`rust`] and [`describe`] write it out. What the
//! schemas leave open is in [`tables`], what the types say of themselves in [`words`]. The schemas are no part of the
//! workspace: the files made from them are committed, with a manifest by which they can be checked without.

mod describe;
mod manifest;
mod model;
mod rust;
mod schema;
mod tables;
mod words;

use std::collections::BTreeMap;
use std::fs;
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde_json::Value;

use crate::env::Workspace;
use manifest::Manifest;

/// Where the files go.
const OUTPUT: &str = "core/proto/src/types/generated";
/// The folder of schemas that is used where none is named.
const SCHEMAS: &str = "../shared/schema";
/// No generated file is longer, so that people can read them.
const MOST_LINES: usize = 800;

/// Makes the files, or checks those that are there. Returns what was done.
pub(crate) fn run(workspace: &Workspace, schemas: Option<PathBuf>, check: bool) -> Result<String> {
    let folder = schemas.clone().unwrap_or_else(|| workspace.path(SCHEMAS));
    ensure!(
        folder.is_dir() || (check && schemas.is_none()),
        "{} is no folder; name the one that holds REVISION/schema.json with --schemas",
        folder.display()
    );
    make(workspace, &folder, check)
}

fn make(workspace: &Workspace, schemas: &Path, check: bool) -> Result<String> {
    let output = workspace.path(OUTPUT);
    if !schemas.is_dir() {
        let count = Manifest::read(&output)?.verify(&output)?;
        return Ok(format!(
            "{count} generated files are as their manifest says; the schemas are not here"
        ));
    }
    let files = generate(schemas, &workspace.root)?;
    let count = files.len();
    if check {
        compare(&output, &files)?;
        return Ok(format!("{count} generated files are what the schemas make"));
    }
    write(&output, &files)?;
    Ok(format!("{count} files written to {OUTPUT}"))
}

/// What a check compares, for a line of a report.
pub(crate) fn check_title(workspace: &Workspace) -> &'static str {
    if workspace.path(SCHEMAS).is_dir() {
        "generated types are what the schemas make"
    } else {
        "generated types are as their manifest says"
    }
}

/// All files by name, the manifest among them.
fn generate(schemas: &Path, root: &Path) -> Result<BTreeMap<String, String>> {
    let mut reader = schema::Reader::default();
    for index in (0..tables::REVISIONS.len()).rev() {
        let path = schemas.join(tables::REVISIONS[index]).join("schema.json");
        let text = fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?;
        let schema: Value = serde_json::from_str(&text).with_context(|| format!("{} is no JSON", path.display()))?;
        reader.read(index, &schema)?;
    }
    let model = reader.finish()?;
    let mut files = BTreeMap::new();
    for (name, text) in rust::files(&model)? {
        let text = format(root, &text).with_context(|| format!("cannot format {name}"))?;
        files.insert(name, text);
    }
    files.insert("protocol.json".to_owned(), describe::file(&model)?);
    for (name, text) in &files {
        let lines = text.lines().count();
        ensure!(
            lines <= MOST_LINES,
            "{name} has {lines} lines, more than {MOST_LINES}: split its area in tables.rs"
        );
    }
    let manifest = Manifest::of(&files).text();
    files.insert(manifest::NAME.to_owned(), manifest);
    Ok(files)
}

/// Runs rustfmt with the workspace's settings.
fn format(root: &Path, text: &str) -> Result<String> {
    let mut rustfmt = Command::new("rustfmt")
        .args(["--edition", "2024", "--config-path"])
        .arg(root)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .context("cannot start rustfmt; `rustup component add rustfmt` installs it")?;
    rustfmt
        .stdin
        .take()
        .context("rustfmt has no input")?
        .write_all(text.as_bytes())?;
    let output = rustfmt.wait_with_output()?;
    ensure!(
        output.status.success(),
        "rustfmt: {}",
        String::from_utf8_lossy(&output.stderr)
    );
    Ok(String::from_utf8(output.stdout)?)
}

fn compare(output: &Path, files: &BTreeMap<String, String>) -> Result<()> {
    let found = manifest::names(output)?;
    let stray = found.iter().find(|name| !files.contains_key(*name));
    if let Some(name) = stray {
        bail!("{OUTPUT}/{name} is not generated any more; run `cargo xtask codegen`");
    }
    for (name, text) in files {
        let committed = fs::read_to_string(output.join(name)).unwrap_or_default();
        if committed != *text {
            let line = committed.lines().zip(text.lines()).position(|(old, new)| old != new);
            let line = line.unwrap_or_else(|| committed.lines().count().min(text.lines().count())) + 1;
            bail!(
                "{OUTPUT}/{name} differs from what the schemas make, first in line {line}; run `cargo xtask codegen`"
            );
        }
    }
    Ok(())
}

fn write(output: &Path, files: &BTreeMap<String, String>) -> Result<()> {
    fs::create_dir_all(output)?;
    for name in manifest::names(output)? {
        if !files.contains_key(&name) {
            fs::remove_file(output.join(&name))?;
        }
    }
    for (name, text) in files {
        let path = output.join(name);
        if fs::read_to_string(&path).is_ok_and(|old| old == *text) {
            continue;
        }
        fs::write(&path, text).with_context(|| format!("cannot write {}", path.display()))?;
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let folder = std::env::temp_dir().join(format!("xtask-codegen-{name}-{}", std::process::id()));
        drop(fs::remove_dir_all(&folder));
        fs::create_dir_all(&folder).unwrap();
        folder
    }

    #[test]
    fn drift_is_found_by_name_and_line() {
        let output = folder("drift");
        let mut files = BTreeMap::from([("a.rs".to_owned(), "1\n2\n".to_owned())]);
        write(&output, &files).unwrap();
        compare(&output, &files).unwrap();

        files.insert("a.rs".to_owned(), "1\n3\n".to_owned());
        let error = compare(&output, &files).unwrap_err().to_string();
        assert!(error.contains("a.rs differs") && error.contains("line 2"), "{error}");

        fs::write(output.join("b.rs"), "").unwrap();
        let error = compare(&output, &files).unwrap_err().to_string();
        assert!(error.contains("b.rs is not generated any more"), "{error}");
        write(&output, &files).unwrap();
        compare(&output, &files).unwrap();
        fs::remove_dir_all(output).unwrap();
    }

    #[test]
    fn a_folder_that_was_named_has_to_be_there() {
        let workspace = Workspace::find().unwrap();
        for check in [true, false] {
            let error = run(&workspace, Some("nowhere".into()), check).unwrap_err().to_string();
            assert!(error.contains("nowhere is no folder"), "{error}");
        }
    }

    #[test]
    fn the_committed_files_are_as_their_manifest_says() {
        let said = make(&Workspace::find().unwrap(), Path::new("nowhere"), true).unwrap();
        assert!(
            said.ends_with("generated files are as their manifest says; the schemas are not here"),
            "{said}"
        );
    }
}
