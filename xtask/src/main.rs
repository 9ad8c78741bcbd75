//! The workspace's own commands, run as `cargo xtask`. See `cargo xtask help`.

mod bench;
mod bindgen;
mod checks;
mod codegen;
mod command;
mod conformance;
mod counts;
mod demo;
mod dist;
mod docs;
mod env;
mod inputs;
mod interop;
mod kotlin;
mod node;
mod python;
mod summary;
mod swift;
mod test;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;
use clap::{Parser, Subcommand};

use crate::env::Workspace;

/// Builds, tests, measures and packages the workspace.
#[derive(Parser)]
#[command(name = "cargo xtask", disable_help_subcommand = false)]
struct Cli {
    #[command(subcommand)]
    command: Command,
}

#[derive(Subcommand)]
enum Command {
    /// Build the Python package into target/venv and the npm package in bindings-node.
    Build,
    /// Show one call from a Node client to a Python server, step by step.
    Demo {
        /// Passed on to the demo program.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Run every test in every language, or only some suites, and print a summary.
    Test {
        /// Run only this suite. May be given more than once.
        #[arg(long, value_enum)]
        only: Vec<test::Suite>,
    },
    /// Measure oxmcp beside its peers, in one interleaved run of release builds.
    Bench {
        /// Passed on to the benchmark program.
        #[arg(trailing_var_arg = true, allow_hyphen_values = true)]
        args: Vec<String>,
    },
    /// Build the wheels, npm packages, jars and the Swift package for this platform into target/dist, and load each one once.
    Dist {
        /// Build only this package. May be given more than once.
        #[arg(long, value_enum)]
        only: Vec<dist::Package>,
    },
    /// Run the public conformance suite against our servers and clients: what is chosen, or all.
    Conformance {
        /// Whose packages. May be given more than once, as the others.
        #[arg(long, value_enum)]
        lang: Vec<conformance::Lang>,
        /// Which side.
        #[arg(long, value_enum)]
        role: Vec<conformance::Role>,
        /// Which revision's scenarios.
        #[arg(long, value_enum)]
        spec: Vec<conformance::Spec>,
    },
    /// Make the sources that `UniFFI` writes for Kotlin and Swift.
    Bindgen {
        /// Change nothing; fail if the committed files are not what would be made.
        #[arg(long)]
        check: bool,
    },
    /// Make the protocol's types from the specification's schemas.
    Codegen {
        /// Change nothing; fail if the committed files are not what would be made. Without the schemas, compare the
        /// files with their manifest.
        #[arg(long)]
        check: bool,
        /// The folder that holds REVISION/schema.json; `../shared/schema` where it exists.
        #[arg(long)]
        schemas: Option<PathBuf>,
    },
}

fn main() -> ExitCode {
    match run(Cli::parse().command) {
        Ok(code) => code,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}

fn run(command: Command) -> Result<ExitCode> {
    let workspace = Workspace::find()?;
    match command {
        Command::Build => {
            python::install(&workspace, &env::python()?)?;
            node::build(&workspace)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Demo { args } => demo::run(&workspace, &args),
        Command::Test { only } => test::run(&workspace, &only),
        Command::Bench { args } => bench::run(&workspace, &args),
        Command::Dist { only } => {
            dist::run(&workspace, &only)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Conformance { lang, role, spec } => conformance::run(&workspace, &lang, &role, &spec),
        Command::Bindgen { check } => {
            bindgen::run(&workspace, check)?;
            Ok(ExitCode::SUCCESS)
        }
        Command::Codegen { check, schemas } => {
            println!("{}", codegen::run(&workspace, schemas, check)?);
            Ok(ExitCode::SUCCESS)
        }
    }
}
