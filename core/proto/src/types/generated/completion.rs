// Made by `cargo xtask codegen` from the specification's schemas. Edit the generator, not this file.

//! Completion of arguments.

use super::super::info;
use super::super::*;

/// The request `completion/complete`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompleteRequest {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The parameters of the message.
    pub params: CompleteRequestParams,
    /// All other members.
    pub extra: Extra,
}

impl CompleteRequest {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, params: CompleteRequestParams) -> Self {
        Self {
            id,
            params,
            extra: Extra::default(),
        }
    }
}

impl info::Request for CompleteRequest {
    const METHOD: &'static str = "completion/complete";
    type Params = CompleteRequestParams;
    type Result = CompleteResult;
}

object! { CompleteRequest in 0b11111 {
    constant "jsonrpc" = "\"2.0\"" in 0b11111 / 0b11111;
    constant "method" = "\"completion/complete\"" in 0b11111 / 0b11111;
    required id: "id" in 0b11111 / 0b11111;
    required params: "params" in 0b11111 / 0b11111;
} }

/// The parameters of `completion/complete`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompleteRequestParams {
    /// What to complete.
    pub argument: CompletionArgument,
    /// `ref`: what the argument belongs to.
    pub reference: CompletionReference,
    /// What else is known. Since 2025-06-18.
    pub context: Option<CompletionContext>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<RequestMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl CompleteRequestParams {
    /// With what every revision requires, and nothing else.
    pub fn new(argument: CompletionArgument, reference: CompletionReference) -> Self {
        Self {
            argument,
            reference,
            context: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { CompleteRequestParams in 0b11111 {
    required argument: "argument" in 0b11111 / 0b11111;
    required reference: "ref" in 0b11111 / 0b11111;
    optional context: "context" in 0b11100 / 0b00000;
    optional meta: "_meta" in 0b11111 / 0b10000;
} }

/// The result of `completion/complete`.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompleteResult {
    /// The values.
    pub completion: Completion,
    /// Whether this is the result; complete if absent. Only in 2026-07-28.
    pub result_type: Option<ResultType>,
    /// `_meta`: members beside the protocol's own, named with a prefix by whoever defines them.
    pub meta: Option<ResultMetaObject>,
    /// All other members.
    pub extra: Extra,
}

impl CompleteResult {
    /// With what every revision requires, and nothing else.
    pub fn new(completion: Completion) -> Self {
        Self {
            completion,
            result_type: Default::default(),
            meta: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { CompleteResult in 0b11111 {
    required completion: "completion" in 0b11111 / 0b11111;
    optional result_type: "resultType" in 0b10000 / 0b10000;
    optional meta: "_meta" in 0b11111 / 0b00000;
} }

/// The response with the result of `completion/complete`. Only in 2026-07-28.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompleteResultResponse {
    /// The id of the request; its response has the same.
    pub id: RequestId,
    /// The result of the message.
    pub result: CompleteResult,
    /// All other members.
    pub extra: Extra,
}

impl CompleteResultResponse {
    /// With what every revision requires, and nothing else.
    pub fn new(id: RequestId, result: CompleteResult) -> Self {
        Self {
            id,
            result,
            extra: Extra::default(),
        }
    }
}

object! { CompleteResultResponse in 0b10000 {
    constant "jsonrpc" = "\"2.0\"" in 0b10000 / 0b10000;
    required id: "id" in 0b10000 / 0b10000;
    required result: "result" in 0b10000 / 0b10000;
} }

/// Values that complete an argument.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Completion {
    /// At most 100.
    pub values: Vec<String>,
    /// There are more than these.
    pub has_more: Option<bool>,
    /// How many there are, if that is known.
    pub total: Option<Number>,
    /// All other members.
    pub extra: Extra,
}

impl Completion {
    /// With what every revision requires, and nothing else.
    pub fn new(values: Vec<String>) -> Self {
        Self {
            values,
            has_more: Default::default(),
            total: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { Completion in 0b11111 {
    required values: "values" in 0b11111 / 0b11111;
    optional has_more: "hasMore" in 0b11111 / 0b00000;
    optional total: "total" in 0b11111 / 0b00000;
} }

/// The argument to complete, as far as it is written.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct CompletionArgument {
    /// Which argument.
    pub name: String,
    /// What is written so far.
    pub value: String,
    /// All other members.
    pub extra: Extra,
}

impl CompletionArgument {
    /// With what every revision requires, and nothing else.
    pub fn new(name: impl Into<String>, value: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            value: value.into(),
            extra: Extra::default(),
        }
    }
}

object! { CompletionArgument in 0b11111 {
    required name: "name" in 0b11111 / 0b11111;
    required value: "value" in 0b11111 / 0b11111;
} }

/// What is known when an argument is completed. Since 2025-06-18.
#[derive(Clone, Debug, Default)]
#[non_exhaustive]
pub struct CompletionContext {
    /// Arguments that have their value already.
    pub arguments: Option<Map<String>>,
    /// All other members.
    pub extra: Extra,
}

object! { CompletionContext in 0b11100 {
    optional arguments: "arguments" in 0b11100 / 0b00000;
} }

/// What the argument belongs to.
#[derive(Clone, Debug)]
#[non_exhaustive]
#[allow(clippy::large_enum_variant, reason = "a box would be in the way of every match")]
pub enum CompletionReference {
    /// A prompt, by name.
    Prompt(PromptReference),
    /// A resource template, by its URI pattern. `ResourceReference` in the two oldest revisions.
    ResourceTemplate(ResourceTemplateReference),
    /// Of a kind that is not known here, or not whole: as it came.
    Unknown(Json),
}

union! { CompletionReference {
    Prompt(PromptReference): "name", "type" = "\"ref/prompt\"";
    ResourceTemplate(ResourceTemplateReference): "type" = "\"ref/resource\"", "uri";
} }

/// A prompt, by name.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct PromptReference {
    /// For programs: what requests name it by.
    pub name: String,
    /// For people. Since 2025-06-18.
    pub title: Option<String>,
    /// All other members.
    pub extra: Extra,
}

impl PromptReference {
    /// With what every revision requires, and nothing else.
    pub fn new(name: impl Into<String>) -> Self {
        Self {
            name: name.into(),
            title: Default::default(),
            extra: Extra::default(),
        }
    }
}

object! { PromptReference in 0b11111 {
    constant "type" = "\"ref/prompt\"" in 0b11111 / 0b11111;
    required name: "name" in 0b11111 / 0b11111;
    optional title: "title" in 0b11100 / 0b00000;
} }
