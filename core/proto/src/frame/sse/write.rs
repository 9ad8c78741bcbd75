//! From events to bytes.

use std::fmt;

use memchr::{memchr2, memchr3};

/// Why an event cannot be written: the format has no way to say it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum BadField {
    /// The id holds a CR, LF or NUL.
    Id,
    /// The kind holds a CR or LF.
    Event,
}

impl fmt::Display for BadField {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Id => "the id of an event must hold no CR, LF or NUL",
            Self::Event => "the kind of an event must hold no CR or LF",
        })
    }
}

impl std::error::Error for BadField {}

/// Appends one event. Each line of `data` gets a line of its own; a reader sees CR and CRLF as LF.
///
/// Without `event` it is a `message`. With an id and empty data it only says where to resume from.
///
/// # Errors
/// When `id` or `event` cannot be written. Then nothing is.
///
/// ```
/// use oxmcp_proto::frame::sse::write_event;
///
/// let mut out = Vec::new();
/// write_event(&mut out, Some("7"), None, "{\"a\":\r\n1}")?;
/// assert_eq!(out, b"id: 7\ndata: {\"a\":\ndata: 1}\n\n");
/// # Ok::<(), oxmcp_proto::frame::sse::BadField>(())
/// ```
pub fn write_event(out: &mut Vec<u8>, id: Option<&str>, event: Option<&str>, data: &str) -> Result<(), BadField> {
    if id.is_some_and(|id| memchr3(b'\r', b'\n', 0, id.as_bytes()).is_some()) {
        return Err(BadField::Id);
    }
    if event.is_some_and(|event| memchr2(b'\r', b'\n', event.as_bytes()).is_some()) {
        return Err(BadField::Event);
    }
    if let Some(event) = event {
        write_lines(out, "event", event);
    }
    if let Some(id) = id {
        write_lines(out, "id", id);
    }
    write_lines(out, "data", data);
    out.push(b'\n');
    Ok(())
}

/// Appends a comment, which readers skip: a sign of life.
///
/// The empty line after it is for readers that look at whole events only.
pub fn write_comment(out: &mut Vec<u8>, text: &str) {
    write_lines(out, "", text);
    out.push(b'\n');
}

/// Appends how many milliseconds to wait before connecting again.
///
/// The empty line after it is for readers that look at whole events only.
pub fn write_retry(out: &mut Vec<u8>, millis: u64) {
    write_lines(out, "retry", &millis.to_string());
    out.push(b'\n');
}

/// Writes `text` as the values of one field, a line for each of its lines.
fn write_lines(out: &mut Vec<u8>, field: &str, text: &str) {
    let mut rest = text.as_bytes();
    loop {
        let end = memchr2(b'\r', b'\n', rest);
        out.extend_from_slice(field.as_bytes());
        out.extend_from_slice(b": ");
        out.extend_from_slice(&rest[..end.unwrap_or(rest.len())]);
        out.push(b'\n');
        let Some(end) = end else { return };
        let ending = if rest[end..].starts_with(b"\r\n") { 2 } else { 1 };
        rest = &rest[end + ending..];
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::super::{SseItem, SseParser};
    use super::*;

    fn written(id: Option<&str>, event: Option<&str>, data: &str) -> String {
        let mut out = Vec::new();
        write_event(&mut out, id, event, data).unwrap();
        String::from_utf8(out).unwrap()
    }

    #[test]
    fn events_are_written_line_by_line() {
        assert_eq!(written(None, None, "{}"), "data: {}\n\n");
        assert_eq!(
            written(Some("1"), Some("add"), "a\n b"),
            "event: add\nid: 1\ndata: a\ndata:  b\n\n"
        );
        assert_eq!(written(Some("1"), None, ""), "id: 1\ndata: \n\n");
        assert_eq!(written(None, None, "\r\r\n\n"), "data: \ndata: \ndata: \ndata: \n\n");
    }

    #[test]
    fn comments_and_retry_stand_on_their_own() {
        let mut out = Vec::new();
        write_comment(&mut out, "one\ndata: two");
        write_retry(&mut out, 3000);
        assert_eq!(out, b": one\n: data: two\n\nretry: 3000\n\n");
        let mut seen = Vec::new();
        SseParser::new(100).push(&out, |item| seen.push(format!("{item:?}")));
        assert_eq!(seen, ["Retry(3000)"]);
    }

    #[test]
    fn what_the_format_cannot_say_is_refused_whole() {
        for (id, event, wanted) in [
            (Some("a\nb"), None, BadField::Id),
            (Some("a\r"), None, BadField::Id),
            (Some("\0"), Some("add"), BadField::Id),
            (Some("1"), Some("a\ndata: x"), BadField::Event),
            (None, Some("\r"), BadField::Event),
        ] {
            let mut out = Vec::new();
            assert_eq!(write_event(&mut out, id, event, "x"), Err(wanted));
            assert!(out.is_empty());
        }
    }

    /// Text that likes the characters which mean something.
    fn value() -> impl Strategy<Value = String> {
        let part = prop_oneof![
            3 => proptest::sample::select(&["data:", ": ", " ", "\u{feff}", "\u{20ac}", "a", "id", "\t", "\u{2028}"])
                .prop_map(str::to_owned),
            1 => any::<char>().prop_map(String::from),
        ];
        proptest::collection::vec(part, 0..8).prop_map(|parts| parts.concat().replace(['\r', '\n', '\0'], ""))
    }

    type Written = (Option<String>, Option<String>, Vec<(String, &'static str)>);

    fn events() -> impl Strategy<Value = Vec<Written>> {
        let ending = proptest::sample::select(&["\n", "\r\n", "\r"]);
        let line = (value(), ending);
        let event = (
            proptest::option::of(value()),
            proptest::option::of(value()),
            proptest::collection::vec(line, 1..4),
        );
        proptest::collection::vec(event, 0..6)
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn what_is_written_is_read_again(events in events()) {
            let (mut out, mut wanted) = (Vec::new(), Vec::new());
            for (id, event, lines) in &events {
                let data: String = lines.iter().flat_map(|(line, ending)| [line.as_str(), ending]).collect();
                write_comment(&mut out, &data);
                // A CR at the end of a line and an LF after it, on an empty line, are one end.
                let read = data.replace("\r\n", "\n").replace('\r', "\n");
                write_event(&mut out, id.as_deref(), event.as_deref(), &data).unwrap();
                let event = event.clone().filter(|event| !event.is_empty());
                wanted.push((id.clone(), event.unwrap_or_else(|| "message".to_owned()), read));
            }
            let mut seen = Vec::new();
            SseParser::new(usize::MAX).push(&out, |item| match item {
                SseItem::Event { id, event, data } => {
                    seen.push((id.map(str::to_owned), event.to_owned(), data.to_owned()));
                }
                other => panic!("unexpected: {other:?}"),
            });
            prop_assert_eq!(seen, wanted);
        }

        #[test]
        fn an_event_without_data_says_its_id_or_nothing(id in proptest::option::of(value()), event in proptest::option::of(value())) {
            let mut out = Vec::new();
            write_event(&mut out, id.as_deref(), event.as_deref(), "").unwrap();
            let mut seen = Vec::new();
            SseParser::new(usize::MAX).push(&out, |item| match item {
                SseItem::Primed { id } => seen.push(id.to_owned()),
                other => panic!("unexpected: {other:?}"),
            });
            prop_assert_eq!(seen, Vec::from_iter(id));
        }
    }
}
