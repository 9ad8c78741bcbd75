//! What shows that a client has a response whole: the next request of its session on the same connection of HTTP/1.
//!
//! Nobody will want to resume the stream of such a response, so its events need not be kept any longer. Requests of
//! other sessions show nothing: a proxy may send those of many clients by one connection.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use http::HeaderMap;
use oxmcp_proto::http::SESSION_FIELD;

use super::state::SharedState;

/// A stream that is finished, and whose client may still come back for it.
#[derive(Debug)]
pub(super) struct Receipt {
    pub state: Arc<dyn SharedState>,
    pub session: Arc<str>,
    pub stream: Arc<str>,
}

/// Those of the last response of a connection, if it was such a stream.
#[derive(Debug, Default)]
pub(super) struct Receipts(Mutex<Option<Receipt>>);

impl Receipts {
    /// A response was written to its end.
    pub(super) fn written(&self, receipt: Receipt) {
        *self.last() = Some(receipt);
    }

    /// The next request came.
    pub(super) fn settle(&self, fields: &HeaderMap) {
        let Some(Receipt { state, session, stream }) = self.last().take() else {
            return;
        };
        if fields.get(SESSION_FIELD).is_some_and(|its| *its == *session) {
            state.taken(&session, &stream);
        }
    }

    fn last(&self) -> MutexGuard<'_, Option<Receipt>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
