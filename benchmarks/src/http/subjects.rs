//! Who is measured over HTTP. A new subject is one program in `subjects/` and one entry here.
//!
//! A program gets `json` or `sse` as its argument, listens on a free port of 127.0.0.1, prints the URL of its endpoint as
//! its first line, and serves until it is killed.

use super::wire::{Answers, Era};
use crate::process::CommandLine;
use crate::subjects::{Kind, Language, Package, Places};

#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    pub(crate) language: Language,
    pub(crate) kind: Kind,
    pub(crate) title: &'static str,
    command: &'static [&'static str],
    pub(crate) package: Package,
    /// What it serves.
    pub(crate) modes: &'static [Mode],
    choice: Choice,
}

/// In which era a subject is called, and how it answers.
pub(crate) type Mode = (Era, Answers);

/// What makes a subject answer by an event stream.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Choice {
    /// The client accepts nothing else.
    Client,
    /// Its own settings. It demands that clients accept both.
    Server,
}

const BOTH: &[Mode] = &[
    (Era::Legacy, Answers::Json),
    (Era::Legacy, Answers::Sse),
    (Era::Modern, Answers::Json),
    (Era::Modern, Answers::Sse),
];

/// What answers modern requests by JSON unless something is said before.
const JSON_IF_MODERN: &[Mode] = &[
    (Era::Legacy, Answers::Json),
    (Era::Legacy, Answers::Sse),
    (Era::Modern, Answers::Json),
];

/// What knows no revision without a handshake.
const HANDSHAKE: &[Mode] = &[(Era::Legacy, Answers::Json), (Era::Legacy, Answers::Sse)];

#[rustfmt::skip]
pub(crate) const SUBJECTS: &[Subject] = {
    use Choice::{Client, Server};
    use Kind::{Bare, Official, Other, Ours};
    use Language::{Node, Python, Rust};
    use Package::{Crate, Npm, Python as PyPi};
    &[
        subject(Rust, Bare, "bare axum", &["{bin}/bare-http-server"], Package::None, BOTH, Client),
        subject(Rust, Ours, "oxmcp", &["{bin}/oxmcp-http-server"], Package::None, BOTH, Client),
        subject(Rust, Official, "rmcp", &["{bin}/rmcp-http-server", "nodelay"], Crate("rmcp", "rmcp"), BOTH, Server),
        subject(Rust, Other, "rmcp, defaults", &["{bin}/rmcp-http-server", "defaults"], Crate("rmcp", "rmcp"), BOTH, Server),
        subject(Python, Ours, "oxmcp", &["{python}", "{subjects}/oxmcp_http_server.py"], PyPi("oxmcp"), BOTH, Client),
        subject(Python, Official, "official SDK", &["{python}", "{subjects}/python_sdk_http_server.py"], PyPi("mcp"), JSON_IF_MODERN, Server),
        subject(Python, Other, "FastMCP", &["{python}", "{subjects}/fastmcp_http_server.py"], PyPi("fastmcp"), JSON_IF_MODERN, Server),
        subject(Node, Bare, "bare http", &["{node}", "{subjects}/bare_http_server.mjs"], Package::None, BOTH, Client),
        subject(Node, Ours, "oxmcp", &["{node}", "{subjects}/oxmcp_http_server.mjs"], Npm("oxmcp"), BOTH, Client),
        subject(Node, Other, "oxmcp mounted", &["{node}", "{subjects}/oxmcp_http_server.mjs", "mounted"], Npm("oxmcp"), BOTH, Client),
        subject(Node, Official, "official SDK", &["{node}", "{subjects}/typescript_http_server.mjs"], Npm("@modelcontextprotocol/server"), BOTH, Server),
        subject(Node, Other, "official SDK v1", &["{node}", "{subjects}/typescript_v1_http_server.mjs"], Npm("@modelcontextprotocol/sdk"), HANDSHAKE, Server),
    ]
};

const fn subject(
    language: Language,
    kind: Kind,
    title: &'static str,
    command: &'static [&'static str],
    package: Package,
    modes: &'static [Mode],
    choice: Choice,
) -> Subject {
    Subject {
        language,
        kind,
        title,
        command,
        package,
        modes,
        choice,
    }
}

impl Subject {
    /// For example `python-http-official-sdk-legacy-json`: what `--only` looks into.
    pub(crate) fn name(&self, (era, answers): Mode) -> String {
        let name = format!(
            "{} http {} {} {}",
            self.language,
            self.title,
            era.name(),
            answers.name()
        );
        name.to_lowercase().replace(',', "").replace(' ', "-")
    }

    pub(crate) fn command(&self, (_, answers): Mode, places: &Places) -> CommandLine {
        let parts = self.command.iter().copied().chain([answers.name()]);
        CommandLine {
            arguments: parts.map(|part| places.fill_in(part)).collect(),
            environment: Vec::new(),
        }
    }

    /// What requests say that they accept.
    pub(crate) fn accept(&self, (_, answers): Mode) -> &'static str {
        match (self.choice, answers) {
            (Choice::Client, Answers::Sse) => "text/event-stream",
            _ => "application/json, text/event-stream",
        }
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn names_are_unique_and_scripts_exist() {
        let places = Places {
            python: "python".into(),
            node: "node".into(),
            bin: "bin".into(),
            subjects: Path::new(env!("CARGO_MANIFEST_DIR")).join("subjects"),
            ..Places::default()
        };
        let mut names = HashSet::new();
        for subject in SUBJECTS {
            for mode in subject.modes {
                assert!(names.insert(subject.name(*mode)), "{}", subject.name(*mode));
                let command = subject.command(*mode, &places).arguments;
                assert!(
                    subject.language == Language::Rust || Path::new(&command[1]).is_file(),
                    "{command:?}"
                );
            }
        }
        assert!(names.contains("rust-http-rmcp-defaults-modern-sse"), "{names:?}");
    }
}
