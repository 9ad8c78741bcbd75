//! What a browser has to be told before it shows answers to pages of another origin.
//!
//! The specification says nothing of it. Origins that a program lists in its [`Guard`](super::Guard) are
//! told so; nobody else is told anything. A program that lists none is left as it was. (Fetch Standard,
//! CORS protocol.)

use super::fields::{Fields, single};

/// The answer, with status 204, to a browser that asks whether it may send a request.
pub(super) fn preflight(origin: &str, fields: &dyn Fields) -> Vec<(&'static str, String)> {
    let asked = single(fields, "Access-Control-Request-Headers").ok().flatten();
    let mut answer = allowed(origin);
    answer.push(("Access-Control-Allow-Methods", "POST, GET, DELETE".to_owned()));
    if let Some(names) = asked {
        answer.push(("Access-Control-Allow-Headers", names.to_owned()));
    }
    answer.push(("Access-Control-Max-Age", "7200".to_owned()));
    answer
}

/// The fields that every response to a listed origin carries.
pub(super) fn response(origin: &str) -> Vec<(&'static str, String)> {
    let mut fields = allowed(origin);
    let readable = "Mcp-Session-Id, WWW-Authenticate, Retry-After".to_owned();
    fields.push(("Access-Control-Expose-Headers", readable));
    fields
}

fn allowed(origin: &str) -> Vec<(&'static str, String)> {
    vec![
        ("Access-Control-Allow-Origin", origin.to_owned()),
        ("Vary", "Origin".to_owned()),
    ]
}
