//! Completions: what could follow what was typed for an argument of a prompt or a variable of a template.

use std::future::Future;

use oxmcp_proto::types::{CompleteRequestParams, CompleteResult, Completion, Map};
use serde_json::value::RawValue;

use super::{answer, refused};
use crate::Context;
use crate::handler::{Handler, HandlerError, Started};

/// Completers by the name of the argument.
pub(in crate::server) type Completions = Vec<(String, Handler)>;

/// An argument that is being typed.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Completing {
    /// Which argument.
    pub argument: String,
    /// What is written so far.
    pub value: String,
    /// Other arguments that have their value already.
    pub known: Map<String>,
}

/// What a completion may give: values, best first. A client gets 100 at most, and is told that there are more.
pub trait IntoCompletion {
    /// The completion, as it is sent.
    fn into_completion(self) -> Completion;
}

impl IntoCompletion for Completion {
    fn into_completion(self) -> Completion {
        self
    }
}

impl<T: Into<String>> IntoCompletion for Vec<T> {
    fn into_completion(self) -> Completion {
        Completion::new(self.into_iter().map(Into::into).collect())
    }
}

impl<T: Into<String>, const N: usize> IntoCompletion for [T; N] {
    fn into_completion(self) -> Completion {
        Completion::new(self.into_iter().map(Into::into).collect())
    }
}

/// The handler of one argument.
pub(in crate::server) fn completer<C, F>(function: impl Fn(Context, Completing) -> F + Send + Sync + 'static) -> Handler
where
    C: IntoCompletion,
    F: Future<Output = Result<C, HandlerError>> + Send + 'static,
{
    Box::new(move |call, params| {
        let params = params.as_deref().map_or("{}", RawValue::get);
        let params: CompleteRequestParams = match serde_json::from_str(params) {
            Ok(params) => params,
            Err(error) => {
                return refused(error.to_string());
            }
        };
        let completing = Completing {
            argument: params.argument.name,
            value: params.argument.value,
            known: params.context.and_then(|context| context.arguments).unwrap_or_default(),
        };
        let future = function(Context::new(call), completing);
        Started::Waiting(Box::pin(async {
            let completion = future.await.map(IntoCompletion::into_completion);
            answer(completion.map(CompleteResult::new))
        }))
    })
}
