//! What a handler can ask and say while it runs.

use std::sync::Arc;

use oxmcp_proto::types::{ClientCapabilities, Implementation, Members};
use oxmcp_proto::{LogLevel, Revision};
use serde::Serialize;
use serde_json::value::to_raw_value;

use crate::Error;
use crate::handler::Call;

/// One call, in the hands of its handler. Clones are the same call.
///
/// It tells the client of [progress](Self::report_progress) and [logs](Self::log), and asks for what only the
/// client has: its [person](Self::elicit), its [model](Self::sample), its [roots](Self::list_roots).
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
    uri: Option<Arc<str>>,
}

/// Who makes a call, and what it says of itself.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Caller {
    /// The revision of the request.
    pub revision: Revision,
    /// The client's name and version, if it gave them.
    pub client_info: Option<Implementation>,
    /// What the client can do.
    pub capabilities: ClientCapabilities,
    /// The `_meta` of the request.
    pub meta: Members,
}

impl Context {
    pub(crate) fn new(call: Arc<Call>) -> Self {
        Self { call, uri: None }
    }

    /// A call that reads the resource of this URI.
    pub(crate) fn at(call: Arc<Call>, uri: Arc<str>) -> Self {
        Self { call, uri: Some(uri) }
    }

    /// The URI that is read, for handlers of resources.
    pub fn uri(&self) -> Option<&str> {
        self.uri.as_deref()
    }

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

    /// Sends a log message: text, or any data, and the `logger` it comes from.
    ///
    /// False when nothing was sent: the client wants no messages of this level, the call is over, the server
    /// was built [without](crate::Server::logging), `data` cannot be made into JSON, or so much waits to be
    /// written that there is no room. It never waits.
    ///
    /// ```
    /// use oxmcp::{Context, LogLevel, NoArguments, ToolError};
    ///
    /// async fn work(ctx: Context, _: NoArguments) -> Result<(), ToolError> {
    ///     ctx.log(LogLevel::Info, Some("worker"), "starting");
    ///     ctx.log(LogLevel::Warning, None, serde_json::json!({"disk": 0.93}));
    ///     Ok(())
    /// }
    /// ```
    pub fn log(&self, level: LogLevel, logger: Option<&str>, data: impl Serialize) -> bool {
        let Ok(data) = to_raw_value(&data) else { return false };
        let sent = self.call.link.log(Some(self.call.id), level, logger, data.get());
        sent.unwrap_or(false)
    }

    /// Sends a notification to the client that calls.
    ///
    /// ```
    /// use oxmcp::{Context, NoArguments, ToolError};
    ///
    /// async fn paid(ctx: Context, _: NoArguments) -> Result<(), ToolError> {
    ///     ctx.notify("notifications/elicitation/complete", serde_json::json!({"elicitationId": "order-7"}))?;
    ///     Ok(())
    /// }
    /// ```
    ///
    /// # Errors
    /// [`ErrorKind::Closed`](crate::ErrorKind::Closed) when the connection has ended,
    /// [`ErrorKind::Usage`](crate::ErrorKind::Usage) when `params` is no object, or the client is of a revision
    /// without a handshake, where servers send none of their own.
    pub fn notify(&self, method: &str, params: impl Serialize) -> Result<(), Error> {
        let params = crate::types::object(&params, &format!("the params of {method}"))?;
        self.call.link.notify(method, params.as_ref().map(|json| json.get()))
    }

    /// Lets go of the connection over which the answer would go, for a call that takes long: over HTTP in
    /// revision 2025-11-25 the stream of the call ends, and the client comes back for the rest of it. Anywhere
    /// else it does nothing.
    pub fn end_stream(&self) {
        #[cfg(feature = "http")]
        self.call.link.end_stream(self.call.id);
    }

    /// Resolves when the call is cancelled: by the client, because the connection ended, or because what the
    /// handler asked for is answered when the client makes the call again ([`elicit`](Self::elicit)).
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

    /// The head of the HTTP request that brought the call: its header fields, its address, and the extensions that
    /// the layers before the service put there, such as who the caller is. `None` over other transports, and when the
    /// call is over. Over HTTP+SSE it is the request that opened the stream.
    ///
    /// ```
    /// use oxmcp::{Context, NoArguments, ToolError};
    ///
    /// async fn agent(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    ///     let request = ctx.http_request().ok_or_else(|| ToolError::new("there is none over stdio"))?;
    ///     let agent = request.headers.get("user-agent").and_then(|value| value.to_str().ok());
    ///     Ok(agent.unwrap_or("not said").to_owned())
    /// }
    /// ```
    #[cfg(feature = "http")]
    pub fn http_request(&self) -> Option<Arc<http::request::Parts>> {
        self.call.link.http_request(self.call.id)
    }

    /// The `Mcp-Session-Id` of the session over HTTP that the call is part of, where there is one.
    #[cfg(feature = "http")]
    pub fn session_id(&self) -> Option<Arc<str>> {
        self.call.link.session_id()
    }

    /// Who calls; `None` when the call is over.
    ///
    /// ```
    /// use oxmcp::{Context, NoArguments, ToolError};
    ///
    /// async fn whoami(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    ///     let caller = ctx.caller().ok_or_else(|| ToolError::new("gone"))?;
    ///     let name = caller.client_info.map_or_else(|| "somebody".to_owned(), |info| info.name);
    ///     Ok(format!("{name}, by revision {}", caller.revision))
    /// }
    /// ```
    pub fn caller(&self) -> Option<Caller> {
        self.call.link.caller(self.call.id, |caller| Caller {
            revision: caller.revision,
            client_info: caller.info.and_then(|info| serde_json::from_str(info).ok()),
            capabilities: serde_json::from_str(caller.capabilities).unwrap_or_default(),
            meta: caller
                .meta
                .and_then(|meta| serde_json::from_str(meta).ok())
                .unwrap_or_default(),
        })
    }

    /// The answers to what [`InputRequired`](crate::InputRequired) asked for in the round before; `None` in the
    /// first round.
    pub fn input_responses(&self) -> Option<Members> {
        let responses = |caller: oxmcp_proto::Caller<'_>| serde_json::from_str(caller.input_responses?).ok();
        self.call.link.caller(self.call.id, responses).flatten()
    }

    /// What [`InputRequired::state`](crate::InputRequired::state) kept in the round before.
    pub fn request_state(&self) -> Option<String> {
        let state = |caller: oxmcp_proto::Caller<'_>| caller.state.map(str::to_owned);
        self.call.link.caller(self.call.id, state).flatten()
    }
}
