// Made by `cargo xtask codegen` from the specification's schemas. Edit the generator, not this file.

//! Errors, and the data they carry.

use super::super::*;

/// Why a request failed (JSON-RPC 2.0 §5.1).
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ErrorObject {
    /// For people.
    pub message: String,
    /// An integer; those from -32768 to -32000 are JSON-RPC's and the protocol's.
    pub code: Number,
    /// More about the error.
    pub data: Option<Json>,
    /// All other members.
    pub extra: Extra,
}

impl ErrorObject {
    /// With what every revision requires, and nothing else.
    pub fn new(message: impl Into<String>, code: impl Into<Number>) -> Self {
        Self {
            message: message.into(),
            code: code.into(),
            data: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ErrorObject in 0b11111 {
    required message: "message" in 0b11111 / 0b11111;
    required code: "code" in 0b11111 / 0b11111;
    any data: "data" in 0b11111 / 0b00000;
} }

/// The HTTP headers of a request and its body disagree. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HeaderMismatchError {
    /// Why the request failed.
    pub error: HeaderMismatchErrorObject,
    /// The id of the request; its response has the same.
    pub id: Option<RequestId>,
    /// All other members.
    pub extra: Extra,
}

impl HeaderMismatchError {
    /// With what every revision requires, and nothing else.
    pub fn new(error: HeaderMismatchErrorObject) -> Self {
        Self {
            error,
            id: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { HeaderMismatchError in 0b10000 {
    constant "jsonrpc" = "\"2.0\"" in 0b10000 / 0b10000;
    required error: "error" in 0b10000 / 0b10000;
    optional id: "id" in 0b10000 / 0b00000;
} }

/// Its error object. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct HeaderMismatchErrorObject {
    /// For people.
    pub message: String,
    /// More about the error.
    pub data: Option<Json>,
    /// All other members.
    pub extra: Extra,
}

impl HeaderMismatchErrorObject {
    /// With what every revision requires, and nothing else.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            data: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { HeaderMismatchErrorObject in 0b10000 {
    constant "code" = "-32020" in 0b10000 / 0b10000;
    required message: "message" in 0b10000 / 0b10000;
    any data: "data" in 0b10000 / 0b00000;
} }

/// The receiver failed (-32603). Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InternalError {
    /// For people.
    pub message: String,
    /// More about the error.
    pub data: Option<Json>,
    /// All other members.
    pub extra: Extra,
}

impl InternalError {
    /// With what every revision requires, and nothing else.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            data: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { InternalError in 0b10000 {
    constant "code" = "-32603" in 0b10000 / 0b10000;
    required message: "message" in 0b10000 / 0b10000;
    any data: "data" in 0b10000 / 0b00000;
} }

/// The parameters do not fit the method (-32602). Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InvalidParamsError {
    /// For people.
    pub message: String,
    /// More about the error.
    pub data: Option<Json>,
    /// All other members.
    pub extra: Extra,
}

impl InvalidParamsError {
    /// With what every revision requires, and nothing else.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            data: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { InvalidParamsError in 0b10000 {
    constant "code" = "-32602" in 0b10000 / 0b10000;
    required message: "message" in 0b10000 / 0b10000;
    any data: "data" in 0b10000 / 0b00000;
} }

/// The message is no request (-32600). Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InvalidRequestError {
    /// For people.
    pub message: String,
    /// More about the error.
    pub data: Option<Json>,
    /// All other members.
    pub extra: Extra,
}

impl InvalidRequestError {
    /// With what every revision requires, and nothing else.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            data: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { InvalidRequestError in 0b10000 {
    constant "code" = "-32600" in 0b10000 / 0b10000;
    required message: "message" in 0b10000 / 0b10000;
    any data: "data" in 0b10000 / 0b00000;
} }

/// The receiver has no such method (-32601). Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MethodNotFoundError {
    /// For people.
    pub message: String,
    /// More about the error.
    pub data: Option<Json>,
    /// All other members.
    pub extra: Extra,
}

impl MethodNotFoundError {
    /// With what every revision requires, and nothing else.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            data: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { MethodNotFoundError in 0b10000 {
    constant "code" = "-32601" in 0b10000 / 0b10000;
    required message: "message" in 0b10000 / 0b10000;
    any data: "data" in 0b10000 / 0b00000;
} }

/// The request needs a capability that the client did not declare (-32021). Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MissingRequiredClientCapabilityError {
    /// Why the request failed.
    pub error: MissingRequiredClientCapabilityErrorObject,
    /// The id of the request; its response has the same.
    pub id: Option<RequestId>,
    /// All other members.
    pub extra: Extra,
}

impl MissingRequiredClientCapabilityError {
    /// With what every revision requires, and nothing else.
    pub fn new(error: MissingRequiredClientCapabilityErrorObject) -> Self {
        Self {
            error,
            id: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { MissingRequiredClientCapabilityError in 0b10000 {
    constant "jsonrpc" = "\"2.0\"" in 0b10000 / 0b10000;
    required error: "error" in 0b10000 / 0b10000;
    optional id: "id" in 0b10000 / 0b00000;
} }

/// Which capabilities are missing. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MissingRequiredClientCapabilityErrorData {
    /// What the client would have to declare.
    pub required_capabilities: ClientCapabilities,
    /// All other members.
    pub extra: Extra,
}

impl MissingRequiredClientCapabilityErrorData {
    /// With what every revision requires, and nothing else.
    pub fn new(required_capabilities: ClientCapabilities) -> Self {
        Self {
            required_capabilities,
            extra: Extra::default(),
        }
    }
}

object! { MissingRequiredClientCapabilityErrorData in 0b10000 {
    required required_capabilities: "requiredCapabilities" in 0b10000 / 0b10000;
} }

/// Its error object. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct MissingRequiredClientCapabilityErrorObject {
    /// For people.
    pub message: String,
    /// More about the error.
    pub data: MissingRequiredClientCapabilityErrorData,
    /// All other members.
    pub extra: Extra,
}

impl MissingRequiredClientCapabilityErrorObject {
    /// With what every revision requires, and nothing else.
    pub fn new(message: impl Into<String>, data: MissingRequiredClientCapabilityErrorData) -> Self {
        Self {
            message: message.into(),
            data,
            extra: Extra::default(),
        }
    }
}

object! { MissingRequiredClientCapabilityErrorObject in 0b10000 {
    constant "code" = "-32021" in 0b10000 / 0b10000;
    required message: "message" in 0b10000 / 0b10000;
    required data: "data" in 0b10000 / 0b10000;
} }

/// The text is not JSON (-32700). Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct ParseError {
    /// For people.
    pub message: String,
    /// More about the error.
    pub data: Option<Json>,
    /// All other members.
    pub extra: Extra,
}

impl ParseError {
    /// With what every revision requires, and nothing else.
    pub fn new(message: impl Into<String>) -> Self {
        Self {
            message: message.into(),
            data: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { ParseError in 0b10000 {
    constant "code" = "-32700" in 0b10000 / 0b10000;
    required message: "message" in 0b10000 / 0b10000;
    any data: "data" in 0b10000 / 0b00000;
} }

/// The person has to visit web pages before the request can succeed (-32042). Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct URLElicitationRequiredError {
    /// Why the request failed.
    pub error: URLElicitationRequiredErrorObject,
    /// The id of the request; its response has the same.
    pub id: Option<RequestId>,
    /// All other members.
    pub extra: Extra,
}

impl URLElicitationRequiredError {
    /// With what every revision requires, and nothing else.
    pub fn new(error: URLElicitationRequiredErrorObject) -> Self {
        Self {
            error,
            id: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { URLElicitationRequiredError in 0b01000 {
    constant "jsonrpc" = "\"2.0\"" in 0b01000 / 0b01000;
    required error: "error" in 0b01000 / 0b01000;
    optional id: "id" in 0b01000 / 0b00000;
} }

/// Which pages to visit. Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct URLElicitationRequiredErrorData {
    /// The pages to visit, each with its reason.
    pub elicitations: Vec<ElicitRequestURLParams>,
    /// All other members.
    pub extra: Extra,
}

impl URLElicitationRequiredErrorData {
    /// With what every revision requires, and nothing else.
    pub fn new(elicitations: Vec<ElicitRequestURLParams>) -> Self {
        Self {
            elicitations,
            extra: Extra::default(),
        }
    }
}

object! { URLElicitationRequiredErrorData in 0b01000 {
    required elicitations: "elicitations" in 0b01000 / 0b01000;
} }

/// Its error object. Only in 2025-11-25.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct URLElicitationRequiredErrorObject {
    /// For people.
    pub message: String,
    /// More about the error.
    pub data: URLElicitationRequiredErrorData,
    /// All other members.
    pub extra: Extra,
}

impl URLElicitationRequiredErrorObject {
    /// With what every revision requires, and nothing else.
    pub fn new(message: impl Into<String>, data: URLElicitationRequiredErrorData) -> Self {
        Self {
            message: message.into(),
            data,
            extra: Extra::default(),
        }
    }
}

object! { URLElicitationRequiredErrorObject in 0b01000 {
    constant "code" = "-32042" in 0b01000 / 0b01000;
    required message: "message" in 0b01000 / 0b01000;
    required data: "data" in 0b01000 / 0b01000;
} }

/// The receiver does not speak the revision that the request names (-32022). Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UnsupportedProtocolVersionError {
    /// Why the request failed.
    pub error: UnsupportedProtocolVersionErrorObject,
    /// The id of the request; its response has the same.
    pub id: Option<RequestId>,
    /// All other members.
    pub extra: Extra,
}

impl UnsupportedProtocolVersionError {
    /// With what every revision requires, and nothing else.
    pub fn new(error: UnsupportedProtocolVersionErrorObject) -> Self {
        Self {
            error,
            id: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { UnsupportedProtocolVersionError in 0b10000 {
    constant "jsonrpc" = "\"2.0\"" in 0b10000 / 0b10000;
    required error: "error" in 0b10000 / 0b10000;
    optional id: "id" in 0b10000 / 0b00000;
} }

/// Which revisions would do. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UnsupportedProtocolVersionErrorData {
    /// The revision that was asked for.
    pub requested: String,
    /// The revisions that the receiver speaks.
    pub supported: Vec<String>,
    /// All other members.
    pub extra: Extra,
}

impl UnsupportedProtocolVersionErrorData {
    /// With what every revision requires, and nothing else.
    pub fn new(requested: impl Into<String>, supported: Vec<String>) -> Self {
        Self {
            requested: requested.into(),
            supported,
            extra: Extra::default(),
        }
    }
}

object! { UnsupportedProtocolVersionErrorData in 0b10000 {
    required requested: "requested" in 0b10000 / 0b10000;
    required supported: "supported" in 0b10000 / 0b10000;
} }

/// Its error object. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct UnsupportedProtocolVersionErrorObject {
    /// For people.
    pub message: String,
    /// More about the error.
    pub data: UnsupportedProtocolVersionErrorData,
    /// All other members.
    pub extra: Extra,
}

impl UnsupportedProtocolVersionErrorObject {
    /// With what every revision requires, and nothing else.
    pub fn new(message: impl Into<String>, data: UnsupportedProtocolVersionErrorData) -> Self {
        Self {
            message: message.into(),
            data,
            extra: Extra::default(),
        }
    }
}

object! { UnsupportedProtocolVersionErrorObject in 0b10000 {
    constant "code" = "-32022" in 0b10000 / 0b10000;
    required message: "message" in 0b10000 / 0b10000;
    required data: "data" in 0b10000 / 0b10000;
} }
