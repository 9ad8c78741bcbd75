//! The header fields of a request, as the protocol's rules read them.

use http::{HeaderMap, HeaderValue};
use oxmcp_proto::http::Fields;

/// How many fields nearly every request is asked for.
const KNOWN: usize = 10;
const ORIGIN: usize = 1;

/// Which of these a name is, as it is written in rules.
fn known(name: &str) -> Option<usize> {
    Some(match name {
        "Host" => 0,
        "Origin" => ORIGIN,
        "Accept" => 2,
        "Content-Type" => 3,
        "Content-Length" => 4,
        "Content-Encoding" => 5,
        "MCP-Protocol-Version" => 6,
        "Mcp-Method" => 7,
        "Mcp-Name" => 8,
        "Mcp-Session-Id" => 9,
        _ => return None,
    })
}

/// The same of a name as it stands in the map.
fn known_lower(name: &str) -> Option<usize> {
    Some(match name {
        "host" => 0,
        "origin" => ORIGIN,
        "accept" => 2,
        "content-type" => 3,
        "content-length" => 4,
        "content-encoding" => 5,
        "mcp-protocol-version" => 6,
        "mcp-method" => 7,
        "mcp-name" => 8,
        "mcp-session-id" => 9,
        _ => return None,
    })
}

/// The header fields of a request, looked through once: to look each one up costs more.
pub(super) struct Headers<'a> {
    map: &'a HeaderMap,
    known: [Found<'a>; KNOWN],
}

#[derive(Clone, Copy)]
enum Found<'a> {
    Absent,
    Once(&'a HeaderValue),
    Often,
}

impl<'a> Headers<'a> {
    pub(super) fn of(map: &'a HeaderMap) -> Self {
        let mut known = [Found::Absent; KNOWN];
        for (name, value) in map {
            if let Some(at) = known_lower(name.as_str()) {
                known[at] = match known[at] {
                    Found::Absent => Found::Once(value),
                    Found::Once(_) | Found::Often => Found::Often,
                };
            }
        }
        Self { map, known }
    }

    /// Whether a page of a browser makes the request.
    pub(super) fn has_origin(&self) -> bool {
        !matches!(self.known[ORIGIN], Found::Absent)
    }
}

impl Fields for Headers<'_> {
    fn each<'a>(&'a self, name: &str, found: &mut dyn FnMut(&'a [u8])) {
        match known(name).map(|at| self.known[at]) {
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
    fn both_ways_of_writing_a_name_are_known() {
        let mut all = Vec::new();
        for name in [
            "Host",
            "Origin",
            "Accept",
            "Content-Type",
            "Content-Length",
            "Content-Encoding",
            "MCP-Protocol-Version",
            "Mcp-Method",
            "Mcp-Name",
            "Mcp-Session-Id",
        ] {
            assert_eq!(known(name), known_lower(&name.to_ascii_lowercase()), "{name}");
            all.extend(known(name));
        }
        assert_eq!(all, (0..KNOWN).collect::<Vec<_>>());
    }

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
