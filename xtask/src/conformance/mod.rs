//! `cargo xtask conformance`: the public conformance suite against our servers and clients.

mod fixture;
mod suite;

use std::process::ExitCode;

use anyhow::{Result, bail};
use clap::ValueEnum;

use crate::env::{Missing, Workspace};
use crate::summary::Report;
use fixture::Fixture;
use suite::{Suite, Tested};

pub(crate) use fixture::build_example;

/// Whose packages are tested.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Lang {
    /// The crate.
    Rust,
    Python,
    Node,
    Kotlin,
    Swift,
}

/// Which side is tested.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Role {
    /// A server, by the suite's clients.
    Server,
    /// A client, by the suite's servers. What is about authorization is not run.
    Client,
}

/// Which revision's scenarios are run.
#[derive(Clone, Copy, PartialEq, Eq, ValueEnum)]
pub(crate) enum Spec {
    #[value(name = "2025-11-25")]
    V2025_11_25,
    #[value(name = "2026-07-28")]
    V2026_07_28,
}

impl Lang {
    fn name(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
            Self::Node => "node",
            Self::Kotlin => "kotlin",
            Self::Swift => "swift",
        }
    }
}

impl Role {
    fn name(self) -> &'static str {
        match self {
            Self::Server => "server",
            Self::Client => "client",
        }
    }
}

impl Spec {
    fn name(self) -> &'static str {
        match self {
            Self::V2025_11_25 => "2025-11-25",
            Self::V2026_07_28 => "2026-07-28",
        }
    }
}

/// Runs what is chosen, or all, and closes with `N passed, N failed`.
pub(crate) fn run(workspace: &Workspace, langs: &[Lang], roles: &[Role], specs: &[Spec]) -> Result<ExitCode> {
    let mut report = Report::new(workspace);
    report.suite("conformance", |report| add(workspace, report, langs, roles, specs));
    Ok(report.finish())
}

/// Adds what is chosen, or all that there is, to a report.
pub(crate) fn add(
    workspace: &Workspace,
    report: &mut Report,
    langs: &[Lang],
    roles: &[Role],
    specs: &[Spec],
) -> Result<()> {
    let suite = Suite::find(workspace)?;
    for &lang in chosen(langs) {
        let mut without = Vec::new();
        for &role in chosen(roles) {
            let Some(fixture) = Fixture::find(workspace, lang, role) else {
                without.push(role.name());
                continue;
            };
            let program = match fixture.build(workspace) {
                Ok(program) => program,
                // The other languages go on without what one of them needs.
                Err(error) if langs.is_empty() && error.is::<Missing>() && !workspace.ci => {
                    report.skip(&format!("{} {}: {error:#}", lang.name(), role.name()));
                    continue;
                }
                Err(error) => return Err(error),
            };
            for &spec in chosen(specs) {
                let tested = Tested {
                    program: &program,
                    lang,
                    role,
                    spec,
                };
                suite.test(workspace, report, &tested);
            }
        }
        // What was asked for has to be there.
        let wanted = if roles.is_empty() {
            Role::value_variants().len()
        } else {
            1
        };
        if !langs.is_empty() && without.len() >= wanted {
            let (lang, without) = (lang.name(), without.join(" and no "));
            bail!("there is no {without} in {lang} for the conformance suite: see tests/conformance/README.md");
        }
    }
    Ok(())
}

/// What was named, or all that there is.
fn chosen<T: ValueEnum>(named: &[T]) -> &[T] {
    if named.is_empty() { T::value_variants() } else { named }
}
