//! Random numbers, which Node takes longer to load than all of the package.

use std::fmt::Write as _;

use napi_derive::napi;

/// 48 random bytes of the system, in hexadecimal digits; `null` where Node is to be asked.
#[napi]
pub fn random_secret() -> Option<String> {
    let mut bytes = [0; 48];
    fill(&mut bytes).then(|| {
        bytes.iter().fold(String::with_capacity(96), |mut text, byte| {
            let _ = write!(text, "{byte:02x}");
            text
        })
    })
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn fill(bytes: &mut [u8; 48]) -> bool {
    // Old C libraries have no function for it. So few bytes come whole or not at all.
    // SAFETY: the call is given the size of what it fills.
    let filled = unsafe { libc::syscall(libc::SYS_getrandom, bytes.as_mut_ptr(), bytes.len(), 0) };
    usize::try_from(filled).is_ok_and(|filled| filled == bytes.len())
}

#[cfg(target_os = "macos")]
fn fill(bytes: &mut [u8; 48]) -> bool {
    // SAFETY: the call is given the size of what it fills.
    unsafe { libc::getentropy(bytes.as_mut_ptr().cast(), bytes.len()) == 0 }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_os = "macos")))]
fn fill(_bytes: &mut [u8; 48]) -> bool {
    false
}
