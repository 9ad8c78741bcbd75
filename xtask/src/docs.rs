//! The documentation builds without a warning, and its links lead somewhere.

use std::collections::HashSet;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::checks;
use crate::command;
use crate::env::Workspace;
use crate::summary::Report;

pub(crate) fn run(workspace: &Workspace, report: &mut Report) -> Result<()> {
    report.program("cargo doc, no warning allowed", || {
        let mut doc = command::cargo(workspace, "doc");
        doc.args(["--no-deps", "--package", "oxmcp", "--package", "oxmcp-proto"])
            .env("RUSTDOCFLAGS", "--deny warnings");
        command::capture(workspace, "cargo-doc", &mut doc)
    });
    report.check("links in Markdown files", || links(workspace));
    Ok(())
}

fn links(workspace: &Workspace) -> Result<()> {
    let mut files = Vec::new();
    checks::find(&workspace.root, ".md", &mut files)?;
    let mut broken = Vec::new();
    for file in files {
        let text = read(&file)?;
        for target in targets(&text) {
            if let Some(fault) = fault(workspace, &file, &text, target)? {
                let file = file.strip_prefix(&workspace.root).unwrap_or(&file);
                broken.push(format!("{}: ({target}) {fault}", file.display()));
            }
        }
    }
    if broken.is_empty() {
        Ok(())
    } else {
        bail!("broken links\n    {}", broken.join("\n    "))
    }
}

/// Why a link leads nowhere, if it does. Links to other sites are not followed.
fn fault(workspace: &Workspace, file: &Path, text: &str, target: &str) -> Result<Option<String>> {
    if target.contains("://") || target.starts_with("mailto:") {
        return Ok(None);
    }
    let (path, anchor) = target.split_once('#').unwrap_or((target, ""));
    let folder = file.parent().unwrap_or(&workspace.root);
    let found: PathBuf = if path.is_empty() {
        file.to_path_buf()
    } else {
        folder.join(path)
    };
    if !found.exists() {
        return Ok(Some("does not exist".to_owned()));
    }
    if anchor.is_empty() || found.extension().is_none_or(|extension| extension != "md") {
        return Ok(None);
    }
    let other = if path.is_empty() {
        text.to_owned()
    } else {
        read(&found)?
    };
    Ok((!anchors(&other).contains(anchor)).then(|| "names no heading of that file".to_owned()))
}

/// What the inline links and pictures of a text point to. Code is left out.
fn targets(text: &str) -> Vec<&str> {
    let mut targets = Vec::new();
    for line in prose(text) {
        // Every second part of a line split at backticks is code.
        for part in line.split('`').step_by(2) {
            let starts = part.match_indices("](").map(|(at, _)| at + 2);
            targets.extend(
                starts
                    .filter_map(|at| part[at..].split_once(')'))
                    .map(|(target, _)| target.split_once(' ').map_or(target, |(target, _title)| target)),
            );
        }
    }
    targets
}

/// The anchors that a reader's site gives to the headings.
fn anchors(text: &str) -> HashSet<String> {
    let headings = prose(text).filter(|line| line.starts_with('#'));
    headings
        .map(|line| {
            let title = line.trim_start_matches('#').trim().to_lowercase();
            let kept = title
                .chars()
                .filter(|c| c.is_alphanumeric() || matches!(c, ' ' | '-' | '_'));
            kept.map(|c| if c == ' ' { '-' } else { c }).collect()
        })
        .collect()
}

/// The lines outside fenced code.
fn prose(text: &str) -> impl Iterator<Item = &str> {
    let mut fenced = false;
    text.lines().filter(move |line| {
        let fence = line.trim_start().starts_with("```");
        fenced ^= fence;
        !fenced && !fence
    })
}

fn read(path: &Path) -> Result<String> {
    fs::read_to_string(path).with_context(|| format!("cannot read {}", path.display()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn targets_leave_out_code() {
        let text = "[a](x.md) and ![b](y.png \"title\"), `[c](no.md)`\n```\n[d](no.md)\n```\n[e](#part)";
        assert_eq!(targets(text), ["x.md", "y.png", "#part"]);
    }

    #[test]
    fn anchors_are_those_of_the_headings() {
        let found = anchors("# One call, `two` ways\n```\n# comment\n```\n## A-b\n");
        assert_eq!(found, HashSet::from(["one-call-two-ways".to_owned(), "a-b".to_owned()]));
    }
}
