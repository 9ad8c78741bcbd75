//! Why a call of ours failed.

use std::fmt;
use std::time::Duration;

use crate::jsonrpc::{ErrorCode, ErrorObject, Json};

/// The failure of a call we made, or of an attempt to make one.
#[derive(Clone, Debug)]
pub struct Error {
    kind: ErrorKind,
    code: Option<ErrorCode>,
    message: String,
    data: Option<Json>,
    http_status: Option<u16>,
    /// Where more is known than the kind tells.
    retryable: Option<bool>,
}

/// What happened.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The peer answered with an error; code, message and data are the peer's.
    Response,
    /// No answer within the time allowed.
    Timeout,
    /// We cancelled the call.
    Cancelled,
    /// The connection ended, or could not be opened.
    Closed,
    /// The peer did not declare the capability the method rests on; nothing was sent.
    NotNegotiated,
    /// The call could not be made as asked; nothing was sent.
    Usage,
    /// The peer broke the protocol.
    Protocol,
    /// A handler of ours failed, on whose answer the call rested (2026-07-28 input_required).
    Handler,
}

impl ErrorKind {
    /// The name bindings know it by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Response => "response",
            Self::Timeout => "timeout",
            Self::Cancelled => "cancelled",
            Self::Closed => "closed",
            Self::NotNegotiated => "not_negotiated",
            Self::Usage => "usage",
            Self::Protocol => "protocol",
            Self::Handler => "handler",
        }
    }
}

/// Whose fault a failure was.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Fault {
    /// Ours: the program that made the call.
    Local,
    /// The other side's.
    Peer,
    /// The connection's.
    Transport,
}

impl Fault {
    /// The name bindings know it by.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Local => "local",
            Self::Peer => "peer",
            Self::Transport => "transport",
        }
    }
}

impl Error {
    /// A failure of `kind` found on this side.
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        let code = match kind {
            ErrorKind::Timeout => Some(ErrorCode::REQUEST_TIMEOUT),
            ErrorKind::Closed => Some(ErrorCode::CONNECTION_CLOSED),
            ErrorKind::NotNegotiated => Some(ErrorCode::METHOD_NOT_FOUND),
            ErrorKind::Usage => Some(ErrorCode::INVALID_PARAMS),
            ErrorKind::Protocol => Some(ErrorCode::INVALID_REQUEST),
            ErrorKind::Response | ErrorKind::Cancelled | ErrorKind::Handler => None,
        };
        Self {
            kind,
            code,
            message: message.into(),
            data: None,
            http_status: None,
            retryable: None,
        }
    }

    /// The error a peer answered with.
    pub fn response(error: ErrorObject) -> Self {
        Self {
            kind: ErrorKind::Response,
            code: Some(error.code),
            message: error.message.into_owned(),
            data: error.data,
            http_status: None,
            retryable: None,
        }
    }

    /// The same failure with what a transport knows of it: whether another attempt can help, and more, as JSON.
    #[must_use]
    pub fn from_transport(mut self, retryable: bool, data: Option<Json>) -> Self {
        self.retryable = Some(retryable);
        self.data = data;
        self
    }

    /// The same failure with the status of the HTTP response that told it.
    #[must_use]
    pub fn with_http_status(mut self, status: u16) -> Self {
        self.http_status = Some(status);
        self
    }

    /// The same failure, told in other words.
    #[must_use]
    pub fn with_message(mut self, message: impl Into<String>) -> Self {
        self.message = message.into();
        self
    }

    /// The same failure with the code that a peer gave it.
    #[must_use]
    pub fn with_code(mut self, code: ErrorCode) -> Self {
        self.code = Some(code);
        self
    }

    /// The failure of a handler of ours.
    pub(crate) fn handler(error: ErrorObject) -> Self {
        Self {
            kind: ErrorKind::Handler,
            ..Self::response(error)
        }
    }

    /// A capability that the peer did not declare.
    pub(crate) fn not_declared(method: &str, capability: &str) -> Self {
        Self::new(
            ErrorKind::NotNegotiated,
            format!("{method} was not sent: the peer does not declare the capability \"{capability}\""),
        )
    }

    /// The failure as a peer sees it, where a handler passes it on.
    pub fn to_object(&self) -> ErrorObject {
        ErrorObject {
            code: self.code.unwrap_or(ErrorCode::INTERNAL_ERROR),
            message: self.message.clone().into(),
            data: self.data.clone(),
        }
    }

    /// The same failure with another code and with data, as a peer is to see it if nobody handles it.
    pub(crate) fn seen_as(mut self, code: ErrorCode, data: String) -> Self {
        self.code = Some(code);
        self.data = crate::jsonrpc::json(data).ok();
        self
    }

    pub(crate) fn timeout(method: &str, limit: Duration, total: bool) -> Self {
        let limit = limit.as_secs_f64();
        Self::new(
            ErrorKind::Timeout,
            if total {
                format!(
                    "{method} was not answered within its total timeout of {limit} s; raise the total timeout if it may take longer"
                )
            } else {
                format!("{method} got no answer within {limit} s; raise the timeout, or reset it on progress")
            },
        )
    }

    /// What happened.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The JSON-RPC code: the peer's for [`ErrorKind::Response`], ours otherwise.
    pub fn code(&self) -> Option<ErrorCode> {
        self.code
    }

    /// One sentence for a person; the peer's for [`ErrorKind::Response`].
    pub fn message(&self) -> &str {
        &self.message
    }

    /// The peer's `data`.
    pub fn data(&self) -> Option<&str> {
        self.data.as_ref().map(|json| json.get())
    }

    /// The status of the HTTP response that was a failure in place of an answer: 401 where access was denied. Its
    /// [`data`](Self::data) is then an object with what else it told, see
    /// [`http::client::failure`](crate::http::client::failure).
    pub fn http_status(&self) -> Option<u16> {
        self.http_status
    }

    /// What the user must visit before the call can succeed: the `elicitations` of
    /// `UrlElicitationRequired` (2025-11-25 elicitation, Error Handling), as an array's text. `None`
    /// for any other failure.
    pub fn url_elicitations(&self) -> Option<&str> {
        if self.code != Some(ErrorCode::URL_ELICITATION_REQUIRED) {
            return None;
        }
        let data = crate::jsonrpc::members(self.data.as_ref()?)?;
        let (_, elicitations) = data.into_iter().find(|(key, _)| key == "elicitations")?;
        elicitations.get().starts_with('[').then(|| elicitations.get())
    }

    /// Whose fault it was.
    pub fn fault(&self) -> Fault {
        match self.kind {
            ErrorKind::Cancelled | ErrorKind::NotNegotiated | ErrorKind::Usage | ErrorKind::Handler => Fault::Local,
            ErrorKind::Response | ErrorKind::Timeout | ErrorKind::Protocol => Fault::Peer,
            ErrorKind::Closed => Fault::Transport,
        }
    }

    /// Whether the same call may succeed if it is made again (on a new connection where this one
    /// ended). Says nothing about whether the first attempt had an effect.
    pub fn is_retryable(&self) -> bool {
        let by_kind = matches!(self.kind, ErrorKind::Timeout | ErrorKind::Closed);
        self.retryable.unwrap_or(by_kind)
    }
}

impl fmt::Display for Error {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.code {
            Some(code) => write!(f, "{} ({code})", self.message),
            None => f.write_str(&self.message),
        }
    }
}

impl std::error::Error for Error {}
