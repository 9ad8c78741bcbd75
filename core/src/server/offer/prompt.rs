//! Prompts: what a person picks from a menu, filled in by arguments.

use std::fmt;
use std::future::Future;

use oxmcp_proto::types::{GetPromptResult, Icon, Prompt, PromptArgument, PromptMessage, Role};
use oxmcp_proto::{Checks, Error, Kind};
use schemars::{JsonSchema, Schema};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::Value;

use super::super::{schema, text};
use super::{
    Completing, Completions, IntoCompletion, Offer, Parts, answer, completer, descriptor, private, refused, set_meta,
    unusable,
};
use crate::Context;
use crate::handler::{Handler, HandlerError, Started};
use crate::types::content;

/// A prompt with all that can be said of it, for [`Server::offer`](crate::Server::offer).
///
/// ```
/// use oxmcp::{Completing, Context, PromptOffer, Server};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Review {
///     /// The language of the code.
///     language: String,
/// }
///
/// let review = PromptOffer::new("review", "Reviews code.", |_: Context, Review { language }: Review| async move {
///     Ok(format!("Review this {language} code."))
/// })
/// .title("Code review")
/// .complete("language", |_: Context, typed: Completing| async move {
///     let known = ["python", "rust"].into_iter();
///     Ok(known.filter(|it| it.starts_with(&typed.value)).collect::<Vec<_>>())
/// });
/// let server = Server::new("demo", "1.0").offer(review);
/// ```
#[must_use = "it is nothing until it is offered"]
pub struct PromptOffer {
    prompt: Prompt,
    run: Handler,
    completions: Completions,
    broken: Option<String>,
}

impl PromptOffer {
    /// An async function that makes the messages; see [`Server::prompt`](crate::Server::prompt).
    pub fn new<A, R, F>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Fn(Context, A) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        R: IntoPromptResult,
        F: Future<Output = Result<R, HandlerError>> + Send + 'static,
    {
        let mut prompt = Prompt::new(name);
        prompt.description = Some(description.into());
        let mut broken = None;
        match schema::input_schema::<A>() {
            Ok(schema) => prompt.arguments = Some(arguments(&schema)).filter(|arguments| !arguments.is_empty()),
            Err(what) => broken = Some(what),
        }
        let run: Handler = Box::new(move |call, params| match text::read(params.as_deref()) {
            Ok(arguments) => {
                let future = function(Context::new(call), arguments);
                Started::Waiting(Box::pin(async {
                    answer(future.await.map(IntoPromptResult::into_prompt_result))
                }))
            }
            Err(what) => refused(what),
        });
        Self {
            prompt,
            run,
            completions: Completions::new(),
            broken,
        }
    }

    /// Its name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.prompt.title = Some(title.into());
        self
    }

    /// Its arguments, in place of those made from the type.
    pub fn arguments(mut self, arguments: Vec<PromptArgument>) -> Self {
        self.prompt.arguments = Some(arguments);
        self
    }

    /// Pictures to show beside it.
    pub fn icons(mut self, icons: Vec<Icon>) -> Self {
        self.prompt.icons = Some(icons);
        self
    }

    /// Sets a member of its `_meta`.
    pub fn meta(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        set_meta(&mut self.prompt.meta, &mut self.broken, name.into(), &value);
        self
    }

    /// Completes one of its arguments; see [`Server::completion`](crate::Server::completion).
    pub fn complete<C, F>(
        mut self,
        argument: impl Into<String>,
        function: impl Fn(Context, Completing) -> F + Send + Sync + 'static,
    ) -> Self
    where
        C: IntoCompletion,
        F: Future<Output = Result<C, HandlerError>> + Send + 'static,
    {
        self.completions.push((argument.into(), completer(function)));
        self
    }
}

impl private::Sealed for PromptOffer {}

impl Offer for PromptOffer {
    #[expect(private_interfaces, reason = "nobody else can call it")]
    fn into_parts(self) -> Result<Parts, Error> {
        let name = &self.prompt.name;
        if let Some(what) = self.broken {
            return Err(unusable(Kind::Prompt, name, what));
        }
        Ok(Parts {
            kind: Kind::Prompt,
            descriptor: descriptor(Kind::Prompt, name, &self.prompt)?,
            key: self.prompt.name,
            run: self.run,
            completions: self.completions,
            checks: Checks::default(),
        })
    }
}

impl fmt::Debug for PromptOffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("PromptOffer")
            .field("prompt", &self.prompt)
            .finish_non_exhaustive()
    }
}

/// What a prompt may give.
pub trait IntoPromptResult {
    /// The result, as it is sent.
    fn into_prompt_result(self) -> GetPromptResult;
}

impl IntoPromptResult for GetPromptResult {
    fn into_prompt_result(self) -> GetPromptResult {
        self
    }
}

impl IntoPromptResult for Vec<PromptMessage> {
    fn into_prompt_result(self) -> GetPromptResult {
        GetPromptResult::new(self)
    }
}

impl IntoPromptResult for PromptMessage {
    fn into_prompt_result(self) -> GetPromptResult {
        GetPromptResult::new(vec![self])
    }
}

/// One message of the user's.
impl IntoPromptResult for String {
    fn into_prompt_result(self) -> GetPromptResult {
        PromptMessage::new(Role::User, content::text(self)).into_prompt_result()
    }
}

/// One message of the user's.
impl IntoPromptResult for &'static str {
    fn into_prompt_result(self) -> GetPromptResult {
        self.to_owned().into_prompt_result()
    }
}

/// The arguments that a type has.
fn arguments(schema: &Schema) -> Vec<PromptArgument> {
    let required = schema.get("required").and_then(Value::as_array);
    let properties = schema.get("properties").and_then(Value::as_object);
    let argument = |(name, property): (&String, &Value)| {
        let text = |member| property.get(member).and_then(Value::as_str).map(str::to_owned);
        let mut argument = PromptArgument::new(name);
        argument.title = text("title");
        argument.description = text("description");
        let is_required = required.is_some_and(|required| required.iter().any(|it| it == name));
        argument.required = is_required.then_some(true);
        argument
    };
    properties.into_iter().flatten().map(argument).collect()
}
