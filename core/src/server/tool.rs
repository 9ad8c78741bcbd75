//! Typed tools: from a function to a handler, its schema, and what it may return.

use std::borrow::Cow;
use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};

use oxmcp_proto::jsonrpc::{ErrorObject, Json as RawJson};
use oxmcp_proto::{Error, ErrorKind, Problem, ProblemKind};
use schemars::generate::SchemaSettings;
use schemars::{JsonSchema, Schema};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::{RawValue, to_raw_value};

use super::Context;
use crate::types::{CallToolResult, Content};

/// Starts a handler with the arguments as they came.
pub(crate) type Handler = Box<dyn Fn(Context, Option<RawJson>) -> Started + Send + Sync>;

pub(crate) type Work = Pin<Box<dyn Future<Output = Result<Reply, Problem>> + Send>>;

/// A handler that was started.
pub(crate) enum Started {
    Done(Reply),
    Waiting(Work),
    Blocking(Box<dyn FnOnce() -> Result<Reply, Problem> + Send>),
}

/// What a call is answered with.
#[derive(Debug)]
pub(crate) enum Reply {
    Result(String),
    /// A result of one block of text.
    Text(String),
    ToolError(String),
    InvalidArguments(String),
    Error(Box<ErrorObject>),
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
/// it. The tool's output schema is made from `T`.
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
}

impl IntoToolResult for CallToolResult {
    fn into_tool_result(self) -> Result<CallToolResult, serde_json::Error> {
        Ok(self)
    }
}

impl IntoToolResult for String {
    fn into_tool_result(self) -> Result<CallToolResult, serde_json::Error> {
        Ok(Content::text(self).into())
    }
}

impl IntoToolResult for &'static str {
    fn into_tool_result(self) -> Result<CallToolResult, serde_json::Error> {
        Ok(Content::text(self).into())
    }
}

impl IntoToolResult for Cow<'static, str> {
    fn into_tool_result(self) -> Result<CallToolResult, serde_json::Error> {
        Ok(Content::text(self).into())
    }
}

impl IntoToolResult for Content {
    fn into_tool_result(self) -> Result<CallToolResult, serde_json::Error> {
        Ok(self.into())
    }
}

impl IntoToolResult for Vec<Content> {
    fn into_tool_result(self) -> Result<CallToolResult, serde_json::Error> {
        Ok(CallToolResult {
            content: self,
            ..CallToolResult::default()
        })
    }
}

impl IntoToolResult for () {
    fn into_tool_result(self) -> Result<CallToolResult, serde_json::Error> {
        Ok(CallToolResult::default())
    }
}

impl<T: Serialize + JsonSchema> IntoToolResult for Json<T> {
    fn into_tool_result(self) -> Result<CallToolResult, serde_json::Error> {
        let data = to_raw_value(&self.0)?;
        let mut result = CallToolResult::from(Content::text(data.get()));
        result.structured_content = data.get().starts_with('{').then_some(data);
        Ok(result)
    }

    fn output_schema() -> Option<Schema> {
        let mut settings = SchemaSettings::draft2020_12();
        settings.contract = schemars::generate::Contract::Serialize;
        let schema = settings.into_generator().into_root_schema_for::<T>();
        (schema.get("type") == Some(&Value::from("object"))).then(|| tidy(schema))
    }
}

/// Why a tool failed.
///
/// By default that is a result with `isError`: the text reaches the model, which may try again or do
/// something else. Any [`std::error::Error`] becomes one by `?`, with its text.
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
}

// Not an `Error` itself: then every error could not become one by `?`.
impl<E: std::error::Error> From<E> for ToolError {
    fn from(error: E) -> Self {
        Self::new(error)
    }
}

impl fmt::Display for ToolError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.0 {
            Reply::ToolError(text) | Reply::InvalidArguments(text) | Reply::Result(text) | Reply::Text(text) => {
                f.write_str(text)
            }
            Reply::Error(error) => error.fmt(f),
        }
    }
}

/// The handler of an async function.
pub(crate) fn asynchronous<A, R, F>(function: impl Fn(Context, A) -> F + Send + Sync + 'static) -> Handler
where
    A: DeserializeOwned + JsonSchema,
    R: IntoToolResult,
    F: Future<Output = Result<R, ToolError>> + Send + 'static,
{
    let expected = Expected::new::<A>();
    Box::new(move |context, arguments| match expected.decode(arguments.as_deref()) {
        Ok(arguments) => {
            let future = function(context, arguments);
            Started::Waiting(Box::pin(async { reply(future.await) }))
        }
        Err(what) => Started::Done(Reply::InvalidArguments(what)),
    })
}

/// The handler of a function that may block.
pub(crate) fn blocking<A, R>(function: impl Fn(Context, A) -> Result<R, ToolError> + Send + Sync + 'static) -> Handler
where
    A: DeserializeOwned + JsonSchema + Send + 'static,
    R: IntoToolResult,
{
    let expected = Expected::new::<A>();
    let function = Arc::new(function);
    Box::new(
        move |context, arguments| match expected.decode::<A>(arguments.as_deref()) {
            Ok(arguments) => {
                let function = Arc::clone(&function);
                Started::Blocking(Box::new(move || reply(function(context, arguments))))
            }
            Err(what) => Started::Done(Reply::InvalidArguments(what)),
        },
    )
}

fn reply(outcome: Result<impl IntoToolResult, ToolError>) -> Result<Reply, Problem> {
    let result = match outcome {
        Ok(result) => result.into_tool_result(),
        Err(error) => return Ok(error.0),
    };
    let reply = result.and_then(|result| match result.into_only_text() {
        Ok(text) => Ok(Reply::Text(text)),
        Err(result) => serde_json::to_string(&result).map(Reply::Result),
    });
    reply.map_err(|error| Problem {
        kind: ProblemKind::HandlerFailed,
        message: format!("a tool's result cannot be made into JSON: {error}"),
    })
}

/// The descriptor of a tool, for `tools/list`.
pub(crate) fn descriptor<A: JsonSchema, R: IntoToolResult>(name: &str, description: &str) -> Result<RawJson, Error> {
    #[derive(Serialize)]
    #[serde(rename_all = "camelCase")]
    struct Descriptor<'a> {
        name: &'a str,
        description: &'a str,
        input_schema: Schema,
        #[serde(skip_serializing_if = "Option::is_none")]
        output_schema: Option<Schema>,
    }
    let unusable = |what: String| Error::new(ErrorKind::Usage, format!("the tool {name}: {what}"));
    let descriptor = Descriptor {
        name,
        description,
        input_schema: input_schema::<A>().map_err(unusable)?,
        output_schema: R::output_schema(),
    };
    to_raw_value(&descriptor).map_err(|error| unusable(error.to_string()))
}

/// The schema of a tool's arguments: always an object, and with `properties`, which some clients
/// insist on.
fn input_schema<A: JsonSchema>() -> Result<Schema, String> {
    let mut schema = SchemaSettings::draft2020_12()
        .into_generator()
        .into_root_schema_for::<A>();
    match schema.get("type") {
        None => {
            schema.insert("type".into(), "object".into());
        }
        Some(kind) if kind == "object" => {}
        Some(kind) => {
            return Err(format!(
                "its arguments have the JSON type {kind}, and must be an object; use a struct with named fields, or NoArguments"
            ));
        }
    }
    if schema.get("properties").is_none() {
        schema.insert("properties".into(), Value::Object(serde_json::Map::new()));
    }
    Ok(tidy(schema))
}

/// Without the name of the Rust type, which is of no use to a client.
fn tidy(mut schema: Schema) -> Schema {
    schema.remove("title");
    schema
}

/// What a tool takes, for decoding and to explain what does not fit.
struct Expected {
    schema: fn() -> Result<Schema, String>,
    summary: OnceLock<String>,
}

impl Expected {
    fn new<A: JsonSchema>() -> Self {
        Self {
            schema: input_schema::<A>,
            summary: OnceLock::new(),
        }
    }

    fn decode<A: DeserializeOwned>(&self, arguments: Option<&RawValue>) -> Result<A, String> {
        let text = arguments.map_or("{}", RawValue::get);
        serde_json::from_str(text).or_else(|_| {
            // Once more, slower, and with a note of the way to what does not fit.
            let mut json = serde_json::Deserializer::from_str(text);
            serde_path_to_error::deserialize(&mut json).map_err(|error| self.explain(&error))
        })
    }

    fn explain(&self, error: &serde_path_to_error::Error<serde_json::Error>) -> String {
        let path = error.path().to_string();
        let what = error.inner().to_string();
        // Line and column count in the arguments alone, which nobody sees as a text.
        let what = what.rsplit_once(" at line ").map_or(&*what, |(what, _)| what);
        let summary = self
            .summary
            .get_or_init(|| (self.schema)().map_or_else(|what| what, |schema| summarize(&schema)));
        match &*path {
            "." => format!("{what}; expected {summary}"),
            path => format!("`{path}`: {what}; expected {summary}"),
        }
    }
}

/// The properties of a schema in one line: `{"a": integer, "note": string (optional)}`.
fn summarize(schema: &Schema) -> String {
    let Some(Value::Object(properties)) = schema.get("properties") else {
        return "an object".to_owned();
    };
    let required = schema.get("required").and_then(Value::as_array);
    let members = properties.iter().map(|(name, property)| {
        let is_required = required.is_some_and(|required| required.iter().any(|it| it == name));
        let optional = if is_required { "" } else { " (optional)" };
        format!("\"{name}\": {}{optional}", kind(property))
    });
    format!("{{{}}}", members.collect::<Vec<_>>().join(", "))
}

fn kind(property: &Value) -> String {
    match (property.get("enum"), property.get("type")) {
        (Some(Value::Array(values)), _) => {
            let values: Vec<_> = values.iter().map(Value::to_string).collect();
            format!("one of {}", values.join(", "))
        }
        (_, Some(Value::String(kind))) => kind.clone(),
        (_, Some(Value::Array(kinds))) => {
            let kinds: Vec<_> = kinds
                .iter()
                .filter_map(Value::as_str)
                .filter(|it| *it != "null")
                .collect();
            kinds.join(" or ")
        }
        _ => "a value as in the tool's input schema".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, Deserialize, JsonSchema)]
    #[allow(dead_code)]
    struct Arguments {
        count: u8,
        names: Vec<String>,
        mode: Option<Mode>,
    }

    #[derive(Debug, Deserialize, JsonSchema)]
    #[serde(rename_all = "lowercase")]
    enum Mode {
        Fast,
        Slow,
    }

    fn refusal(arguments: &str) -> String {
        let arguments = RawValue::from_string(arguments.to_owned()).unwrap();
        Expected::new::<Arguments>()
            .decode::<Arguments>(Some(&arguments))
            .unwrap_err()
    }

    #[test]
    fn a_refusal_names_the_argument_and_what_would_be_right() {
        let missing = refusal(r#"{"count":1}"#);
        assert!(missing.starts_with("missing field `names`; expected {"), "{missing}");
        assert!(missing.contains(r#""count": integer, "#), "{missing}");
        let nested = refusal(r#"{"count":1,"names":["a",2]}"#);
        assert!(
            nested.starts_with("`names[1]`: invalid type: integer `2`, expected a string"),
            "{nested}"
        );
        assert!(refusal(r#"{"count":300,"names":[]}"#).starts_with("`count`: "));
    }

    #[test]
    fn text_that_looks_like_a_number_stays_text() {
        let arguments = RawValue::from_string(r#"{"count":1,"names":["00123"]}"#.to_owned()).unwrap();
        let arguments: Arguments = Expected::new::<Arguments>().decode(Some(&arguments)).unwrap();
        assert_eq!(arguments.names, ["00123"]);
    }

    #[test]
    fn no_arguments_are_an_empty_object() {
        let schema = input_schema::<NoArguments>().unwrap();
        assert_eq!(schema.get("type").unwrap(), "object");
        assert_eq!(schema.get("properties").unwrap(), &serde_json::json!({}));
        assert!(Expected::new::<NoArguments>().decode::<NoArguments>(None).is_ok());
    }

    #[test]
    fn an_optional_argument_is_not_required() {
        let schema = input_schema::<Arguments>().unwrap();
        assert_eq!(schema.get("required").unwrap(), &serde_json::json!(["count", "names"]));
        assert!(schema.get("title").is_none());
        assert!(!serde_json::to_string(&schema).unwrap().contains("nullable"));
    }

    #[test]
    fn arguments_that_are_no_object_are_refused() {
        assert!(input_schema::<Vec<String>>().unwrap_err().contains("must be an object"));
    }

    #[test]
    fn data_that_is_no_object_is_text_alone() {
        let list = Json(vec![1, 2]).into_tool_result().unwrap();
        assert_eq!(
            (list.text().as_str(), list.structured_content.is_none()),
            ("[1,2]", true)
        );
        assert!(Json::<Vec<i32>>::output_schema().is_none());
        assert!(Json::<NoArguments>::output_schema().is_some());
    }
}
