//! Media types: what a body is, and what may be answered.
//!
//! | field | read | turned down by |
//! | --- | --- | --- |
//! | `Content-Type` of a POST | must be `application/json`, parameters are ignored (RFC 9110 §8.3) | 415 |
//! | `Accept` of a POST | JSON or an event stream, or both (RFC 9110 §12.5.1) | 406 |
//! | `Accept` of a GET | an event stream | 406 |
//!
//! The specification has clients list both types on a POST. One that lists only one of them, or a
//! wildcard, is served with what it takes.

use super::fields::{self, Fields};

/// The media type of JSON.
pub const JSON: &str = "application/json";

/// The media type of Server-Sent Events.
pub const EVENT_STREAM: &str = "text/event-stream";

/// How much a client wants each kind of answer, in thousandths; zero means not at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Accepts {
    /// `application/json`.
    pub json: u16,
    /// `text/event-stream`.
    pub event_stream: u16,
}

impl Accepts {
    /// Everything, as a request without the field means it.
    pub const ANY: Self = Self {
        json: 1000,
        event_stream: 1000,
    };

    /// Reads an `Accept` field.
    ///
    /// The most specific range that matches a type decides, whatever the order. A range that cannot
    /// be read counts for nothing.
    ///
    /// ```
    /// use oxmcp_proto::http::Accepts;
    ///
    /// let accepts = Accepts::parse("*/*;q=0.5, text/event-stream;q=0");
    /// assert_eq!((accepts.json, accepts.event_stream), (500, 0));
    /// ```
    pub fn parse(value: &str) -> Self {
        if value.trim().is_empty() {
            return Self::ANY;
        }
        if value == EVENT_STREAM {
            return Self { json: 0, ..Self::ANY };
        }
        let ranges: Vec<Range<'_>> = split_outside_quotes(value, ',').filter_map(Range::parse).collect();
        let weight = |kind: &str, subtype: &str| {
            let matching = ranges.iter().filter_map(|range| range.matches(kind, subtype));
            matching
                .max_by_key(|(specific, _)| *specific)
                .map_or(0, |(_, weight)| weight)
        };
        Self {
            json: weight("application", "json"),
            event_stream: weight("text", "event-stream"),
        }
    }

    /// Whether JSON may be answered.
    pub const fn takes_json(self) -> bool {
        self.json > 0
    }

    /// Whether an event stream may be answered.
    pub const fn takes_event_stream(self) -> bool {
        self.event_stream > 0
    }

    pub(super) fn of(fields: &dyn Fields) -> Self {
        // This is what nearly all clients send; it means the same as nothing.
        if fields::says(fields, "Accept", "application/json, text/event-stream") {
            return Self::ANY;
        }
        fields::list(fields, "Accept").map_or(Self::ANY, |value| Self::parse(&value))
    }
}

/// Whether a `Content-Type` names `essence`, like `application/json`.
///
/// ```
/// use oxmcp_proto::http::is_media_type;
///
/// assert!(is_media_type("Application/JSON; charset=utf-8", "application/json"));
/// assert!(!is_media_type("text/plain; a=application/json", "application/json"));
/// ```
pub fn is_media_type(value: &str, essence: &str) -> bool {
    let kind = split_outside_quotes(value, ';').next().unwrap_or_default();
    kind.trim().eq_ignore_ascii_case(essence)
}

/// A media range with its weight.
#[derive(Clone, Copy, Debug)]
struct Range<'a> {
    kind: &'a str,
    subtype: &'a str,
    weight: u16,
}

impl<'a> Range<'a> {
    fn parse(text: &'a str) -> Option<Self> {
        let mut parts = split_outside_quotes(text, ';');
        let (kind, subtype) = parts.next()?.trim().split_once('/')?;
        let mut weight = 1000;
        for parameter in parts {
            let Some((name, value)) = parameter.split_once('=') else {
                continue;
            };
            if name.trim().eq_ignore_ascii_case("q") {
                weight = thousandths(value.trim())?;
            }
        }
        let is_range = is_token(kind) && is_token(subtype) && (kind != "*" || subtype == "*");
        is_range.then_some(Self { kind, subtype, weight })
    }

    /// How specific the range is, if the type is in it, and its weight.
    fn matches(self, kind: &str, subtype: &str) -> Option<(u8, u16)> {
        let same = |range: &str, name: &str| range.eq_ignore_ascii_case(name);
        let specific = match (self.kind, self.subtype) {
            ("*", _) => 0,
            (range, "*") if same(range, kind) => 1,
            (range, sub) if same(range, kind) && same(sub, subtype) => 2,
            _ => return None,
        };
        Some((specific, self.weight))
    }
}

/// A weight: 0 to 1 with at most three decimals (RFC 9110 §12.4.2).
fn thousandths(text: &str) -> Option<u16> {
    let (whole, decimals) = text.split_once('.').unwrap_or((text, ""));
    let digits = decimals.len() <= 3 && decimals.bytes().all(|byte| byte.is_ascii_digit());
    let fraction: u16 = format!("{decimals:0<3}").parse().ok().filter(|_| digits)?;
    match (whole, fraction) {
        ("0", fraction) => Some(fraction),
        ("1", 0) => Some(1000),
        _ => None,
    }
}

/// Whether `text` may be the name of a header field or half a media type (RFC 9110 §5.6.2).
pub(super) fn is_token(text: &str) -> bool {
    let is_tchar = |byte: u8| byte.is_ascii_alphanumeric() || b"!#$%&'*+-.^_`|~".contains(&byte);
    !text.is_empty() && text.bytes().all(is_tchar)
}

/// The parts of `text` between separators that do not stand in a quoted string.
fn split_outside_quotes(text: &str, separator: char) -> impl Iterator<Item = &str> {
    let (mut quoted, mut escaped) = (false, false);
    text.split(move |character: char| {
        let is_escaped = std::mem::take(&mut escaped);
        match character {
            '\\' if quoted && !is_escaped => escaped = true,
            '"' if !is_escaped => quoted = !quoted,
            _ => {}
        }
        character == separator && !quoted
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn media_types_are_parsed_not_compared_as_text() {
        for (value, json) in [
            ("application/json", true),
            ("Application/JSON; charset=utf-8", true),
            ("application/json;charset=\"utf;8\"", true),
            (" application/json ", true),
            ("text/plain; a=application/json", false),
            ("application/json-seq", false),
            ("application/jsonx", false),
            ("text/plain", false),
            ("application/json, text/plain", false),
            ("application", false),
            ("", false),
        ] {
            assert_eq!(is_media_type(value, JSON), json, "{value}");
        }
    }

    #[test]
    fn accept_is_read_with_case_parameters_weights_and_wildcards() {
        for (value, json, event_stream) in [
            ("application/json, text/event-stream", 1000, 1000),
            ("*/*", 1000, 1000),
            ("", 1000, 1000),
            ("Application/Json", 1000, 0),
            ("application/*;q=0.25", 250, 0),
            ("text/*", 0, 1000),
            ("text/html", 0, 0),
            ("text/plain; a=application/json", 0, 0),
            ("text/plain; a=\"application/json, */*\"", 0, 0),
            ("text/plain; a=\"\\\", */*\", application/json", 1000, 0),
            ("application/json;q=0, */*", 0, 1000),
            ("*/*, application/json; Q=0", 0, 1000),
            ("application/json;q=0.5, text/event-stream;q=0.001", 500, 1),
            ("application/json;charset=utf-8;q=1.000", 1000, 0),
            ("application/json;q=2, text/event-stream;q=x, text/*;q=0.1", 0, 100),
            ("*/json, json, /, a/b/c,,", 0, 0),
        ] {
            assert_eq!(Accepts::parse(value), Accepts { json, event_stream }, "{value}");
        }
    }

    #[test]
    fn a_request_without_accept_takes_anything() {
        assert_eq!(Accepts::of(&[("Host", "localhost")]), Accepts::ANY);
        let split = [("Accept", "application/json"), ("Accept", "text/event-stream")];
        assert_eq!(Accepts::of(&split), Accepts::ANY);
    }
}
