//! Changes of lists and updates of resources, as a client waits for them. One way for every revision.
//!
//! | the connection | what listening is |
//! | --- | --- |
//! | without a handshake | a call of `subscriptions/listen`, whose stream they come on |
//! | with one | `resources/subscribe` for each resource; lists are told of unasked |

use std::collections::HashMap;
use std::fmt;
use std::future::poll_fn;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use oxmcp_proto::jsonrpc::{Json, json};
use oxmcp_proto::types::{ServerCapabilities, SubscriptionFilter};
use oxmcp_proto::{CallOptions, Error, ErrorKind, OutboundId};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::{Client, Inner, News, Pending, Slot};
use crate::types::object;

const ACKNOWLEDGED: &str = "notifications/subscriptions/acknowledged";
const UPDATED: &str = "notifications/resources/updated";

/// Something the server told without being asked.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Notification {
    /// What happened: `notifications/resources/updated`.
    pub method: String,
    /// More of it, as JSON text.
    pub params: Option<Json>,
}

impl Notification {
    pub(super) fn new(method: impl Into<String>, params: Option<Json>) -> Self {
        Self {
            method: method.into(),
            params,
        }
    }

    /// The `uri` of the resource it is about.
    pub fn uri(&self) -> Option<String> {
        #[derive(Deserialize)]
        struct Params {
            uri: String,
        }
        self.params_as::<Params>().map(|params| params.uri)
    }

    /// The params as a type; `None` when they do not fit it.
    pub fn params_as<T: DeserializeOwned>(&self) -> Option<T> {
        serde_json::from_str(self.params.as_ref()?.get()).ok()
    }

    pub(super) fn says_the_same(&self, other: &Self) -> bool {
        let text = |notification: &Self| notification.params.as_ref().map(|json| json.get().to_owned());
        self.method == other.method && text(self) == text(other)
    }
}

/// Who listens on a connection.
#[derive(Debug, Default)]
pub(super) struct Listeners(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    next: u64,
    all: HashMap<u64, Listener>,
    closed: bool,
}

#[derive(Debug)]
struct Listener {
    slot: Arc<Slot>,
    /// The call whose stream it is; with a handshake, what is wanted of all that comes.
    from: From,
}

#[derive(Debug)]
enum From {
    Stream(OutboundId),
    All(SubscriptionFilter),
}

impl Listeners {
    pub(super) fn notify(&self, notification: &Notification, subscription: Option<OutboundId>) {
        let uri = match &*notification.method {
            UPDATED => notification.uri(),
            _ => None,
        };
        for listener in self.lock().all.values() {
            let wanted = match (&listener.from, subscription) {
                (From::Stream(id), Some(stream)) => *id == stream,
                (From::All(filter), None) => wants(filter, &notification.method, uri.as_deref()),
                _ => false,
            };
            if wanted {
                listener.slot.notify(notification.clone());
            }
        }
    }

    /// The connection has ended. Streams end with their calls.
    pub(super) fn close(&self) {
        let mut state = self.lock();
        state.closed = true;
        let all = std::mem::take(&mut state.all);
        drop(state);
        for listener in all.into_values() {
            if matches!(listener.from, From::All(_)) {
                let error = Error::new(ErrorKind::Closed, "the connection has ended");
                listener.slot.complete(Err(error));
            }
        }
    }

    fn lock(&self) -> MutexGuard<'_, State> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl State {
    /// Takes a listener out; gives the resources that nobody else listens to.
    fn remove(&mut self, number: u64) -> Vec<String> {
        let Some(From::All(filter)) = self.all.remove(&number).map(|listener| listener.from) else {
            return Vec::new();
        };
        let others = |uri: &String| {
            self.all.values().any(|other| match &other.from {
                From::All(filter) => wants(filter, UPDATED, Some(uri)),
                From::Stream(_) => false,
            })
        };
        let uris = filter.resource_subscriptions.unwrap_or_default();
        uris.into_iter().filter(|uri| !others(uri)).collect()
    }

    fn add(&mut self, slot: &Arc<Slot>, from: From) -> u64 {
        let number = self.next;
        self.next += 1;
        let slot = Arc::clone(slot);
        self.all.insert(number, Listener { slot, from });
        number
    }
}

fn wants(filter: &SubscriptionFilter, method: &str, uri: Option<&str>) -> bool {
    let on = |flag: Option<bool>| flag == Some(true);
    match method {
        "notifications/tools/list_changed" => on(filter.tools_list_changed),
        "notifications/prompts/list_changed" => on(filter.prompts_list_changed),
        "notifications/resources/list_changed" => on(filter.resources_list_changed),
        UPDATED => {
            let uris = filter.resource_subscriptions.iter().flatten();
            uri.is_some_and(|uri| uris.into_iter().any(|wanted| wanted == uri))
        }
        _ => false,
    }
}

/// What a server with a handshake can tell of what is wanted.
fn honoured(mut filter: SubscriptionFilter, server: &ServerCapabilities) -> SubscriptionFilter {
    let lists = |flag: Option<bool>, declared: Option<bool>| flag.filter(|_| declared == Some(true));
    let tools = server.tools.as_ref().and_then(|it| it.list_changed);
    let prompts = server.prompts.as_ref().and_then(|it| it.list_changed);
    let resources = server.resources.as_ref();
    filter.tools_list_changed = lists(filter.tools_list_changed, tools);
    filter.prompts_list_changed = lists(filter.prompts_list_changed, prompts);
    filter.resources_list_changed = lists(filter.resources_list_changed, resources.and_then(|it| it.list_changed));
    let subscribes = resources.and_then(|it| it.subscribe) == Some(true);
    filter.resource_subscriptions = filter.resource_subscriptions.filter(|_| subscribes);
    filter
}

/// Changes as they come, from [`Client::listen`]. Dropping it ends the listening.
///
/// Of what nobody takes out, the newest 256 are kept; the same change waits once.
///
/// ```no_run
/// # async fn run(client: oxmcp::Client) -> Result<(), oxmcp::Error> {
/// use oxmcp::types::SubscriptionFilter;
///
/// let mut filter = SubscriptionFilter::default();
/// filter.tools_list_changed = Some(true);
/// let mut changes = client.listen(filter).await?;
/// while let Some(change) = changes.next().await {
///     println!("{}: {} tools", change.method, client.list_tools().await?.len());
/// }
/// println!("ended: {:?}", changes.error());
/// # Ok(())
/// # }
/// ```
#[must_use = "it ends when it is dropped"]
pub struct Listening {
    client: Arc<Inner>,
    number: u64,
    slot: Arc<Slot>,
    filter: SubscriptionFilter,
    call: Option<Pending>,
    ended: Option<Result<(), Error>>,
}

impl Client {
    /// Listens to changes of lists and to updates of resources, in every revision. Returns when the server has
    /// said that it will tell.
    ///
    /// # Errors
    /// As for [`request`](Self::request).
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// use oxmcp::types::SubscriptionFilter;
    /// use oxmcp::{Client, Context, Server, transport};
    ///
    /// let server = Server::new("demo", "1.0")
    ///     .subscriptions(true)
    ///     .resource("app://counter", "counter", |_: Context| async { Ok("1") });
    /// let (near, far) = transport::memory();
    /// tokio::spawn(server.serve(far));
    /// let client = Client::connect(near).await?;
    ///
    /// let mut filter = SubscriptionFilter::default();
    /// filter.resource_subscriptions = Some(vec!["app://counter".to_owned()]);
    /// let mut changes = client.listen(filter).await?;
    /// server.offers().resource_updated("app://counter");
    /// assert_eq!(changes.next().await.unwrap().uri().as_deref(), Some("app://counter"));
    /// # Ok::<(), oxmcp::Error>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn listen(&self, filter: SubscriptionFilter) -> Result<Listening, Error> {
        match self.inner.peer.revision.has_handshake() {
            true => self.listen_to_all(filter).await,
            false => self.listen_to_stream(filter).await,
        }
    }

    async fn listen_to_stream(&self, filter: SubscriptionFilter) -> Result<Listening, Error> {
        #[derive(Serialize)]
        struct Params {
            notifications: SubscriptionFilter,
        }
        #[derive(Deserialize)]
        struct Acknowledged {
            notifications: SubscriptionFilter,
        }
        let params = Params { notifications: filter };
        let params = object(&params, "the params of subscriptions/listen")?;
        let slot = Arc::<Slot>::default();
        let mut listening = {
            let listeners = &self.inner.listeners;
            // Held until the listener is there: what comes on the stream waits meanwhile.
            let mut state = listeners.lock();
            let (link, params) = (&self.inner.link, params.as_ref().map(|json| json.get()));
            let id = link.begin("subscriptions/listen", params, CallOptions::default(), &slot)?;
            let number = state.add(&slot, From::Stream(id));
            let call = Pending::new(Arc::clone(link), id);
            Listening::new(self, number, slot, SubscriptionFilter::default(), Some(call))
        };
        match listening.next().await {
            Some(first) if first.method == ACKNOWLEDGED => {
                let acknowledged: Option<Acknowledged> = first.params_as();
                listening.filter = acknowledged.map(|it| it.notifications).unwrap_or_default();
                Ok(listening)
            }
            Some(first) => {
                let message = format!(
                    "the server sent {} before it acknowledged the subscription",
                    first.method
                );
                Err(Error::new(ErrorKind::Protocol, message))
            }
            None => Err(match listening.ended.take() {
                Some(Err(error)) => error,
                _ => Error::new(ErrorKind::Protocol, "the server ended the subscription at once"),
            }),
        }
    }

    async fn listen_to_all(&self, filter: SubscriptionFilter) -> Result<Listening, Error> {
        let filter = honoured(filter, &self.server_capabilities());
        let uris = filter.resource_subscriptions.clone().unwrap_or_default();
        let slot = Arc::<Slot>::default();
        let listening = {
            let listeners = &self.inner.listeners;
            let mut state = listeners.lock();
            if state.closed {
                return Err(Error::new(ErrorKind::Closed, "the connection has ended"));
            }
            let number = state.add(&slot, From::All(filter.clone()));
            Listening::new(self, number, slot, filter, None)
        };
        for uri in uris {
            self.subscribe(uri).await?;
        }
        Ok(listening)
    }
}

impl Listening {
    fn new(client: &Client, number: u64, slot: Arc<Slot>, filter: SubscriptionFilter, call: Option<Pending>) -> Self {
        Self {
            client: Arc::clone(&client.inner),
            number,
            slot,
            filter,
            call,
            ended: None,
        }
    }

    /// What the server will tell of what was asked for.
    pub fn filter(&self) -> &SubscriptionFilter {
        &self.filter
    }

    /// The next change; `None` when there will be none any more, because the server ended it or the connection
    /// is over. Nothing is lost when the future is dropped.
    pub async fn next(&mut self) -> Option<Notification> {
        while self.ended.is_none() {
            match poll_fn(|cx| self.slot.poll(cx)).await {
                News::Notification(notification) => return Some(notification),
                News::Progress(_) => {}
                News::Done(outcome) => {
                    if let Some(call) = &mut self.call {
                        call.done();
                    }
                    self.ended = Some(outcome.map(drop));
                }
            }
        }
        None
    }

    /// Why it ended, if it did and that was an error.
    pub fn error(&self) -> Option<&Error> {
        self.ended.as_ref()?.as_ref().err()
    }
}

impl Drop for Listening {
    fn drop(&mut self) {
        // Held so that whoever comes to listen to the same asks for it after this.
        let mut listeners = self.client.listeners.lock();
        for uri in listeners.remove(self.number) {
            let params = json(serde_json::json!({ "uri": uri }).to_string()).ok();
            let params = params.as_ref().map(|json| json.get());
            // Nobody waits for the answer; it is one call that ends by itself.
            let link = &self.client.link;
            let _ = link.begin("resources/unsubscribe", params, CallOptions::default(), &Arc::default());
        }
    }
}

impl fmt::Debug for Listening {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listening")
            .field("filter", &self.filter)
            .finish_non_exhaustive()
    }
}
