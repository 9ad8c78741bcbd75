//! What a handler asks the client for. One handler serves every revision: see [`Ask`].

use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::task::Poll;
use std::time::Duration;

use oxmcp_proto::jsonrpc::Json;
use oxmcp_proto::types::{
    CreateMessageRequestParams, CreateMessageResult, ElicitAction, ElicitRequestFormParams, ElicitRequestURLParams,
    ElicitResult, ListRootsResult, RequestedSchema, Root,
};
use oxmcp_proto::{CallOptions, Error, ErrorKind};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

use super::{Context, form};
use crate::client::{News, Pending, Slot};
use crate::handler::Call;
use crate::types;

/// What the person at the client did with a question.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Elicited<T> {
    /// Answered it.
    Accepted(T),
    /// Did not want to.
    Declined,
    /// Closed it without a choice.
    Cancelled,
}

impl<T> Elicited<T> {
    /// The answer, if there is one.
    pub fn accepted(self) -> Option<T> {
        match self {
            Self::Accepted(answer) => Some(answer),
            Self::Declined | Self::Cancelled => None,
        }
    }
}

/// A question to the client: await it to ask.
///
/// In revisions with a handshake it is a request, answered while the handler waits. In 2026-07-28 the call ends
/// with a result that asks for input, the handler is dropped where it waits, and the client makes the call again
/// with the answer: the handler then **runs from its start**, and each question it asked before is answered at
/// once. So a handler asks before it does what cannot be done twice, and asks the same questions in the same
/// order each time. Questions that are asked at once, by `tokio::join!`, cost one round.
///
/// Only handlers of tools, prompts and resources can ask in 2026-07-28.
///
/// # Errors
/// [`ErrorKind::NotNegotiated`] when the client did not declare that it answers such questions,
/// [`ErrorKind::Response`] with its error when it refused, [`ErrorKind::Timeout`],
/// [`ErrorKind::Cancelled`] when the call is over, [`ErrorKind::Protocol`] when the answer is broken.
///
/// ```
/// use std::time::Duration;
/// use oxmcp::{Context, NoArguments, ToolError};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Sure {
///     sure: bool,
/// }
///
/// async fn delete(ctx: Context, _: NoArguments) -> Result<&'static str, ToolError> {
///     let question = ctx.elicit::<Sure>("Delete all?").key("sure").timeout(Duration::from_secs(600));
///     match question.await?.accepted() {
///         Some(Sure { sure: true }) => Ok("deleted"),
///         _ => Ok("kept"),
///     }
/// }
/// ```
#[must_use = "nothing is asked until it is awaited"]
pub struct Ask<T> {
    call: Arc<Call>,
    key: Option<String>,
    method: String,
    params: Result<Option<Json>, Error>,
    options: CallOptions,
    read: fn(Json) -> Result<T, Error>,
}

impl Context {
    /// Asks the person at the client to fill in a form. Its fields are those of `T`: strings, numbers, `bool`s,
    /// enums without fields, and lists of such enums; an `Option` need not be filled in.
    ///
    /// ```
    /// use oxmcp::{Context, Elicited, NoArguments, Server, ToolError};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Booking {
    ///     /// How many people will come.
    ///     seats: u32,
    ///     vegetarian: Option<bool>,
    /// }
    ///
    /// async fn book(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    ///     match ctx.elicit::<Booking>("A table for how many?").await? {
    ///         Elicited::Accepted(booking) => Ok(format!("booked {} seats", booking.seats)),
    ///         Elicited::Declined | Elicited::Cancelled => Ok("not booked".to_owned()),
    ///     }
    /// }
    ///
    /// let server = Server::new("demo", "1.0").tool("book", "Books a table.", book);
    /// ```
    pub fn elicit<T: DeserializeOwned + JsonSchema>(&self, message: impl Into<String>) -> Ask<Elicited<T>> {
        let params = form::schema::<T>().map(|schema| ElicitRequestFormParams::new(message, schema));
        let params = params.and_then(|params| types::object(&params, "the params of elicitation/create"));
        self.ask_raw("elicitation/create", params, |result| {
            let result: ElicitResult = read(&result)?;
            Ok(match result.action {
                ElicitAction::Accept => {
                    let content = serde_json::to_string(&result.content.unwrap_or_default());
                    let content = content.and_then(|content| serde_json::from_str(&content));
                    Elicited::Accepted(content.map_err(|error| broken(&error))?)
                }
                ElicitAction::Decline => Elicited::Declined,
                _ => Elicited::Cancelled,
            })
        })
    }

    /// Asks the person at the client to fill in a form that is known at run time only.
    ///
    /// ```
    /// use oxmcp::types::{BooleanSchema, Map, RequestedSchema};
    /// use oxmcp::{Context, NoArguments, ToolError};
    ///
    /// async fn confirm(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    ///     let fields = Map::from_iter([("sure", BooleanSchema::default().into())]);
    ///     let answer = ctx.elicit_form("Are you sure?", RequestedSchema::new(fields)).await?;
    ///     Ok(answer.action.to_string())
    /// }
    /// ```
    pub fn elicit_form(&self, message: impl Into<String>, form: RequestedSchema) -> Ask<ElicitResult> {
        self.ask("elicitation/create", ElicitRequestFormParams::new(message, form))
    }

    /// Asks the person at the client to do something on a web page: to sign in, to pay. The answer says whether
    /// they agreed to go there, not whether they are done.
    ///
    /// `id` names the question in `notifications/elicitation/complete`, by which a server may tell the client
    /// that all is done on the page (2025-11-25). It should be the same each time the handler runs.
    ///
    /// ```
    /// use oxmcp::types::ElicitAction;
    /// use oxmcp::{Context, NoArguments, ToolError};
    ///
    /// async fn pay(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    ///     match ctx.elicit_url("Please pay.", "https://pay.example.com/7", "order-7").await? {
    ///         ElicitAction::Accept => Ok("The page was opened.".to_owned()),
    ///         action => Ok(format!("not paid: {action}")),
    ///     }
    /// }
    /// ```
    pub fn elicit_url(
        &self,
        message: impl Into<String>,
        url: impl Into<String>,
        id: impl Into<String>,
    ) -> Ask<ElicitAction> {
        let mut params = ElicitRequestURLParams::new(message, url);
        // Revisions that have no such id leave it out.
        params.elicitation_id = Some(id.into());
        let params = types::object(&params, "the params of elicitation/create");
        self.ask_raw("elicitation/create", params, |result| {
            Ok(read::<ElicitResult>(&result)?.action)
        })
    }

    /// Asks the client's model to go on with some messages.
    ///
    /// ```
    /// use oxmcp::types::{CreateMessageRequestParams, Role, content};
    /// use oxmcp::{Context, NoArguments, ToolError};
    ///
    /// async fn haiku(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    ///     let messages = vec![content::said(Role::User, "Write a haiku about rust.")];
    ///     let answer = ctx.sample(CreateMessageRequestParams::new(200, messages)).await?;
    ///     Ok(content::sampled_text(&answer))
    /// }
    /// ```
    pub fn sample(&self, params: CreateMessageRequestParams) -> Ask<CreateMessageResult> {
        self.ask("sampling/createMessage", params)
    }

    /// Asks for the folders and files that the client lets servers work on.
    ///
    /// ```
    /// use oxmcp::{Context, NoArguments, ToolError};
    ///
    /// async fn roots(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    ///     let uris: Vec<_> = ctx.list_roots().await?.into_iter().map(|root| root.uri).collect();
    ///     Ok(uris.join("\n"))
    /// }
    /// ```
    pub fn list_roots(&self) -> Ask<Vec<Root>> {
        self.ask_raw("roots/list", Ok(None), |result| {
            Ok(read::<ListRootsResult>(&result)?.roots)
        })
    }

    /// Makes any request to the client. Other methods than those of the specification exist in revisions with a
    /// handshake only.
    ///
    /// ```
    /// use oxmcp::{Context, NoArguments, ToolError};
    ///
    /// async fn theme(ctx: Context, _: NoArguments) -> Result<String, ToolError> {
    ///     let theme: serde_json::Value = ctx.ask("acme/theme", serde_json::json!({"window": 1})).await?;
    ///     Ok(theme["name"].to_string())
    /// }
    /// ```
    pub fn ask<T: DeserializeOwned>(&self, method: impl Into<String>, params: impl Serialize) -> Ask<T> {
        let method = method.into();
        let params = types::object(&params, &format!("the params of {method}"));
        self.ask_raw(method, params, |result| read(&result))
    }

    fn ask_raw<T>(
        &self,
        method: impl Into<String>,
        params: Result<Option<Json>, Error>,
        read: fn(Json) -> Result<T, Error>,
    ) -> Ask<T> {
        Ask {
            call: Arc::clone(&self.call),
            key: None,
            method: method.into(),
            params,
            options: CallOptions::default(),
            read,
        }
    }
}

impl<T> Ask<T> {
    /// Names the question, in place of its number: for handlers whose questions change their order from one run
    /// to the next (2026-07-28). A client that knows the key may send its answer with its first request.
    pub fn key(mut self, key: impl Into<String>) -> Self {
        self.key = Some(key.into());
        self
    }

    /// How long the client may take to answer, in revisions with a handshake. 60 s unless set.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    async fn run(self) -> Result<T, Error> {
        let slot = Arc::new(Slot::default());
        let params = self.params?;
        let link = Arc::clone(&self.call.link);
        let id = link.ask(
            self.call.id,
            self.key.as_deref(),
            &self.method,
            params.as_ref().map(|json| json.get()),
            self.options,
            &slot,
        )?;
        drop(params);
        let mut pending = Pending::new(link, id);
        let outcome = answer(&self.call, &slot).await;
        pending.done();
        outcome.and_then(self.read)
    }
}

/// Waits for the answer. A handler whose call is over must not take that for an answer and go on: it is told
/// nothing, and dropped here. Others that wait, such as tasks it started, are told the second time they ask.
async fn answer(call: &Call, slot: &Slot) -> Result<Json, Error> {
    let mut hesitated = false;
    poll_fn(|cx| {
        if call.is_cancelled() && !hesitated {
            hesitated = true;
            cx.waker().wake_by_ref();
            return Poll::Pending;
        }
        loop {
            match slot.poll(cx) {
                Poll::Ready(News::Done(outcome)) => return Poll::Ready(outcome),
                Poll::Ready(News::Progress(_) | News::Notification(_)) => {}
                Poll::Pending => return Poll::Pending,
            }
        }
    })
    .await
}

impl<T: 'static> IntoFuture for Ask<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<T> fmt::Debug for Ask<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Ask")
            .field("method", &self.method)
            .finish_non_exhaustive()
    }
}

fn read<T: DeserializeOwned>(result: &Json) -> Result<T, Error> {
    serde_json::from_str(result.get()).map_err(|error| broken(&error))
}

fn broken(error: &serde_json::Error) -> Error {
    Error::new(ErrorKind::Protocol, format!("the client's answer is broken: {error}"))
}
