//! A pipe whose reading end JavaScript can read without an object per chunk.

use napi_derive::napi;

/// A connected pair of descriptors, ours and the child's; `null` where the system has none to give.
///
/// Node reads a socket it is given into one buffer of ours (`onread`), but not the pipe that it makes for a child.
#[napi]
pub fn socket_pair() -> Option<(i32, i32)> {
    pair()
}

/// Closes one end. Node's own `fs.closeSync` would warn in a worker, which keeps a list of what it opened itself.
#[napi]
pub fn close_descriptor(descriptor: i32) {
    // SAFETY: the caller owns the descriptor, and gives it up.
    #[cfg(unix)]
    unsafe {
        libc::close(descriptor);
    }
    #[cfg(not(unix))]
    let _ = descriptor;
}

#[cfg(unix)]
fn pair() -> Option<(i32, i32)> {
    let mut both = [-1; 2];
    // SAFETY: the array has room for the two descriptors.
    if unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM | CLOSE_ON_EXEC, 0, both.as_mut_ptr()) } != 0 {
        return None;
    }
    for descriptor in both {
        // SAFETY: the descriptor is ours. On systems with `SOCK_CLOEXEC` this changes nothing.
        unsafe { libc::fcntl(descriptor, libc::F_SETFD, libc::FD_CLOEXEC) };
    }
    Some((both[0], both[1]))
}

#[cfg(any(target_os = "linux", target_os = "android"))]
const CLOSE_ON_EXEC: i32 = libc::SOCK_CLOEXEC;

#[cfg(all(unix, not(any(target_os = "linux", target_os = "android"))))]
const CLOSE_ON_EXEC: i32 = 0;

#[cfg(not(unix))]
fn pair() -> Option<(i32, i32)> {
    None
}
