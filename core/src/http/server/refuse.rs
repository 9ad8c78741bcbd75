//! Refusals that are not the protocol's but those of this server.

use oxmcp_proto::http::Refusal;
use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject};

use super::state::StateError;

fn refusal(status: u16, code: ErrorCode, message: impl Into<String>) -> Refusal {
    Refusal {
        status,
        fields: Vec::new(),
        id: None,
        error: ErrorObject::new(code, message.into()),
    }
}

pub(super) fn closing() -> Refusal {
    refusal(503, ErrorCode::INTERNAL_ERROR, "the server is closing")
}

/// What processes share does not do what is needed.
pub(super) fn state(error: StateError) -> Refusal {
    match error {
        StateError::Full => Refusal::too_many_sessions(),
        StateError::Gone => Refusal::cannot_resume(),
        StateError::Unavailable(_) => {
            // Where it is and why it failed is not the client's business.
            let why = "what the processes of this server share cannot be reached; try again later";
            let mut refusal = refusal(503, ErrorCode::INTERNAL_ERROR, why);
            refusal.fields.push(("Retry-After", "1".into()));
            refusal
        }
    }
}

pub(super) fn no_random_bytes() -> Refusal {
    refusal(
        500,
        ErrorCode::INTERNAL_ERROR,
        "the system gives no random bytes to name a session with",
    )
}

pub(super) fn no_such_path(path: &str) -> Refusal {
    refusal(
        404,
        ErrorCode::INVALID_REQUEST,
        format!("nothing is served here; the endpoint is {path}"),
    )
}

pub(super) fn body_too_slow() -> Refusal {
    refusal(
        408,
        ErrorCode::INVALID_REQUEST,
        "the body of the request did not come in time",
    )
}

pub(super) fn body_broken(why: impl std::fmt::Display) -> Refusal {
    refusal(
        400,
        ErrorCode::INVALID_REQUEST,
        format!("the body of the request broke off: {why}"),
    )
}

pub(super) fn in_use() -> Refusal {
    let why = "the id of the request is in use by a call that is not answered yet";
    refusal(400, ErrorCode::INVALID_REQUEST, why)
}

pub(super) fn needs_stream() -> Refusal {
    let why = "subscriptions/listen is answered by an event stream: Accept must list text/event-stream";
    refusal(406, ErrorCode::INVALID_REQUEST, why)
}
