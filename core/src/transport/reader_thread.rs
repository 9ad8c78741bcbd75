//! Reading what the event queue of the system does not take, on a thread of its own.

use std::io::{self, Read};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use tokio::io::{AsyncRead, ReadBuf};
use tokio::sync::mpsc;

const CHUNK: usize = 64 * 1024;
/// Chunks that may wait: the thread stops reading when nobody takes them.
const QUEUED: usize = 2;

/// The chunks that a thread reads.
#[derive(Debug)]
pub(super) struct ReaderThread {
    chunks: mpsc::Receiver<io::Result<Vec<u8>>>,
    chunk: Vec<u8>,
    taken: usize,
}

impl ReaderThread {
    /// Reads `source` on a thread until its end, an error, or until the reader is dropped.
    pub(super) fn start(mut source: impl Read + Send + 'static) -> io::Result<Self> {
        let (sender, chunks) = mpsc::channel(QUEUED);
        let read = move || {
            loop {
                let mut chunk = vec![0; CHUNK];
                let read = match source.read(&mut chunk) {
                    Ok(0) => return,
                    Ok(length) => {
                        chunk.truncate(length);
                        Ok(chunk)
                    }
                    Err(error) if error.kind() == io::ErrorKind::Interrupted => continue,
                    Err(error) => Err(error),
                };
                let failed = read.is_err();
                if sender.blocking_send(read).is_err() || failed {
                    return;
                }
            }
        };
        std::thread::Builder::new().name("oxmcp-read".to_owned()).spawn(read)?;
        Ok(Self {
            chunks,
            chunk: Vec::new(),
            taken: 0,
        })
    }
}

impl AsyncRead for ReaderThread {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        if self.taken == self.chunk.len() {
            match ready!(self.chunks.poll_recv(cx)) {
                Some(chunk) => self.chunk = chunk?,
                None => return Poll::Ready(Ok(())),
            }
            self.taken = 0;
        }
        let left = &self.chunk[self.taken..];
        let taken = left.len().min(buffer.remaining());
        buffer.put_slice(&left[..taken]);
        self.taken += taken;
        Poll::Ready(Ok(()))
    }
}
