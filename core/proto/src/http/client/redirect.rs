//! Whether a client follows a redirect, and what it takes along.
//!
//! | to | what is done |
//! | --- | --- |
//! | the same origin | followed with all fields |
//! | the same host, from http to https | followed without the fields of the program and the session |
//! | another origin | refused, or, if allowed, followed without those fields |
//! | http from https, no web URL, user information in it, too many hops | refused |
//!
//! A status that turns a POST into a GET (301, 302, 303) would lose the message, so for a POST it is refused.
//! Credentials never reach another origin, and a server cannot send a client's messages into a network of
//! the client's that it could not reach itself.

use super::super::address::Origin;

/// What a program allows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RedirectPolicy {
    /// How many redirects are followed in a row.
    pub hops: u32,
    /// Whether other origins are followed at all.
    pub other_origins: bool,
}

impl Default for RedirectPolicy {
    /// Five, and no other origins.
    fn default() -> Self {
        Self {
            hops: 5,
            other_origins: false,
        }
    }
}

/// Which fields go along.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Carry {
    /// All of them.
    All,
    /// Those of the protocol, save `Mcp-Session-Id`; none that the program set, no credentials, no cookies.
    Protocol,
}

/// What to do with a redirect.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Redirect {
    /// Send the same request, method and body unchanged.
    Follow(Carry),
    /// The request has failed. The target, and the reason.
    Refuse(String),
}

impl RedirectPolicy {
    /// Decides over a redirect with `status` from the URL `from` to the URL `to`, already made absolute.
    /// `followed` is how many came before it, `had_session` whether the request carried a session.
    ///
    /// ```
    /// use oxmcp_proto::http::client::{Carry, Redirect, RedirectPolicy};
    ///
    /// let policy = RedirectPolicy::default();
    /// let follow = policy.decide("POST", 308, "https://a.test/mcp", "https://a.test/mcp/", 0, false);
    /// assert_eq!(follow, Redirect::Follow(Carry::All));
    /// let elsewhere = policy.decide("POST", 308, "https://a.test/", "https://b.test/", 0, false);
    /// assert!(matches!(elsewhere, Redirect::Refuse(_)));
    /// ```
    pub fn decide(self, method: &str, status: u16, from: &str, to: &str, followed: u32, had_session: bool) -> Redirect {
        let refuse = |why: &str| Redirect::Refuse(format!("{to}: {why}"));
        if followed >= self.hops {
            return refuse("too many redirects");
        }
        if method != "GET" && !matches!(status, 307 | 308) {
            return refuse(&format!("status {status} would turn a {method} into a GET"));
        }
        let (Some(here), Some(there)) = (Origin::of_url(from), Origin::of_url(to)) else {
            return refuse("that is no http or https URL without user information");
        };
        if here == there {
            return Redirect::Follow(Carry::All);
        }
        if here.is_secure() && !there.is_secure() {
            return refuse("that is not encrypted");
        }
        if had_session {
            return refuse("a session belongs to one origin");
        }
        let is_upgrade = here.host == there.host && !here.is_secure() && there.is_secure();
        if is_upgrade || self.other_origins {
            return Redirect::Follow(Carry::Protocol);
        }
        refuse("that is another origin; connect to it directly if you trust it")
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_never_follow_to_another_origin() {
        let strict = RedirectPolicy::default();
        let open = RedirectPolicy {
            other_origins: true,
            ..strict
        };
        let (same, lean) = (Some(Carry::All), Some(Carry::Protocol));
        for (from, to, by_default, if_allowed) in [
            ("https://a.test/mcp", "https://a.test/mcp/", same, same),
            ("https://A.test:443/", "https://a.test/x", same, same),
            ("http://a.test/", "https://a.test/", lean, lean),
            ("http://a.test:8080/", "https://a.test:8443/", lean, lean),
            ("https://a.test/", "https://a.test:8443/", None, lean),
            ("https://a.test/", "https://b.test/", None, lean),
            ("http://a.test/", "http://localhost:9000/", None, lean),
            ("https://a.test/", "https://x.a.test/", None, lean),
            ("https://a.test/", "http://a.test/", None, None),
            ("https://a.test/", "http://b.test/", None, None),
            ("https://a.test/", "https://a.test@b.test/", None, None),
            ("https://a.test/", "file:///etc/passwd", None, None),
            ("https://a.test/", "/mcp", None, None),
        ] {
            for (policy, want) in [(strict, by_default), (open, if_allowed)] {
                let got = match policy.decide("POST", 307, from, to, 0, false) {
                    Redirect::Follow(carry) => Some(carry),
                    Redirect::Refuse(why) => {
                        assert!(why.contains(to));
                        None
                    }
                };
                assert_eq!(got, want, "{from} {to} {policy:?}");
            }
        }
    }

    #[test]
    fn a_redirect_keeps_the_message_or_is_refused() {
        let policy = RedirectPolicy::default();
        let decide = |method, status, followed| {
            policy.decide(method, status, "http://a.test/a", "http://a.test/b", followed, true)
        };
        for (method, status, followed, follows) in [
            ("POST", 307, 0, true),
            ("POST", 308, 4, true),
            ("POST", 301, 0, false),
            ("POST", 302, 0, false),
            ("POST", 303, 0, false),
            ("DELETE", 302, 0, false),
            ("GET", 302, 0, true),
            ("POST", 307, 5, false),
        ] {
            let is_followed = matches!(decide(method, status, followed), Redirect::Follow(Carry::All));
            assert_eq!(is_followed, follows, "{method} {status} {followed}");
        }
        let upgraded = policy.decide("POST", 308, "http://a.test/", "https://a.test/", 0, true);
        assert!(matches!(upgraded, Redirect::Refuse(why) if why.contains("session")));
    }
}
