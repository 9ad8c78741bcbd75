//! The header fields of a request, as the protocol's rules read them.

use http::{HeaderMap, HeaderValue};
use oxmcp_proto::http::Fields;

/// The fields that nearly every request is asked for, in the names' two ways of writing.
const KNOWN: [(&str, &str); 10] = [
    ("Host", "host"),
    ("Origin", "origin"),
    ("Accept", "accept"),
    ("Content-Type", "content-type"),
    ("Content-Length", "content-length"),
    ("Content-Encoding", "content-encoding"),
    ("MCP-Protocol-Version", "mcp-protocol-version"),
    ("Mcp-Method", "mcp-method"),
    ("Mcp-Name", "mcp-name"),
    ("Mcp-Session-Id", "mcp-session-id"),
];

/// The header fields of a request, looked through once: to look each one up costs more.
pub(super) struct Headers<'a> {
    map: &'a HeaderMap,
    known: [Found<'a>; KNOWN.len()],
}

#[derive(Clone, Copy)]
enum Found<'a> {
    Absent,
    Once(&'a HeaderValue),
    Often,
}

impl<'a> Headers<'a> {
    pub(super) fn of(map: &'a HeaderMap) -> Self {
        let mut known = [Found::Absent; KNOWN.len()];
        for (name, value) in map {
            let name = name.as_str();
            if let Some(at) = KNOWN.iter().position(|(_, lower)| *lower == name) {
                known[at] = match known[at] {
                    Found::Absent => Found::Once(value),
                    Found::Once(_) | Found::Often => Found::Often,
                };
            }
        }
        Self { map, known }
    }
}

impl Fields for Headers<'_> {
    fn each<'a>(&'a self, name: &str, found: &mut dyn FnMut(&'a [u8])) {
        let at = KNOWN.iter().position(|(canonical, _)| *canonical == name);
        match at.map(|at| self.known[at]) {
            Some(Found::Absent) => {}
            Some(Found::Once(value)) => found(value.as_bytes()),
            Some(Found::Often) | None => {
                for value in self.map.get_all(name) {
                    found(value.as_bytes());
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fields_are_found_once_often_and_not_at_all() {
        let mut map = HeaderMap::new();
        for (name, value) in [("host", "a"), ("accept", "b"), ("accept", "c"), ("x-other", "d")] {
            map.append(name, HeaderValue::from_static(value));
        }
        let headers = Headers::of(&map);
        for (name, want) in [
            ("Host", &["a"][..]),
            ("host", &["a"]),
            ("Accept", &["b", "c"]),
            ("Origin", &[]),
            ("X-Other", &["d"]),
            ("X-None", &[]),
        ] {
            let mut found = Vec::new();
            headers.each(name, &mut |value| {
                found.push(String::from_utf8_lossy(value).into_owned());
            });
            assert_eq!(found, want, "{name}");
        }
    }
}
