//! Server-Sent Events: the stream format of the HTTP transport, read and written.
//!
//! Rests on the WHATWG HTML standard, 9.2.5 (the format) and 9.2.6 (its meaning):
//!
//! | line | meaning |
//! | --- | --- |
//! | `data: text` | one line of the event's data; several are joined by LF |
//! | `event: name` | its kind; `message` where none is given |
//! | `id: text` | where to resume from, once the event is whole; ignored with a NUL in it |
//! | `retry: digits` | how long to wait before connecting again, in milliseconds |
//! | `: text`, any other field | nothing |
//! | an empty line | ends the event |
//!
//! A line ends by LF, CR or CRLF, one space after the colon is not part of the value, one byte order
//! mark at the start of the stream is dropped, and what is not UTF-8 becomes U+FFFD. An event that
//! the end of the stream cuts short does not count.
//!
//! The standard hands out an event whose data is empty, if it has a `data` line. Here nobody wants
//! one: MCP sends such events only for their id, so that a client can resume before the first
//! message (2025-11-25 transports, Listening for Messages).

mod parse;
mod write;

pub use parse::{SseItem, SseParser};
pub use write::{BadField, write_comment, write_event, write_retry};
