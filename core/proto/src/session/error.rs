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
            ErrorKind::Response | ErrorKind::Cancelled => None,
        };
        Self {
            kind,
            code,
            message: message.into(),
            data: None,
        }
    }

    /// The error a peer answered with.
    pub fn response(error: ErrorObject) -> Self {
        Self {
            kind: ErrorKind::Response,
            code: Some(error.code),
            message: error.message.into_owned(),
            data: error.data,
        }
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

    /// Whose fault it was.
    pub fn fault(&self) -> Fault {
        match self.kind {
            ErrorKind::Cancelled | ErrorKind::NotNegotiated | ErrorKind::Usage => Fault::Local,
            ErrorKind::Response | ErrorKind::Timeout | ErrorKind::Protocol => Fault::Peer,
            ErrorKind::Closed => Fault::Transport,
        }
    }

    /// Whether the same call may succeed if it is made again (on a new connection where this one
    /// ended). Says nothing about whether the first attempt had an effect.
    pub fn is_retryable(&self) -> bool {
        matches!(self.kind, ErrorKind::Timeout | ErrorKind::Closed)
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
