//! One connection of the load: HTTP/1.1 that is kept alive, one request at a time. It understands as much of HTTP as the
//! subjects speak: bodies with a length and in chunks, JSON and event streams.

use std::borrow::Cow;
use std::io::{ErrorKind, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::time::Duration;

use crate::process::Result;

/// How long the load waits for a subject's next byte.
const PATIENCE: Duration = Duration::from_secs(30);

pub(crate) struct Connection {
    stream: TcpStream,
    buffer: Vec<u8>,
    filled: usize,
    /// Where the response that was handed out last ends.
    taken: usize,
}

/// One whole response.
#[derive(Debug, PartialEq)]
pub(crate) struct Reply<'a> {
    pub(crate) status: u16,
    pub(crate) is_events: bool,
    pub(crate) session: Option<&'a str>,
    pub(crate) body: Cow<'a, [u8]>,
}

impl Connection {
    /// One whose reads wait.
    pub(crate) fn open(address: SocketAddr) -> Result<Self> {
        let stream = TcpStream::connect(address).map_err(|error| format!("cannot connect to it: {error}"))?;
        stream.set_nodelay(true)?;
        stream.set_read_timeout(Some(PATIENCE))?;
        Ok(Self {
            stream,
            buffer: vec![0; 16 * 1024],
            filled: 0,
            taken: 0,
        })
    }

    /// The same, but reads do not wait.
    pub(crate) fn nonblocking(self) -> Result<Self> {
        self.stream.set_nonblocking(true)?;
        Ok(self)
    }

    pub(crate) fn socket(&self) -> &TcpStream {
        &self.stream
    }

    /// Sends a request. A connection that does not wait has room for it, as it has one at a time.
    pub(crate) fn send(&mut self, request: &[u8]) -> Result<()> {
        Ok(self.stream.write_all(request)?)
    }

    /// Sends a request and waits for its response.
    pub(crate) fn ask(&mut self, request: &[u8]) -> Result<Reply<'_>> {
        self.send(request)?;
        while !self.fill()? {}
        self.reply()
    }

    /// Reads once. True when a whole response is at hand.
    pub(crate) fn fill(&mut self) -> Result<bool> {
        if self.taken == self.filled {
            (self.taken, self.filled) = (0, 0);
        }
        if self.filled == self.buffer.len() {
            self.buffer.resize(self.filled * 2, 0);
        }
        match self.stream.read(&mut self.buffer[self.filled..]) {
            Ok(0) => Err("it closed the connection".into()),
            Ok(read) => {
                self.filled += read;
                Ok(parse(&self.buffer[self.taken..self.filled])?.is_some())
            }
            Err(error) if matches!(error.kind(), ErrorKind::Interrupted) => Ok(false),
            Err(error) if error.kind() == ErrorKind::WouldBlock => Err("it did not answer in time".into()),
            Err(error) => Err(format!("cannot read from it: {error}").into()),
        }
    }

    /// The response that [`fill`](Self::fill) found.
    pub(crate) fn reply(&mut self) -> Result<Reply<'_>> {
        let at = self.taken;
        let (reply, length) = parse(&self.buffer[at..self.filled])?.ok_or("no whole response")?;
        self.taken = at + length;
        Ok(reply)
    }
}

impl Reply<'_> {
    /// The messages of the body: its JSON, or the data of its events, as far as they have any.
    pub(crate) fn messages(&self) -> impl Iterator<Item = &[u8]> {
        let whole = Some(&*self.body).filter(|body| !self.is_events && !body.is_empty());
        let events = Some(&*self.body).filter(|_| self.is_events);
        let lines = events
            .into_iter()
            .flat_map(|body| body.split(|byte| matches!(byte, b'\n' | b'\r')));
        let data = lines.filter_map(|line| line.strip_prefix(b"data:").map(<[u8]>::trim_ascii));
        whole.into_iter().chain(data.filter(|data| !data.is_empty()))
    }
}

/// The response that stands at the beginning, and its length; `None` when it is not whole.
fn parse(bytes: &[u8]) -> Result<Option<(Reply<'_>, usize)>> {
    let mut fields = [httparse::EMPTY_HEADER; 64];
    let mut head = httparse::Response::new(&mut fields);
    let httparse::Status::Complete(begin) = head.parse(bytes)? else {
        return Ok(None);
    };
    let mut reply = Reply {
        status: head.code.unwrap_or(0),
        is_events: false,
        session: None,
        body: Cow::Borrowed(b""),
    };
    let (mut length, mut chunked) = (None, false);
    for field in head.headers.iter() {
        let value = std::str::from_utf8(field.value).unwrap_or_default();
        match field.name {
            name if name.eq_ignore_ascii_case("content-length") => length = Some(value.trim().parse()?),
            name if name.eq_ignore_ascii_case("transfer-encoding") => chunked = value.eq_ignore_ascii_case("chunked"),
            name if name.eq_ignore_ascii_case("content-type") => {
                reply.is_events = value.starts_with("text/event-stream");
            }
            name if name.eq_ignore_ascii_case("mcp-session-id") => reply.session = Some(value),
            _ => {}
        }
    }
    let body = &bytes[begin..];
    let taken = match (chunked, length) {
        (true, _) => {
            let Some((whole, length)) = dechunk(body)? else {
                return Ok(None);
            };
            reply.body = whole;
            length
        }
        (false, Some(length)) if body.len() >= length => {
            reply.body = Cow::Borrowed(&body[..length]);
            length
        }
        (false, Some(_)) => return Ok(None),
        (false, None) if matches!(reply.status, 204 | 304) => 0,
        (false, None) => return Err("a response without a length, which would end the connection".into()),
    };
    Ok(Some((reply, begin + taken)))
}

/// A body in chunks, and how long it is with all its sizes; `None` when it is not whole.
fn dechunk(bytes: &[u8]) -> Result<Option<(Cow<'_, [u8]>, usize)>> {
    let mut body = Cow::Borrowed(&bytes[..0]);
    let mut at = 0;
    loop {
        let size = httparse::parse_chunk_size(&bytes[at..]).map_err(|_| "a chunk without a size")?;
        let httparse::Status::Complete((digits, size)) = size else {
            return Ok(None);
        };
        let begin = at + digits;
        let end = begin + usize::try_from(size)?;
        if bytes.len() < end + 2 {
            return Ok(None);
        }
        at = end + 2;
        if size == 0 {
            return Ok(Some((body, at)));
        }
        match body.is_empty() {
            true => body = Cow::Borrowed(&bytes[begin..end]),
            false => body.to_mut().extend_from_slice(&bytes[begin..end]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const STREAM: &str = "HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nMCP-Session-Id: abc\r\nTransfer-Encoding: \
                          chunked\r\n\r\n14\r\nid: 1\ndata: \n\ndata: \r\n4\r\n{}\n\n\r\n0\r\n\r\n";

    #[test]
    fn a_response_is_whole_at_its_last_byte_and_no_earlier() {
        let json = "HTTP/1.1 200 OK\r\ncontent-length: 2\r\n\r\n{}";
        for text in [json, STREAM] {
            for end in 0..text.len() {
                assert!(
                    parse(&text.as_bytes()[..end]).expect("nothing wrong").is_none(),
                    "{end} of {text}"
                );
            }
            let more = format!("{text}HTTP/1.1");
            let (reply, length) = parse(more.as_bytes()).expect("nothing wrong").expect("whole");
            assert_eq!((reply.status, length), (200, text.len()));
            assert_eq!(reply.messages().collect::<Vec<_>>(), [b"{}"]);
        }
    }

    #[test]
    fn a_session_is_found_and_a_body_without_a_length_refused() {
        let (reply, _) = parse(STREAM.as_bytes()).expect("nothing wrong").expect("whole");
        assert_eq!((reply.session, reply.is_events), (Some("abc"), true));
        assert!(parse(b"HTTP/1.1 200 OK\r\n\r\n").is_err());
        let (reply, length) = parse(b"HTTP/1.1 204 No Content\r\n\r\n")
            .expect("nothing wrong")
            .expect("whole");
        assert_eq!((reply.status, length), (204, 27));
    }
}
