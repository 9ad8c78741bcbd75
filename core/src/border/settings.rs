//! The settings of a server over HTTP, as text.

use std::net::IpAddr;
use std::time::Duration;

use oxmcp_proto::{Error, ErrorKind};
use serde::de::Error as _;
use serde::{Deserialize, Deserializer};

use crate::http::HttpBuilder;

const ROUTE_TIMEOUT: Duration = Duration::from_secs(60);

/// See [`HttpBuilder`] for what each one means.
#[derive(Debug, Default, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields, default)]
pub(super) struct Settings {
    #[serde(deserialize_with = "address")]
    address: Option<IpAddr>,
    hosts: Vec<String>,
    any_host: bool,
    origins: Vec<String>,
    stateless: bool,
    json_only: bool,
    http_sse: bool,
    max_sessions: Option<usize>,
    session_idle: Option<u64>,
    resumable: Option<bool>,
    retry: Option<u64>,
    keep_alive: Option<u64>,
    body_limit: Option<usize>,
    body_timeout: Option<u64>,
    path: Option<String>,
    max_connections: Option<usize>,
    head_timeout: Option<u64>,
    write_timeout: Option<u64>,
    /// See [`HttpServer::with_routes`](super::HttpServer::with_routes).
    route_timeout: Option<u64>,
}

fn address<'de, D: Deserializer<'de>>(value: D) -> Result<Option<IpAddr>, D::Error> {
    let Some(text) = Option::<String>::deserialize(value)? else {
        return Ok(None);
    };
    let wrong = |_| D::Error::custom(format!("{text:?} is no IP address such as \"127.0.0.1\" or \"::1\""));
    text.parse().map(Some).map_err(wrong)
}

impl Settings {
    /// # Errors
    /// When the text is no object of settings; names the one that is wrong.
    pub(super) fn read(text: &str) -> Result<Self, Error> {
        let wrong = |what: &str| {
            let message = format!("the settings of the HTTP server are wrong: {what}");
            Error::new(ErrorKind::Usage, message)
        };
        // An array would be taken for the members in their order.
        if !text.trim_start().starts_with('{') {
            return Err(wrong("they are no JSON object"));
        }
        let mut text = serde_json::Deserializer::from_str(text);
        serde_path_to_error::deserialize(&mut text).map_err(|error| {
            let at = error.path().to_string();
            let why = error.into_inner().to_string();
            // Where it stands in a text that no person wrote tells nobody anything.
            let why = why.split(" at line ").next().unwrap_or_default();
            let what = if at == "." { String::new() } else { format!("{at}: ") };
            wrong(&format!("{what}{why}"))
        })
    }

    /// How long the answer to a request for another path may take to begin.
    pub(super) fn route_timeout(&self) -> Duration {
        self.route_timeout.map_or(ROUTE_TIMEOUT, Duration::from_millis)
    }

    pub(super) fn apply(self, mut http: HttpBuilder) -> HttpBuilder {
        http = self.hosts.into_iter().fold(http, HttpBuilder::host);
        http = self.origins.into_iter().fold(http, HttpBuilder::origin);
        for (on, set) in [
            (self.any_host, HttpBuilder::any_host as fn(HttpBuilder) -> HttpBuilder),
            (self.stateless, HttpBuilder::stateless),
            (self.json_only, HttpBuilder::json_only),
            (self.http_sse, HttpBuilder::http_sse),
            (self.resumable == Some(false), HttpBuilder::not_resumable),
        ] {
            if on {
                http = set(http);
            }
        }
        for (millis, set) in [
            (
                self.session_idle,
                HttpBuilder::session_idle as fn(HttpBuilder, Duration) -> HttpBuilder,
            ),
            (self.retry, HttpBuilder::retry),
            (self.keep_alive, HttpBuilder::keep_alive),
            (self.body_timeout, HttpBuilder::body_timeout),
            (self.head_timeout, HttpBuilder::head_timeout),
            (self.write_timeout, HttpBuilder::write_timeout),
        ] {
            if let Some(millis) = millis {
                http = set(http, Duration::from_millis(millis));
            }
        }
        for (count, set) in [
            (
                self.max_sessions,
                HttpBuilder::max_sessions as fn(HttpBuilder, usize) -> HttpBuilder,
            ),
            (self.body_limit, HttpBuilder::body_limit),
            (self.max_connections, HttpBuilder::max_connections),
        ] {
            if let Some(count) = count {
                http = set(http, count);
            }
        }
        if let Some(address) = self.address {
            http = http.address(address);
        }
        match self.path {
            Some(path) => http.path(path),
            None => http,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_wrong_is_named() {
        for (text, named) in [
            (r#"{"jsonOnyl":true}"#, "jsonOnyl"),
            (r#"{"retry":"soon"}"#, "retry"),
            (r#"{"address":"here"}"#, "address: \"here\" is no IP address"),
            ("[]", "the settings of the HTTP server are wrong"),
        ] {
            let error = Settings::read(text).unwrap_err();
            assert!(
                error.message().contains(named) && !error.message().contains("line"),
                "{error}"
            );
        }
        assert!(Settings::read(r#"{"address":"::1","retry":5,"hosts":["a.test"]}"#).is_ok());
    }
}
