//! A connection that lives elsewhere, and its host's side.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Weak};
use std::task::Context;

use oxmcp_proto::{Error, InboundId, Instant, Output, Registry, Session, Watch};

use super::exchange::HttpOrigin;
use super::headers::Awaited;
use super::inbox::{Inbox, Item};
use crate::Stats;
use crate::client::VERDICTS;
use crate::driver::{Host, Link};

/// A connection that its transport drives. Clones are the same one.
#[derive(Clone)]
pub struct Remote {
    link: Arc<Link>,
    number: u64,
    /// A client's over HTTP whose host gives header fields.
    awaited: Option<Arc<Awaited>>,
}

impl Remote {
    pub(super) fn new(session: Session) -> Self {
        static LAST: AtomicU64 = AtomicU64::new(0);
        Self {
            link: Link::raw(session),
            number: LAST.fetch_add(1, Ordering::Relaxed) + 1,
            awaited: None,
        }
    }

    /// One that is known already.
    pub(super) fn again(link: Arc<Link>, number: u64, awaited: Option<Arc<Awaited>>) -> Self {
        Self { link, number, awaited }
    }

    /// The same, of a client whose host gives header fields.
    pub(super) fn asking(mut self, awaited: &Arc<Awaited>) -> Self {
        self.awaited = Some(Arc::clone(awaited));
        self
    }

    /// Tells it from all others of this process.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Does something with the session. What that leads to goes to the peer and to the inbox by itself.
    pub fn with<T>(&self, work: impl FnOnce(&mut Session, Instant) -> T) -> T {
        self.link.with(false, work)
    }

    /// The same for answers, progress and log messages, which count against what the peer may leave unread.
    pub fn with_owed<T>(&self, work: impl FnOnce(&mut Session, Instant) -> T) -> T {
        self.link.with(true, work)
    }

    /// The same for what belongs together and comes one by one, such as several questions of one handler: nothing is
    /// done about it before [`settle`](Self::settle), or the next input.
    pub fn with_more<T>(&self, work: impl FnOnce(&mut Session, Instant) -> T) -> T {
        self.link.with_more(work)
    }

    /// That was all of it.
    pub fn settle(&self) {
        self.link.wake();
    }

    /// Whether more waits to be written than should. Progress and log messages may be dropped then.
    pub fn is_full(&self) -> bool {
        self.link.is_full()
    }

    /// The HTTP request that brought a call, while the call is under way.
    pub fn http_request(&self, call: InboundId) -> Option<HttpOrigin> {
        self.link.http_request(call).map(|parts| HttpOrigin::of(&parts))
    }

    /// The `Mcp-Session-Id` of its session, where it has one.
    pub fn session_id(&self) -> Option<Arc<str>> {
        self.link.session_id()
    }

    /// Gives up the stream that the answer to a call would go on; the client comes back for the rest.
    pub fn end_stream(&self, call: InboundId) {
        self.link.end_stream(call);
    }

    /// Gives the header fields that were asked for by [`Item::Unauthorized`], or why there are none; no fields when
    /// there is nothing new. False when nobody waits any more.
    pub fn give_headers(&self, fields: Result<Vec<(String, String)>, Error>) -> bool {
        self.awaited.as_ref().is_some_and(|awaited| awaited.give(fields))
    }

    /// Ends the connection. Does nothing when it has ended.
    pub fn close(&self, why: &str) {
        self.link.close(why);
    }

    /// What the connection holds at the moment.
    pub fn stats(&self) -> Stats {
        self.link.stats()
    }

    pub(super) fn link(&self) -> &Arc<Link> {
        &self.link
    }
}

impl fmt::Debug for Remote {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Remote").field(&self.number).finish()
    }
}

/// Hands what a session says to an inbox.
pub(super) struct RemoteHost {
    // The link's driver owns this host, so a strong one would keep both for ever.
    link: Weak<Link>,
    number: u64,
    awaited: Option<Arc<Awaited>>,
    inbox: Arc<Inbox>,
    /// A client's: what the server's era is remembered by.
    server: Option<String>,
    /// A server's: wakes the driver when what is offered changes.
    _watch: Option<Watch>,
    end: End,
}

/// When the end of the session is told.
#[derive(Clone, Copy, PartialEq, Eq)]
enum End {
    ToldAtOnce,
    /// When the transport has ended too, and nothing of it is left to be done: a program may exit then.
    ToldLast,
    WaitsToBeTold,
}

impl RemoteHost {
    pub(super) fn new(remote: &Remote, inbox: &Arc<Inbox>) -> Self {
        Self {
            link: Arc::downgrade(&remote.link),
            number: remote.number,
            awaited: remote.awaited.clone(),
            inbox: Arc::clone(inbox),
            server: None,
            _watch: None,
            end: End::ToldAtOnce,
        }
    }

    /// A client's, which remembers the era of the server under this name.
    pub(super) fn learning(mut self, server: Option<String>) -> Self {
        self.server = server;
        self
    }

    /// Of a connection with a transport of its own.
    pub(super) fn ending_last(mut self) -> Self {
        self.end = End::ToldLast;
        self
    }

    /// Looks after changes of what is offered.
    pub(super) fn watching(mut self, registry: &Arc<Registry>) -> Self {
        let link = Weak::clone(&self.link);
        self._watch = Some(registry.watch(move || {
            if let Some(link) = link.upgrade() {
                link.offers_changed();
            }
        }));
        self
    }
}

impl Host for RemoteHost {
    fn output(&mut self, output: Output) {
        if let Some(server) = &self.server {
            match &output {
                Output::Ready(peer) => VERDICTS.learn(server, peer.revision),
                Output::ConnectFailed(_) => VERDICTS.forget(server),
                _ => {}
            }
        }
        if matches!(output, Output::Closed) && self.end != End::ToldAtOnce {
            self.end = End::WaitsToBeTold;
            return;
        }
        self.push(output);
    }

    fn has_room(&mut self, cx: &mut Context<'_>) -> bool {
        self.inbox.has_room(cx)
    }
}

impl RemoteHost {
    fn push(&self, output: Output) {
        if let Some(link) = self.link.upgrade() {
            let remote = Remote::again(link, self.number, self.awaited.clone());
            self.inbox.push(Item::Output(remote, output));
        }
    }
}

/// The driver drops it when all is done.
impl Drop for RemoteHost {
    fn drop(&mut self) {
        if self.end == End::WaitsToBeTold {
            self.push(Output::Closed);
        }
    }
}
