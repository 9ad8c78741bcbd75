//! One connection that is served, and the handle to it.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{self, Poll};

use oxmcp_proto::{Error, LogLevel};
use serde::Serialize;
use serde_json::value::to_raw_value;

use crate::Stats;
use crate::driver::Link;

/// A connection that is served: a future that is done when it ends.
#[must_use = "nothing is served until this is awaited or spawned"]
pub struct Serving {
    pub(super) future: Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>,
    pub(super) link: Arc<Link>,
}

impl Serving {
    /// A handle to look at the connection and to end it while it is served elsewhere.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// use oxmcp::{Server, transport};
    ///
    /// let (_near, far) = transport::memory();
    /// let serving = Server::new("demo", "1.0").serve(far);
    /// let handle = serving.handle();
    /// let served = tokio::spawn(serving);
    /// assert_eq!(handle.stats().inbound, 0);
    /// handle.close();
    /// served.await??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn handle(&self) -> ServingHandle {
        ServingHandle {
            link: Arc::clone(&self.link),
        }
    }
}

impl Future for Serving {
    type Output = Result<(), Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        self.future.as_mut().poll(cx)
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").finish_non_exhaustive()
    }
}

/// A handle of a connection that is served, from [`Serving::handle`].
#[derive(Clone, Debug)]
pub struct ServingHandle {
    link: Arc<Link>,
}

impl ServingHandle {
    /// What the connection holds at the moment.
    pub fn stats(&self) -> Stats {
        self.link.stats()
    }

    /// Sends a notification to this client.
    ///
    /// # Errors
    /// [`ErrorKind::Closed`](crate::ErrorKind::Closed) when the connection has ended,
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) when the handshake is not done or `params` is no object,
    /// [`ErrorKind::NotNegotiated`](crate::ErrorKind::NotNegotiated) when the server does not declare what the
    /// notification rests on.
    pub fn notify(&self, method: &str, params: impl Serialize) -> Result<(), Error> {
        let params = crate::types::object(&params, &format!("the params of {method}"))?;
        self.link.notify(method, params.as_ref().map(|json| json.get()))
    }

    /// Sends a log message that belongs to no call; see [`Context::log`](crate::Context::log). In revision
    /// 2026-07-28 all messages belong to calls, and none is sent.
    pub fn log(&self, level: LogLevel, logger: Option<&str>, data: impl Serialize) -> bool {
        let Ok(data) = to_raw_value(&data) else { return false };
        self.link.log(None, level, logger, data.get()).unwrap_or(false)
    }

    /// Ends the connection: calls under way are cancelled, what was answered is still written.
    /// [`Serving`] is done soon after. Does nothing when it has ended.
    pub fn close(&self) {
        self.link.close("the server closed the connection");
    }
}
