//! What a client answers: its person, its model, its roots, and methods of its own.

use std::collections::HashMap;
use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};

use oxmcp_proto::jsonrpc::Json;
use oxmcp_proto::types::{
    CreateMessageRequestParams, CreateMessageResult, ElicitAction, ElicitRequestFormParams, ElicitRequestURLParams,
    ElicitResult, ListRootsResult, Root,
};
use oxmcp_proto::{Error, ErrorKind, Registry};
use serde::Serialize;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value, json};

use super::{ClientBuilder, ClientContext};
use crate::handler::{Entry, Handler, HandlerError};
use crate::server::{Elicited, NoArguments, typed_method};
use crate::types::object;

/// The handlers of a client, and what they let it declare.
#[derive(Default)]
pub(super) struct Offers {
    pub registry: Arc<Registry>,
    pub handlers: HashMap<Box<str>, Arc<Entry>>,
    pub roots: Option<Arc<Mutex<Vec<Root>>>>,
    form: Option<Handler>,
    url: Option<Handler>,
    capabilities: Map<String, Value>,
    /// The first thing that was wrong with what was built.
    pub broken: Option<Error>,
}

/// What a handler of questions to a person may give: an [`Elicited`] answer, or a whole
/// [`ElicitResult`].
pub trait IntoElicitResult {
    /// The result, as it is sent.
    ///
    /// # Errors
    /// When the answer cannot be made into a JSON object.
    fn into_elicit_result(self) -> Result<ElicitResult, serde_json::Error>;
}

impl IntoElicitResult for ElicitResult {
    fn into_elicit_result(self) -> Result<ElicitResult, serde_json::Error> {
        Ok(self)
    }
}

impl IntoElicitResult for ElicitAction {
    fn into_elicit_result(self) -> Result<ElicitResult, serde_json::Error> {
        Ok(ElicitResult::new(self))
    }
}

impl<T: Serialize> IntoElicitResult for Elicited<T> {
    fn into_elicit_result(self) -> Result<ElicitResult, serde_json::Error> {
        match self {
            Self::Accepted(answer) => {
                let mut result = ElicitResult::new(ElicitAction::Accept);
                result.content = Some(serde_json::from_str(&serde_json::to_string(&answer)?)?);
                Ok(result)
            }
            Self::Declined => Ok(ElicitResult::new(ElicitAction::Decline)),
            Self::Cancelled => Ok(ElicitResult::new(ElicitAction::Cancel)),
        }
    }
}

impl ClientBuilder {
    /// Answers questions with a form to the person at the client, and declares that the client can.
    ///
    /// ```
    /// use oxmcp::types::ElicitRequestFormParams;
    /// use oxmcp::{Client, ClientContext, Elicited};
    ///
    /// let builder = Client::builder().on_elicitation(|_: ClientContext, question: ElicitRequestFormParams| async move {
    ///     println!("{}", question.message);
    ///     Ok(Elicited::Accepted(serde_json::json!({"seats": 2})))
    /// });
    /// ```
    #[must_use]
    pub fn on_elicitation<R, F>(
        mut self,
        handler: impl Fn(ClientContext, ElicitRequestFormParams) -> F + Send + Sync + 'static,
    ) -> Self
    where
        R: IntoElicitResult,
        F: Future<Output = Result<R, HandlerError>> + Send + 'static,
    {
        self.offers.form = Some(elicitation(handler));
        self.offers.declare(&["elicitation", "form"], json!({}));
        self
    }

    /// Answers questions that send the person at the client to a web page, and declares that the client can. The
    /// answer says whether they agreed.
    ///
    /// ```
    /// use oxmcp::types::{ElicitAction, ElicitRequestURLParams};
    /// use oxmcp::{Client, ClientContext};
    ///
    /// let builder = Client::builder().on_url_elicitation(|_: ClientContext, page: ElicitRequestURLParams| async move {
    ///     println!("{}: {}", page.message, page.url);
    ///     Ok(ElicitAction::Accept)
    /// });
    /// ```
    #[must_use]
    pub fn on_url_elicitation<R, F>(
        mut self,
        handler: impl Fn(ClientContext, ElicitRequestURLParams) -> F + Send + Sync + 'static,
    ) -> Self
    where
        R: IntoElicitResult,
        F: Future<Output = Result<R, HandlerError>> + Send + 'static,
    {
        self.offers.url = Some(elicitation(handler));
        self.offers.declare(&["elicitation", "url"], json!({}));
        self
    }

    /// Answers questions to the client's model, and declares that the client can.
    ///
    /// ```
    /// use oxmcp::types::{CreateMessageRequestParams, CreateMessageResult, Role, SamplingMessageContentBlock, TextContent};
    /// use oxmcp::{Client, ClientContext};
    ///
    /// let builder = Client::builder().on_sampling(|_: ClientContext, asked: CreateMessageRequestParams| async move {
    ///     let text = format!("an answer to {} messages", asked.messages.len());
    ///     let block = SamplingMessageContentBlock::from(TextContent::new(text));
    ///     Ok(CreateMessageResult::new(Role::Assistant, block, "my-model"))
    /// });
    /// ```
    #[must_use]
    pub fn on_sampling<F>(
        mut self,
        handler: impl Fn(ClientContext, CreateMessageRequestParams) -> F + Send + Sync + 'static,
    ) -> Self
    where
        F: Future<Output = Result<CreateMessageResult, HandlerError>> + Send + 'static,
    {
        let run = typed_method(ClientContext::new, handler);
        self.offers.handle("sampling/createMessage", run);
        self.offers.declare(&["sampling"], json!({}));
        self
    }

    /// Declares that the model of [`on_sampling`](Self::on_sampling) can be given tools.
    #[must_use]
    pub fn sampling_tools(mut self) -> Self {
        self.offers.declare(&["sampling", "tools"], json!({}));
        self
    }

    /// Lets servers know what they may work on: the answer to `roots/list`, until
    /// [`Client::set_roots`](crate::Client::set_roots) sets another.
    ///
    /// ```
    /// use oxmcp::Client;
    /// use oxmcp::types::Root;
    ///
    /// let builder = Client::builder().roots(vec![Root::new("file:///home/ada/work")]);
    /// ```
    #[must_use]
    pub fn roots(mut self, roots: Vec<Root>) -> Self {
        let roots = Arc::new(Mutex::new(roots));
        let own = Arc::clone(&roots);
        let answer = move |_: ClientContext, _: NoArguments| {
            let roots = own.lock().unwrap_or_else(PoisonError::into_inner).clone();
            std::future::ready(Ok(ListRootsResult::new(roots)))
        };
        self.offers.roots = Some(roots);
        self.offers
            .handle("roots/list", typed_method(ClientContext::new, answer));
        self.offers.declare(&["roots", "listChanged"], json!(true));
        self
    }

    /// Answers a method of your own that servers may call, in revisions with a handshake.
    ///
    /// ```
    /// use oxmcp::{Client, ClientContext, NoArguments};
    ///
    /// let builder = Client::builder().method("acme/theme", |_: ClientContext, _: NoArguments| async {
    ///     Ok(serde_json::json!({"dark": true}))
    /// });
    /// ```
    #[must_use]
    pub fn method<P, R, F>(
        mut self,
        name: &str,
        handler: impl Fn(ClientContext, P) -> F + Send + Sync + 'static,
    ) -> Self
    where
        P: DeserializeOwned,
        R: Serialize,
        F: Future<Output = Result<R, HandlerError>> + Send + 'static,
    {
        match self.offers.registry.add_method(name, None) {
            Ok(()) => self.offers.handle(name, typed_method(ClientContext::new, handler)),
            Err(error) => {
                let error = Error::new(ErrorKind::Usage, error.to_string());
                self.offers.broken.get_or_insert(error);
            }
        }
        self
    }

    /// Adds to what the client declares, such as extensions. What is said here of a capability counts more than
    /// what its handlers say.
    ///
    /// ```
    /// use oxmcp::Client;
    ///
    /// let builder = Client::builder().capabilities(serde_json::json!({"extensions": {"com.example/search": {}}}));
    /// ```
    #[must_use]
    pub fn capabilities(mut self, capabilities: impl Serialize) -> Self {
        let read = object(&capabilities, "the capabilities of a client");
        match read.map(|json| json.and_then(|json| serde_json::from_str::<Map<_, _>>(json.get()).ok())) {
            Ok(capabilities) => self.offers.capabilities.extend(capabilities.unwrap_or_default()),
            Err(error) => {
                self.offers.broken.get_or_insert(error);
            }
        }
        self
    }
}

impl Offers {
    fn handle(&mut self, method: &str, run: Handler) {
        let label = format!("the handler of {method}").into();
        self.handlers.insert(method.into(), Arc::new(Entry { label, run }));
    }

    /// Sets a member of the capabilities, unless it is there.
    fn declare(&mut self, path: &[&str], value: Value) {
        let Some((name, parents)) = path.split_last() else {
            return;
        };
        let mut object = &mut self.capabilities;
        for parent in parents {
            let member = object.entry(*parent).or_insert_with(|| json!({}));
            let Some(member) = member.as_object_mut() else { return };
            object = member;
        }
        object.entry(*name).or_insert(value);
    }

    /// Puts the two kinds of questions to a person under their one method.
    pub(super) fn finish(&mut self) {
        let (form, url) = (self.form.take(), self.url.take());
        if form.is_none() && url.is_none() {
            return;
        }
        let run: Handler = Box::new(move |call, params| {
            let handler = if is_url(params.as_ref()) { &url } else { &form };
            match handler {
                Some(handler) => handler(call, params),
                // The core lets nothing through that is not declared; a program may declare what it has no handler for.
                None => typed_method(ClientContext::new, |_, _: Value| {
                    std::future::ready(Err::<(), _>(HandlerError::invalid_params("this mode is not supported")))
                })(call, params),
            }
        });
        self.handle("elicitation/create", run);
    }

    /// What the client declares.
    pub(super) fn capabilities(&self) -> Result<Json, Error> {
        let json = serde_json::value::to_raw_value(&self.capabilities);
        json.map_err(|error| Error::new(ErrorKind::Usage, format!("the capabilities of the client: {error}")))
    }
}

fn elicitation<P, R, F>(handler: impl Fn(ClientContext, P) -> F + Send + Sync + 'static) -> Handler
where
    P: DeserializeOwned + 'static,
    R: IntoElicitResult,
    F: Future<Output = Result<R, HandlerError>> + Send + 'static,
{
    typed_method(ClientContext::new, move |context, params| {
        let answer = handler(context, params);
        async move { Ok(answer.await?.into_elicit_result()?) }
    })
}

fn is_url(params: Option<&Json>) -> bool {
    #[derive(serde::Deserialize)]
    struct Mode {
        #[serde(default)]
        mode: Option<String>,
    }
    let mode = params.and_then(|params| serde_json::from_str::<Mode>(params.get()).ok());
    mode.and_then(|mode| mode.mode).as_deref() == Some("url")
}
