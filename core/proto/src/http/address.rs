//! Hosts, origins and URLs, as far as they decide who talks to whom.
//!
//! Only what can be read in one way is read at all: no user information, no percent signs, no numbers
//! that a browser would take for an address and we would not.

use std::fmt;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr};

/// A host, from a `Host` field, an authority or a URL.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Host<'a> {
    /// A name, without the dot that may end it. Compares without case.
    Name(&'a str),
    /// An address.
    Ip(IpAddr),
}

impl PartialEq for Host<'_> {
    fn eq(&self, other: &Self) -> bool {
        match (self, other) {
            (Self::Name(a), Self::Name(b)) => a.eq_ignore_ascii_case(b),
            (Self::Ip(a), Self::Ip(b)) => a == b,
            _ => false,
        }
    }
}

impl<'a> Host<'a> {
    /// Reads `host` or `host:port`; `None` for anything else.
    pub(crate) fn parse(text: &'a str) -> Option<(Self, Option<u16>)> {
        if let Some(rest) = text.strip_prefix('[') {
            let (address, port) = rest.split_once(']')?;
            let address: Ipv6Addr = address.parse().ok()?;
            let port = match port.strip_prefix(':') {
                Some(port) => read_port(port)?,
                None if port.is_empty() => None,
                None => return None,
            };
            return Some((Self::Ip(address.into()), port));
        }
        let (host, port) = match text.split_once(':') {
            Some((host, port)) => (host, read_port(port)?),
            None => (text, None),
        };
        let name = host.strip_suffix('.').unwrap_or(host);
        if let Ok(address) = name.parse::<Ipv4Addr>() {
            return Some((Self::Ip(address.into()), port));
        }
        let last = name.rsplit('.').next().unwrap_or_default();
        let is_name = name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"-._".contains(&byte));
        (is_name && !last.is_empty() && !is_number(last)).then_some((Self::Name(name), port))
    }

    /// Whether it stands for this machine: `localhost`, 127.0.0.0/8 or `[::1]`.
    pub(crate) fn is_loopback(self) -> bool {
        match self {
            Self::Name(name) => name.eq_ignore_ascii_case("localhost"),
            Self::Ip(IpAddr::V6(address)) => address.to_canonical().is_loopback(),
            Self::Ip(address) => address.is_loopback(),
        }
    }
}

/// Whether a browser takes a host whose last label this is for an IPv4 address (WHATWG URL, "ends in a number").
fn is_number(label: &str) -> bool {
    let hex = label.strip_prefix("0x").or_else(|| label.strip_prefix("0X"));
    match hex {
        Some(digits) => digits.bytes().all(|byte| byte.is_ascii_hexdigit()),
        None => label.bytes().all(|byte| byte.is_ascii_digit()),
    }
}

/// The digits after the colon; they may be missing (RFC 3986 §3.2.3).
fn read_port(digits: &str) -> Option<Option<u16>> {
    match digits {
        "" => Some(None),
        _ if digits.bytes().all(|byte| byte.is_ascii_digit()) => digits.parse().ok().map(Some),
        _ => None,
    }
}

/// An origin: scheme, host and port (RFC 6454).
#[derive(Clone, Copy, Debug)]
pub(crate) struct Origin<'a> {
    pub scheme: &'a str,
    pub host: Host<'a>,
    pub port: Option<u16>,
}

impl PartialEq for Origin<'_> {
    fn eq(&self, other: &Self) -> bool {
        let same_scheme = self.scheme.eq_ignore_ascii_case(other.scheme);
        same_scheme && self.host == other.host && self.port == other.port
    }
}

impl<'a> Origin<'a> {
    /// Reads an `Origin` field: a scheme and an authority, and nothing after it.
    pub(crate) fn parse(text: &'a str) -> Option<Self> {
        let (scheme, authority) = text.split_once("://")?;
        let is_scheme = |byte: u8| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte);
        if !scheme.starts_with(|first: char| first.is_ascii_alphabetic()) || !scheme.bytes().all(is_scheme) {
            return None;
        }
        let (host, port) = Host::parse(authority)?;
        let port = port.or_else(|| default_port(scheme));
        Some(Self { scheme, host, port })
    }

    /// The origin of an `http` or `https` URL; `None` for other ones, and for those with user information.
    pub(crate) fn of_url(url: &'a str) -> Option<Self> {
        let start = url.find("://")? + "://".len();
        // A backslash is a slash to some readers of URLs.
        let end = url[start..]
            .find(['/', '?', '#', '\\'])
            .map_or(url.len(), |at| start + at);
        let origin = Self::parse(&url[..end])?;
        default_port(origin.scheme).is_some().then_some(origin)
    }

    pub(crate) fn is_secure(self) -> bool {
        self.scheme.eq_ignore_ascii_case("https")
    }

    pub(crate) fn is_web(self) -> bool {
        default_port(self.scheme).is_some()
    }
}

impl fmt::Display for Origin<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}://", self.scheme)?;
        match self.host {
            Host::Name(name) => f.write_str(name)?,
            Host::Ip(IpAddr::V4(address)) => address.fmt(f)?,
            Host::Ip(IpAddr::V6(address)) => write!(f, "[{address}]")?,
        }
        match self.port.filter(|port| default_port(self.scheme) != Some(*port)) {
            Some(port) => write!(f, ":{port}"),
            None => Ok(()),
        }
    }
}

fn default_port(scheme: &str) -> Option<u16> {
    if scheme.eq_ignore_ascii_case("http") {
        Some(80)
    } else if scheme.eq_ignore_ascii_case("https") {
        Some(443)
    } else {
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hosts_that_read_in_two_ways_are_not_read() {
        for text in [
            "",
            ":80",
            ".",
            "localhost:port",
            "localhost:99999",
            "localhost:80:80",
            "user@localhost",
            "localhost@evil.test",
            "local%68ost",
            "[::1",
            "[::1]x",
            "[::1%eth0]",
            "::1",
            "127.1",
            "0177.0.0.1",
            "2130706433",
            "0x7f.1",
            "localhost/",
            "localhost evil.test",
            "b\u{fc}cher.test",
        ] {
            assert!(Host::parse(text).is_none(), "{text}");
        }
    }

    #[test]
    fn only_names_of_this_machine_are_loopback() {
        for (text, loopback) in [
            ("localhost", true),
            ("LocalHost:9000", true),
            ("localhost.", true),
            ("localhost:", true),
            ("127.0.0.1:80", true),
            ("127.255.0.3", true),
            ("[::1]", true),
            ("[::1]:8080", true),
            ("[0:0:0:0:0:0:0:1]", true),
            ("[::ffff:127.0.0.1]", true),
            ("evil.test", false),
            ("localhost.evil.test", false),
            ("127.0.0.1.evil.test", false),
            ("localhost.localdomain", false),
            ("notlocalhost", false),
            ("0.0.0.0", false),
            ("[::]", false),
            ("10.0.0.1", false),
            ("5f3a2b1c", false),
            ("host.3x", false),
            ("[::ffff:10.0.0.1]", false),
        ] {
            let (host, _) = Host::parse(text).unwrap();
            assert_eq!(host.is_loopback(), loopback, "{text}");
        }
    }

    #[test]
    fn the_origin_of_a_url_ends_where_its_path_begins() {
        for (url, origin) in [
            ("http://a.test/mcp?x=http://b.test", Some("http://a.test")),
            ("HTTPS://A.test:443", Some("HTTPS://A.test")),
            ("http://[::1]:80#x", Some("http://[::1]")),
            ("https://a.test:8443/", Some("https://a.test:8443")),
            ("https://a.test\\@b.test/", Some("https://a.test")),
            ("https://user:pass@a.test/", None),
            ("https://a.test@b.test", None),
            ("ftp://a.test/", None),
            ("//a.test/", None),
            ("/mcp", None),
        ] {
            let read = Origin::of_url(url).map(|origin| origin.to_string());
            assert_eq!(read.as_deref(), origin, "{url}");
        }
        assert_eq!(Origin::of_url("http://a.test:80/x"), Origin::parse("HTTP://A.TEST"));
        assert_ne!(Origin::parse("http://a.test"), Origin::parse("https://a.test:80"));
    }
}
