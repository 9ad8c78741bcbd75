//! What a handler can ask and say while it runs.

use std::sync::Arc;

use oxmcp_proto::Peer;

use super::Call;

/// One call, in the hands of its handler. Clones are the same call.
///
/// ```
/// use oxmcp::{Context, NoArguments, Server, ToolError};
///
/// async fn count(ctx: Context, _: NoArguments) -> Result<&'static str, ToolError> {
///     for step in 1..=3 {
///         ctx.report_progress(step, Some(3.0), Some("counting"));
///         tokio::task::yield_now().await;
///     }
///     Ok("done")
/// }
///
/// let server = Server::new("demo", "1.0").tool("count", "Counts to three.", count);
/// ```
#[derive(Clone, Debug)]
pub struct Context {
    pub(super) call: Arc<Call>,
}

impl Context {
    /// Tells the client how far the call is: `progress` of `total`, in any unit, with a sentence
    /// for a person. It is written before anything that comes after it, the result included.
    ///
    /// False when nothing was sent: the client did not ask for progress, the call is over,
    /// `progress` did not grow, or so much waits to be written that newer progress had better
    /// take its place. It never waits.
    pub fn report_progress(&self, progress: impl Into<f64>, total: Option<f64>, message: Option<&str>) -> bool {
        let call = &self.call;
        call.wants_progress && call.link.progress(call.id, progress.into(), total, message)
    }

    /// Whether the client asked for progress.
    pub fn wants_progress(&self) -> bool {
        self.call.wants_progress
    }

    /// Resolves when the call is cancelled: by the client, or because the connection ended.
    ///
    /// A handler that holds something to be given back in order waits for this beside its work
    /// (`tokio::select!`). It may finish what it does without waiting; at its next `await`
    /// that is not ready it is dropped.
    ///
    /// ```
    /// use oxmcp::{Context, NoArguments, ToolError};
    ///
    /// async fn wait(ctx: Context, _: NoArguments) -> Result<&'static str, ToolError> {
    ///     let work = std::future::pending::<()>();
    ///     tokio::select! {
    ///         () = work => Ok("worked"),
    ///         () = ctx.cancelled() => {
    ///             eprintln!("cancelled: {}", ctx.cancel_reason().unwrap_or("no reason given"));
    ///             Err(ToolError::new("cancelled"))
    ///         }
    ///     }
    /// }
    /// ```
    pub async fn cancelled(&self) {
        self.call.cancelled().await;
    }

    /// Whether the call is cancelled.
    pub fn is_cancelled(&self) -> bool {
        self.call.is_cancelled()
    }

    /// Why the call was cancelled, if it was and a reason is known.
    pub fn cancel_reason(&self) -> Option<&str> {
        self.call.reason()
    }

    /// The client that calls, as it presented itself at the handshake.
    pub fn peer(&self) -> Option<&Peer> {
        self.call.peer.get()
    }
}
