//! File descriptors: reading, writing without blocking, and taking over standard output.

use std::io;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use pyo3::prelude::*;

/// A descriptor we write to.
#[derive(Debug)]
pub(crate) struct Sink {
    fd: i32,
    socket: bool,
}

/// Reads once. On a descriptor that a selector called readable this does not block.
pub(crate) fn read(fd: i32, buffer: &mut [u8]) -> io::Result<usize> {
    // SAFETY: the pointer and length are those of a live, writable slice.
    let count = unsafe { libc::read(fd, buffer.as_mut_ptr().cast(), buffer.len() as _) };
    usize::try_from(count).map_err(|_| io::Error::last_os_error())
}

impl Sink {
    pub(crate) fn new(fd: i32) -> Self {
        Self {
            fd,
            socket: is_socket(fd),
        }
    }

    pub(crate) fn fd(&self) -> i32 {
        self.fd
    }

    /// Writes once, as much as goes in. A socket is not made to block, whatever its flags: they may
    /// be shared with another process.
    pub(crate) fn write(&self, bytes: &[u8]) -> io::Result<usize> {
        #[cfg(unix)]
        if self.socket {
            let flags = libc::MSG_DONTWAIT | NO_SIGNAL;
            // SAFETY: the pointer and length are those of a live slice.
            let count = unsafe { libc::send(self.fd, bytes.as_ptr().cast(), bytes.len(), flags) };
            return usize::try_from(count).map_err(|_| io::Error::last_os_error());
        }
        // SAFETY: the pointer and length are those of a live slice.
        let count = unsafe { libc::write(self.fd, bytes.as_ptr().cast(), bytes.len() as _) };
        usize::try_from(count).map_err(|_| io::Error::last_os_error())
    }
}

/// Waits until a descriptor takes bytes, `limit` at most. A signal is an error, `Interrupted`.
pub(crate) fn wait_writable(fd: i32, limit: Duration) -> io::Result<()> {
    wait(
        fd,
        Direction::Write,
        i32::try_from(limit.as_millis()).unwrap_or(i32::MAX),
    )
}

/// Waits until a descriptor has bytes, or its end. A signal is an error, `Interrupted`.
pub(crate) fn wait_readable(fd: i32) -> io::Result<()> {
    wait(fd, Direction::Read, -1)
}

enum Direction {
    Read,
    Write,
}

#[cfg(unix)]
fn wait(fd: i32, direction: Direction, millis: i32) -> io::Result<()> {
    let events = match direction {
        Direction::Read => libc::POLLIN,
        Direction::Write => libc::POLLOUT,
    };
    let mut poll = libc::pollfd { fd, events, revents: 0 };
    // SAFETY: the pointer is to one live pollfd.
    check(unsafe { libc::poll(&raw mut poll, 1, millis) }).map(drop)
}

/// Whether a descriptor has bytes, or its end.
#[cfg(unix)]
pub(crate) fn is_readable(fd: i32) -> bool {
    wait_any(&[Some(fd)], Some(Duration::ZERO))[0] == Input::Readable
}

/// Whether a descriptor takes bytes.
#[cfg(unix)]
pub(crate) fn is_writable(fd: i32) -> bool {
    let mut poll = libc::pollfd {
        fd,
        events: libc::POLLOUT,
        revents: 0,
    };
    // SAFETY: the pointer is to one live pollfd.
    unsafe { libc::poll(&raw mut poll, 1, 0) == 1 }
}

/// What a wait found out about a descriptor.
#[cfg(unix)]
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Input {
    /// Nothing, or it was not asked for.
    Silent,
    /// It has bytes, or its end.
    Readable,
    /// It is closed.
    Gone,
}

/// Waits until one of these has bytes, `limit` at most. A signal ends the wait as well.
#[cfg(unix)]
pub(crate) fn wait_any(inputs: &[Option<i32>], limit: Option<Duration>) -> Vec<Input> {
    let mut polls: Vec<_> = inputs
        .iter()
        .map(|input| libc::pollfd {
            // Those below zero are passed over.
            fd: input.unwrap_or(-1),
            events: libc::POLLIN,
            revents: 0,
        })
        .collect();
    // What is due in less than a millisecond is waited for, not looked for again and again.
    let millis = limit.map_or(-1, |limit| {
        i32::try_from(limit.as_micros().div_ceil(1000)).unwrap_or(i32::MAX)
    });
    // SAFETY: the pointer and the number are those of a live slice.
    let count = unsafe { libc::poll(polls.as_mut_ptr(), polls.len() as _, millis) };
    let found = |poll: &libc::pollfd| match poll.revents {
        _ if count <= 0 => Input::Silent,
        0 => Input::Silent,
        events if events & libc::POLLNVAL != 0 => Input::Gone,
        _ => Input::Readable,
    };
    polls.iter().map(found).collect()
}

/// Elsewhere reads and writes wait by themselves.
#[cfg(not(unix))]
fn wait(_fd: i32, _direction: Direction, _millis: i32) -> io::Result<()> {
    Ok(())
}

#[cfg(any(target_os = "linux", target_os = "android"))]
const NO_SIGNAL: i32 = libc::MSG_NOSIGNAL;
#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
const NO_SIGNAL: i32 = 0;

#[cfg(unix)]
fn is_socket(fd: i32) -> bool {
    // SAFETY: `stat` is plain data that fstat fills; it is read only when fstat says so.
    unsafe {
        let mut stat = std::mem::zeroed::<libc::stat>();
        libc::fstat(fd, &raw mut stat) == 0 && stat.st_mode & libc::S_IFMT == libc::S_IFSOCK
    }
}

#[cfg(not(unix))]
fn is_socket(_fd: i32) -> bool {
    false
}

fn check(result: i32) -> io::Result<i32> {
    if result < 0 {
        Err(io::Error::last_os_error())
    } else {
        Ok(result)
    }
}

/// The standard input and output of the process, taken for the protocol.
///
/// While it holds them, descriptor 0 reads as empty and descriptor 1 goes where standard error
/// goes, so that no stray `print`, `input` or child process can disturb the stream. `close` puts
/// them back.
#[pyclass(module = "oxmcp._native", frozen)]
pub(crate) struct Stdio {
    /// Where the peer's messages come from.
    #[pyo3(get)]
    input: i32,
    /// Where ours go.
    #[pyo3(get)]
    output: i32,
    saved: Mutex<Option<[i32; 2]>>,
}

#[pymethods]
impl Stdio {
    #[new]
    fn new() -> io::Result<Self> {
        let input = private_copy(0)?;
        let saved = private_copy(1)?;
        let output = reopen_for_writing(saved).map_or_else(|| private_copy(saved), Ok)?;
        let stdio = Self {
            input,
            output,
            saved: Mutex::new(Some([input, saved])),
        };
        if let Err(error) = redirect() {
            stdio.close()?;
            return Err(error);
        }
        Ok(stdio)
    }

    /// Gives the descriptors back. Flush `sys.stdout` before.
    fn close(&self) -> io::Result<()> {
        let Some([input, output]) = self.saved.lock().unwrap_or_else(PoisonError::into_inner).take() else {
            return Ok(());
        };
        // SAFETY: as above; the copies are closed once, guarded by `take`.
        unsafe {
            check(libc::dup2(input, 0))?;
            check(libc::dup2(output, 1))?;
            libc::close(input);
            libc::close(output);
            libc::close(self.output);
        }
        Ok(())
    }
}

/// Points descriptor 0 at nothing and descriptor 1 at where standard error goes.
fn redirect() -> io::Result<()> {
    let null = open_null()?;
    // SAFETY: dup2 and close take descriptors only; these are ours or the standard ones.
    unsafe {
        let redirected = check(libc::dup2(null, 0)).and_then(|_| check(libc::dup2(2, 1)));
        libc::close(null);
        redirected.map(drop)
    }
}

/// A copy of a descriptor that no child process inherits.
#[cfg(unix)]
fn private_copy(fd: i32) -> io::Result<i32> {
    // SAFETY: fcntl with F_DUPFD_CLOEXEC takes and gives descriptors only.
    check(unsafe { libc::fcntl(fd, libc::F_DUPFD_CLOEXEC, 3) })
}

#[cfg(not(unix))]
fn private_copy(fd: i32) -> io::Result<i32> {
    // SAFETY: dup takes and gives descriptors only.
    check(unsafe { libc::dup(fd) })
}

#[cfg(unix)]
fn open_null() -> io::Result<i32> {
    // SAFETY: the path is a string constant that ends in NUL.
    check(unsafe { libc::open(c"/dev/null".as_ptr(), libc::O_RDONLY | libc::O_CLOEXEC) })
}

#[cfg(not(unix))]
fn open_null() -> io::Result<i32> {
    // SAFETY: the path is a string constant that ends in NUL.
    check(unsafe { libc::open(c"NUL".as_ptr(), libc::O_RDONLY) })
}

/// A descriptor of our own on the same pipe, which may be non-blocking without changing the flags
/// that other processes share. Only Linux can do that; elsewhere writes to a full pipe wait.
#[cfg(target_os = "linux")]
fn reopen_for_writing(fd: i32) -> Option<i32> {
    // SAFETY: fstat fills plain data; open gets a string that ends in NUL and lives through the call.
    unsafe {
        let mut stat = std::mem::zeroed::<libc::stat>();
        if libc::fstat(fd, &raw mut stat) != 0 || stat.st_mode & libc::S_IFMT != libc::S_IFIFO {
            return None;
        }
        let path = std::ffi::CString::new(format!("/proc/self/fd/{fd}")).ok()?;
        check(libc::open(
            path.as_ptr(),
            libc::O_WRONLY | libc::O_NONBLOCK | libc::O_CLOEXEC,
        ))
        .ok()
    }
}

#[cfg(not(target_os = "linux"))]
fn reopen_for_writing(_fd: i32) -> Option<i32> {
    None
}
