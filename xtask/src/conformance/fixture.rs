//! The programs that the suite is run against: a server and a client in each language that has them.
//!
//! | program | started | does |
//! | --- | --- | --- |
//! | server | without arguments | prints its address as its first line, and serves until it is killed |
//! | client | with the address of a server as its last argument | what the scenario in `MCP_CONFORMANCE_SCENARIO` wants; exits with 0 |
//!
//! | language | program |
//! | --- | --- |
//! | Rust | `tests/conformance/rust/ROLE.rs`, the example `conformance_ROLE` of the crate |
//! | Python | `tests/conformance/python/ROLE.py`, with our package |
//! | Node | `tests/conformance/node/ROLE.mjs`, with our package |
//! | Kotlin | `tests/conformance/kotlin/ROLE.kt`, with our package |
//! | Swift | `tests/conformance/swift/ROLE/main.swift`, with our package |

use std::path::PathBuf;

use anyhow::Result;

use super::{Lang, Role};
use crate::env::{self, Workspace};
use crate::{command, kotlin, node, python, swift};

/// A program that can be tested.
pub(super) enum Fixture {
    Example(String),
    Python(PathBuf),
    Node(PathBuf),
    /// The class with its `main`.
    Kotlin(&'static str),
    /// The target of our package of such programs.
    Swift(&'static str),
}

impl Fixture {
    /// The program, where there is one.
    pub(super) fn find(workspace: &Workspace, lang: Lang, role: Role) -> Option<Self> {
        let source = |end| {
            let (lang, role) = (lang.name(), role.name());
            let path = workspace.path(&format!("tests/conformance/{lang}/{role}.{end}"));
            path.is_file().then_some(path)
        };
        match lang {
            Lang::Rust => source("rs").map(|_| Self::Example(format!("conformance_{}", role.name()))),
            Lang::Python => source("py").map(Self::Python),
            Lang::Node => source("mjs").map(Self::Node),
            Lang::Kotlin => source("kt").map(|_| {
                Self::Kotlin(match role {
                    Role::Server => "dev.oxmcp.conformance.ServerKt",
                    Role::Client => "dev.oxmcp.conformance.ClientKt",
                })
            }),
            Lang::Swift => {
                let (target, file) = match role {
                    Role::Server => ("ConformanceServer", "server/main.swift"),
                    Role::Client => ("ConformanceClient", "client/main.swift"),
                };
                let path = workspace.path("tests/conformance/swift").join(file);
                path.is_file().then_some(Self::Swift(target))
            }
        }
    }

    /// Builds what it needs, and gives the words that start it.
    pub(super) fn build(&self, workspace: &Workspace) -> Result<Vec<PathBuf>> {
        match self {
            Self::Example(name) => Ok(vec![build_example(workspace, name)?]),
            Self::Python(source) => {
                let venv = python::install(workspace, &env::python()?)?;
                Ok(vec![venv.python(), source.clone()])
            }
            Self::Node(source) => {
                let node = node::build(workspace)?;
                node::link_package(workspace, &workspace.path("tests/conformance"))?;
                Ok(vec![node.program, source.clone()])
            }
            Self::Kotlin(main) => kotlin::conformance_program(workspace, main),
            Self::Swift(target) => swift::conformance_program(workspace, target),
        }
    }
}

/// Builds an example of the crate, with HTTP.
pub(crate) fn build_example(workspace: &Workspace, example: &str) -> Result<PathBuf> {
    let mut cargo = command::cargo(workspace, "build");
    cargo.args(["--package", "oxmcp", "--features", "http", "--example", example]);
    command::step(workspace, &format!("build {example}"), example, &mut cargo)?;
    let name = format!("{example}{}", std::env::consts::EXE_SUFFIX);
    Ok(workspace.target().join("debug/examples").join(name))
}
