//! Methods of the user's own.

use std::future::Future;
use std::sync::Arc;

use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::value::RawValue;

use super::{answer, refused};
use crate::handler::{Call, Handler, HandlerError, Started};

/// The handler of an async function of a context and params.
pub(crate) fn typed<C, P, R, F>(
    context: fn(Arc<Call>) -> C,
    function: impl Fn(C, P) -> F + Send + Sync + 'static,
) -> Handler
where
    C: 'static,
    P: DeserializeOwned,
    R: Serialize,
    F: Future<Output = Result<R, HandlerError>> + Send + 'static,
{
    Box::new(move |call, params| {
        let text = params.as_deref().map_or("{}", RawValue::get);
        let mut json = serde_json::Deserializer::from_str(text);
        match serde_path_to_error::deserialize(&mut json) {
            Ok(params) => {
                let future = function(context(call), params);
                Started::Waiting(Box::pin(async { answer(future.await) }))
            }
            Err(error) => {
                let path = error.path().to_string();
                let what = error.into_inner().to_string();
                // Line and column count in the params alone, which nobody sees as a text.
                let what = what.rsplit_once(" at line ").map_or(&*what, |(what, _)| what);
                match &*path {
                    "." => refused(format!("Invalid params: {what}")),
                    path => refused(format!("Invalid params: `{path}`: {what}")),
                }
            }
        }
    })
}
