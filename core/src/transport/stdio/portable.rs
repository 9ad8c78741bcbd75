//! The standard streams where there are no descriptors to move: a thread reads, and a thread of
//! the runtime writes.

use std::io;

use super::super::Transport;
use super::super::reader_thread::ReaderThread;

/// Nothing was moved, so nothing is put back.
#[derive(Debug)]
pub(super) struct Streams;

pub(super) fn open() -> io::Result<(Transport, Streams)> {
    let reader = ReaderThread::start(io::stdin())?;
    Ok((Transport::new(reader, tokio::io::stdout()), Streams))
}
