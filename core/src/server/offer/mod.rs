//! What a server offers, piece by piece: each with its description and its handler.

mod completion;
mod method;
mod prompt;
mod resource;
mod tool;

use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject, Json};
use oxmcp_proto::types::Map;
use oxmcp_proto::{Checks, Error, ErrorKind, Kind};
use serde::Serialize;
use serde_json::value::to_raw_value;

pub use completion::{Completing, IntoCompletion};
pub(super) use completion::{Completions, completer};
pub(crate) use method::typed as typed_method;
pub use prompt::{IntoPromptResult, PromptOffer};
pub use resource::{IntoResourceResult, ResourceOffer, TemplateOffer};
pub use tool::{IntoToolResult, Json as JsonResult, NoArguments, ToolError, ToolOffer};

use crate::handler::{Handler, HandlerError, Reply, Started};

/// Something that a server can offer: a [`ToolOffer`], a [`ResourceOffer`], a [`TemplateOffer`] or a
/// [`PromptOffer`]. For [`Server::offer`](crate::Server::offer) and [`Offers::add`](crate::Offers::add).
///
/// Nothing else can be one.
pub trait Offer: private::Sealed {
    #[doc(hidden)]
    #[expect(private_interfaces, reason = "nobody else can implement or call it")]
    fn into_parts(self) -> Result<Parts, Error>;
}

mod private {
    pub trait Sealed {}
}

/// An offer as the core and the table of handlers take it.
pub(crate) struct Parts {
    pub kind: Kind,
    pub key: String,
    pub descriptor: Json,
    pub run: Handler,
    pub completions: Completions,
    pub checks: Checks,
}

/// The name that a kind has in messages.
pub(super) const fn noun(kind: Kind) -> &'static str {
    match kind {
        Kind::Tool => "tool",
        Kind::Resource => "resource",
        Kind::Template => "resource template",
        Kind::Prompt => "prompt",
    }
}

fn unusable(kind: Kind, key: &str, what: impl std::fmt::Display) -> Error {
    Error::new(ErrorKind::Usage, format!("the {} {key}: {what}", noun(kind)))
}

fn descriptor(kind: Kind, key: &str, descriptor: &impl Serialize) -> Result<Json, Error> {
    to_raw_value(descriptor).map_err(|error| unusable(kind, key, error))
}

/// Adds a member of `_meta`; what cannot be written is noted.
fn set_meta(meta: &mut Option<Map<Json>>, broken: &mut Option<String>, name: String, value: &impl Serialize) {
    match to_raw_value(value) {
        Ok(value) => {
            meta.get_or_insert_default().insert(name, value);
        }
        Err(error) => {
            broken.get_or_insert(format!("the member {name} of _meta: {error}"));
        }
    }
}

/// A handler's result as an answer.
fn answer(outcome: Result<impl Serialize, HandlerError>) -> Result<Reply, String> {
    match outcome {
        Ok(result) => serde_json::to_string(&result)
            .map(Reply::Result)
            .map_err(|error| format!("its result cannot be made into JSON: {error}")),
        Err(error) => error.into_reply(),
    }
}

/// The answer to params that do not fit.
fn refused(what: String) -> Started {
    let error = ErrorObject::new(ErrorCode::INVALID_PARAMS, what);
    Started::Done(Reply::Error(Box::new(error)))
}
