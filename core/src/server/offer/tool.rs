//! Tools: from a function to a handler, its schema, and what it may return.

use std::any::Any;
use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::sync::Arc;

use oxmcp_proto::jsonrpc::{ErrorCode, ErrorObject};
use oxmcp_proto::types::{
    AudioContent, ContentBlock, ElicitRequestURLParams, EmbeddedResource, Icon, ImageContent, JsonObject, ResourceLink,
    TextContent, Tool, ToolAnnotations,
};
use oxmcp_proto::{Checks, Error, Kind};
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::value::to_raw_value;

use super::super::schema::{self, Expected};
use super::{Completions, Offer, Parts, descriptor, private, set_meta, unusable};
use crate::Context;
use crate::handler::{Handler, InputRequired, Reply, Started};
use crate::types::{CallToolResult, content};

/// A tool with all that can be said of it, for [`Server::offer`](crate::Server::offer).
///
/// ```
/// use oxmcp::types::ToolAnnotations;
/// use oxmcp::{Context, NoArguments, Server, ToolError, ToolOffer};
///
/// async fn reboot(_: Context, _: NoArguments) -> Result<&'static str, ToolError> {
///     Ok("rebooting")
/// }
///
/// let mut hints = ToolAnnotations::default();
/// hints.destructive_hint = Some(true);
/// let server = Server::new("demo", "1.0").offer(
///     ToolOffer::new("reboot", "Starts the machine anew.", reboot)
///         .title("Reboot")
///         .annotations(hints)
///         .meta("com.example/cost", 5),
/// );
/// ```
#[must_use = "it is nothing until it is offered"]
pub struct ToolOffer {
    tool: Tool,
    run: Handler,
    checks: Checks,
    broken: Option<String>,
}

impl ToolOffer {
    /// An async function as a tool; see [`Server::tool`](crate::Server::tool).
    pub fn new<A, R, F>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Fn(Context, A) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        R: IntoToolResult,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        Self::typed::<A, R>(name.into(), description.into(), asynchronous(function))
    }

    /// A function that may block as a tool; see [`Server::blocking_tool`](crate::Server::blocking_tool).
    pub fn blocking<A, R>(
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Fn(Context, A) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        R: IntoToolResult,
    {
        Self::typed::<A, R>(name.into(), description.into(), blocking(function))
    }

    /// A tool whose schemas are given, and whose arguments come as they are: for tools that are known at run
    /// time only. Arguments are checked against the input schema before the function is called, structured
    /// content against the output schema, if there is one, before it is sent.
    ///
    /// ```
    /// use oxmcp::types::{JsonObject, Tool};
    /// use oxmcp::{Context, Server, ToolError, ToolOffer};
    ///
    /// async fn run(_: Context, arguments: JsonObject) -> Result<String, ToolError> {
    ///     Ok(format!("called with {}", arguments.get()))
    /// }
    ///
    /// let schema = r#"{"type":"object","properties":{"n":{"type":"integer","minimum":1}},"required":["n"]}"#;
    /// let tool = Tool::new("run", JsonObject::parse(schema)?);
    /// let server = Server::new("demo", "1.0").offer(ToolOffer::raw(tool, run));
    /// # Ok::<(), serde_json::Error>(())
    /// ```
    pub fn raw<R, F>(tool: Tool, function: impl Fn(Context, JsonObject) -> F + Send + Sync + 'static) -> Self
    where
        R: IntoToolResult,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        let checks = Checks {
            input: true,
            output: tool.output_schema.is_some(),
        };
        let run: Handler = Box::new(move |call, arguments| {
            let arguments =
                arguments.map_or_else(|| Ok(JsonObject::default()), |json| serde_json::from_str(json.get()));
            match arguments {
                Ok(arguments) => {
                    let future = function(Context::new(call), arguments);
                    Started::Waiting(Box::pin(async { reply(future.await) }))
                }
                Err(error) => Started::Done(Reply::InvalidArguments(error.to_string())),
            }
        });
        Self {
            tool,
            run,
            checks,
            broken: None,
        }
    }

    fn typed<A: JsonSchema, R: IntoToolResult>(name: String, description: String, run: Handler) -> Self {
        let input = schema::input_schema::<A>().and_then(|schema| schema::object(&schema));
        let output = R::output_schema().map(|schema| schema::object(&schema)).transpose();
        let broken = input.as_ref().err().or(output.as_ref().err()).cloned();
        let mut tool = Tool::new(name, input.unwrap_or_default());
        tool.description = Some(description);
        tool.output_schema = output.ok().flatten();
        Self {
            tool,
            run,
            checks: Checks::default(),
            broken,
        }
    }

    /// Its name for people.
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.tool.title = Some(title.into());
        self
    }

    /// Hints about what it does.
    pub fn annotations(mut self, annotations: ToolAnnotations) -> Self {
        self.tool.annotations = Some(annotations);
        self
    }

    /// Hints that it changes nothing.
    pub fn read_only(mut self) -> Self {
        self.tool.annotations.get_or_insert_default().read_only_hint = Some(true);
        self
    }

    /// Pictures to show beside it.
    pub fn icons(mut self, icons: Vec<Icon>) -> Self {
        self.tool.icons = Some(icons);
        self
    }

    /// Sets a member of its `_meta`.
    pub fn meta(mut self, name: impl Into<String>, value: impl Serialize) -> Self {
        set_meta(&mut self.tool.meta, &mut self.broken, name.into(), &value);
        self
    }

    /// The schema of its structured content, for functions that make a [`CallToolResult`] themselves. What
    /// they give is checked against it before it is sent.
    pub fn output_schema(mut self, schema: JsonObject) -> Self {
        self.tool.output_schema = Some(schema);
        self.checks.output = true;
        self
    }

    /// Whether arguments are checked against the input schema, and structured content against the output
    /// schema, by the core. Typed arguments and results fit their schemas by themselves.
    pub fn checks(mut self, input: bool, output: bool) -> Self {
        self.checks = Checks { input, output };
        self
    }
}

impl private::Sealed for ToolOffer {}

impl Offer for ToolOffer {
    #[expect(private_interfaces, reason = "nobody else can call it")]
    fn into_parts(self) -> Result<Parts, Error> {
        let name = &self.tool.name;
        match &self.broken {
            Some(what) => Err(unusable(Kind::Tool, name, what)),
            None => Ok(Parts {
                kind: Kind::Tool,
                descriptor: descriptor(Kind::Tool, name, &self.tool)?,
                key: self.tool.name,
                run: self.run,
                completions: Completions::new(),
                checks: self.checks,
            }),
        }
    }
}

impl fmt::Debug for ToolOffer {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ToolOffer")
            .field("tool", &self.tool)
            .finish_non_exhaustive()
    }
}

/// The arguments of a tool that takes none.
///
/// ```
/// use oxmcp::{Context, NoArguments, Server};
///
/// Server::new("demo", "1.0").tool("now", "Says hello.", |_: Context, _: NoArguments| async { Ok("hello") });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NoArguments {}

/// A result that is data: `structuredContent`, with the same as text for clients that do not read
/// it. The tool's output schema is made from `T`. As what a resource gives, it is JSON text.
///
/// Only an object can be structured content; a `T` that is none is sent as text alone.
///
/// ```
/// use oxmcp::{Context, Json, NoArguments, Server};
///
/// #[derive(serde::Serialize, schemars::JsonSchema)]
/// struct Weather {
///     celsius: f64,
/// }
///
/// Server::new("demo", "1.0").tool("weather", "Measures.", |_: Context, _: NoArguments| async {
///     Ok(Json(Weather { celsius: 21.5 }))
/// });
/// ```
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Json<T>(pub T);

/// What a tool may return.
///
/// ```
/// use oxmcp::{CallToolResult, IntoToolResult, types::content};
///
/// struct Celsius(f64);
///
/// impl IntoToolResult for Celsius {
///     fn into_tool_result(self) -> Result<CallToolResult, serde_json::Error> {
///         Ok(content::text(format!("{} °C", self.0)).into())
///     }
/// }
/// ```
pub trait IntoToolResult {
    /// The result, as it is sent.
    ///
    /// # Errors
    /// When it cannot be made into JSON.
    fn into_tool_result(self) -> Result<CallToolResult, serde_json::Error>;

    /// The schema of its structured content, if it always has some.
    fn output_schema() -> Option<Schema> {
        None
    }

    /// The text, if the result is one plain block of text: most are, and need no block to be made.
    #[doc(hidden)]
    fn into_plain_text(self) -> Result<String, Self>
    where
        Self: Sized,
    {
        Err(self)
    }
}

impl IntoToolResult for CallToolResult {
    fn into_tool_result(self) -> Result<CallToolResult, serde_json::Error> {
        Ok(self)
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<CallToolResult, serde_json::Error> {
        Ok(CallToolResult::default())
    }
}

impl IntoToolResult for Vec<ContentBlock> {
    fn into_tool_result(self) -> Result<CallToolResult, serde_json::Error> {
        Ok(CallToolResult {
            content: self,
            ..CallToolResult::default()
        })
    }
}

macro_rules! one_block {
    ($($type:ty: $block:expr;)*) => {$(
        impl IntoToolResult for $type {
            fn into_tool_result(self) -> Result<CallToolResult, serde_json::Error> {
                let block: fn($type) -> ContentBlock = $block;
                Ok(block(self).into())
            }
        }
    )*};
}

macro_rules! plain_text {
    ($($type:ty),*) => {$(
        impl IntoToolResult for $type {
            fn into_tool_result(self) -> Result<CallToolResult, serde_json::Error> {
                Ok(content::text(self).into())
            }

            fn into_plain_text(self) -> Result<String, Self> {
                Ok(self.into())
            }
        }
    )*};
}

plain_text!(String, &'static str, Cow<'static, str>);

one_block! {
    ContentBlock: |block| block;
    TextContent: Into::into;
    ImageContent: Into::into;
    AudioContent: Into::into;
    ResourceLink: Into::into;
    EmbeddedResource: Into::into;
}

impl<T: Serialize + JsonSchema> IntoToolResult for Json<T> {
    fn into_tool_result(self) -> Result<CallToolResult, serde_json::Error> {
        let data = to_raw_value(&self.0)?;
        let mut result = CallToolResult::from(content::text(data.get()));
        result.structured_content = data.get().starts_with('{').then_some(data);
        Ok(result)
    }

    fn output_schema() -> Option<Schema> {
        schema::output_schema::<T>()
    }
}

/// Why a tool failed.
///
/// By default that is a result with `isError`: the text reaches the model, which may try again or do
/// something else. Any [`std::error::Error`] becomes one by `?`, with its text. What the client has to hear of as
/// a program, that it lacks a capability or has to visit a page first, stays an error of the protocol.
///
/// ```
/// use oxmcp::ToolError;
///
/// fn read() -> Result<String, ToolError> {
///     let text = std::fs::read_to_string("/nowhere")?;
///     if text.is_empty() {
///         return Err(ToolError::new("the file is empty"));
///     }
///     Ok(text)
/// }
///
/// assert!(read().unwrap_err().to_string().contains("No such file"));
/// ```
#[derive(Debug)]
pub struct ToolError(Reply);

impl ToolError {
    /// A failure that the model is told of.
    pub fn new(message: impl fmt::Display) -> Self {
        Self(Reply::ToolError(message.to_string()))
    }

    /// The arguments fit the schema, and yet are wrong: `what` says which one, and what would be
    /// right. Reaches the client as other arguments that do not fit.
    pub fn invalid_arguments(what: impl fmt::Display) -> Self {
        Self(Reply::InvalidArguments(what.to_string()))
    }

    /// An error of the protocol, for the program that called and not for the model.
    ///
    /// ```
    /// use oxmcp::ToolError;
    /// use oxmcp::jsonrpc::{ErrorCode, ErrorObject};
    ///
    /// let error = ErrorObject::new(ErrorCode(429), "too many calls").with_data(&serde_json::json!({"retryAfter": 30}));
    /// assert_eq!(ToolError::protocol(error).to_string(), "too many calls (429)");
    /// ```
    pub fn protocol(error: ErrorObject) -> Self {
        Self(Reply::Error(Box::new(error)))
    }

    /// The person has to visit pages first; the client may then call again. In revision 2026-07-28 the client is
    /// asked for that, and calls again by itself.
    pub fn url_elicitation_required(message: impl Into<String>, pages: Vec<ElicitRequestURLParams>) -> Self {
        let error = ErrorObject::new(ErrorCode::URL_ELICITATION_REQUIRED, message.into());
        Self::protocol(error.with_data(&serde_json::json!({ "elicitations": pages })))
    }
}

// Not an `Error` itself: then every error could not become one by `?`.
impl<E: std::error::Error + 'static> From<E> for ToolError {
    fn from(error: E) -> Self {
        const FOR_PROGRAMS: [ErrorCode; 2] = [
            ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY,
            ErrorCode::URL_ELICITATION_REQUIRED,
        ];
        match (&error as &dyn Any).downcast_ref::<Error>() {
            Some(error) if error.code().is_some_and(|code| FOR_PROGRAMS.contains(&code)) => {
                Self::protocol(error.to_object())
            }
            _ => Self::new(error),
        }
    }
}

impl From<InputRequired> for ToolError {
    fn from(required: InputRequired) -> Self {
        Self(required.into_reply())
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// The handler of an async function.
fn asynchronous<A, R, F>(function: impl Fn(Context, A) -> F + Send + Sync + 'static) -> Handler
where
    A: DeserializeOwned + JsonSchema,
    R: IntoToolResult,
    F: Future<Output = Result<R, ToolError>> + Send + 'static,
{
    let expected = Expected::new::<A>();
    Box::new(move |call, arguments| match expected.decode(arguments.as_deref()) {
        Ok(arguments) => {
            let future = function(Context::new(call), arguments);
            Started::Waiting(Box::pin(async { reply(future.await) }))
        }
        Err(what) => Started::Done(Reply::InvalidArguments(what)),
    })
}

/// The handler of a function that may block.
fn blocking<A, R>(function: impl Fn(Context, A) -> Result<R, ToolError> + Send + Sync + 'static) -> Handler
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    R: IntoToolResult,
{
    let expected = Expected::new::<A>();
    let function = Arc::new(function);
    Box::new(
        move |call, arguments| match expected.decode::<A>(arguments.as_deref()) {
            Ok(arguments) => {
                let function = Arc::clone(&function);
                Started::Blocking(Box::new(move || reply(function(Context::new(call), arguments))))
            }
            Err(what) => Started::Done(Reply::InvalidArguments(what)),
        },
    )
}

fn reply(outcome: Result<impl IntoToolResult, ToolError>) -> Result<Reply, String> {
    let result = match outcome.map(IntoToolResult::into_plain_text) {
        Ok(Ok(text)) => return Ok(Reply::Text(text)),
        Ok(Err(result)) => result,
        Err(error) => return Ok(error.0),
    };
    let result = result
        .into_tool_result()
        .and_then(|result| serde_json::to_string(&result));
    result
        .map(Reply::Result)
        .map_err(|error| format!("its result cannot be made into JSON: {error}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn data_that_is_no_object_is_text_alone() {
        let list = Json(vec![1, 2]).into_tool_result().unwrap();
        assert_eq!(
            (list.text().as_str(), list.structured_content.is_none()),
            ("[1,2]", true)
        );
    }

    #[test]
    fn errors_for_programs_stay_errors_and_others_are_told_to_the_model() {
        let told = ToolError::from(Error::new(oxmcp_proto::ErrorKind::Timeout, "late"));
        assert!(matches!(told.0, Reply::ToolError(_)), "{told}");
        let kept = ToolError::url_elicitation_required("sign in", vec![ElicitRequestURLParams::new("m", "https://x")]);
        let Reply::Error(error) = kept.0 else { panic!("{kept}") };
        let error = Error::response(*error);
        assert!(error.url_elicitations().unwrap().contains("https://x"));
        assert!(matches!(ToolError::from(error).0, Reply::Error(_)));
    }
}
