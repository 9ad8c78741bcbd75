//! What `open` opens, from JSON text.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::time::Duration;

use oxmcp::Keyring;
use oxmcp::SealKey;
use oxmcp::jsonrpc::Json;
use oxmcp_proto::{Config, Error, ErrorKind, duration_from_millis};
use serde::Deserialize;

use crate::failure::Refusal;

/// ```json
/// {"info": {"name": …, "version": …}, "settings": {…}, "timeout": ms, "client": {"command": …}}
/// ```
/// and in place of `client` one of `server`. `settings` are those of `Config::from_json`.
#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Spec {
    info: Json,
    settings: Option<Json>,
    /// A client's handshake; milliseconds.
    timeout: Option<f64>,
    /// Whether a client asks its server for its era first; unless set, if that is not known.
    pub(crate) probe: Option<bool>,
    client: Option<Server>,
    server: Option<Clients>,
}

pub(crate) enum What<'a> {
    Client(&'a Server),
    Server(&'a Clients),
}

/// Where a client finds its server.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Server {
    /// It starts it.
    Command(Process),
    /// It is over HTTP; the settings are those of `oxmcp::transport::Http`. `renews`: the host gives other header fields when
    /// the server wants other credentials.
    Http {
        url: String,
        settings: Option<Json>,
        #[serde(default)]
        renews: bool,
    },
    /// It is in this process: the `peer` of `open`.
    Memory,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct Process {
    pub(crate) program: String,
    #[serde(default)]
    pub(crate) args: Vec<String>,
    /// What its environment has beside the few variables that each child gets.
    #[serde(default)]
    pub(crate) env: BTreeMap<String, String>,
    /// Pass all of our environment on.
    #[serde(default)]
    pub(crate) inherit_env: bool,
    pub(crate) cwd: Option<PathBuf>,
    #[serde(default)]
    pub(crate) stderr: Stderr,
    /// How long it may take to leave after each step of a shutdown; milliseconds.
    pub(crate) grace: Option<f64>,
}

/// Where its standard error goes.
#[derive(Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Stderr {
    #[default]
    Inherit,
    Null,
    /// To the host, line by line.
    Lines,
}

/// Where a server finds its clients.
#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Clients {
    /// The one that started it.
    Stdio,
    /// In this process: the one that is opened with this endpoint as its `peer`.
    Memory,
    /// Over HTTP; the settings are those of `border::HttpServer`.
    Http {
        #[serde(default)]
        port: u16,
        settings: Option<Json>,
    },
}

impl Spec {
    pub(crate) fn read(text: &str) -> Result<Self, Refusal> {
        serde_json::from_str(text).map_err(|error| Refusal::usage(format!("what to open is wrong: {error}")))
    }

    pub(crate) fn what(&self) -> Result<What<'_>, Refusal> {
        match (&self.client, &self.server) {
            (Some(server), None) => Ok(What::Client(server)),
            (None, Some(clients)) => Ok(What::Server(clients)),
            _ => Err(Refusal::usage(
                "what to open is wrong: it must have one of client and server",
            )),
        }
    }

    pub(crate) fn config(&self) -> Result<Config, Error> {
        let settings = self.settings.as_ref().map_or("{}", |settings| settings.get());
        let mut config = Config::from_json(self.info.get(), settings)?;
        if self.server.is_some() && config.state_keys.is_none() {
            config.state_keys = Some(random_keys()?);
        }
        Ok(config)
    }

    pub(crate) fn timeout(&self) -> Result<Option<Duration>, Error> {
        self.timeout
            .map(|timeout| duration_from_millis("timeout", timeout))
            .transpose()
    }
}

/// Keys that are good for the life of this process.
fn random_keys() -> Result<Keyring, Error> {
    let mut bytes = [0; 64];
    let no_keys = |error: &dyn std::fmt::Display| {
        Error::new(
            ErrorKind::Usage,
            format!("the system gives no random keys: {error}; set stateKeys"),
        )
    };
    getrandom::fill(&mut bytes).map_err(|error| no_keys(&error))?;
    let key = SealKey::from_bytes(&bytes).map_err(|error| no_keys(&error))?;
    Ok(Keyring::new(key))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_to_open_is_read_or_what_is_wrong_is_said() {
        for (what, is_client) in [
            (
                r#""client":{"command":{"program":"x","stderr":"lines","grace":5}}"#,
                true,
            ),
            (
                r#""client":{"http":{"url":"http://a.test","settings":{"listen":false}}}"#,
                true,
            ),
            (r#""client":"memory""#, true),
            (r#""server":"stdio""#, false),
            (r#""server":{"http":{"port":1,"settings":{"path":"/a"}}}"#, false),
        ] {
            let spec = Spec::read(&format!(r#"{{"info":{{"name":"a","version":"1"}},{what}}}"#)).unwrap();
            assert_eq!(matches!(spec.what().unwrap(), What::Client(_)), is_client, "{what}");
            assert_eq!(spec.config().unwrap().state_keys.is_some(), !is_client, "{what}");
        }
        for (text, part) in [
            ("[]", "what to open is wrong"),
            (r#"{"info":{}}"#, "one of client and server"),
            (
                r#"{"info":{},"client":"memory","server":"stdio"}"#,
                "one of client and server",
            ),
            (r#"{"info":{},"client":{"command":{"programme":"x"}}}"#, "programme"),
            (r#"{"info":{},"server":"pigeon"}"#, "pigeon"),
        ] {
            let refusal = Spec::read(text).and_then(|spec| spec.what().map(drop)).unwrap_err();
            assert!(refusal.to_string().contains(part), "{refusal}");
        }
    }
}
