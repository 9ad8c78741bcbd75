//! What can be said to a connection, as typed envelopes, and how a session takes it.

use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject, json};
use oxmcp_proto::{Answer, CallOptions, InboundId, Instant, LogLevel, OutboundId, Session};

use crate::failure::Refusal;

/// A call of ours.
#[derive(Clone, Debug, PartialEq, uniffi::Enum)]
pub enum Request {
    /// Any method.
    Method {
        /// Its name.
        method: String,
        /// JSON text of an object.
        params: Option<String>,
    },
    /// A tool.
    Tool {
        /// Its name.
        name: String,
        /// JSON text of an object.
        arguments: Option<String>,
    },
    /// A whole list, all pages of it.
    List {
        /// `tools/list` and the like.
        method: String,
    },
    /// A sign of life.
    Ping,
    /// What a handler asks its caller for, in both eras.
    Ask {
        /// The call that the handler serves.
        call: u64,
        /// `elicitation/create` and the like.
        method: String,
        /// JSON text of an object.
        params: Option<String>,
        /// The question's own name, where the handler gives it one.
        key: Option<String>,
    },
}

/// The options of a call of ours; times in milliseconds, infinity for no limit.
#[derive(Clone, Debug, Default, PartialEq, uniffi::Record)]
pub struct RequestOptions {
    /// How long it may go without an answer.
    pub timeout: Option<f64>,
    /// A bound on the whole call that nothing moves.
    pub max_total_timeout: Option<f64>,
    /// Each progress message restarts `timeout`.
    pub reset_timeout_on_progress: bool,
    /// Ask for progress.
    pub progress: bool,
    /// Ask the server even if a result is at hand that it called fresh.
    pub fresh: bool,
    /// The mildest log messages to send for this call.
    pub log_level: Option<String>,
}

/// What a handler gave.
#[derive(Clone, Debug, PartialEq, uniffi::Enum)]
pub enum Reply {
    /// JSON text of a result object, which the caller vouches to be valid.
    Result {
        /// The text.
        result: String,
    },
    /// A tool gave text.
    Text {
        /// The text.
        text: String,
    },
    /// A tool failed.
    ToolError {
        /// Its message.
        message: String,
    },
    /// The arguments do not fit the tool.
    InvalidArguments {
        /// What does not, and why.
        what: String,
    },
    /// A protocol error.
    Error {
        /// The JSON-RPC code.
        code: i64,
        /// One sentence.
        message: String,
        /// JSON text.
        data: Option<String>,
    },
    /// More input is needed (2026-07-28), for handlers that make the rounds themselves.
    InputRequired {
        /// JSON text of an object of requests by key.
        requests: String,
        /// Kept by the client for the next round.
        state: Option<String>,
    },
    /// The registry is complete: the answer to `Describe`.
    Resume,
}

/// What is told without being asked.
#[derive(Clone, Debug, PartialEq, uniffi::Enum)]
pub enum Notice {
    /// Any notification.
    Method {
        /// Its name.
        method: String,
        /// JSON text of an object.
        params: Option<String>,
    },
    /// Progress on a call of the peer.
    Progress {
        /// The call.
        call: u64,
        /// Must grow.
        progress: f64,
        /// Where it will end.
        total: Option<f64>,
        /// What is being done.
        message: Option<String>,
    },
    /// A log message, if it is severe enough for the peer.
    Log {
        /// The call it belongs to.
        call: Option<u64>,
        /// `debug` and so on.
        level: String,
        /// Who says so.
        logger: Option<String>,
        /// JSON text.
        data: String,
    },
    /// A resource has other contents now, for those who subscribed to it.
    ResourceUpdated {
        /// Its URI.
        uri: String,
    },
}

impl RequestOptions {
    fn read(self) -> Result<CallOptions, Refusal> {
        let level = self.log_level.map(|level| level_named(&level)).transpose()?;
        Ok(CallOptions {
            fresh: self.fresh,
            log_level: level,
            ..CallOptions::from_millis(
                self.timeout,
                self.max_total_timeout,
                self.reset_timeout_on_progress,
                self.progress,
            )?
        })
    }
}

fn level_named(name: &str) -> Result<LogLevel, Refusal> {
    LogLevel::named(name).ok_or_else(|| {
        let known = LogLevel::ALL.map(LogLevel::name).join(", ");
        Refusal::usage(format!("there is no log level \"{name}\"; there are {known}"))
    })
}

/// Makes a call; gives its id.
pub(crate) fn begin(
    session: &mut Session,
    request: Request,
    options: Option<RequestOptions>,
    now: Instant,
) -> Result<u64, Refusal> {
    let options = options.unwrap_or_default().read()?;
    let id = match request {
        Request::Method { method, params } => session.begin(&method, params.as_deref(), options, now)?,
        Request::Tool { name, arguments } => session.call_tool(&name, arguments.as_deref(), options, now)?,
        Request::List { method } => session.list(&method, options, now)?,
        Request::Ping => session.ping(options, now)?,
        Request::Ask {
            call,
            method,
            params,
            key,
        } => session.ask(
            InboundId(call),
            key.as_deref(),
            &method,
            params.as_deref(),
            options,
            now,
        )?,
    };
    Ok(id.0)
}

/// Answers a call of the peer. False when it was cancelled or answered before.
pub(crate) fn respond(session: &mut Session, id: u64, reply: Reply, now: Instant) -> Result<bool, Refusal> {
    let id = InboundId(id);
    let answer = match &reply {
        Reply::Result { result } => Answer::Result(result),
        Reply::Text { text } => Answer::Text(text),
        Reply::ToolError { message } => Answer::ToolError(message),
        Reply::InvalidArguments { what } => Answer::InvalidArguments(what),
        Reply::Error { code, message, data } => Answer::Error(error_object(*code, message, data.as_deref())?),
        Reply::InputRequired { requests, state } => Answer::InputRequired {
            requests,
            state: state.as_deref(),
        },
        Reply::Resume => return Ok(session.resume(id)),
    };
    Ok(session.respond(id, answer, now))
}

fn error_object(code: i64, message: &str, data: Option<&str>) -> Result<ErrorObject, Refusal> {
    let mut error = ErrorObject::new(ErrorCode(code), message.to_owned());
    if let Some(data) = data {
        let data = json(data.to_owned()).map_err(|error| Refusal::usage(format!("data is not JSON: {error}")))?;
        error.data = Some(data);
    }
    Ok(error)
}

/// Tells the peer something. False when nothing was sent.
pub(crate) fn notify(session: &mut Session, notice: Notice) -> Result<bool, Refusal> {
    match notice {
        Notice::Method { method, params } => {
            session.notify(&method, params.as_deref())?;
            Ok(true)
        }
        Notice::Progress {
            call,
            progress,
            total,
            message,
        } => Ok(session.progress(InboundId(call), progress, total, message.as_deref())),
        Notice::Log {
            call,
            level,
            logger,
            data,
        } => {
            let level = level_named(&level)?;
            Ok(session.log(call.map(InboundId), level, logger.as_deref(), &data)?)
        }
        Notice::ResourceUpdated { uri } => Ok(session.resource_updated(&uri)?),
    }
}

/// Gives a call of ours up. False when it had ended.
pub(crate) fn cancel(session: &mut Session, id: u64, reason: Option<&str>) -> bool {
    session.cancel(OutboundId(id), reason)
}
