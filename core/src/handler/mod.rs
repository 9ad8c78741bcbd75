//! Running handlers of the peer's calls: at once where that is enough, as a task or on a thread where it
//! is not. The same for both sides.

mod call;
mod error;
mod run;

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use oxmcp_proto::jsonrpc::{ErrorObject, Json};

pub(crate) use call::Call;
pub use error::{HandlerError, InputRequired};
#[cfg(feature = "http")]
pub(crate) use run::Task;
pub(crate) use run::{Hooks, Runner, guarded};

/// Starts a handler with the params as they came.
pub(crate) type Handler = Box<dyn Fn(Arc<Call>, Option<Json>) -> Started + Send + Sync>;

/// A handler that runs. What it fails with is for the program; the peer learns no more than that it failed.
pub(crate) type Work = Pin<Box<dyn Future<Output = Result<Reply, String>> + Send>>;

/// A handler and what to call it in messages: `the tool add`.
pub(crate) struct Entry {
    pub label: Box<str>,
    pub run: Handler,
}

/// A handler that was started.
pub(crate) enum Started {
    Done(Reply),
    Waiting(Work),
    Blocking(Box<dyn FnOnce() -> Result<Reply, String> + Send>),
}

/// What a call is answered with.
#[derive(Debug)]
pub(crate) enum Reply {
    Result(String),
    /// A result of one block of text.
    Text(String),
    ToolError(String),
    InvalidArguments(String),
    InputRequired {
        requests: String,
        state: Option<String>,
    },
    Error(Box<ErrorObject>),
}
