//! What a client's handler knows of the call it serves.

use std::sync::Arc;

use crate::handler::Call;

/// A question of the server's, in the hands of its handler. Clones are the same question.
///
/// ```
/// use oxmcp::types::ElicitRequestFormParams;
/// use oxmcp::{Client, ClientContext, Elicited};
///
/// let builder = Client::builder().on_elicitation(|ctx: ClientContext, _: ElicitRequestFormParams| async move {
///     let person = std::future::pending::<serde_json::Value>();
///     tokio::select! {
///         answer = person => Ok(Elicited::Accepted(answer)),
///         () = ctx.cancelled() => {
///             eprintln!("the dialog is closed: {}", ctx.cancel_reason().unwrap_or_default());
///             Ok(Elicited::Cancelled)
///         }
///     }
/// });
/// ```
#[derive(Clone, Debug)]
pub struct ClientContext {
    call: Arc<Call>,
}

impl ClientContext {
    pub(super) fn new(call: Arc<Call>) -> Self {
        Self { call }
    }

    /// Resolves when the server no longer waits for the answer, or the connection has ended. A handler that still
    /// waits then is dropped where it does.
    pub async fn cancelled(&self) {
        self.call.cancelled().await;
    }

    /// Whether the server no longer waits.
    pub fn is_cancelled(&self) -> bool {
        self.call.is_cancelled()
    }

    /// Why, if it does not and a reason is known.
    pub fn cancel_reason(&self) -> Option<&str> {
        self.call.reason()
    }

    /// Tells the server how far the answer is; see [`Context::report_progress`](crate::Context::report_progress).
    pub fn report_progress(&self, progress: impl Into<f64>, total: Option<f64>, message: Option<&str>) -> bool {
        let call = &self.call;
        call.wants_progress && call.link.progress(call.id, progress.into(), total, message)
    }
}
