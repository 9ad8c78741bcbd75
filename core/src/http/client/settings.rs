//! The settings of a client's HTTP as packages of other languages hand them over: one JSON text.

use std::collections::BTreeMap;
use std::time::Duration;

use oxmcp_proto::http::client::{Backoff, RedirectPolicy};
use oxmcp_proto::{Error, duration_from_millis};
use serde::Deserialize;

use super::builder::{Http, HttpSse, usage};

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Wanted {
    headers: BTreeMap<String, String>,
    proxy: Option<String>,
    no_proxy: bool,
    root_certificate: Option<String>,
    connect_timeout: Option<f64>,
    close_timeout: Option<f64>,
    renew_sessions: Option<bool>,
    http_sse: Option<String>,
    listen: Option<bool>,
    redirects: Option<Redirects>,
    backoff: Option<Waits>,
    max_requests: Option<usize>,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Redirects {
    hops: Option<u32>,
    other_origins: bool,
}

#[derive(Deserialize, Default)]
#[serde(default, deny_unknown_fields, rename_all = "camelCase")]
struct Waits {
    initial: Option<f64>,
    max: Option<f64>,
    factor: Option<f64>,
    attempts: Option<u32>,
}

impl Http {
    /// A server at this URL, with settings from the text of a JSON object. All may be absent:
    ///
    /// | member | is | see |
    /// | --- | --- | --- |
    /// | `headers` | an object of strings | [`header`](Self::header) |
    /// | `proxy` | a URL | [`proxy`](Self::proxy) |
    /// | `noProxy` | true or false | [`no_proxy`](Self::no_proxy) |
    /// | `rootCertificate` | PEM text | [`root_certificate`](Self::root_certificate) |
    /// | `connectTimeout`, `closeTimeout` | milliseconds | [`connect_timeout`](Self::connect_timeout), [`close_timeout`](Self::close_timeout) |
    /// | `renewSessions` | true or false | [`renew_sessions`](Self::renew_sessions) |
    /// | `httpSse` | `"auto"`, `"never"` or `"only"` | [`http_sse`](Self::http_sse) |
    /// | `listen` | true or false | [`listen`](Self::listen) |
    /// | `redirects` | `{"hops", "otherOrigins"}` | [`redirects`](Self::redirects) |
    /// | `backoff` | `{"initial", "max", "factor", "attempts"}` | [`backoff`](Self::backoff) |
    /// | `maxRequests` | a number | [`max_requests`](Self::max_requests) |
    ///
    /// # Errors
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) for a member that nobody knows, and a value that is wrong.
    ///
    /// ```
    /// use oxmcp::transport::Http;
    ///
    /// let http = Http::from_json("https://example.com/mcp", r#"{"headers":{"Authorization":"Bearer x"}}"#)?;
    /// let error = Http::from_json("https://example.com/mcp", r#"{"header":{}}"#).unwrap_err();
    /// assert!(error.message().contains("unknown field `header`"));
    /// # Ok::<(), oxmcp::Error>(())
    /// ```
    pub fn from_json(url: &str, settings: &str) -> Result<Self, Error> {
        let wanted = read(settings)?;
        let mut http = Http::new(url);
        for (name, value) in &wanted.headers {
            http = http.header(name, value);
        }
        http = match (wanted.proxy, wanted.no_proxy) {
            (Some(_), true) => {
                return Err(usage(
                    "the settings of HTTP are wrong: proxy and noProxy exclude each other",
                ));
            }
            (Some(proxy), false) => http.proxy(proxy),
            (None, true) => http.no_proxy(),
            (None, false) => http,
        };
        if let Some(pem) = wanted.root_certificate {
            http = http.root_certificate(pem);
        }
        if let Some(millis) = wanted.connect_timeout {
            http = http.connect_timeout(duration_from_millis("connectTimeout", millis)?);
        }
        if let Some(millis) = wanted.close_timeout {
            http = http.close_timeout(duration_from_millis("closeTimeout", millis)?);
        }
        if let Some(count) = wanted.max_requests {
            http = http.max_requests(count);
        }
        http = http
            .renew_sessions(wanted.renew_sessions.unwrap_or(true))
            .listen(wanted.listen.unwrap_or(true))
            .http_sse(wanted.http_sse.as_deref().map_or(Ok(HttpSse::Auto), http_sse)?)
            .redirects(wanted.redirects.unwrap_or_default().over(RedirectPolicy::default()))
            .backoff(wanted.backoff.unwrap_or_default().over(Backoff::default())?);
        http.check()
    }
}

fn read(settings: &str) -> Result<Wanted, Error> {
    // Serde would fill a struct from an array's elements.
    if !settings.trim_start().starts_with('{') {
        return Err(usage("the settings of HTTP are wrong: they must be an object"));
    }
    let mut text = serde_json::Deserializer::from_str(settings);
    serde_path_to_error::deserialize(&mut text).map_err(|error| {
        let at = error.path().to_string();
        let why = error.into_inner().to_string();
        // Where it stands in a text that no person wrote tells nobody anything.
        let why = why.split(" at line ").next().unwrap_or_default();
        let what = if at == "." { String::new() } else { format!("{at}: ") };
        usage(format!("the settings of HTTP are wrong: {what}{why}"))
    })
}

impl Redirects {
    fn over(self, defaults: RedirectPolicy) -> RedirectPolicy {
        RedirectPolicy {
            hops: self.hops.unwrap_or(defaults.hops),
            other_origins: self.other_origins,
        }
    }
}

impl Waits {
    fn over(self, defaults: Backoff) -> Result<Backoff, Error> {
        let time = |name, millis: Option<f64>, default: Duration| {
            millis.map_or(Ok(default), |millis| duration_from_millis(name, millis))
        };
        Ok(Backoff {
            initial: time("backoff.initial", self.initial, defaults.initial)?,
            max: time("backoff.max", self.max, defaults.max)?,
            factor: self.factor.unwrap_or(defaults.factor),
            attempts: self.attempts.unwrap_or(defaults.attempts),
        })
    }
}

fn http_sse(name: &str) -> Result<HttpSse, Error> {
    match name {
        "auto" => Ok(HttpSse::Auto),
        "never" => Ok(HttpSse::Never),
        "only" => Ok(HttpSse::Only),
        _ => Err(usage(format!(
            "the settings of HTTP are wrong: httpSse must be \"auto\", \"never\" or \"only\", not {name:?}"
        ))),
    }
}
