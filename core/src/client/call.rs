//! One call: its options, and the future that makes it.

use std::fmt;
use std::future::{Future, IntoFuture, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use oxmcp_proto::jsonrpc::Json;
use oxmcp_proto::{CallOptions, Error, ErrorKind, OutboundId};

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
    method: String,
    params: Result<Option<Json>, Error>,
    options: CallOptions,
    on_progress: Option<Box<dyn FnMut(Progress) + Send>>,
    read: fn(Json) -> Result<T, Error>,
}

impl<T> Call<T> {
    pub(super) fn new(
        client: Arc<Inner>,
        method: String,
        params: Result<Option<Json>, Error>,
        read: fn(Json) -> Result<T, Error>,
    ) -> Self {
        Self {
            client,
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
        let slot = Arc::<Slot>::default();
        let id = link.begin(
            &self.method,
            params.as_ref().map(|json| json.get()),
            self.options,
            &slot,
        )?;
        drop(params);
        let mut pending = Pending { link, id: Some(id) };
        loop {
            match poll_fn(|cx| slot.poll(cx)).await {
                News::Done(outcome) => {
                    pending.id = None;
                    return outcome.and_then(self.read);
                }
                News::Progress(params) => {
                    let progress = serde_json::from_str(params.get());
                    if let (Some(each), Ok(progress)) = (&mut self.on_progress, progress) {
                        each(progress);
                    }
                }
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
struct Pending {
    link: Arc<Link>,
    id: Option<OutboundId>,
}

impl Drop for Pending {
    fn drop(&mut self) {
        if let Some(id) = self.id {
            self.link.cancel(id, "the caller no longer waits");
        }
    }
}
