//! Error codes and the error object of a response.

use std::borrow::Cow;
use std::fmt;

use serde_json::value::RawValue;

use super::text::{Json, decode_str_lossy};

/// An error code of JSON-RPC 2.0 §5.1 or of MCP.
///
/// Codes are open: applications use their own outside −32768..=−32000, and a peer may send any.
///
/// ```
/// use oxmcp_proto::jsonrpc::ErrorCode;
///
/// assert_eq!(ErrorCode::METHOD_NOT_FOUND.name(), Some("MethodNotFound"));
/// assert_eq!(ErrorCode(42).name(), None);
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct ErrorCode(pub i64);

/// The known codes, each with its name and meaning.
const KNOWN: &[(ErrorCode, &str, &str)] = &[
    (ErrorCode::PARSE_ERROR, "ParseError", "the text is not valid JSON"),
    (
        ErrorCode::INVALID_REQUEST,
        "InvalidRequest",
        "the JSON is not a valid message here",
    ),
    (
        ErrorCode::METHOD_NOT_FOUND,
        "MethodNotFound",
        "the method does not exist or was not negotiated",
    ),
    (
        ErrorCode::INVALID_PARAMS,
        "InvalidParams",
        "the params do not fit the method",
    ),
    (
        ErrorCode::INTERNAL_ERROR,
        "InternalError",
        "the receiver failed while handling the request",
    ),
    (
        ErrorCode::CONNECTION_CLOSED,
        "ConnectionClosed",
        "the connection ended before the answer came",
    ),
    (
        ErrorCode::REQUEST_TIMEOUT,
        "RequestTimeout",
        "no answer came within the time allowed",
    ),
    (
        ErrorCode::RESOURCE_NOT_FOUND,
        "ResourceNotFound",
        "no resource has this URI (2025-11-25 and earlier)",
    ),
    (
        ErrorCode::URL_ELICITATION_REQUIRED,
        "UrlElicitationRequired",
        "the user must visit a URL first (2025-11-25)",
    ),
    (
        ErrorCode::HEADER_MISMATCH,
        "HeaderMismatch",
        "an HTTP header and the body disagree",
    ),
    (
        ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY,
        "MissingRequiredClientCapability",
        "the request needs a capability the client did not declare",
    ),
    (
        ErrorCode::UNSUPPORTED_PROTOCOL_VERSION,
        "UnsupportedProtocolVersion",
        "the server does not speak the requested revision",
    ),
];

impl ErrorCode {
    /// The text is not valid JSON.
    pub const PARSE_ERROR: Self = Self(-32700);
    /// The JSON is not a valid message, or not allowed at this point.
    pub const INVALID_REQUEST: Self = Self(-32600);
    /// The method does not exist, or its capability was not negotiated.
    pub const METHOD_NOT_FOUND: Self = Self(-32601);
    /// The params do not fit the method.
    pub const INVALID_PARAMS: Self = Self(-32602);
    /// The receiver failed while handling the request.
    pub const INTERNAL_ERROR: Self = Self(-32603);
    /// The connection ended before the answer came. Local only; never sent.
    pub const CONNECTION_CLOSED: Self = Self(-32000);
    /// No answer came within the time allowed. Local only; never sent.
    pub const REQUEST_TIMEOUT: Self = Self(-32001);
    /// No resource has this URI (2025-11-25 and earlier).
    pub const RESOURCE_NOT_FOUND: Self = Self(-32002);
    /// The user must visit a URL before the request can succeed (2025-11-25).
    pub const URL_ELICITATION_REQUIRED: Self = Self(-32042);
    /// An HTTP header and the body disagree (2026-07-28).
    pub const HEADER_MISMATCH: Self = Self(-32020);
    /// The request needs a capability the client did not declare (2026-07-28).
    pub const MISSING_REQUIRED_CLIENT_CAPABILITY: Self = Self(-32021);
    /// The server does not speak the requested revision (2026-07-28).
    pub const UNSUPPORTED_PROTOCOL_VERSION: Self = Self(-32022);

    /// The name of a known code.
    pub fn name(self) -> Option<&'static str> {
        self.known().map(|(_, name, _)| *name)
    }

    /// What a known code means, as half a sentence.
    pub fn meaning(self) -> Option<&'static str> {
        self.known().map(|(_, _, meaning)| *meaning)
    }

    /// Every known code.
    pub fn all() -> impl Iterator<Item = Self> {
        KNOWN.iter().map(|(code, _, _)| *code)
    }

    fn known(self) -> Option<&'static (Self, &'static str, &'static str)> {
        KNOWN.iter().find(|(code, _, _)| *code == self)
    }
}

impl fmt::Display for ErrorCode {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.name() {
            Some(name) => write!(f, "{} {name}", self.0),
            None => self.0.fmt(f),
        }
    }
}

/// The `error` member of a response.
#[derive(Clone, Debug)]
pub struct ErrorObject {
    /// What kind of failure it was.
    pub code: ErrorCode,
    /// One sentence for a person.
    pub message: Cow<'static, str>,
    /// Anything more, as JSON.
    pub data: Option<Json>,
}

impl ErrorObject {
    /// An error without data.
    pub fn new(code: ErrorCode, message: impl Into<Cow<'static, str>>) -> Self {
        Self {
            code,
            message: message.into(),
            data: None,
        }
    }

    /// The same error with `data`, any serialisable value.
    #[must_use]
    pub fn with_data(mut self, data: &impl serde::Serialize) -> Self {
        self.data = serde_json::value::to_raw_value(data).ok();
        self
    }

    /// Reads the `error` member of a response; `None` when it lacks an integer code or a message.
    pub(crate) fn read(raw: &RawValue) -> Option<Self> {
        let mut code = None;
        let mut message = None;
        let mut data = None;
        for (key, value) in super::members(raw)? {
            match &*key {
                "code" => code = value.get().parse().ok(),
                "message" => message = decode_str_lossy(value),
                "data" => data = Some(value.to_owned()),
                _ => {}
            }
        }
        Some(Self {
            code: ErrorCode(code?),
            message: Cow::Owned(message?.into_owned()),
            data,
        })
    }
}

impl PartialEq for ErrorObject {
    fn eq(&self, other: &Self) -> bool {
        let data = |error: &Self| error.data.as_ref().map(|json| json.get().to_owned());
        self.code == other.code && self.message == other.message && data(self) == data(other)
    }
}

impl fmt::Display for ErrorObject {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} ({})", self.message, self.code)
    }
}
