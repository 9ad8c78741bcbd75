//! Line framing: a cut changes nothing, memory is bounded, and it is what a plain split would give.
//!
//! Input: the rule of the cut, the limit, and the stream.

use oxmcp_proto::frame::{Line, LineFramer};

use crate::cuts::chunks;

/// How much of a refused line is handed out, and so held.
const START: usize = 1024;

/// A line, or of a refused one its length and its start.
type Seen = Result<Vec<u8>, (usize, Vec<u8>)>;

pub(crate) fn check(input: &[u8]) {
    let [rule, limit, stream @ ..] = input else { return };
    let limit = usize::from(*limit);
    let wanted = split(stream, limit);
    assert_eq!(frame(&[stream], limit), wanted, "in one chunk");
    assert_eq!(frame(&chunks(*rule, stream), limit), wanted, "cut by rule {rule}");
}

fn frame(chunks: &[&[u8]], limit: usize) -> Vec<Seen> {
    let mut framer = LineFramer::new(limit);
    let mut seen = Vec::new();
    let mut each = |line: Line<'_>| {
        seen.push(match line {
            Line::Whole(bytes) => Ok(bytes.to_vec()),
            Line::TooLong { length, start } => Err((length, start.to_vec())),
        });
    };
    for chunk in chunks {
        framer.push(chunk, &mut each);
        // A byte order mark and a CR may turn out to be no content.
        assert!(
            framer.buffered() <= START.max(limit + 4),
            "{} bytes are held",
            framer.buffered()
        );
    }
    framer.finish(&mut each);
    assert_eq!(framer.buffered(), 0, "something is left at the end");
    seen
}

/// The same without any memory between chunks.
fn split(stream: &[u8], limit: usize) -> Vec<Seen> {
    let mut seen = Vec::new();
    for (at, raw) in stream.split(|byte| *byte == b'\n').enumerate() {
        let mut line = raw.strip_suffix(b"\r").unwrap_or(raw);
        if at == 0 {
            line = line.strip_prefix(b"\xEF\xBB\xBF").unwrap_or(line);
        }
        if line.len() > limit {
            seen.push(Err((raw.len(), raw[..raw.len().min(START)].to_vec())));
        } else if !line.iter().all(u8::is_ascii_whitespace) {
            seen.push(Ok(line.to_vec()));
        }
    }
    seen
}
