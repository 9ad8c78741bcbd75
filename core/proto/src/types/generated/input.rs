// Made by `cargo xtask codegen` from the specification's schemas. Edit the generator, not this file.

//! Rounds of input that a request may need before it completes.

use super::super::*;

/// A question of the server that has to be answered before it goes on. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "a box would be in the way of every match")]
pub enum InputRequest {
    /// The request `sampling/createMessage`.
    CreateMessage(CreateMessageRequest),
    /// The request `roots/list`.
    ListRoots(ListRootsRequest),
    /// The request `elicitation/create`. Since 2025-06-18.
    Elicit(ElicitRequest),
    /// Of a kind that is not known here, or not whole: as it came.
    Unknown(Json),
}

union! { InputRequest {
    CreateMessage(CreateMessageRequest): "method" = "\"sampling/createMessage\"", "params";
    Elicit(ElicitRequest): "method" = "\"elicitation/create\"", "params";
    ListRoots(ListRootsRequest): "method" = "\"roots/list\"";
} }

/// Questions of the server, by names it chose. Only in 2026-07-28.
pub type InputRequests = Map<InputRequest>;

/// The server needs answers: send the request again with them. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct InputRequiredResult {
    /// Whether this is the result; complete if absent.
    pub result_type: ResultType,
    /// What the server wants to know.
    pub input_requests: Option<InputRequests>,
    /// The server's own notes: send them back as they are.
    pub request_state: Option<String>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<ResultMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl InputRequiredResult {
    /// With what every revision requires, and nothing else.
    pub fn new(result_type: ResultType) -> Self {
        Self {
            result_type,
            input_requests: Default::default(),
            request_state: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { InputRequiredResult in 0b10000 {
    required result_type: "resultType" in 0b10000 / 0b10000;
    optional input_requests: "inputRequests" in 0b10000 / 0b00000;
    optional request_state: "requestState" in 0b10000 / 0b00000;
    optional meta: "_meta" in 0b10000 / 0b00000;
} }

/// The answer to one question. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "a box would be in the way of every match")]
pub enum InputResponse {
    /// What the client's model answered.
    CreateMessage(CreateMessageResult),
    /// The result of `roots/list`.
    ListRoots(ListRootsResult),
    /// The person's answer. Since 2025-06-18.
    Elicit(ElicitResult),
    /// Of a kind that is not known here, or not whole: as it came.
    Unknown(Json),
}

union! { InputResponse {
    CreateMessage(CreateMessageResult): "content", "model", "role";
    ListRoots(ListRootsResult): "roots";
    Elicit(ElicitResult): "action";
} }

/// The answers, by the names of the questions. Only in 2026-07-28.
pub type InputResponses = Map<InputResponse>;
