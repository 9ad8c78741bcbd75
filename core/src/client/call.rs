//! One call: its options, and the future that makes it.

use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use oxmcp_proto::jsonrpc::Json;
use oxmcp_proto::{CallOptions, Error, ErrorKind, LogLevel, OutboundId};

use super::Inner;
use super::slot::{News, Slot};
use crate::Progress;
use crate::driver::Link;

/// A call to a server: await it to make it.
///
/// Dropping the future before it is done cancels the call, and the server is told.
#[must_use = "nothing is sent until the call is awaited"]
pub struct Call<T> {
    client: Arc<Inner>,
    verb: Verb,
    method: String,
    params: Result<Option<Json>, Error>,
    options: CallOptions,
    on_progress: Option<Box<dyn FnMut(Progress) + Send>>,
    read: fn(&str, Json) -> Result<T, Error>,
}

/// What the core is asked for.
#[derive(Clone, Copy, Debug)]
enum Verb {
    One,
    /// All pages of a list.
    List,
}

impl<T> Call<T> {
    /// A call for a whole list.
    pub(super) fn list(client: Arc<Inner>, method: &str, read: fn(&str, Json) -> Result<T, Error>) -> Self {
        Self {
            verb: Verb::List,
            ..Self::new(client, method.into(), Ok(None), read)
        }
    }

    pub(super) fn new(
        client: Arc<Inner>,
        method: String,
        params: Result<Option<Json>, Error>,
        read: fn(&str, Json) -> Result<T, Error>,
    ) -> Self {
        Self {
            client,
            verb: Verb::One,
            method,
            params,
            options: CallOptions::default(),
            on_progress: None,
            read,
        }
    }

    /// How long the call may go without an answer. The client's timeout unless set.
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.options.timeout = Some(timeout);
        self
    }

    /// A bound on the whole call that progress does not move. None unless set.
    pub fn max_total_timeout(mut self, timeout: Duration) -> Self {
        self.options.max_total_timeout = Some(timeout);
        self
    }

    /// Starts the [`timeout`](Self::timeout) anew whenever the server reports progress. Asks for progress by
    /// itself.
    pub fn reset_timeout_on_progress(mut self) -> Self {
        self.options.reset_timeout_on_progress = true;
        self
    }

    /// Asks the server even if a result is at hand that it called fresh (2026-07-28).
    pub fn fresh(mut self) -> Self {
        self.options.fresh = true;
        self
    }

    /// The mildest log messages that the server is to send for this call, in revision 2026-07-28. In older ones
    /// the level is the connection's: [`Client::set_logging_level`](crate::Client::set_logging_level).
    pub fn log_level(mut self, level: LogLevel) -> Self {
        self.options.log_level = Some(level);
        self
    }

    /// Asks for progress, and hands it to `each` as it comes: inside the task that awaits the call,
    /// in order, and before the call is done.
    pub fn on_progress(mut self, each: impl FnMut(Progress) + Send + 'static) -> Self {
        self.options.progress = true;
        self.on_progress = Some(Box::new(each));
        self
    }

    async fn run(mut self) -> Result<T, Error> {
        let params = self.params?;
        let link = Arc::clone(&self.client.link);
        wait_for_room(&link, &self.method, self.options.timeout.unwrap_or(self.client.timeout)).await?;
        self.options.log_level = self.options.log_level.or_else(|| self.client.log_level());
        let slot = Arc::<Slot>::default();
        let id = match self.verb {
            Verb::One => {
                let params = params.as_ref().map(|json| json.get());
                link.begin(&self.method, params, self.options, &slot)?
            }
            Verb::List => link.list(&self.method, self.options, &slot)?,
        };
        drop(params);
        let mut pending = Pending::new(link, id);
        loop {
            match poll_fn(|cx| slot.poll(cx)).await {
                News::Done(outcome) => {
                    pending.done();
                    return outcome.and_then(|result| (self.read)(&self.method, result));
                }
                News::Progress(params) => {
                    let progress = serde_json::from_str(params.get());
                    if let (Some(each), Ok(progress)) = (&mut self.on_progress, progress) {
                        each(progress);
                    }
                }
                News::Notification(_) => {}
            }
        }
    }
}

/// A server that does not read must not make the client hold without bound what is sent to it.
async fn wait_for_room(link: &Link, method: &str, timeout: Duration) -> Result<(), Error> {
    let waited = tokio::time::timeout(timeout, link.has_room()).await;
    waited.map_err(|_| {
        let seconds = timeout.as_secs_f64();
        let message = format!("{method} was not sent: the server has not read what was sent before for {seconds} s");
        Error::new(ErrorKind::Timeout, message)
    })
}

impl<T: Send + 'static> IntoFuture for Call<T> {
    type Output = Result<T, Error>;
    type IntoFuture = Pin<Box<dyn Future<Output = Self::Output> + Send>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(self.run())
    }
}

impl<T> fmt::Debug for Call<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call")
            .field("method", &self.method)
            .field("options", &self.options)
            .finish_non_exhaustive()
    }
}

/// A call under way; cancels it unless it is done.
#[derive(Debug)]
pub(crate) struct Pending {
    link: Arc<Link>,
    id: Option<OutboundId>,
}

impl Pending {
    pub(crate) fn new(link: Arc<Link>, id: OutboundId) -> Self {
        Self { link, id: Some(id) }
    }

    pub(crate) fn done(&mut self) {
        self.id = None;
    }
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.link.cancel(id, "the caller no longer waits");
        }
    }
}
