//! A connection that breaks when its peer takes nothing for too long, and that knows which HTTP its peer speaks.

use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio::time::Sleep;

use super::heads::HeadTimer;

/// What a connection of HTTP/2 begins with (RFC 9113, 3.4).
const PREFACE: &[u8] = b"PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n";

pub(super) struct Stalling {
    stream: TcpStream,
    patience: Duration,
    /// Runs while a write waits.
    stalled: Option<Pin<Box<Sleep>>>,
    /// Runs where the peer has to send the head of its next request in time.
    heads: Option<HeadTimer>,
    /// What was read already, and how much of it was taken.
    first: Vec<u8>,
    taken: usize,
}

impl Stalling {
    pub(super) fn new(stream: TcpStream, patience: Duration) -> Self {
        Self {
            stream,
            patience,
            stalled: None,
            heads: None,
            first: Vec::new(),
            taken: 0,
        }
    }

    /// The same with a bound on the time that the head of a request may take.
    pub(super) fn with_heads(self, heads: HeadTimer) -> Self {
        Self {
            heads: Some(heads),
            ..self
        }
    }

    /// Reads as much as tells whether the peer speaks HTTP/2 without having asked.
    pub(super) async fn begins_http2(&mut self) -> io::Result<bool> {
        let mut first = [0; PREFACE.len()];
        while PREFACE.starts_with(&self.first) && self.first.len() < PREFACE.len() {
            let room = PREFACE.len() - self.first.len();
            match self.stream.read(&mut first[..room]).await? {
                0 => break,
                read => self.first.extend_from_slice(&first[..read]),
            }
        }
        Ok(self.first == PREFACE)
    }

    fn watch<T>(&mut self, cx: &mut Context<'_>, polled: Poll<io::Result<T>>) -> Poll<io::Result<T>> {
        if polled.is_ready() {
            self.stalled = None;
            return polled;
        }
        let patience = self.patience;
        let stalled = self
            .stalled
            .get_or_insert_with(|| Box::pin(tokio::time::sleep(patience)));
        match stalled.as_mut().poll(cx) {
            Poll::Ready(()) => Poll::Ready(Err(io::ErrorKind::TimedOut.into())),
            Poll::Pending => Poll::Pending,
        }
    }
}

impl AsyncRead for Stalling {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        let first = &self.first[self.taken..];
        if !first.is_empty() {
            let taken = first.len().min(buffer.remaining());
            buffer.put_slice(&first[..taken]);
            self.taken += taken;
            return Poll::Ready(Ok(()));
        }
        let polled = Pin::new(&mut self.stream).poll_read(cx, buffer);
        if let Some(heads) = self.heads.as_mut().filter(|_| polled.is_pending()) {
            heads.check(cx)?;
        }
        polled
    }
}

impl AsyncWrite for Stalling {
    fn poll_write(mut self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write(cx, bytes);
        self.watch(cx, polled)
    }

    fn poll_write_vectored(
        mut self: Pin<&mut Self>,
        cx: &mut Context<'_>,
        parts: &[io::IoSlice<'_>],
    ) -> Poll<io::Result<usize>> {
        let polled = Pin::new(&mut self.stream).poll_write_vectored(cx, parts);
        self.watch(cx, polled)
    }

    fn is_write_vectored(&self) -> bool {
        self.stream.is_write_vectored()
    }

    fn poll_flush(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(cx)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(cx)
    }
}
