//! How a handler says that it failed, or that it needs input first.

use std::any::Any;
use std::fmt;

use oxmcp_proto::Error;
use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject, Json};
use oxmcp_proto::types::{CreateMessageRequestParams, ElicitRequestParams, Members};
use serde::Serialize;

use super::Reply;
use crate::types::object;

/// Why a handler of a resource, a prompt, a completion, a method or a question of the server's failed.
///
/// Any [`std::error::Error`] becomes one by `?`. Its text stays here: the peer is told of an internal error
/// (`-32603`) and no more, and [`on_problem`](crate::Server::on_problem) gets the rest. An
/// [`oxmcp::Error`](crate::Error), as questions to a client fail with, is passed on with its code and data.
/// What the peer is to read is said in so many words:
///
/// ```
/// use oxmcp::HandlerError;
///
/// fn page(number: u32) -> Result<String, HandlerError> {
///     if number > 9 {
///         return Err(HandlerError::invalid_params("`number` must be 9 at most"));
///     }
///     Ok(std::fs::read_to_string(format!("/nowhere/{number}"))?)
/// }
///
/// assert_eq!(page(10).unwrap_err().to_string(), "`number` must be 9 at most (-32602 InvalidParams)");
/// assert!(page(1).unwrap_err().to_string().contains("No such file"));
/// ```
#[derive(Debug)]
pub struct HandlerError(Failure);

#[derive(Debug)]
enum Failure {
    /// The peer's business.
    Told(Reply),
    /// The program's.
    Kept(String),
}

impl HandlerError {
    /// An error of the protocol.
    pub fn new(code: ErrorCode, message: impl Into<String>) -> Self {
        Self::protocol(ErrorObject::new(code, message.into()))
    }

    /// What was asked for cannot be right; `what` says what would be.
    pub fn invalid_params(what: impl Into<String>) -> Self {
        Self::new(ErrorCode::INVALID_PARAMS, what)
    }

    /// There is no resource of this URI.
    pub fn not_found(uri: impl AsRef<str>) -> Self {
        let uri = uri.as_ref();
        let error = ErrorObject::new(ErrorCode::RESOURCE_NOT_FOUND, format!("Resource not found: {uri}"));
        Self::protocol(error.with_data(&serde_json::json!({ "uri": uri })))
    }

    /// An error of the protocol with its data.
    pub fn protocol(error: ErrorObject) -> Self {
        Self(Failure::Told(Reply::Error(Box::new(error))))
    }

    /// The answer, or what the program alone is to know.
    pub(crate) fn into_reply(self) -> Result<Reply, String> {
        match self.0 {
            Failure::Told(reply) => Ok(reply),
            Failure::Kept(what) => Err(what),
        }
    }
}

// Not an `Error` itself: then every error could not become one by `?`.
impl<E: std::error::Error + 'static> From<E> for HandlerError {
    fn from(error: E) -> Self {
        match (&error as &dyn Any).downcast_ref::<Error>() {
            Some(error) => Self::protocol(error.to_object()),
            None => Self(Failure::Kept(error.to_string())),
        }
    }
}

impl From<InputRequired> for HandlerError {
    fn from(required: InputRequired) -> Self {
        Self(Failure::Told(required.into_reply()))
    }
}

impl fmt::Display for HandlerError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Failure::Told(reply) => reply.fmt(f),
            Failure::Kept(what) => f.write_str(what),
        }
    }
}

impl fmt::Display for Reply {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::ToolError(text) | Self::InvalidArguments(text) | Self::Result(text) | Self::Text(text) => {
                f.write_str(text)
            }
            Self::InputRequired { requests, .. } => write!(f, "input is required: {requests}"),
            Self::Error(error) => error.fmt(f),
        }
    }
}

/// What has to be known before a call can be served, for handlers that make the rounds themselves
/// (revision 2026-07-28; a client of another one gets an error).
///
/// A handler gives this in place of a result. The client makes the call again with the answers, which are then
/// in [`Context::input_responses`](crate::Context::input_responses), and the state in
/// [`Context::request_state`](crate::Context::request_state). [`Context::elicit`](crate::Context::elicit) and
/// its like do all this by themselves, in every revision.
///
/// ```
/// use oxmcp::{Context, InputRequired, NoArguments, Server, ToolError};
///
/// async fn roots(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
///     match ctx.input_responses() {
///         None => Err(InputRequired::new().roots("where").state("asked once").into()),
///         Some(answers) => Ok(answers.get("where").map(|answer| answer.get().to_owned()).unwrap_or_default()),
///     }
/// }
///
/// let server = Server::new("demo", "1.0").tool("roots", "Names the roots.", roots);
/// ```
#[derive(Clone, Debug, Default)]
#[must_use = "a handler gives it in place of a result"]
pub struct InputRequired {
    requests: Members,
    state: Option<String>,
    /// The first thing that cannot be asked for.
    broken: Option<String>,
}

impl InputRequired {
    /// Nothing is required yet. With a [`state`](Self::state) alone the client makes the call again at once.
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks for what a method of the client gives: `elicitation/create`, `sampling/createMessage` or `roots/list`.
    pub fn request(mut self, key: impl Into<String>, method: &str, params: impl Serialize) -> Self {
        #[derive(Serialize)]
        struct Request<'a> {
            method: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            params: Option<Json>,
        }
        let params = object(&params, &format!("the params of {method}"));
        let request = params.and_then(|params| object(&Request { method, params }, "a request"));
        match request {
            Ok(request) => {
                if let Some(request) = request {
                    self.requests.insert(key, request);
                }
            }
            Err(error) => {
                self.broken.get_or_insert(error.message().to_owned());
            }
        }
        self
    }

    /// Asks the person at the client.
    pub fn elicit(self, key: impl Into<String>, params: impl Into<ElicitRequestParams>) -> Self {
        self.request(key, "elicitation/create", params.into())
    }

    /// Asks the client's model.
    pub fn sample(self, key: impl Into<String>, params: CreateMessageRequestParams) -> Self {
        self.request(key, "sampling/createMessage", params)
    }

    /// Asks for the client's roots.
    pub fn roots(self, key: impl Into<String>) -> Self {
        self.request(key, "roots/list", ())
    }

    /// What the next round is to know. The client keeps it, sealed.
    pub fn state(mut self, state: impl Into<String>) -> Self {
        self.state = Some(state.into());
        self
    }

    pub(crate) fn into_reply(self) -> Reply {
        if let Some(what) = self.broken {
            return Reply::Error(Box::new(ErrorObject::new(ErrorCode::INTERNAL_ERROR, what)));
        }
        Reply::InputRequired {
            requests: serde_json::to_string(&self.requests)
                .unwrap_or_else(|error| unreachable!("text is written as it is: {error}")),
            state: self.state,
        }
    }
}
