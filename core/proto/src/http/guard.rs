//! Who may talk to a server: `Host`, `:authority` and `Origin`.
//!
//! A web page can make a browser send requests to a server on the same machine, under a name of its own
//! that it lets point there (DNS rebinding). Its requests name that host, or that origin.
//!
//! | field | passes | else |
//! | --- | --- | --- |
//! | `Host`, `:authority` | each that is there names a host that is served; ports do not count | 421; 400 without any |
//! | `Origin` | it is not there, its host is served, or it is listed | 403 |
//!
//! A server on a loopback address serves the names of this machine: `localhost`, 127.0.0.0/8, `[::1]`.
//! Any other server has to list the names it serves. (2025-11-25 and 2026-07-28 transports, Security
//! Warning; RFC 9110 §7.2 and §7.4; RFC 9112 §3.2.)

use std::fmt;
use std::net::IpAddr;
use std::sync::OnceLock;

use super::address::{Host, Origin};
use super::fields::{Fields, single};
use super::refusal::Refusal;
use crate::jsonrpc::ErrorCode;

/// Decides which hosts and origins are served.
///
/// ```
/// use oxmcp_proto::http::Guard;
///
/// let local = Guard::for_address("127.0.0.1".parse()?, [""; 0])?;
/// assert!(local.check(None, &[("Host", "localhost:8000")]).is_ok());
/// let rebound = local.check(None, &[("Host", "evil.test")]).unwrap_err();
/// assert_eq!(rebound.status, 421);
///
/// let public = Guard::for_address("0.0.0.0".parse()?, ["mcp.example.com"])?;
/// assert!(public.check(Some("mcp.example.com:443"), &[("Origin", "https://mcp.example.com")]).is_ok());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Guard {
    any_host: bool,
    loopback: bool,
    hosts: Vec<String>,
    origins: Vec<String>,
    /// The host that was served first, as it was named. Nearly all requests name the same one.
    known: OnceLock<Box<str>>,
}

/// A name or an origin that a [`Guard`] cannot be made of.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadName(String);

impl fmt::Display for BadName {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for BadName {}

impl Guard {
    /// For a server that listens on `address` and is reached under the names `hosts`.
    ///
    /// On a loopback address the names of this machine are always served, and `hosts` adds those under
    /// which a proxy passes requests on.
    ///
    /// # Errors
    /// When the address is not a loopback one and there are no hosts, or one of them is no host name.
    pub fn for_address<N: AsRef<str>>(address: IpAddr, hosts: impl IntoIterator<Item = N>) -> Result<Self, BadName> {
        let loopback = address.to_canonical().is_loopback();
        let mut names = Vec::new();
        for host in hosts {
            let name = host.as_ref();
            if Host::parse(name).is_none() {
                let why = format!("\"{name}\" is no host name; write it like \"mcp.example.com\" or \"[2001:db8::1]\"");
                return Err(BadName(why));
            }
            names.push(name.to_owned());
        }
        if !loopback && names.is_empty() {
            let why = format!(
                "a server on {address} can be reached from elsewhere: list the host names it is reached under, \
                 or listen on 127.0.0.1"
            );
            return Err(BadName(why));
        }
        Ok(Self {
            any_host: false,
            loopback,
            hosts: names,
            origins: Vec::new(),
            known: OnceLock::new(),
        })
    }

    /// For a server behind something that checks hosts itself. Origins still have to be those of the
    /// host a request names, or listed.
    pub fn any_host() -> Self {
        Self {
            any_host: true,
            loopback: false,
            hosts: Vec::new(),
            origins: Vec::new(),
            known: OnceLock::new(),
        }
    }

    /// Also serves pages of `origin`, and lets browsers show them the answers.
    ///
    /// # Errors
    /// When it is not an origin, like `https://app.example.com`, or `null`.
    pub fn with_origin(mut self, origin: &str) -> Result<Self, BadName> {
        if origin != "null" && Origin::parse(origin).is_none() {
            let why = format!("\"{origin}\" is no origin; write it like \"https://app.example.com\", without a path");
            return Err(BadName(why));
        }
        self.origins.push(origin.to_owned());
        Ok(self)
    }

    /// Checks a request. `authority` is that of its target, where it has one: `:authority` in HTTP/2,
    /// or the host of an absolute target in HTTP/1.1.
    ///
    /// Gives the origin if it is a listed one, to be told so in the response.
    ///
    /// # Errors
    /// What the request is refused with: 400 without a host, 421 for a host and 403 for an origin that
    /// is not served.
    pub fn check<'a>(&self, authority: Option<&str>, fields: &'a dyn Fields) -> Result<Option<&'a str>, Refusal> {
        let bad = |status: u16, why: String| Refusal::new(status, ErrorCode::INVALID_REQUEST, why);
        let host = single(fields, "Host").map_err(|error| bad(400, error.to_string()))?;
        if host.is_none() && authority.is_none() {
            return Err(bad(400, "the request names no host".to_owned()));
        }
        for named in host.into_iter().chain(authority) {
            if self.known.get().is_some_and(|known| **known == *named) {
                continue;
            }
            let is_served = Host::parse(named).is_some_and(|(host, _)| self.any_host || self.serves(host));
            if !is_served {
                return Err(bad(421, format!("the host \"{named}\" is not served here")));
            }
            self.known.get_or_init(|| named.into());
        }
        let origin = single(fields, "Origin").map_err(|error| bad(403, error.to_string()))?;
        let Some(origin) = origin else { return Ok(None) };
        if self.lists(origin) {
            return Ok(Some(origin));
        }
        let own = authority.or(host).and_then(Host::parse).map(|(host, _)| host);
        let is_own = Origin::parse(origin)
            .is_some_and(|from| from.is_web() && (self.serves(from.host) || self.any_host && own == Some(from.host)));
        if is_own {
            return Ok(None);
        }
        Err(bad(403, format!("the origin \"{origin}\" may not use this server")))
    }

    fn serves(&self, host: Host<'_>) -> bool {
        let mut listed = self.hosts.iter().filter_map(|name| Host::parse(name));
        self.loopback && host.is_loopback() || listed.any(|(name, _)| name == host)
    }

    fn lists(&self, origin: &str) -> bool {
        let read = Origin::parse(origin);
        let same = |listed: &String| *listed == origin || read.is_some() && Origin::parse(listed) == read;
        self.origins.iter().any(same)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const NONE: [&str; 0] = [];

    fn local() -> Guard {
        Guard::for_address("127.0.0.1".parse().unwrap(), NONE).unwrap()
    }

    fn status(guard: &Guard, authority: Option<&str>, fields: &[(&str, &str)]) -> u16 {
        guard
            .check(authority, &fields)
            .map_or_else(|refusal| refusal.status, |_| 200)
    }

    #[test]
    fn a_loopback_server_serves_only_names_of_this_machine_whatever_the_port() {
        for (host, want) in [
            ("localhost", 200),
            ("localhost:9000", 200),
            ("127.0.0.1:3000", 200),
            ("[::1]:3000", 200),
            ("LOCALHOST.", 200),
            ("evil.test", 421),
            ("evil.example.com:3000", 421),
            ("localhost.evil.test", 421),
            ("localhost:80@evil.test", 421),
            ("localhost, evil.test", 421),
            ("0.0.0.0:3000", 421),
            ("", 421),
        ] {
            assert_eq!(status(&local(), None, &[("Host", host)]), want, "{host}");
            assert_eq!(status(&local(), Some(host), &[]), want, ":authority {host}");
        }
    }

    #[test]
    fn host_and_authority_both_have_to_be_served() {
        assert_eq!(status(&local(), Some("localhost"), &[("Host", "evil.test")]), 421);
        assert_eq!(status(&local(), Some("evil.test"), &[("Host", "localhost")]), 421);
        assert_eq!(status(&local(), Some("127.0.0.1"), &[("Host", "localhost")]), 200);
        assert_eq!(status(&local(), None, &[]), 400);
        assert_eq!(
            status(&local(), None, &[("Host", "localhost"), ("Host", "evil.test")]),
            400
        );
    }

    #[test]
    fn an_origin_is_that_of_a_served_host_or_refused() {
        for (origin, want) in [
            ("http://localhost", 200),
            ("https://localhost:5173", 200),
            ("http://127.0.0.1:6274", 200),
            ("http://[::1]:8080", 200),
            ("http://evil.test", 403),
            ("http://localhost.evil.test", 403),
            ("http://localhost@evil.test", 403),
            ("http://evil.test#localhost", 403),
            ("http://localhost/", 403),
            ("chrome-extension://localhost", 403),
            ("null", 403),
            ("localhost", 403),
            ("", 403),
        ] {
            let fields = [("Host", "localhost:3000"), ("Origin", origin)];
            assert_eq!(status(&local(), None, &fields), want, "{origin}");
        }
        let twice = [
            ("Host", "localhost"),
            ("Origin", "http://localhost"),
            ("Origin", "null"),
        ];
        assert_eq!(status(&local(), None, &twice), 403);
    }

    #[test]
    fn other_addresses_need_a_list_and_serve_only_that() {
        for address in ["0.0.0.0", "::", "192.168.1.4", "::ffff:10.0.0.1"] {
            let error = Guard::for_address(address.parse().unwrap(), NONE).unwrap_err();
            assert!(error.to_string().contains("list the host names"), "{error}");
        }
        let guard = Guard::for_address("0.0.0.0".parse().unwrap(), ["mcp.example.com", "[2001:db8::1]:443"]).unwrap();
        for (host, want) in [
            ("mcp.example.com", 200),
            ("MCP.example.com:8443", 200),
            ("[2001:DB8:0::1]", 200),
            ("localhost", 421),
            ("example.com", 421),
            ("x.mcp.example.com", 421),
        ] {
            assert_eq!(status(&guard, None, &[("Host", host)]), want, "{host}");
        }
        let same = [("Host", "mcp.example.com"), ("Origin", "https://mcp.example.com")];
        assert_eq!(status(&guard, None, &same), 200);
        assert!(Guard::for_address("0.0.0.0".parse().unwrap(), ["http://a.test"]).is_err());
    }

    #[test]
    fn names_on_a_loopback_address_come_beside_those_of_the_machine() {
        let guard = Guard::for_address("::1".parse().unwrap(), ["mcp.example.com"]).unwrap();
        for host in ["mcp.example.com", "localhost:3000"] {
            assert_eq!(status(&guard, None, &[("Host", host)]), 200, "{host}");
        }
        assert_eq!(status(&guard, None, &[("Host", "evil.test")]), 421);
    }

    #[test]
    fn listed_origins_are_told_so_and_compare_with_their_port() {
        let guard = local()
            .with_origin("https://app.example.com")
            .unwrap()
            .with_origin("null")
            .unwrap();
        for (origin, told) in [
            ("https://app.example.com", true),
            ("https://APP.example.com:443", true),
            ("null", true),
            ("http://localhost:5173", false),
        ] {
            let fields = [("Host", "localhost"), ("Origin", origin)];
            assert_eq!(guard.check(None, &fields).unwrap().is_some(), told, "{origin}");
        }
        for origin in ["https://app.example.com:8443", "http://app.example.com"] {
            assert_eq!(
                status(&guard, None, &[("Host", "localhost"), ("Origin", origin)]),
                403,
                "{origin}"
            );
        }
        assert!(local().with_origin("app.example.com").is_err());
        assert!(local().with_origin("https://app.example.com/").is_err());
    }

    #[test]
    fn without_a_check_of_hosts_an_origin_still_has_to_be_that_of_the_host() {
        let guard = Guard::any_host();
        assert_eq!(status(&guard, None, &[("Host", "anything.test")]), 200);
        let same = [("Host", "a.test:3000"), ("Origin", "http://a.test:3000")];
        assert_eq!(status(&guard, None, &same), 200);
        let other = [("Host", "a.test"), ("Origin", "http://b.test")];
        assert_eq!(status(&guard, None, &other), 403);
    }
}
