//! From bytes to events.

use memchr::{memchr, memchr2};

/// How much of the data of a refused event is handed out.
const START: usize = 1024;

/// A rare huge event must not pin its memory for the life of the connection.
const KEPT: usize = 64 * 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Bytes of a field's name that are kept: a mark, the longest name we know, and one to tell a longer one.
const NAME: usize = BYTE_ORDER_MARK.len() + "event".len() + 1;

/// Splits a byte stream into events, whatever the chunks it arrives in.
///
/// Values go to where they are kept as they come; comments and unknown fields are not held at all.
/// Cost is linear in the bytes, and memory is bounded by the limit.
///
/// ```
/// use oxmcp_proto::frame::sse::{SseItem, SseParser};
///
/// let mut parser = SseParser::new(1024);
/// let mut seen = Vec::new();
/// for chunk in ["id: 7\r", "\ndata: {\"a\":", "1}\r\n\r\n: still here\n"] {
///     parser.push(chunk.as_bytes(), |item| match item {
///         SseItem::Event { id, event, data } => seen.push(format!("{id:?} {event} {data}")),
///         other => unreachable!("{other:?}"),
///     });
/// }
/// assert_eq!(seen, ["Some(\"7\") message {\"a\":1}"]);
/// assert_eq!(parser.last_event_id(), Some("7"));
/// ```
#[derive(Debug)]
pub struct SseParser {
    limit: usize,
    place: Place,
    /// The last byte was a CR, so that an LF next belongs to it.
    after_cr: bool,
    on_first_line: bool,
    /// The start of a line up to its colon, cut to [`NAME`] bytes.
    name: Vec<u8>,
    /// The value of a field other than `data`.
    value: Value,
    pending: Pending,
    /// The id of the last whole event that had one.
    last_id: String,
}

/// What [`SseParser::push`] found.
#[derive(Debug, PartialEq, Eq)]
pub enum SseItem<'a> {
    /// An event with data.
    Event {
        /// The id this event set, if it did; empty when it took the last one back.
        id: Option<&'a str>,
        /// Its kind, `message` where the stream says nothing.
        event: &'a str,
        /// Its data lines, joined by LF; never empty.
        data: &'a str,
    },
    /// An event without data that set the id to resume from, and has no other meaning.
    Primed {
        /// That id; empty when it took the last one back.
        id: &'a str,
    },
    /// How many milliseconds to wait before connecting again.
    Retry(u64),
    /// An event over the limit was dropped; the stream goes on after it. Its id counts.
    TooLong {
        /// Bytes of data, ids and kinds it had.
        length: usize,
        /// The first bytes of its data: enough to find out whose message it was.
        start: &'a [u8],
    },
}

/// Where in a line the next byte stands.
#[derive(Clone, Copy, Debug)]
enum Place {
    /// Before the colon.
    Name,
    /// Right after the colon, where a space does not count.
    Colon(Field),
    Value(Field),
}

#[derive(Clone, Copy, Debug)]
enum Field {
    Data,
    Event,
    Id,
    Retry,
    /// A comment or an unknown field.
    Ignored,
}

#[derive(Debug, Default)]
struct Value {
    bytes: Vec<u8>,
    /// It went over the limit, and part of it was dropped.
    cut: bool,
}

/// The event that is not whole yet.
#[derive(Debug, Default)]
struct Pending {
    data: Vec<u8>,
    has_data: bool,
    event: Vec<u8>,
    id: Option<Vec<u8>>,
    length: usize,
}

impl SseParser {
    /// A parser that refuses events with more than `limit` bytes of data, id and kind in all.
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            place: Place::Name,
            after_cr: false,
            on_first_line: true,
            name: Vec::with_capacity(NAME),
            value: Value::default(),
            pending: Pending::default(),
            last_id: String::new(),
        }
    }

    /// Takes the next bytes of the stream and hands what ends in them to `each`.
    pub fn push(&mut self, mut chunk: &[u8], mut each: impl FnMut(SseItem<'_>)) {
        while !chunk.is_empty() {
            if std::mem::take(&mut self.after_cr) && chunk[0] == b'\n' {
                chunk = &chunk[1..];
                continue;
            }
            let Some(end) = memchr2(b'\n', b'\r', chunk) else {
                return self.take_in(chunk);
            };
            self.take_in(&chunk[..end]);
            self.end_line(&mut each);
            self.after_cr = chunk[end] == b'\r';
            chunk = &chunk[end + 1..];
        }
    }

    /// The id to resume from: that of the last whole event which set one. `None` when there was
    /// none, or it was set to nothing.
    pub fn last_event_id(&self) -> Option<&str> {
        Some(&*self.last_id).filter(|id| !id.is_empty())
    }

    /// Bytes of an unfinished event held at the moment.
    pub fn buffered(&self) -> usize {
        let Pending { data, event, id, .. } = &self.pending;
        let id = id.as_ref().map_or(0, Vec::len);
        self.name.len() + self.value.bytes.len() + data.len() + event.len() + id
    }

    /// Takes in a part of a line.
    fn take_in(&mut self, mut part: &[u8]) {
        if matches!(self.place, Place::Name) {
            let colon = memchr(b':', part);
            let name = &part[..colon.unwrap_or(part.len())];
            let room = NAME - self.name.len();
            self.name.extend_from_slice(&name[..name.len().min(room)]);
            let Some(colon) = colon else { return };
            part = &part[colon + 1..];
            self.place = Place::Colon(self.begin_field());
        }
        if let Place::Colon(field) = self.place
            && let Some(first) = part.first()
        {
            part = &part[usize::from(*first == b' ')..];
            self.place = Place::Value(field);
        }
        match self.place {
            Place::Value(Field::Data) => self.pending.add_data(part, self.limit),
            Place::Value(Field::Event | Field::Id) => {
                self.pending.length = self.pending.length.saturating_add(part.len());
                self.value.add(part, self.limit);
            }
            Place::Value(Field::Retry) => self.value.add(part, self.limit),
            Place::Value(Field::Ignored) | Place::Colon(_) | Place::Name => {}
        }
    }

    /// The name of a field is whole.
    fn begin_field(&mut self) -> Field {
        let field = match self.name() {
            b"data" => Field::Data,
            b"event" => Field::Event,
            b"id" => Field::Id,
            b"retry" => Field::Retry,
            _ => Field::Ignored,
        };
        self.name.clear();
        if matches!(field, Field::Data) && std::mem::replace(&mut self.pending.has_data, true) {
            self.pending.add_data(b"\n", self.limit);
        }
        field
    }

    fn name(&self) -> &[u8] {
        match self.name.strip_prefix(BYTE_ORDER_MARK) {
            Some(name) if self.on_first_line => name,
            _ => &self.name,
        }
    }

    fn end_line(&mut self, each: &mut impl FnMut(SseItem<'_>)) {
        let field = match self.place {
            Place::Name if self.name().is_empty() => {
                self.name.clear();
                self.on_first_line = false;
                return self.end_event(each);
            }
            // A line without a colon is a field without a value.
            Place::Name => self.begin_field(),
            Place::Colon(field) | Place::Value(field) => field,
        };
        self.place = Place::Name;
        self.on_first_line = false;
        let value = std::mem::take(&mut self.value);
        match field {
            Field::Event if !value.cut => self.pending.event = value.bytes,
            Field::Id if !value.cut && memchr(0, &value.bytes).is_none() => self.pending.id = Some(value.bytes),
            Field::Retry if !value.cut => {
                if let Some(millis) = digits(&value.bytes) {
                    each(SseItem::Retry(millis));
                }
            }
            Field::Data | Field::Event | Field::Id | Field::Retry | Field::Ignored => {}
        }
    }

    fn end_event(&mut self, each: &mut impl FnMut(SseItem<'_>)) {
        let Pending {
            mut data,
            event,
            id,
            length,
            ..
        } = std::mem::take(&mut self.pending);
        let has_id = id.is_some();
        if let Some(id) = id {
            self.last_id = String::from_utf8_lossy(&id).into_owned();
        }
        let id = has_id.then_some(&*self.last_id);
        if length > self.limit {
            let start = &data[..data.len().min(START)];
            each(SseItem::TooLong { length, start });
        } else if !data.is_empty() {
            let event = String::from_utf8_lossy(&event);
            let event = if event.is_empty() { "message" } else { &event };
            let data = &String::from_utf8_lossy(&data);
            each(SseItem::Event { id, event, data });
        } else if let Some(id) = id {
            each(SseItem::Primed { id });
        }
        data.clear();
        if data.capacity() <= KEPT {
            self.pending.data = data;
        }
    }
}

impl Pending {
    fn add_data(&mut self, part: &[u8], limit: usize) {
        self.length = self.length.saturating_add(part.len());
        if self.length <= limit {
            return self.data.extend_from_slice(part);
        }
        if self.data.len() > START {
            self.data.truncate(START);
            self.data.shrink_to_fit();
        }
        let room = START - self.data.len();
        self.data.extend_from_slice(&part[..part.len().min(room)]);
    }
}

impl Value {
    fn add(&mut self, part: &[u8], limit: usize) {
        self.cut |= self.bytes.len() + part.len() > limit;
        if self.cut {
            self.bytes = Vec::new();
        } else {
            self.bytes.extend_from_slice(part);
        }
    }
}

/// A number in decimal digits and nothing else.
fn digits(value: &[u8]) -> Option<u64> {
    let number = std::str::from_utf8(value).ok()?;
    let valid = !number.is_empty() && number.bytes().all(|byte| byte.is_ascii_digit());
    valid.then(|| number.parse().unwrap_or(u64::MAX))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// What a stream gave, one line of text for each item, and the id at its end.
    fn items(chunks: &[&[u8]], limit: usize) -> (Vec<String>, Option<String>) {
        let mut parser = SseParser::new(limit);
        let mut seen = Vec::new();
        for chunk in chunks {
            parser.push(chunk, |item| {
                seen.push(match item {
                    SseItem::Event { id: None, event, data } => format!("{event}|{data}"),
                    SseItem::Event {
                        id: Some(id),
                        event,
                        data,
                    } => format!("#{id} {event}|{data}"),
                    SseItem::Primed { id } => format!("#{id}"),
                    SseItem::Retry(millis) => format!("retry {millis}"),
                    SseItem::TooLong { length, start } => format!("too long {length} {}", start.len()),
                });
            });
        }
        (seen, parser.last_event_id().map(str::to_owned))
    }

    fn check(stream: &[u8], wanted: &[&str], last_id: Option<&str>) {
        let shown = String::from_utf8_lossy(stream);
        let bytes: Vec<&[u8]> = stream.chunks(1).collect();
        for chunks in [&[stream][..], &bytes] {
            let (seen, id) = items(chunks, 100);
            assert_eq!(seen, wanted, "{shown:?}");
            assert_eq!(id.as_deref(), last_id, "{shown:?}");
        }
    }

    #[test]
    fn events_are_read_as_the_standard_says() {
        let table: &[(&str, &[&str])] = &[
            // The examples of 9.2.6.
            ("data: YHOO\ndata: +2\ndata: 10\n\n", &["message|YHOO\n+2\n10"]),
            ("data\n\ndata\ndata\n\ndata:", &["message|\n"]),
            ("data:test\n\ndata: test\n\n", &["message|test", "message|test"]),
            // Ends of lines, alone and mixed.
            (
                "data: a\r\rdata: b\r\n\r\ndata: c\n\n",
                &["message|a", "message|b", "message|c"],
            ),
            ("data: a\r\ndata: b\rdata: c\n\r", &["message|a\nb\nc"]),
            ("data: a\n\r\n\r\r\n", &["message|a"]),
            // Only the first space goes, and only one.
            ("data:  a \n\n", &["message| a "]),
            ("data: \ndata:\n\n", &["message|\n"]),
            ("data::a:b\n\n", &["message|:a:b"]),
            // Kinds.
            ("event: add\ndata: 1\n\ndata: 2\n\n", &["add|1", "message|2"]),
            ("event:\ndata: 1\n\n", &["message|1"]),
            ("event: a\nevent: b\ndata: 1\n\n", &["b|1"]),
            // Without data there is no event, and its kind is forgotten.
            ("event: add\n\ndata: 1\n\n", &["message|1"]),
            ("event: ping\ndata:\n\n", &[]),
            ("data:\n\n", &[]),
            // Names are exact; other fields and comments mean nothing.
            ("Data: 1\n data: 2\ndata : 3\ndatas: 4\nx\n\n", &[]),
            (": note\n:\n:data: 1\ndata: 2\n: note\ndata: 3\n\n", &["message|2\n3"]),
            // What the end of the stream cuts short is dropped.
            ("data: a\n\ndata: b\n", &["message|a"]),
            ("data: a\n\ndata: b", &["message|a"]),
            ("", &[]),
        ];
        for (stream, wanted) in table {
            check(stream.as_bytes(), wanted, None);
        }
    }

    #[test]
    fn ids_are_remembered_once_their_event_is_whole() {
        let table: &[(&[u8], &[&str], Option<&str>)] = &[
            (
                b"id: 1\ndata: a\n\ndata: b\n\n",
                &["#1 message|a", "message|b"],
                Some("1"),
            ),
            (b"id: 5\ndata:\n\n", &["#5"], Some("5")),
            (b"id: 5\n\n", &["#5"], Some("5")),
            (b"id: 5\nevent: ping\ndata\n\n", &["#5"], Some("5")),
            (b"id: 1\n\nid: 2\ndata: a\n", &["#1"], Some("1")),
            (b"id: 1\nid: 2\ndata: a\n\n", &["#2 message|a"], Some("2")),
            // Set to nothing, it is taken back.
            (b"id: 1\n\nid\ndata: a\n\n", &["#1", "# message|a"], None),
            (b"id: 1\n\nid:\n\n", &["#1", "#"], None),
            // With a NUL it is ignored, and the one before it stands.
            (b"id: a\0b\ndata: a\n\n", &["message|a"], None),
            (b"id: 1\nid: \0\ndata: a\n\n", &["#1 message|a"], Some("1")),
            (
                b"id:  \xC3\xA4 \xFF\n\n",
                &["# \u{e4} \u{fffd}"],
                Some(" \u{e4} \u{fffd}"),
            ),
        ];
        for (stream, wanted, last_id) in table {
            check(stream, wanted, *last_id);
        }
    }

    #[test]
    fn retry_is_digits_and_counts_at_once() {
        let table: &[(&str, &[&str])] = &[
            ("retry: 3000\n", &["retry 3000"]),
            ("retry:0\r", &["retry 0"]),
            ("retry: 007\n", &["retry 7"]),
            ("retry: 99999999999999999999999\n", &["retry 18446744073709551615"]),
            (
                "retry\nretry:\nretry: -1\nretry: +1\nretry: 1.5\nretry:  1\nretry: 1 \nretry: \u{661}\n",
                &[],
            ),
            ("data: a\nretry: 5\n\n", &["retry 5", "message|a"]),
        ];
        for (stream, wanted) in table {
            check(stream.as_bytes(), wanted, None);
        }
    }

    #[test]
    fn one_byte_order_mark_counts_only_at_the_start() {
        let table: &[(&[u8], &[&str])] = &[
            (b"\xEF\xBB\xBFdata: a\n\n", &["message|a"]),
            (b"\xEF\xBB\xBF\n\xEF\xBB\xBFdata: a\n\n", &[]),
            (b"\xEF\xBB\xBF\xEF\xBB\xBFdata: a\n\n", &[]),
            (b"\xEF\xBB\xBFretry: 5\n\xEF\xBB\xBFretry: 6\n", &["retry 5"]),
            (b"\xEF\xBBdata: a\n\n", &[]),
            (b"data: a\n\xEF\xBB\xBF\n\n", &["message|a"]),
        ];
        for (stream, wanted) in table {
            check(stream, wanted, None);
        }
    }

    #[test]
    fn what_is_not_utf8_is_replaced() {
        check(b"data: \xE2\x82\xAC\n\n", &["message|\u{20ac}"], None);
        check(b"data: \xE2\x82\ndata: \xAC\n\n", &["message|\u{fffd}\n\u{fffd}"], None);
        check(b"event: \xFF\ndata: \0\n\n", &["\u{fffd}|\0"], None);
    }

    #[test]
    fn parsers_that_others_wrote_fail_here() {
        let split = "data: {\"jsonrpc\":\"2.0\",\r\ndata: \"id\":1,\"result\":{}}\r\n\r\n";
        check(
            split.as_bytes(),
            &["message|{\"jsonrpc\":\"2.0\",\n\"id\":1,\"result\":{}}"],
            None,
        );
        check(b"event: ping\ndata: x\n\n", &["ping|x"], None);
        check(b": note\n\n", &[], None);
    }

    #[test]
    fn a_burst_of_comments_and_unknown_fields_is_skipped_and_not_held() {
        let burst = ": keep alive\nx: y\nevent: z\n\n".repeat(100_000);
        let mut parser = SseParser::new(64);
        let mut count = 0;
        parser.push(burst.as_bytes(), |_| count += 1);
        assert_eq!((count, parser.buffered()), (0, 0));
        parser.push(b": ", |_| count += 1);
        for _ in 0..1000 {
            parser.push(b"a comment that does not end", |_| count += 1);
        }
        assert_eq!((count, parser.buffered()), (0, 0));
        parser.push(b"\nanother", |_| count += 1);
        for _ in 0..1000 {
            parser.push(b"field", |_| count += 1);
        }
        assert_eq!((count, parser.buffered()), (0, NAME));
        parser.push(b"\ndata: a\n\n", |_| count += 1);
        assert_eq!(count, 1);
    }

    #[test]
    fn an_event_over_the_limit_is_refused_and_the_stream_goes_on() {
        let table: &[(&str, &[&str])] = &[
            ("data: 12345678\n\n", &["message|12345678"]),
            ("data: 123456789\n\ndata: b\n\n", &["too long 9 9", "message|b"]),
            ("data: 1234\ndata: 5678\n\n", &["too long 9 9"]),
            ("id: 1\ndata: 1234567\n\n", &["#1 message|1234567"]),
            ("id: 1\ndata: 12345678\n\n", &["too long 9 8"]),
            ("event: 123456789\ndata: b\n\n", &["too long 10 1"]),
            ("id: 123456789\n\n", &["too long 9 0"]),
            (": 123456789\nxxxxxxxxx: 123456789\n\n", &[]),
        ];
        for (stream, wanted) in table {
            let bytes: Vec<&[u8]> = stream.as_bytes().chunks(1).collect();
            assert_eq!(items(&[stream.as_bytes()], 8).0, *wanted, "{stream:?}");
            assert_eq!(items(&bytes, 8).0, *wanted, "{stream:?}");
        }
        assert_eq!(items(&[b"id: 1\ndata: 12345678\nid: 2\n\n"], 8).1.as_deref(), Some("2"));
    }

    #[test]
    fn a_refused_event_is_not_kept_in_memory() {
        let mut parser = SseParser::new(5000);
        for part in [&b"data: "[..], &[b'x'; 4000], &[b'y'; 4000], b"\nid: ", &[b'z'; 4000]] {
            parser.push(part, |_| unreachable!());
        }
        assert_eq!(parser.buffered(), START + 4000);
        for _ in 0..1000 {
            parser.push(&[b'z'; 1000], |_| unreachable!());
        }
        assert_eq!(parser.buffered(), START);
        let mut count = 0;
        parser.push(b"\n\n", |item| {
            let start = [b'x'; START];
            let length = 8000 + 1_004_000;
            assert_eq!(item, SseItem::TooLong { length, start: &start });
            count += 1;
        });
        assert_eq!((count, parser.buffered(), parser.last_event_id()), (1, 0, None));
    }

    fn lines() -> impl Strategy<Value = Vec<u8>> {
        let parts: &[&[u8]] = &[
            b"data",
            b"event",
            b"id",
            b"retry",
            b":",
            b": ",
            b" ",
            b"\n",
            b"\n\n",
            b"\r",
            b"\r\n",
            b"1",
            b"\0",
            b"\xEF\xBB\xBF",
            b"\xE2\x82\xAC",
            b"\xFF",
            b"data: 1\n",
            b"id: 2\n",
            b"data: long enough\n",
        ];
        let part = prop_oneof![4 => proptest::sample::select(parts), 1 => Just(&b"data: a\n\n"[..])];
        proptest::collection::vec(part, 0..60).prop_map(|parts| parts.concat())
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn the_cut_of_the_bytes_changes_nothing(
            stream in lines(),
            cuts in proptest::collection::vec(0usize..7, 0..100),
            limit in 0usize..30,
        ) {
            let mut chunks = Vec::new();
            let mut rest = &stream[..];
            for cut in cuts {
                let (head, tail) = rest.split_at(cut.min(rest.len()));
                chunks.push(head);
                rest = tail;
            }
            chunks.push(rest);
            prop_assert_eq!(items(&[&stream], limit), items(&chunks, limit));
        }
    }
}
