//! The header fields that a program sets, and those that it gives anew when a server wants other credentials.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::HeaderMap;
use oxmcp_proto::Error;
use oxmcp_proto::http::client::{Outcome, Reading, Sent, failure, read_head};
use reqwest::Response;

use super::builder::{read_header, usage};
use super::wire::Headers;

/// A server refused a request for want of authorization, see [`Http::on_unauthorized`](super::Http::on_unauthorized).
#[derive(Clone, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub struct Unauthorized {
    /// 401, or 403 with a challenge: the credentials do not allow enough.
    pub status: u16,
    /// The values of the header field `WWW-Authenticate`, joined with commas, if there is one.
    pub www_authenticate: Option<String>,
}

/// What gives header fields anew.
pub(super) type Renewal = Arc<dyn Fn(Unauthorized) -> Fresh + Send + Sync>;
/// Names and values to be sent from now on; none when there is nothing new.
type Fresh = Pin<Box<dyn Future<Output = Result<Vec<(String, String)>, Error>> + Send>>;

pub(super) fn renewal<F>(renew: impl Fn(Unauthorized) -> F + Send + Sync + 'static) -> Renewal
where
    F: Future<Output = Result<Vec<(String, String)>, Error>> + Send + 'static,
{
    Arc::new(move |refused| Box::pin(renew(refused)))
}

/// The header fields that are sent at the moment.
#[derive(Debug)]
pub(super) struct Given {
    number: u64,
    pub fields: HeaderMap,
}

/// Gives the header fields of requests.
pub(super) struct Desk {
    given: Mutex<Arc<Given>>,
    renewal: Option<Renewal>,
    /// Who holds it asks.
    asking: tokio::sync::Mutex<()>,
    /// How often was asked.
    asked: AtomicU64,
}

impl Desk {
    pub(super) fn new(fields: HeaderMap, renewal: Option<Renewal>) -> Self {
        Self {
            given: Mutex::new(Arc::new(Given { number: 0, fields })),
            renewal,
            asking: tokio::sync::Mutex::default(),
            asked: AtomicU64::new(0),
        }
    }

    pub(super) fn given(&self) -> Arc<Given> {
        Arc::clone(&lock(&self.given))
    }

    /// Why a request was refused, if other header fields can be asked for.
    pub(super) fn refusal(&self, response: &Response) -> Option<Unauthorized> {
        self.renewal.as_ref().and_then(|_| refusal(response))
    }

    /// What to send in place of what the server refused; `None` when there is nothing else.
    ///
    /// Requests that are refused at the same time ask once.
    pub(super) async fn renew(
        &self,
        what: &str,
        refused: &Given,
        why: Unauthorized,
    ) -> Result<Option<Arc<Given>>, Error> {
        let Some(renewal) = &self.renewal else {
            return Ok(None);
        };
        let before = self.asked.load(Ordering::Acquire);
        let _asks = self.asking.lock().await;
        let given = self.given();
        if given.number != refused.number {
            return Ok(Some(given));
        }
        if self.asked.load(Ordering::Acquire) != before {
            // Somebody asked meanwhile, and there was nothing else.
            return Ok(None);
        }
        let (status, challenge) = (why.status, why.www_authenticate.clone());
        let fresh = renewal(why).await;
        self.asked.fetch_add(1, Ordering::Release);
        let fresh = fresh.and_then(|fresh| over(&given.fields, fresh)).map_err(|error| {
            let denied = failure(what, &Outcome::Denied { status, challenge }).unwrap_or_else(|| usage(""));
            let message = format!("{}; there are no others: {}", denied.message(), error.message());
            denied.with_message(message)
        })?;
        Ok(fresh.map(|fields| {
            let number = given.number + 1;
            let given = Arc::new(Given { number, fields });
            *lock(&self.given) = Arc::clone(&given);
            given
        }))
    }
}

/// These fields with others over them, unless that changes nothing.
fn over(given: &HeaderMap, fresh: Vec<(String, String)>) -> Result<Option<HeaderMap>, Error> {
    let mut fields = given.clone();
    for (name, value) in fresh {
        let (name, value) = read_header(&name, &value).map_err(usage)?;
        fields.insert(name, value);
    }
    Ok((fields != *given).then_some(fields))
}

fn refusal(response: &Response) -> Option<Unauthorized> {
    let fields = Headers(response.headers());
    match read_head(Sent::Notification, false, response.status().as_u16(), &fields) {
        Reading::Done(Outcome::Denied { status, challenge }) => Some(Unauthorized {
            status,
            www_authenticate: challenge,
        }),
        _ => None,
    }
}

fn lock<T>(it: &Mutex<T>) -> MutexGuard<'_, T> {
    it.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Never shows values: they may be secret.
impl fmt::Debug for Desk {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Desk")
            .field("renews", &self.renewal.is_some())
            .finish_non_exhaustive()
    }
}
