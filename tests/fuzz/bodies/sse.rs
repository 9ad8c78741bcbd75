//! Server-Sent Events: a cut changes nothing, memory is bounded, it is what the standard's own steps
//! give on whole text, and what is written is read again.
//!
//! Input: the rule of the cut, the limit, and the stream.

use oxmcp_proto::frame::sse::{SseItem, SseParser, write_event};

use crate::cuts::chunks;

/// How much of the data of a refused event is handed out, and so held.
const START: usize = 1024;

#[derive(Clone, Debug, PartialEq, Eq)]
enum Seen {
    Event {
        id: Option<String>,
        event: String,
        data: String,
    },
    Primed(String),
    Retry(u64),
    TooLong(usize, Vec<u8>),
}

pub(crate) fn check(input: &[u8]) {
    let [rule, limit, stream @ ..] = input else { return };
    let (wanted, last_id) = read(&String::from_utf8_lossy(stream));
    let cut = chunks(*rule, stream);
    for chunks in [&[stream][..], &cut] {
        let (seen, id) = parse(chunks, usize::MAX);
        assert_eq!(seen, wanted, "{} chunks", chunks.len());
        assert_eq!(id, last_id, "{} chunks", chunks.len());
    }
    let limited = parse(&[stream], usize::from(*limit));
    assert_eq!(parse(&cut, usize::from(*limit)), limited, "cut by rule {rule}");
    check_limited(&limited.0, &wanted);
    for event in wanted {
        write_and_read(event);
    }
}

fn parse(chunks: &[&[u8]], limit: usize) -> (Vec<Seen>, Option<String>) {
    let mut parser = SseParser::new(limit);
    let mut seen = Vec::new();
    for chunk in chunks {
        parser.push(chunk, |item| {
            seen.push(match item {
                SseItem::Event { id, event, data } => Seen::Event {
                    id: id.map(str::to_owned),
                    event: event.to_owned(),
                    data: data.to_owned(),
                },
                SseItem::Primed { id } => Seen::Primed(id.to_owned()),
                SseItem::Retry(millis) => Seen::Retry(millis),
                SseItem::TooLong { length, start } => Seen::TooLong(length, start.to_vec()),
            });
        });
        // Data, a value that is not whole, the kind, the id, and the name of a field.
        let bound = limit.saturating_mul(4).saturating_add(START + 16);
        assert!(parser.buffered() <= bound, "{} bytes are held", parser.buffered());
    }
    (seen, parser.last_event_id().map(str::to_owned))
}

/// A limit takes some items out and changes no other.
fn check_limited(limited: &[Seen], wanted: &[Seen]) {
    let mut wanted = wanted.iter();
    for item in limited.iter().filter(|item| !matches!(item, Seen::TooLong(..))) {
        assert!(wanted.any(|wanted| wanted == item), "the limit changed {item:?}");
    }
}

fn write_and_read(item: Seen) {
    let mut out = Vec::new();
    let written = match &item {
        Seen::Event { id, event, data } => write_event(&mut out, id.as_deref(), Some(event), data),
        Seen::Primed(id) => write_event(&mut out, Some(id), None, ""),
        Seen::Retry(_) | Seen::TooLong(..) => return,
    };
    assert_eq!(written, Ok(()), "what was read can be written");
    assert_eq!(parse(&[&out], usize::MAX).0, [item]);
}

/// The steps of the standard (9.2.6), on text that is there as a whole.
fn read(text: &str) -> (Vec<Seen>, Option<String>) {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let mut lines: Vec<&str> = text.split('\n').collect();
    // The last one has no end.
    lines.pop();
    let mut seen = Vec::new();
    let (mut last_id, mut id, mut event, mut data) = (String::new(), None, "", Vec::new());
    for line in lines {
        let (name, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match name {
            "" if line.is_empty() => {
                let data = std::mem::take(&mut data).join("\n");
                let event = std::mem::take(&mut event);
                let id: Option<String> = id.take();
                last_id = id.clone().unwrap_or(last_id);
                if !data.is_empty() {
                    let event = if event.is_empty() { "message" } else { event }.to_owned();
                    seen.push(Seen::Event { id, event, data });
                } else if let Some(id) = id {
                    seen.push(Seen::Primed(id));
                }
            }
            "data" => data.push(value),
            "event" => event = value,
            "id" if !value.contains('\0') => id = Some(value.to_owned()),
            "retry" if !value.is_empty() && value.bytes().all(|byte| byte.is_ascii_digit()) => {
                seen.push(Seen::Retry(value.parse().unwrap_or(u64::MAX)));
            }
            _ => {}
        }
    }
    (seen, Some(last_id).filter(|id| !id.is_empty()))
}
