//! Line framing of the stdio transport: one message per line, ended by LF.
//!
//! Rests on the stdio clause of the transports page (2024-11-05 to 2026-07-28): messages are
//! delimited by newlines and hold none themselves. A CR before the LF and one byte order mark at
//! the start of the stream are dropped, for peers on Windows.

use memchr::memchr;

/// How much of a refused line is handed out.
const START: usize = 1024;

const BYTE_ORDER_MARK: &[u8] = b"\xEF\xBB\xBF";

/// Splits a byte stream into lines, whatever the chunks it arrives in.
///
/// A whole line inside one chunk is handed out in place; only a line that crosses chunks is
/// copied. The search for its end resumes where it stopped, so a long line in many chunks costs
/// linear time.
///
/// ```
/// use oxmcp_proto::frame::{Line, LineFramer};
///
/// let mut framer = LineFramer::new(1024);
/// let mut seen = Vec::new();
/// for chunk in [&b"{\"a\":"[..], b"1}\r\n{}\n"] {
///     framer.push(chunk, |line| match line {
///         Line::Whole(bytes) => seen.push(bytes.to_vec()),
///         Line::TooLong { .. } => unreachable!(),
///     });
/// }
/// assert_eq!(seen, [b"{\"a\":1}".to_vec(), b"{}".to_vec()]);
/// ```
#[derive(Debug)]
pub struct LineFramer {
    partial: Vec<u8>,
    /// Bytes of a refused line seen so far; `Some` until its LF comes. Its start stays in `partial`.
    skipping: Option<usize>,
    at_stream_start: bool,
    limit: usize,
}

/// What [`LineFramer::push`] found.
#[derive(Debug, PartialEq, Eq)]
pub enum Line<'a> {
    /// One line without its end. Blank lines are left out.
    Whole(&'a [u8]),
    /// A line over the limit was dropped; the stream goes on after it.
    TooLong {
        /// Bytes the line had before its LF.
        length: usize,
        /// The first of them: enough to find out whose message it was.
        start: &'a [u8],
    },
}

impl LineFramer {
    /// A framer that refuses lines longer than `limit` bytes.
    pub fn new(limit: usize) -> Self {
        Self {
            partial: Vec::new(),
            skipping: None,
            at_stream_start: true,
            limit,
        }
    }

    /// Takes the next bytes of the stream and hands each line that ends in them to `each`.
    pub fn push(&mut self, mut chunk: &[u8], mut each: impl FnMut(Line<'_>)) {
        while let Some(end) = memchr(b'\n', chunk) {
            let (head, tail) = (&chunk[..end], &chunk[end + 1..]);
            self.end_line(head, &mut each);
            chunk = tail;
        }
        self.keep(chunk);
    }

    /// Ends the stream: a last line without LF is handed out as well.
    pub fn finish(&mut self, mut each: impl FnMut(Line<'_>)) {
        self.end_line(&[], &mut each);
    }

    /// Bytes of an unfinished line held at the moment.
    pub fn buffered(&self) -> usize {
        self.partial.len()
    }

    fn end_line(&mut self, head: &[u8], each: &mut impl FnMut(Line<'_>)) {
        if let Some(skipped) = self.skipping.take() {
            let length = skipped + head.len();
            let mut start = std::mem::take(&mut self.partial);
            start.extend_from_slice(&head[..head.len().min(START - start.len())]);
            return each(Line::TooLong { length, start: &start });
        }
        if self.partial.is_empty() {
            return self.emit(head, each);
        }
        let mut line = std::mem::take(&mut self.partial);
        line.extend_from_slice(head);
        self.emit(&line, each);
        line.clear();
        // A rare huge line must not pin its memory for the life of the connection.
        if line.capacity() <= 64 * 1024 {
            self.partial = line;
        }
    }

    fn emit(&mut self, raw: &[u8], each: &mut impl FnMut(Line<'_>)) {
        let mut line = raw.strip_suffix(b"\r").unwrap_or(raw);
        if std::mem::take(&mut self.at_stream_start) {
            line = line.strip_prefix(BYTE_ORDER_MARK).unwrap_or(line);
        }
        if line.len() > self.limit {
            let start = &raw[..raw.len().min(START)];
            each(Line::TooLong {
                length: raw.len(),
                start,
            });
        } else if !line.iter().all(u8::is_ascii_whitespace) {
            each(Line::Whole(line));
        }
    }

    fn keep(&mut self, rest: &[u8]) {
        if let Some(skipped) = &mut self.skipping {
            *skipped += rest.len();
            let room = START - self.partial.len();
            self.partial.extend_from_slice(&rest[..rest.len().min(room)]);
        // A mark and a CR that turn out to be no content must not make the line too long.
        } else if self.partial.len() + rest.len() > self.limit + BYTE_ORDER_MARK.len() + 1 {
            self.skipping = Some(self.partial.len() + rest.len());
            self.at_stream_start = false;
            let mut start = std::mem::take(&mut self.partial);
            start.truncate(START);
            start.shrink_to_fit();
            let room = START - start.len();
            start.extend_from_slice(&rest[..rest.len().min(room)]);
            self.partial = start;
        } else {
            self.partial.extend_from_slice(rest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn lines(chunks: &[&[u8]], limit: usize) -> Vec<Result<Vec<u8>, usize>> {
        let mut framer = LineFramer::new(limit);
        let mut seen = Vec::new();
        let mut each = |line: Line<'_>| {
            seen.push(match line {
                Line::Whole(bytes) => Ok(bytes.to_vec()),
                Line::TooLong { length, start } => {
                    assert_eq!(start.len(), length.min(START));
                    Err(length)
                }
            });
        };
        for chunk in chunks {
            framer.push(chunk, &mut each);
        }
        framer.finish(&mut each);
        seen
    }

    #[test]
    fn byte_order_mark_and_carriage_returns_are_dropped() {
        let stream = b"\xEF\xBB\xBF{\"a\":1}\r\n\r\n  \n{\"b\":2}\n";
        let want = vec![Ok(b"{\"a\":1}".to_vec()), Ok(b"{\"b\":2}".to_vec())];
        assert_eq!(lines(&[stream], 100), want);
    }

    #[test]
    fn byte_order_mark_counts_only_at_the_start() {
        let seen = lines(&[b"{}\n\xEF\xBB\xBF{}\n"], 100);
        assert_eq!(seen[1], Ok(b"\xEF\xBB\xBF{}".to_vec()));
    }

    #[test]
    fn a_line_over_the_limit_is_refused_and_the_stream_goes_on() {
        let seen = lines(&[b"12345678901234567890\n{}\n"], 8);
        assert_eq!(seen, [Err(20), Ok(b"{}".to_vec())]);
    }

    #[test]
    fn a_refused_line_is_not_kept_in_memory() {
        let mut framer = LineFramer::new(8);
        for _ in 0..1000 {
            framer.push(b"xxxxxxxxxx", |_| unreachable!());
        }
        assert_eq!(framer.buffered(), START);
        let mut length = 0;
        framer.push(b"\n", |line| {
            if let Line::TooLong { length: seen, start } = line {
                length = seen;
                assert_eq!(start.len(), START);
            }
        });
        assert_eq!(length, 10_000);
    }

    #[test]
    fn a_line_at_the_limit_passes_with_crlf() {
        assert_eq!(lines(&[b"12345678", b"\r", b"\n"], 8), [Ok(b"12345678".to_vec())]);
    }

    #[test]
    fn a_last_line_without_end_is_delivered() {
        assert_eq!(lines(&[b"{}\n{\"z\"", b":1}"], 64)[1], Ok(b"{\"z\":1}".to_vec()));
    }

    proptest::proptest! {
        #[test]
        fn the_cut_of_the_bytes_changes_nothing(
            stream in proptest::collection::vec(proptest::sample::select(b"ab\r\n{}\xEF\xBB\xBF ".to_vec()), 0..200),
            cuts in proptest::collection::vec(1usize..7, 0..100),
        ) {
            let whole = lines(&[&stream], 12);
            let mut chunks = Vec::new();
            let mut rest = &stream[..];
            for cut in cuts {
                let (head, tail) = rest.split_at(cut.min(rest.len()));
                chunks.push(head);
                rest = tail;
            }
            chunks.push(rest);
            proptest::prop_assert_eq!(whole, lines(&chunks, 12));
        }
    }
}
