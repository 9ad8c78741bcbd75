//! One connection without a socket: a session's worth of requests, or a single one.
//!
//! There is no task that drives it. Whoever changes something (a request that comes, a handler that answers, a
//! timer) takes the session's outputs out at once, or leaves that to the one who does so already.

use std::cell::Cell;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::task::{Wake, Waker};

use http::request::Parts;
use oxmcp_proto::jsonrpc::{Message, Params, RequestId};
use oxmcp_proto::{Error, Instant, Revision, Terms, TermsSet};
use tokio::runtime::Handle;

use super::desk::{Desk, Keeping};
use super::shared::Shared;
use super::state::{Announcement, Place, Visit};
use crate::driver::{self, Carrier, Event, Host, Incoming, Link, Outgoing};

/// The events that there is room for without asking the system.
const ROOM: usize = 64;

thread_local! {
    /// Room for what a session has to say. Not kept by connections: there are many, and most are idle.
    static EVENTS: Cell<Vec<Event>> = const { Cell::new(Vec::new()) };
}

pub(super) struct Connection {
    link: Arc<Link>,
    desk: Mutex<Desk>,
    work: Mutex<Work>,
    /// Changes that were not looked at yet. Who makes it more than zero does the work.
    changes: AtomicUsize,
    waker: Waker,
    runtime: Handle,
    /// What the handshake settled on.
    revision: OnceLock<Revision>,
    session: Option<Arc<str>>,
    me: Weak<Self>,
    shared: Weak<Shared>,
    /// Names it among those that are told of changes.
    number: Option<u64>,
}

struct Work {
    host: Box<dyn Host>,
    /// Calls whose handlers are to start elsewhere.
    calls: Vec<Incoming>,
    /// The deadline that a timer waits for.
    armed: Option<Instant>,
}

/// Kept by the link, so it must not keep the connection.
struct Alarm(Weak<Connection>);

impl Wake for Alarm {
    fn wake(self: Arc<Self>) {
        if let Some(connection) = self.0.upgrade() {
            // It is woken by whoever does something, perhaps a handler that holds locks of its own.
            connection.turn_for(Handlers::Elsewhere);
        }
    }
}

/// Where handlers start.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Handlers {
    Here,
    /// In a task of their own: they could wait for what the thread holds that is here.
    Elsewhere,
}

impl Connection {
    pub(super) fn new(
        (link, host): (Arc<Link>, Box<dyn Host>),
        keeping: Option<Keeping>,
        session: Option<&Arc<str>>,
        shared: &Arc<Shared>,
        number: Option<u64>,
    ) -> Arc<Self> {
        let made = Arc::new_cyclic(|me: &Weak<Self>| Self {
            link,
            desk: Mutex::new(Desk::new(keeping)),
            work: Mutex::new(Work {
                host,
                calls: Vec::new(),
                armed: None,
            }),
            changes: AtomicUsize::new(0),
            waker: Arc::new(Alarm(Weak::clone(me))).into(),
            runtime: Handle::current(),
            revision: OnceLock::new(),
            session: session.cloned(),
            me: Weak::clone(me),
            shared: Arc::downgrade(shared),
            number,
        });
        made.link.set_carrier(Weak::<Self>::clone(&made.me));
        made
    }

    pub(super) fn desk(&self) -> MutexGuard<'_, Desk> {
        self.desk.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn work(&self) -> MutexGuard<'_, Work> {
        self.work.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// What the handshake settled on, once it has.
    pub(super) fn revision(&self) -> Option<Revision> {
        self.revision.get().copied()
    }

    pub(super) fn is_closed(&self) -> bool {
        self.desk().is_closed()
    }

    /// Goes on with a session that began elsewhere.
    pub(super) fn restore(&self, terms: Terms, place: Place) -> Result<(), Error> {
        self.desk().set_place(place);
        self.link
            .with(false, |session, _| session.restore(terms, place.number))?;
        self.turn();
        Ok(())
    }

    /// What the handshake settled on, and what the client set since then.
    pub(super) fn terms(&self) -> Option<Terms> {
        self.link.with(false, |session, _| session.terms())
    }

    pub(super) fn terms_set(&self) -> TermsSet {
        self.link.with(false, |session, _| session.terms_set())
    }

    /// What the client set elsewhere counts here too.
    pub(super) fn catch_up(&self, visit: Visit) {
        let mut desk = self.desk();
        if desk.place().is_some_and(|place| place.version >= visit.place.version) {
            return;
        }
        desk.set_place(visit.place);
        drop(desk);
        if let Some(terms) = visit.terms {
            self.link.with(false, |session, _| session.set_terms(terms.set));
        }
    }

    /// Tells the client, if it wants to know.
    pub(super) fn announce(&self, announcement: &Announcement) {
        // One that is not ready wants to know nothing.
        let _ = match announcement {
            Announcement::ListChanged(kind) => self.link.notify(kind.changed(), None),
            Announcement::ResourceUpdated(uri) => self.link.resource_updated(uri).map(drop),
        };
        self.turn();
    }

    pub(super) fn stats(&self) -> crate::Stats {
        self.link.stats()
    }

    /// Goes on until all that was asked for is answered.
    pub(super) fn linger(self: &Arc<Self>) {
        self.desk().linger(self);
    }

    /// Takes in one message, in whatever lines its text is.
    pub(super) fn receive(&self, text: &[u8]) {
        let mut line = Vec::with_capacity(text.len() + 1);
        line.extend_from_slice(text);
        for byte in &mut line {
            // In valid JSON they are between tokens only.
            if matches!(byte, b'\n' | b'\r') {
                *byte = b' ';
            }
        }
        line.push(b'\n');
        self.link.receive(&line);
        self.turn();
    }

    /// Takes in one message that was read from this text.
    pub(super) fn receive_message(&self, message: Message<'_>, text: &[u8]) {
        self.link.receive_message(message, text);
        self.turn();
    }

    /// Takes in one request whose params were read.
    pub(super) fn receive_read(&self, id: RequestId, method: &str, params: &Params<'_>, text: &[u8]) {
        self.link.receive_read(id, method, params, text);
        self.turn();
    }

    /// Ends all: calls are cancelled, streams end.
    pub(super) fn close(&self, why: &str) {
        self.link.close(why);
        self.turn();
    }

    /// Takes out what the session has to say, unless somebody does so already.
    pub(super) fn turn(&self) {
        self.turn_for(Handlers::Here);
    }

    fn turn_for(&self, handlers: Handlers) {
        if self.changes.fetch_add(1, Ordering::AcqRel) > 0 {
            return;
        }
        let mut work = self.work();
        loop {
            let seen = self.changes.load(Ordering::Acquire);
            self.settle(&mut work, handlers);
            if !work.calls.is_empty() {
                self.start_elsewhere();
            }
            if self.changes.fetch_sub(seen, Ordering::AcqRel) == seen {
                break;
            }
        }
        let started = work.host.take_started();
        drop(work);
        // Here, where nobody else waits for it, a handler that does not wait needs no task of its own.
        if let Some(started) = started {
            let _runtime = self.runtime.enter();
            started.begin();
        }
    }

    fn settle(&self, work: &mut Work, handlers: Handlers) {
        let mut nothing = Outgoing::default();
        let mut events = EVENTS.take();
        if handlers == Handlers::Here {
            for call in std::mem::take(&mut work.calls) {
                self.start(work, call);
            }
        }
        loop {
            let drained = self.link.drain(&mut events, &mut nothing);
            let silent = events.is_empty();
            for event in events.drain(..) {
                self.hand_out(work, event, handlers);
            }
            match drained.closed {
                true if silent => return self.desk().close(),
                true => continue,
                // What the events led to makes the link refuse to wait.
                false => self.arm(work, drained.deadline),
            }
            let left = self.desk().backlog();
            if self.link.park(&self.waker, left) {
                events.shrink_to(ROOM);
                return EVENTS.set(events);
            }
        }
    }

    fn hand_out(&self, work: &mut Work, event: Event, handlers: Handlers) {
        if let Some(revision) = event.agreed() {
            self.agreed(revision);
        }
        if let Event::Cancelled(id, _) = &event {
            work.calls.retain(|call| call.id != *id);
        }
        match event {
            Event::Message { request, answers, line } => self.desk().deliver(request.as_ref(), answers, line),
            Event::EndStream(request) => self.desk().let_go(&request),
            Event::Call(call) if handlers == Handlers::Elsewhere => work.calls.push(call),
            Event::Call(call) => self.start(work, call),
            event => driver::tell(&self.link, &mut *work.host, event),
        }
    }

    /// The handshake has settled on a revision.
    fn agreed(&self, revision: Revision) {
        self.desk().revision = Some(revision);
        self.revision.get_or_init(|| revision);
    }

    fn start(&self, work: &mut Work, call: Incoming) {
        let _runtime = self.runtime.enter();
        work.host.call(&self.link, call);
    }

    /// Starts what must not start here.
    fn start_elsewhere(&self) {
        let me = Weak::clone(&self.me);
        self.runtime.spawn(async move {
            if let Some(connection) = me.upgrade() {
                connection.turn();
            }
        });
    }

    /// Sees to it that time passes for the session at its next deadline. A timer that comes early does no harm.
    fn arm(&self, work: &mut Work, deadline: Option<Instant>) {
        let Some(deadline) = deadline.filter(|at| work.armed.is_none_or(|armed| *at < armed)) else {
            return;
        };
        work.armed = Some(deadline);
        let (me, at) = (Weak::clone(&self.me), self.link.on_clock(deadline));
        self.runtime.spawn(async move {
            tokio::time::sleep_until(at).await;
            if let Some(connection) = me.upgrade() {
                connection.time_passed(deadline);
            }
        });
    }

    fn time_passed(&self, deadline: Instant) {
        let mut work = self.work();
        if work.armed == Some(deadline) {
            work.armed = None;
        }
        drop(work);
        self.link.handle_timeout();
        self.turn();
    }
}

impl Carrier for Connection {
    fn request(&self, id: &RequestId) -> Option<Arc<Parts>> {
        self.desk().carrier(id)
    }

    fn session_id(&self) -> Option<Arc<str>> {
        self.session.clone()
    }
}

impl std::fmt::Debug for Connection {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Connection")
            .field("number", &self.number)
            .finish_non_exhaustive()
    }
}

impl Drop for Connection {
    fn drop(&mut self) {
        if let Some(shared) = self.shared.upgrade() {
            shared.forget(self.number);
        }
    }
}
