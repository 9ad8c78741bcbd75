//! What connections of the runtime say to one event loop: those of one server over HTTP, or one client's.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use oxmcp::border::{ExchangeEvent, Inbox, Item, Remote, RouteEvent};
use oxmcp_proto::{InboundId, Output};
use pyo3::exceptions::PyException;
use pyo3::intern;
use pyo3::prelude::*;
use pyo3::types::PyBytes;

use crate::bell::Bell;
use crate::calls::Calls;
use crate::connection::Connection;
use crate::event_loop::EventLoop;
use crate::hook::Hook;
use crate::hub::Hub;
use crate::outputs::{self, about};
use crate::port::Port;
use crate::registry::Registry;
use crate::routes;

/// What a client says when its handshake is complete.
const INITIALIZED: &str = "notifications/initialized";

/// Whose mailbox it is.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Owner {
    Client,
    /// A server, which may want to be told of the sessions of its clients:
    ///
    /// | the hook is told | with | when |
    /// | --- | --- | --- |
    /// | `"session"` | its number, what `"ready"` says of the client, its `Connection` | it made its handshake |
    /// | `"session_begun"` | its number | it said that it is initialized |
    /// | `"session_ended"` | its number | it is over |
    Server {
        tells_sessions: bool,
    },
}

/// Closed when its owner is, or when its loop has ended.
pub(crate) struct Mailbox {
    pub(crate) number: u64,
    owner: Owner,
    hub: Py<Hub>,
    bell: Arc<Bell>,
    pub(crate) inbox: Arc<Inbox>,
    /// Where requests for routes of the program's own come to, if it has some.
    routes: OnceLock<Arc<Inbox<RouteEvent>>>,
    pub(crate) registry: Py<Registry>,
    pub(crate) hook: Hook,
    pub(crate) calls: Calls,
    /// Who waits for what becomes of an exchange, by its token.
    exchanges: Mutex<HashMap<u64, Py<PyAny>>>,
    /// What an HTTP library of the program's knows of each exchange, by its token. Made by the first one.
    scopes: OnceLock<Mutex<HashMap<u64, Py<PyAny>>>>,
    has_shut_down: Arc<AtomicBool>,
    /// Things come several at a time.
    is_busy: Arc<AtomicBool>,
}

impl Mailbox {
    pub(crate) fn new(
        py: Python<'_>,
        hub: &Py<Hub>,
        owner: Owner,
        registry: Py<Registry>,
        hook: Py<PyAny>,
    ) -> Arc<Self> {
        static LAST: AtomicU64 = AtomicU64::new(0);
        let number = LAST.fetch_add(1, Ordering::Relaxed) + 1;
        let bell = Arc::clone(hub.get().bell());
        let is_busy = Arc::<AtomicBool>::default();
        let inbox = Inbox::new({
            let (bell, is_busy) = (Arc::clone(&bell), Arc::clone(&is_busy));
            move || match is_busy.load(Ordering::Relaxed) {
                true => bell.ring_soon(number),
                false => bell.ring(number),
            }
        });
        let mailbox = Arc::new(Self {
            number,
            owner,
            hub: hub.clone_ref(py),
            bell,
            inbox,
            routes: OnceLock::new(),
            registry,
            hook: Hook::new(hook),
            calls: Calls::default(),
            exchanges: Mutex::default(),
            scopes: OnceLock::new(),
            has_shut_down: Arc::default(),
            is_busy,
        });
        hub.get().add(&mailbox);
        mailbox
    }

    /// Where requests for routes of the program's own are to come to.
    pub(crate) fn route_inbox(&self) -> &Arc<Inbox<RouteEvent>> {
        self.routes.get_or_init(|| {
            let (bell, number) = (Arc::clone(&self.bell), self.number);
            Inbox::new(move || bell.ring(number))
        })
    }

    /// The loop it belongs to, unless that has ended.
    pub(crate) fn event_loop(&self) -> Option<Arc<EventLoop>> {
        self.hub.get().event_loop()
    }

    /// Whether the loop has been away for so long that a reporter should let it run.
    pub(crate) fn is_late(&self) -> bool {
        self.hub.get().is_late()
    }

    /// Has what handlers and clients asked go out at the end of this turn of the loop, together.
    pub(crate) fn settle_soon(&self, py: Python<'_>, remote: &Remote) -> PyResult<()> {
        Hub::settle_soon(self.hub.bind(py), remote)
    }

    /// Keeps who waits for what becomes of an exchange next.
    pub(crate) fn keep_exchange(&self, token: u64, future: Py<PyAny>) {
        let before = self.exchanges().insert(token, future);
        drop(before);
    }

    /// Keeps what is known of an exchange until that is forgotten.
    pub(crate) fn keep_scope(&self, token: u64, scope: Py<PyAny>) {
        let before = lock(self.scopes.get_or_init(Mutex::default)).insert(token, scope);
        drop(before);
    }

    /// What is known of the exchange that brought a call.
    pub(crate) fn scope(&self, py: Python<'_>, remote: &Remote, call: InboundId) -> Option<Py<PyAny>> {
        let scopes = self.scopes.get()?;
        let token = remote.http_request(call)?.token?;
        lock(scopes).get(&token).map(|scope| scope.clone_ref(py))
    }

    pub(crate) fn forget_exchange(&self, token: u64) {
        let future = self.exchanges().remove(&token);
        let scope = self.scopes.get().and_then(|scopes| lock(scopes).remove(&token));
        drop((future, scope));
    }

    pub(crate) fn exchange_count(&self) -> usize {
        let scopes = self.scopes.get().map_or(0, |scopes| lock(scopes).len());
        self.exchanges().len().max(scopes)
    }

    /// From any thread: the server has shut down, which its owner is told.
    pub(crate) fn shut_down_notice(&self) -> impl FnOnce() + Send + 'static {
        let (bell, number) = (Arc::clone(&self.bell), self.number);
        let has_shut_down = Arc::clone(&self.has_shut_down);
        move || {
            has_shut_down.store(true, Ordering::Release);
            bell.ring(number);
        }
    }

    /// Nothing comes any more, and nothing is kept.
    pub(crate) fn close(&self) {
        self.hub.get().forget(self.number);
        self.inbox.close();
        if let Some(routes) = self.routes.get() {
            routes.close();
        }
        let exchanges = std::mem::take(&mut *self.exchanges());
        let scopes = self.scopes.get().map(|scopes| std::mem::take(&mut *lock(scopes)));
        // Dropped here, without a lock: their ends may run code of the program.
        drop((self.hook.take(), self.calls.take_all(), exchanges, scopes));
    }

    /// Takes some of what has come, and acts on it. True when more waits.
    pub(crate) fn take_turn(self: &Arc<Self>, py: Python<'_>, event_loop: &EventLoop, max: usize) -> PyResult<bool> {
        let (mut items, mut fatal) = (Vec::new(), None);
        let mut more = self.inbox.drain(max, &mut items);
        let is_busy = items.len() > 1 || self.calls.counts().1 > 1;
        self.is_busy.store(is_busy, Ordering::Relaxed);
        for item in items {
            go_on(py, self.act(py, event_loop, item), &mut fatal);
        }
        if let Some(routes) = self.routes.get() {
            let mut events = Vec::new();
            more |= routes.drain(max, &mut events);
            for event in events {
                go_on(py, routes::act(py, &self.hook, event), &mut fatal);
            }
        }
        if !more && self.has_shut_down.swap(false, Ordering::Acquire) {
            self.hook.tell(py, "shut_down", None, py.None(), py.None())?;
        }
        fatal.map_or(Ok(more), Err)
    }

    fn act(self: &Arc<Self>, py: Python<'_>, event_loop: &EventLoop, item: Item) -> PyResult<()> {
        let (remote, output) = match item {
            Item::Output(remote, output) => (remote, output),
            Item::Exchange(token, event) => return self.exchanged(py, token, event),
            Item::Unauthorized(_, refused) => {
                return self
                    .hook
                    .tell(py, "unauthorized", None, refused.status, refused.www_authenticate);
            }
        };
        match (self.owner, output) {
            (Owner::Client, Output::Closed) => self.hook.tell(py, "closed", None, py.None(), py.None()),
            (Owner::Server { tells_sessions: true }, output) if is_of_session(&output) => {
                self.tell_of_session(py, remote, output)
            }
            // They come and go by themselves.
            (Owner::Server { .. }, Output::Ready(_) | Output::Closed) => Ok(()),
            (_, output) => outputs::act(py, &Port::Remote(Arc::clone(self), remote), event_loop, output).map(drop),
        }
    }

    /// Tells of a client's session. Without an id each request stands for itself, and there is none.
    fn tell_of_session(self: &Arc<Self>, py: Python<'_>, remote: Remote, output: Output) -> PyResult<()> {
        let number = Some(remote.number());
        match output {
            Output::Ready(peer) if remote.session_id().is_some() => {
                let connection = Connection::of(Port::Remote(Arc::clone(self), remote));
                let connection = Bound::new(py, connection)?;
                self.hook.tell(py, "session", number, about(&peer), connection)
            }
            Output::Notification { .. } => self.hook.tell(py, "session_begun", number, py.None(), py.None()),
            Output::Closed => self.hook.tell(py, "session_ended", number, py.None(), py.None()),
            _ => Ok(()),
        }
    }

    /// Tells who waits for it what became of an exchange: `(status, headers, body or None)`, a chunk, or `None`
    /// for the end.
    fn exchanged(&self, py: Python<'_>, token: u64, event: ExchangeEvent) -> PyResult<()> {
        let Some(future) = self.exchanges().remove(&token) else {
            return Ok(());
        };
        let future = future.bind(py);
        if future.call_method0(intern!(py, "done"))?.is_truthy()? {
            return Ok(());
        }
        let set_result = intern!(py, "set_result");
        let set = match event {
            ExchangeEvent::Head { status, headers, body } => {
                let headers = headers
                    .iter()
                    .map(|(name, value)| (PyBytes::new(py, name), PyBytes::new(py, value)));
                let body = body.map(|body| PyBytes::new(py, &body));
                let headers: Vec<_> = headers.collect();
                future.call_method1(set_result, ((status, headers, body),))
            }
            ExchangeEvent::Chunk(chunk) => future.call_method1(set_result, (PyBytes::new(py, &chunk),)),
            ExchangeEvent::End => future.call_method1(set_result, (py.None(),)),
        };
        set.map(drop)
    }

    fn exchanges(&self) -> MutexGuard<'_, HashMap<u64, Py<PyAny>>> {
        lock(&self.exchanges)
    }
}

/// Whether an output says that a session begins or ends.
fn is_of_session(output: &Output) -> bool {
    match output {
        Output::Ready(_) | Output::Closed => true,
        Output::Notification { method, .. } => method == INITIALIZED,
        _ => false,
    }
}

/// Whatever the program's own code does, other items have their turn too.
fn go_on(py: Python<'_>, done: PyResult<()>, fatal: &mut Option<PyErr>) {
    match done {
        Ok(()) => {}
        Err(error) if error.is_instance_of::<PyException>(py) => error.write_unraisable(py, None),
        Err(error) => *fatal = Some(error),
    }
}

fn lock<T>(table: &Mutex<T>) -> MutexGuard<'_, T> {
    table.lock().unwrap_or_else(PoisonError::into_inner)
}
