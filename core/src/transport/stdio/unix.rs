//! The standard streams of a Unix process.
//!
//! Whoever started us may share the open file behind a descriptor with us, so `O_NONBLOCK` is
//! never set on it: a pipe is opened anew through `/proc`, a socket is asked not to block call by
//! call, and what the event queue does not take is left to a thread.

use std::io::{self, Read, Write as _};
use std::os::fd::{AsFd, OwnedFd};
use std::pin::Pin;
use std::task::{Context, Poll, ready};

use rustix::event::{PollFd, PollFlags, poll};
use rustix::fs::{FileType, Mode, OFlags, fstat, open as open_file};
use rustix::io::{Errno, fcntl_dupfd_cloexec};
use rustix::net::{RecvFlags, SendFlags, recv, send};
use rustix::pipe::{PipeFlags, pipe_with};
use rustix::stdio::{dup2_stdin, dup2_stdout, stderr, stdin, stdout};
use tokio::io::unix::AsyncFd;
use tokio::io::{AsyncRead, AsyncWrite, Interest, ReadBuf};

use super::super::Transport;
use super::super::reader_thread::ReaderThread;

/// The true standard streams, until they are put back.
#[derive(Debug)]
pub(super) struct Streams {
    stdin: OwnedFd,
    stdout: OwnedFd,
}

/// Descriptors of ours stay above the standard ones, and do not reach the children of handlers.
fn own(fd: impl AsFd) -> io::Result<OwnedFd> {
    Ok(fcntl_dupfd_cloexec(fd, 3)?)
}

pub(super) fn open() -> io::Result<(Transport, Streams)> {
    let streams = Streams {
        stdin: own(stdin())?,
        stdout: own(stdout())?,
    };
    let reader = open_reader(&streams.stdin)?;
    let writer = open_writer(&streams.stdout)?;
    let null = open_file("/dev/null", OFlags::RDWR | OFlags::CLOEXEC, Mode::empty())?;
    // From here on nothing may fail without the streams being put back, which dropping them does.
    dup2_stdin(&null)?;
    dup2_stdout(stderr()).or_else(|_| dup2_stdout(&null))?;
    Ok((Transport::of(reader, writer), streams))
}

impl Drop for Streams {
    fn drop(&mut self) {
        // What was printed and is still in a buffer was meant for standard error.
        let _ = io::stdout().flush();
        let _ = dup2_stdin(&self.stdin);
        let _ = dup2_stdout(&self.stdout);
    }
}

fn open_reader(fd: &OwnedFd) -> io::Result<Box<dyn AsyncRead + Send + Unpin>> {
    if let Some(stream) = Stream::open(fd, OFlags::RDONLY, Interest::READABLE)? {
        return Ok(Box::new(stream));
    }
    let (stop, stopper) = pipe_with(PipeFlags::CLOEXEC)?;
    let source = Stoppable { fd: own(fd)?, stop };
    let reader = ReaderThread::start(source)?;
    Ok(Box::new(StoppingReader {
        reader,
        _stopper: stopper,
    }))
}

fn open_writer(fd: &OwnedFd) -> io::Result<Box<dyn AsyncWrite + Send + Unpin>> {
    if let Some(stream) = Stream::open(fd, OFlags::WRONLY, Interest::WRITABLE)? {
        return Ok(Box::new(stream));
    }
    Ok(Box::new(tokio::fs::File::from_std(own(fd)?.into())))
}

/// A pipe or a socket in the event queue.
#[derive(Debug)]
struct Stream {
    fd: AsyncFd<OwnedFd>,
    is_socket: bool,
}

impl Stream {
    /// `None` when it is neither, or the event queue does not take it.
    fn open(fd: &OwnedFd, direction: OFlags, interest: Interest) -> io::Result<Option<Self>> {
        let kind = FileType::from_raw_mode(fstat(fd)?.st_mode);
        let own = match kind {
            FileType::Fifo => reopen(fd, direction),
            FileType::Socket => Some(own(fd)?),
            _ => None,
        };
        let stream = |fd| Self {
            fd,
            is_socket: kind == FileType::Socket,
        };
        Ok(own.and_then(|own| register(own, interest)).map(stream))
    }

    fn read(&self, buffer: &mut [u8]) -> Result<usize, Errno> {
        if self.is_socket {
            recv(&self.fd, buffer, RecvFlags::DONTWAIT).map(|(_, length)| length)
        } else {
            rustix::io::read(&self.fd, buffer)
        }
    }

    fn write(&self, bytes: &[u8]) -> Result<usize, Errno> {
        if self.is_socket {
            // A peer that has left is an error of ours to handle, not a signal for the process.
            send(&self.fd, bytes, SendFlags::DONTWAIT | SendFlags::NOSIGNAL)
        } else {
            rustix::io::write(&self.fd, bytes)
        }
    }
}

/// The same pipe as an open file of our own. Elsewhere than on Linux there is no way to get one.
fn reopen(fd: &OwnedFd, direction: OFlags) -> Option<OwnedFd> {
    use std::os::fd::AsRawFd as _;

    let flags = direction | OFlags::NONBLOCK | OFlags::CLOEXEC;
    let path = format!("/proc/self/fd/{}", fd.as_raw_fd());
    let reopened = || open_file(path, flags, Mode::empty()).ok();
    cfg!(target_os = "linux").then(reopened).flatten()
}

/// Puts a descriptor into the event queue; `None` when that does not take it.
#[expect(unsafe_code, reason = "tokio leaves the lifetime of the descriptor to its caller")]
fn register(fd: OwnedFd, interest: Interest) -> Option<AsyncFd<OwnedFd>> {
    // SAFETY: an owned descriptor is open, and the same one, until it is dropped, and the
    // registration owns it.
    unsafe { AsyncFd::register_with_interest(fd, interest) }.ok()
}

impl AsyncRead for Stream {
    fn poll_read(self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        loop {
            let mut ready = ready!(self.fd.poll_read_ready(cx))?;
            let room = buffer.initialize_unfilled();
            match self.read(room) {
                Ok(length) => {
                    // Less than there was room for: all was taken, and the next event is to be
                    // awaited without asking for it once more.
                    if 0 < length && length < room.len() {
                        ready.clear_ready();
                    }
                    buffer.advance(length);
                    return Poll::Ready(Ok(()));
                }
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(Errno::INTR) => {}
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
    }
}

impl AsyncWrite for Stream {
    fn poll_write(self: Pin<&mut Self>, cx: &mut Context<'_>, bytes: &[u8]) -> Poll<io::Result<usize>> {
        loop {
            let mut ready = ready!(self.fd.poll_write_ready(cx))?;
            match self.write(bytes) {
                Ok(length) => return Poll::Ready(Ok(length)),
                Err(Errno::AGAIN) => ready.clear_ready(),
                Err(Errno::INTR) => {}
                Err(error) => return Poll::Ready(Err(error.into())),
            }
        }
    }

    fn poll_flush(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }

    fn poll_shutdown(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<io::Result<()>> {
        Poll::Ready(Ok(()))
    }
}

/// A descriptor whose blocking read ends when the other end of `stop` is dropped.
#[derive(Debug)]
struct Stoppable {
    fd: OwnedFd,
    stop: OwnedFd,
}

impl Read for Stoppable {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        let mut fds = [
            PollFd::new(&self.fd, PollFlags::IN),
            PollFd::new(&self.stop, PollFlags::IN),
        ];
        poll(&mut fds, None)?;
        if fds[1].revents().is_empty() {
            Ok(rustix::io::read(&self.fd, buffer)?)
        } else {
            Ok(0)
        }
    }
}

#[derive(Debug)]
struct StoppingReader {
    reader: ReaderThread,
    _stopper: OwnedFd,
}

impl AsyncRead for StoppingReader {
    fn poll_read(mut self: Pin<&mut Self>, cx: &mut Context<'_>, buffer: &mut ReadBuf<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.reader).poll_read(cx, buffer)
    }
}
