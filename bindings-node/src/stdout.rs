//! Standard output is the wire: a server over stdio takes it for itself, and a stray print goes to stderr instead.

use napi_derive::napi;

/// The real standard output as a descriptor of its own; from now on descriptor 1 is another stderr, for every print of
/// JavaScript, of an addon or of a C library. `null` where that cannot be.
#[napi]
pub fn take_stdout() -> Option<i32> {
    take()
}

/// Gives descriptor 1 its real standard output back. The descriptor that `takeStdout` gave stays open.
#[napi]
pub fn restore_stdout(descriptor: i32) {
    restore(descriptor);
}

#[cfg(unix)]
fn take() -> Option<i32> {
    // SAFETY: descriptors are numbers; one that is not open gives an error.
    unsafe {
        let real = libc::fcntl(libc::STDOUT_FILENO, libc::F_DUPFD_CLOEXEC, 3);
        if real < 0 {
            return None;
        }
        if libc::dup2(libc::STDERR_FILENO, libc::STDOUT_FILENO) >= 0 {
            return Some(real);
        }
        // Without a stderr, what is printed is lost, as it was meant to be.
        let nowhere = libc::open(c"/dev/null".as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if nowhere >= 0 && libc::dup2(nowhere, libc::STDOUT_FILENO) >= 0 {
            libc::close(nowhere);
            return Some(real);
        }
        libc::close(real);
        None
    }
}

#[cfg(unix)]
fn restore(descriptor: i32) {
    // SAFETY: descriptors are numbers; one that is not open gives an error.
    unsafe { libc::dup2(descriptor, libc::STDOUT_FILENO) };
}

#[cfg(not(unix))]
fn take() -> Option<i32> {
    None
}

#[cfg(not(unix))]
fn restore(_descriptor: i32) {}
