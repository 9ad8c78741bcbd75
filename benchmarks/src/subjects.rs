//! Who is measured. A new subject is one entry in `SUBJECTS`, and, if it is a program in Rust, one `[[bin]]`.

use std::fmt;
use std::path::{Path, PathBuf};

use serde::Serialize;

use crate::process::CommandLine;

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Role {
    Server,
    Client,
    /// A client that calls over HTTP.
    HttpClient,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Language {
    Rust,
    Python,
    Node,
    Kotlin,
    Swift,
}

impl fmt::Display for Language {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.pad(match self {
            Self::Rust => "Rust",
            Self::Python => "Python",
            Self::Node => "Node",
            Self::Kotlin => "Kotlin",
            Self::Swift => "Swift",
        })
    }
}

/// What a subject is to the others: ratios are taken to the bare loops and to the official SDKs.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Kind {
    /// The least that a program in this language can do.
    Bare,
    Ours,
    /// The SDK of the Model Context Protocol's own organisation.
    Official,
    Other,
}

/// Where the version of a subject's package is found.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Package {
    None,
    Python(&'static str),
    Npm(&'static str),
    /// A jar on the class path of the subjects in Kotlin.
    Jar(&'static str),
    /// What is built from this checkout, and has one version everywhere.
    Own,
    /// A crate in the lock file of this folder of `subjects`.
    Crate(&'static str, &'static str),
}

#[derive(Clone, Copy, Debug)]
pub(crate) struct Subject {
    pub(crate) role: Role,
    pub(crate) language: Language,
    pub(crate) kind: Kind,
    pub(crate) title: &'static str,
    /// `{python}`, `{node}`, `{java}`, `{kotlin}`, `{swift}`, `{bin}` and `{subjects}` stand for what the options say.
    command: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
    pub(crate) package: Package,
}

/// FastMCP asks the package index for a newer version of itself when it starts; a network is no part of a cold start.
const NO_UPDATE_CHECK: &[(&str, &str)] = &[("FASTMCP_CHECK_FOR_UPDATES", "off")];

#[rustfmt::skip]
pub(crate) const SUBJECTS: &[Subject] = {
    use Kind::{Bare, Official, Other, Ours};
    use Language::{Kotlin, Node, Python, Rust, Swift};
    use Package::{Crate, Jar, None, Npm, Own, Python as PyPi};
    use Role::{Client, HttpClient, Server};
    &[
        subject(Server, Rust, Bare, "bare loop", &["{bin}/bare-server"], &[], None),
        subject(Server, Rust, Ours, "oxmcp", &["{bin}/oxmcp-server"], &[], None),
        subject(Server, Rust, Other, "border alone", &["{bin}/border-server"], &[], None),
        subject(Server, Rust, Official, "rmcp", &["{bin}/rmcp-server"], &[], Crate("rmcp", "rmcp")),
        subject(Server, Python, Bare, "bare loop", &["{python}", "{subjects}/bare_server.py"], &[], None),
        subject(Server, Python, Ours, "oxmcp", &["{python}", "{subjects}/oxmcp_server.py"], &[], PyPi("oxmcp")),
        subject(Server, Python, Official, "official SDK", &["{python}", "{subjects}/python_sdk_server.py"], &[], PyPi("mcp")),
        subject(Server, Python, Other, "FastMCP", &["{python}", "{subjects}/fastmcp_server.py"], NO_UPDATE_CHECK, PyPi("fastmcp")),
        subject(Server, Node, Bare, "bare loop", &["{node}", "{subjects}/bare_server.mjs"], &[], None),
        subject(Server, Node, Ours, "oxmcp", &["{node}", "{subjects}/oxmcp_server.mjs"], &[], Npm("oxmcp")),
        subject(Server, Node, Other, "oxmcp with zod", &["{node}", "{subjects}/oxmcp_server.mjs", "zod"], &[], Npm("oxmcp")),
        subject(Server, Node, Official, "official SDK", &["{node}", "{subjects}/typescript_server.mjs"], &[], Npm("@modelcontextprotocol/server")),
        subject(Server, Node, Other, "official SDK v1", &["{node}", "{subjects}/typescript_v1_server.mjs"], &[], Npm("@modelcontextprotocol/sdk")),
        subject(Server, Kotlin, Bare, "bare loop", &["{java}", "{kotlin}", "dev.oxmcp.bench.BareServer"], &[], None),
        subject(Server, Kotlin, Ours, "oxmcp", &["{java}", "{kotlin}", "dev.oxmcp.bench.OxmcpServer"], &[], Own),
        subject(Server, Kotlin, Official, "official SDK", &["{java}", "{kotlin}", "dev.oxmcp.bench.OfficialServer"], &[], Jar("kotlin-sdk-server-jvm")),
        subject(Server, Swift, Bare, "bare loop", &["{swift}/bare-server"], &[], None),
        subject(Server, Swift, Ours, "oxmcp", &["{swift}/oxmcp-server"], &[], Own),
        subject(Client, Rust, Bare, "bare loop", &["{bin}/bare-client"], &[], None),
        subject(Client, Rust, Other, "border alone", &["{bin}/border-client"], &[], None),
        subject(Client, Python, Bare, "bare loop", &["{python}", "{subjects}/bare_client.py"], &[], None),
        subject(Client, Python, Ours, "oxmcp", &["{python}", "{subjects}/oxmcp_client.py"], &[], PyPi("oxmcp")),
        subject(Client, Python, Official, "official SDK", &["{python}", "{subjects}/python_sdk_client.py"], &[], PyPi("mcp")),
        subject(Client, Node, Bare, "bare loop", &["{node}", "{subjects}/bare_client.mjs"], &[], None),
        subject(Client, Node, Ours, "oxmcp", &["{node}", "{subjects}/oxmcp_client.mjs"], &[], Npm("oxmcp")),
        subject(Client, Node, Official, "official SDK", &["{node}", "{subjects}/typescript_client.mjs"], &[], Npm("@modelcontextprotocol/client")),
        subject(Client, Node, Other, "official SDK v1", &["{node}", "{subjects}/typescript_v1_client.mjs"], &[], Npm("@modelcontextprotocol/sdk")),
        subject(Client, Kotlin, Bare, "bare loop", &["{java}", "{kotlin}", "dev.oxmcp.bench.BareClient"], &[], None),
        subject(Client, Kotlin, Ours, "oxmcp", &["{java}", "{kotlin}", "dev.oxmcp.bench.OxmcpClient"], &[], Own),
        subject(Client, Kotlin, Official, "official SDK", &["{java}", "{kotlin}", "dev.oxmcp.bench.OfficialClient"], &[], Jar("kotlin-sdk-client-jvm")),
        subject(Client, Swift, Bare, "bare loop", &["{swift}/bare-client"], &[], None),
        subject(Client, Swift, Ours, "oxmcp", &["{swift}/oxmcp-client"], &[], Own),
        subject(HttpClient, Python, Bare, "bare loop", &["{python}", "{subjects}/bare_http_client.py"], &[], None),
        subject(HttpClient, Python, Ours, "oxmcp", &["{python}", "{subjects}/oxmcp_client.py", "http"], &[], PyPi("oxmcp")),
        subject(HttpClient, Python, Official, "official SDK", &["{python}", "{subjects}/python_sdk_client.py", "http"], &[], PyPi("mcp")),
        subject(HttpClient, Node, Bare, "bare loop", &["{node}", "{subjects}/bare_http_client.mjs"], &[], None),
        subject(HttpClient, Node, Ours, "oxmcp", &["{node}", "{subjects}/oxmcp_client.mjs", "http"], &[], Npm("oxmcp")),
        subject(HttpClient, Node, Official, "official SDK", &["{node}", "{subjects}/typescript_client.mjs", "http"], &[], Npm("@modelcontextprotocol/client")),
        subject(HttpClient, Node, Other, "official SDK v1", &["{node}", "{subjects}/typescript_v1_client.mjs", "http"], &[], Npm("@modelcontextprotocol/sdk")),
    ]
};

/// The servers that clients talk to, over stdio and over HTTP.
pub(crate) const CLIENTS_SERVER: &str = "{bin}/bare-server";
pub(crate) const HTTP_CLIENTS_SERVER: &str = "{bin}/bare-http-server";

const fn subject(
    role: Role,
    language: Language,
    kind: Kind,
    title: &'static str,
    command: &'static [&'static str],
    environment: &'static [(&'static str, &'static str)],
    package: Package,
) -> Subject {
    Subject {
        role,
        language,
        kind,
        title,
        command,
        environment,
        package,
    }
}

impl Subject {
    /// For example `python-server-official-sdk`: what `--only` looks into.
    pub(crate) fn name(&self) -> String {
        format!("{} {:?} {}", self.language, self.role, self.title)
            .to_lowercase()
            .replace(' ', "-")
    }

    pub(crate) fn command(&self, places: &Places) -> CommandLine {
        let own = |(name, value): &(&str, &str)| ((*name).to_owned(), (*value).to_owned());
        CommandLine {
            arguments: self.command.iter().map(|part| places.fill_in(part)).collect(),
            environment: self.environment.iter().map(own).collect(),
        }
    }
}

/// What the placeholders in the commands stand for.
#[derive(Debug, Default)]
pub(crate) struct Places {
    pub(crate) python: PathBuf,
    pub(crate) node: PathBuf,
    pub(crate) java: PathBuf,
    /// A file with arguments for Java: the class path of the subjects in Kotlin. Without it they are left out.
    pub(crate) kotlin: Option<PathBuf>,
    /// The folder of the compiled subjects in Swift. Without it they are left out.
    pub(crate) swift: Option<PathBuf>,
    pub(crate) bin: PathBuf,
    pub(crate) subjects: PathBuf,
}

impl Places {
    pub(crate) fn fill_in(&self, template: &str) -> String {
        let show = |path: &Path| path.display().to_string();
        template
            .replace("{python}", &show(&self.python))
            .replace("{node}", &show(&self.node))
            .replace("{java}", &show(&self.java))
            .replace(
                "{kotlin}",
                &self
                    .kotlin
                    .as_deref()
                    .map_or_else(String::new, |file| format!("@{}", show(file))),
            )
            .replace("{swift}", &self.swift.as_deref().map_or_else(String::new, show))
            .replace("{bin}", &show(&self.bin))
            .replace("{subjects}", &show(&self.subjects))
    }
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn names_are_unique() {
        let names: HashSet<String> = SUBJECTS.iter().map(Subject::name).collect();
        assert_eq!(names.len(), SUBJECTS.len());
        assert!(names.contains("python-server-official-sdk"), "{names:?}");
    }

    #[test]
    fn every_subject_has_one_bare_loop_to_compare_with() {
        for subject in SUBJECTS {
            let bases = SUBJECTS
                .iter()
                .filter(|base| (base.role, base.language, base.kind) == (subject.role, subject.language, Kind::Bare));
            assert_eq!(bases.count(), 1, "{}", subject.name());
        }
    }

    #[test]
    fn scripts_exist() {
        let places = Places {
            python: "python".into(),
            node: "node".into(),
            bin: "bin".into(),
            subjects: Path::new(env!("CARGO_MANIFEST_DIR")).join("subjects"),
            ..Places::default()
        };
        let scripts = [Language::Python, Language::Node];
        for subject in SUBJECTS.iter().filter(|subject| scripts.contains(&subject.language)) {
            let command = subject.command(&places).arguments;
            assert!(Path::new(&command[1]).is_file(), "{command:?}");
        }
    }
}
