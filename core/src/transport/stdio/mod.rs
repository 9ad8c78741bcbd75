//! The standard streams of this process, as a server's connection to the client that started it.

#[cfg(unix)]
mod unix;
#[cfg(unix)]
use unix as system;

#[cfg(not(unix))]
mod portable;
#[cfg(not(unix))]
use portable as system;

use std::sync::atomic::{AtomicBool, Ordering};

use oxmcp_proto::{Error, ErrorKind};

use super::Transport;

/// Set while a transport has the standard streams.
static TAKEN: AtomicBool = AtomicBool::new(false);

/// Gives the standard streams back.
#[derive(Debug)]
pub(super) struct Guard {
    _streams: system::Streams,
    _claim: Claim,
}

#[derive(Debug)]
struct Claim;

impl Drop for Claim {
    fn drop(&mut self) {
        TAKEN.store(false, Ordering::Release);
    }
}

/// Takes the standard input and output of this process.
///
/// Standard output is the wire. On Unix, until the connection ends, descriptor 1 points at standard
/// error, so that a stray print in any library cannot break the stream, and descriptor 0 at the null
/// device, so that a child process cannot swallow messages. Both are put back when the connection
/// ends. Call it inside a tokio runtime with I/O enabled.
///
/// Sockets, and on Linux pipes, are read and written without blocking and without a thread. A plain
/// file, a terminal, the null device and a pipe elsewhere get a thread. Whoever shares a stream with
/// this process notices nothing: it is never made non-blocking for others.
///
/// # Errors
/// [`ErrorKind::Usage`] when another transport has them, or outside a runtime; [`ErrorKind::Closed`] when they are not
/// open.
///
/// ```no_run
/// # async fn run() -> Result<(), oxmcp::Error> {
/// use oxmcp::{Server, transport};
///
/// Server::new("demo", "1.0").serve(transport::stdio()?).await
/// # }
/// ```
pub fn stdio() -> Result<Transport, Error> {
    if tokio::runtime::Handle::try_current().is_err() {
        let message =
            "transport::stdio needs a tokio runtime around it; call it in an async function, or use Server::run_stdio";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    if TAKEN.swap(true, Ordering::Acquire) {
        let message =
            "the standard streams are in use by another server of this process; one process serves one client on stdio";
        return Err(Error::new(ErrorKind::Usage, message));
    }
    let claim = Claim;
    let (mut transport, streams) = system::open().map_err(|error| {
        let message = format!("cannot use the standard streams: {error}; start the server with stdin and stdout open");
        Error::new(ErrorKind::Closed, message)
    })?;
    transport._guard = Some(Guard {
        _streams: streams,
        _claim: claim,
    });
    Ok(transport)
}
