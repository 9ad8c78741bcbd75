//! Header fields that a host gives anew when a server refuses its credentials.

use std::sync::{Arc, Mutex, OnceLock, PoisonError, Weak};

use oxmcp_proto::Error;
use tokio::sync::oneshot;

use super::inbox::{Inbox, Item};
use super::remote::Remote;
use crate::driver::Link;
use crate::transport::{Http, Unauthorized};

/// Names and values, or why there are none.
type Fields = Result<Vec<(String, String)>, Error>;

/// Where a host's header fields are waited for: by one request at a time.
#[derive(Debug, Default)]
pub(super) struct Awaited(Mutex<Option<oneshot::Sender<Fields>>>);

impl Awaited {
    /// False when nobody waits.
    pub(super) fn give(&self, fields: Fields) -> bool {
        let asked = self.slot().take();
        asked.is_some_and(|asked| asked.send(fields).is_ok())
    }

    /// Gives what is waited for, and whether the host is to be told: it is not while it owes an answer that somebody
    /// waited for who gave up, and which is as good for this one.
    fn ask(&self) -> (oneshot::Receiver<Fields>, bool) {
        let (asked, given) = oneshot::channel();
        let is_owed = self.slot().replace(asked).is_some();
        (given, !is_owed)
    }

    fn slot(&self) -> std::sync::MutexGuard<'_, Option<oneshot::Sender<Fields>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Asks the host of a connection for header fields, once there is the connection.
#[derive(Clone, Default)]
pub(super) struct HeaderDesk {
    awaited: Arc<Awaited>,
    connection: Arc<OnceLock<(Weak<Link>, u64)>>,
}

impl HeaderDesk {
    /// Lets this transport ask.
    pub(super) fn over(&self, http: Http, inbox: &Arc<Inbox>) -> Http {
        let (desk, inbox) = (self.clone(), Arc::clone(inbox));
        http.on_unauthorized(move |refused| {
            let given = desk.ask(refused, &inbox);
            async move {
                match given {
                    // A host that lets go of the question has nothing new.
                    Some(given) => given.await.unwrap_or_else(|_| Ok(Vec::new())),
                    None => Ok(Vec::new()),
                }
            }
        })
    }

    /// The connection is this one.
    pub(super) fn serve(&self, remote: Remote) -> Remote {
        let connection = (Arc::downgrade(remote.link()), remote.number());
        // It is the first and only one.
        let _ = self.connection.set(connection);
        remote.asking(&self.awaited)
    }

    fn ask(&self, refused: Unauthorized, inbox: &Inbox) -> Option<oneshot::Receiver<Fields>> {
        let (link, number) = self.connection.get()?;
        let remote = Remote::again(link.upgrade()?, *number, Some(Arc::clone(&self.awaited)));
        let (given, is_new) = self.awaited.ask();
        if is_new {
            inbox.push(Item::Unauthorized(remote, refused));
        }
        Some(given)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_host_that_owes_an_answer_is_not_asked_again() {
        let awaited = Awaited::default();
        let (first, is_new) = awaited.ask();
        assert!(is_new);
        drop(first);
        let (mut second, is_new) = awaited.ask();
        assert!(!is_new);
        assert!(awaited.give(Ok(Vec::new())));
        assert!(matches!(second.try_recv(), Ok(Ok(fields)) if fields.is_empty()));
        assert!(!awaited.give(Ok(Vec::new())));
        assert!(awaited.ask().1);
    }
}
