//! What all requests to one service share: its settings, its sessions, and what is open.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError, Weak};
use std::time::Duration;

use oxmcp_proto::http::{Endpoint, ParamHeaders, Refusal, SessionRef, Sessions, session_id};
use oxmcp_proto::{Config, Instant, Kind, Watch};
use serde::Deserialize;
use serde_json::value::RawValue;
use tokio::runtime::Handle;
use tokio::task::AbortHandle;

use super::HttpStats;
use super::connection::Connection;
use super::desk::Keeping;
use super::refuse;
use super::state::{Announcement, Place, SharedState};
use super::ticks::Ticks;
use crate::driver::MOMENT;
use crate::server::{OnUpdate, Served};

/// How long nothing is said before a response begins as an event stream, if it may be one.
const BEGINS_AFTER: Duration = Duration::from_secs(1);

/// The settings that are no rules of the endpoint.
#[derive(Clone, Debug)]
pub(super) struct Settings {
    pub json_only: bool,
    pub keep_alive: Duration,
    pub retry: Duration,
    pub body_timeout: Duration,
    pub resumable: bool,
}

pub(super) struct Shared {
    pub server: Arc<dyn Served>,
    pub config: Arc<Config>,
    pub endpoint: Endpoint,
    pub settings: Settings,
    /// What other processes may share.
    pub state: Arc<dyn SharedState>,
    sessions: Mutex<Sessions<Arc<Connection>>>,
    epoch: tokio::time::Instant,
    /// How long a response may wait before it begins as an event stream.
    pub ticks: Arc<Ticks>,
    /// Connections that are told of changes, and end when the service does.
    open: Mutex<HashMap<u64, Weak<Connection>>>,
    next: AtomicU64,
    /// Connections that live: those of sessions, and those of requests without one.
    live: AtomicUsize,
    /// Whether a task looks after sessions whose time is over.
    sweeps: AtomicBool,
    /// Whether a task is about to tell of changes.
    tells: AtomicBool,
    runtime: OnceLock<Handle>,
    closing: AtomicBool,
    params: Mutex<ParamTable>,
    /// The lists that other processes know of.
    announced: Mutex<[u64; 4]>,
    watch: OnceLock<Watch>,
    /// Tells other processes of resources that have other contents.
    on_update: OnceLock<Arc<OnUpdate>>,
}

/// The annotated parameters of tools, until what is offered changes.
#[derive(Default)]
struct ParamTable {
    changes: u64,
    known: HashMap<Box<str>, Option<Arc<ParamHeaders>>>,
}

/// A session in use: it does not expire meanwhile.
pub(super) struct Hold {
    shared: Arc<Shared>,
    id: Arc<str>,
    ends: bool,
    /// What goes on for as long as the session is held.
    task: Option<AbortHandle>,
}

impl Hold {
    /// One that ends a task as well.
    pub(super) fn with_task(mut self, task: AbortHandle) -> Self {
        self.task = Some(task);
        self
    }

    /// One with which the session ends.
    pub(super) fn ending(mut self) -> Self {
        self.ends = true;
        self
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        if let Some(task) = &self.task {
            task.abort();
        }
        let now = self.shared.now();
        let mut sessions = self.shared.sessions();
        let ended = match self.ends {
            true => sessions.remove(&self.id),
            false => {
                sessions.release(&self.id, now);
                None
            }
        };
        drop(sessions);
        drop(ended);
    }
}

impl Shared {
    pub(super) fn new(
        server: Arc<dyn Served>,
        config: Arc<Config>,
        endpoint: Endpoint,
        settings: Settings,
        sessions: Sessions<Arc<Connection>>,
        state: Arc<dyn SharedState>,
    ) -> Arc<Self> {
        let registry = Arc::clone(server.registry());
        let announced = registry.versions();
        // Others may want to know of changes before the first connection here.
        let runtime = Handle::try_current().ok().filter(|_| state.is_shared());
        let ticks = Ticks::new(settings.keep_alive.min(BEGINS_AFTER));
        let shared = Arc::new(Self {
            server,
            config,
            endpoint,
            settings,
            state,
            sessions: Mutex::new(sessions),
            epoch: tokio::time::Instant::now(),
            ticks,
            open: Mutex::default(),
            next: AtomicU64::new(0),
            live: AtomicUsize::new(0),
            sweeps: AtomicBool::new(false),
            tells: AtomicBool::new(false),
            runtime: runtime.map_or_else(OnceLock::new, OnceLock::from),
            closing: AtomicBool::new(false),
            params: Mutex::default(),
            announced: Mutex::new(announced),
            watch: OnceLock::new(),
            on_update: OnceLock::new(),
        });
        if shared.state.is_shared() {
            let state = Arc::clone(&shared.state);
            let told: Arc<OnUpdate> =
                Arc::new(move |uri| state.announce(Announcement::ResourceUpdated(uri.to_owned())));
            shared
                .server
                .on_update(Arc::downgrade(shared.on_update.get_or_init(|| told)));
        }
        let me = Arc::downgrade(&shared);
        shared.watch.get_or_init(|| {
            registry.watch(move || {
                if let Some(shared) = me.upgrade() {
                    shared.offers_changed();
                }
            })
        });
        shared
    }

    pub(super) fn runtime(&self) -> Option<&Handle> {
        self.runtime.get()
    }

    pub(super) fn now(&self) -> Instant {
        Instant::from_micros(u64::try_from(self.epoch.elapsed().as_micros()).unwrap_or(u64::MAX))
    }

    fn sessions(&self) -> MutexGuard<'_, Sessions<Arc<Connection>>> {
        self.sessions.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn open(&self) -> MutexGuard<'_, HashMap<u64, Weak<Connection>>> {
        self.open.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Takes note of a change. It may come from a thread that holds locks which the sessions need, so they are
    /// told by another.
    fn offers_changed(self: &Arc<Self>) {
        let mut params = self.params.lock().unwrap_or_else(PoisonError::into_inner);
        params.changes += 1;
        params.known.clear();
        drop(params);
        let Some(runtime) = self.runtime.get() else { return };
        if self.tells.swap(true, Ordering::AcqRel) {
            return;
        }
        let me = Arc::downgrade(self);
        runtime.spawn(async move {
            tokio::time::sleep(MOMENT).await;
            let Some(shared) = me.upgrade() else { return };
            shared.tells.store(false, Ordering::Release);
            for connection in shared.connections() {
                connection.turn();
            }
            shared.announce_changes();
        });
    }

    /// Tells other processes of lists that have changed.
    fn announce_changes(&self) {
        if !self.state.is_shared() {
            return;
        }
        let versions = self.server.registry().versions();
        let mut announced = self.announced.lock().unwrap_or_else(PoisonError::into_inner);
        let before = std::mem::replace(&mut *announced, versions);
        drop(announced);
        for kind in Kind::ALL {
            if before[kind as usize] != versions[kind as usize] {
                self.state.announce(Announcement::ListChanged(kind));
            }
        }
    }

    pub(super) fn connections(&self) -> Vec<Arc<Connection>> {
        self.open().values().filter_map(Weak::upgrade).collect()
    }

    /// A new connection. One that is `told` gets what clients are told without having asked.
    pub(super) fn connect(self: &Arc<Self>, told: bool, session: Option<&Arc<str>>) -> Arc<Connection> {
        self.runtime.get_or_init(Handle::current);
        let keeping = session.filter(|_| self.settings.resumable).map(|session| Keeping {
            session: Arc::clone(session),
            state: Arc::clone(&self.state),
            part: random_part(),
            retry: self.settings.retry,
            place: None,
        });
        let number = told.then(|| self.next.fetch_add(1, Ordering::Relaxed));
        self.live.fetch_add(1, Ordering::Relaxed);
        let connection = Connection::new(self.server.connect(&self.config, told), keeping, session, self, number);
        if let Some(number) = number {
            self.open().insert(number, Arc::downgrade(&connection));
        }
        connection
    }

    /// A connection is gone. One that was `told` is told no more.
    pub(super) fn forget(&self, told: Option<u64>) {
        self.live.fetch_sub(1, Ordering::Relaxed);
        if let Some(number) = told {
            self.open().remove(&number);
        }
    }

    /// The session that a request names, for as long as it is used.
    pub(super) fn session(self: &Arc<Self>, id: &str) -> Option<(Arc<Connection>, Hold)> {
        let now = self.now();
        let mut sessions = self.sessions();
        let (id, connection) = sessions.hold(id, now)?;
        let hold = Hold {
            shared: Arc::clone(self),
            id: Arc::clone(id),
            ends: false,
            task: None,
        };
        Some((Arc::clone(connection), hold))
    }

    /// The part of a session that is here, which is now used.
    pub(super) fn local(&self, id: &str) -> Option<Arc<Connection>> {
        let now = self.now();
        self.sessions().get(id, now).map(|connection| Arc::clone(connection))
    }

    /// Adds the part of a session that is here, unless there is one.
    pub(super) fn add_local(self: &Arc<Self>, id: &Arc<str>, connection: Arc<Connection>) -> Result<bool, Refusal> {
        self.expire();
        let now = self.now();
        let mut sessions = self.sessions();
        if sessions.get(id, now).is_some() {
            return Ok(false);
        }
        let added = sessions.insert(Arc::clone(id), connection, now);
        drop(sessions);
        added.map_err(|_| Refusal::too_many_sessions())?;
        self.sweep();
        Ok(true)
    }

    fn keep_local(&self, id: &Arc<str>, connection: &Arc<Connection>) -> bool {
        let now = self.now();
        let mut sessions = self.sessions();
        sessions.insert(Arc::clone(id), Arc::clone(connection), now).is_ok()
    }

    /// Ends what is here of a session.
    pub(super) fn end_local(&self, id: &str, why: &str) {
        let ended = self.sessions().remove(id);
        if let Some(connection) = ended {
            connection.close(why);
        }
    }

    /// The sessions that are used here, where processes share them.
    pub(super) fn used(&self) -> Vec<(Arc<str>, Place)> {
        let sessions = self.sessions();
        let all: Vec<_> = sessions
            .iter()
            .map(|(id, connection, held)| (Arc::clone(id), Arc::clone(connection), held))
            .collect();
        drop(sessions);
        let used = all.into_iter().filter_map(|(id, connection, held)| {
            let desk = connection.desk();
            let place = desk.place().filter(|_| held || desk.works())?;
            Some((id, place))
        });
        used.collect()
    }

    /// An id for a session that is about to begin.
    ///
    /// # Errors
    /// When there are as many as there may be, or the service is closing.
    pub(super) fn new_session_id(self: &Arc<Self>) -> Result<Arc<str>, Refusal> {
        self.check_open()?;
        self.expire();
        let mut random = [0; 32];
        getrandom::fill(&mut random).map_err(|_| refuse::no_random_bytes())?;
        Ok(session_id(random).into())
    }

    /// Adds a session, in use.
    pub(super) fn add_session(self: &Arc<Self>, id: &Arc<str>, connection: &Arc<Connection>) -> Result<Hold, Refusal> {
        let now = self.now();
        let mut sessions = self.sessions();
        let added = sessions.insert(Arc::clone(id), Arc::clone(connection), now);
        added.map_err(|_| Refusal::too_many_sessions())?;
        sessions.hold(id, now);
        drop(sessions);
        self.sweep();
        Ok(Hold {
            shared: Arc::clone(self),
            id: Arc::clone(id),
            ends: false,
            task: None,
        })
    }

    /// Ends the session that a DELETE names.
    pub(super) fn end_session(&self, session: &SessionRef<'_>) -> Result<(), Refusal> {
        let now = self.now();
        let mut sessions = self.sessions();
        let negotiated = sessions.get(session.id, now).and_then(|it| it.revision());
        session.agree(negotiated.ok_or_else(Refusal::no_such_session)?)?;
        let ended = sessions.remove(session.id);
        drop(sessions);
        if let Some(connection) = ended {
            connection.close("the client ended the session");
        }
        Ok(())
    }

    /// Ends the sessions whose time is over.
    fn expire(&self) {
        let now = self.now();
        let expired = self.sessions().expire(now);
        for (id, connection) in expired {
            let desk = connection.desk();
            let (place, works) = (desk.place(), desk.works());
            drop(desk);
            let Some(place) = place else {
                connection.close("the session was idle for too long");
                continue;
            };
            // Its client may wait at another process.
            let goes_on = works && self.keep_local(&id, &connection);
            if !goes_on {
                connection.close("the session was idle for too long");
                self.state.forget_session(&id, place);
            }
        }
    }

    /// Looks after sessions for as long as there are any.
    fn sweep(self: &Arc<Self>) {
        if self.sweeps.swap(true, Ordering::AcqRel) {
            return;
        }
        let (me, epoch) = (Arc::downgrade(self), self.epoch);
        tokio::spawn(async move {
            loop {
                let next = match me.upgrade() {
                    Some(shared) => shared.next_expiry(),
                    None => return,
                };
                let Some(next) = next else { return };
                tokio::time::sleep_until(epoch + Instant::default().until(next)).await;
                if let Some(shared) = me.upgrade() {
                    shared.expire();
                }
            }
        });
    }

    /// When the next session may expire; without any, whoever adds one looks after it anew.
    fn next_expiry(&self) -> Option<Instant> {
        let sessions = self.sessions();
        let next = sessions.next_expiry();
        if next.is_none() {
            self.sweeps.store(false, Ordering::Release);
        }
        next
    }

    /// # Errors
    /// When the service is closing: no stream and no session begins.
    pub(super) fn check_open(&self) -> Result<(), Refusal> {
        match self.closing.load(Ordering::Acquire) {
            true => Err(refuse::closing()),
            false => Ok(()),
        }
    }

    /// Ends all streams that would not end by themselves.
    pub(super) fn end_streams(&self) {
        self.closing.store(true, Ordering::Release);
        for connection in self.connections() {
            match connection.revision() {
                Some(_) => connection.desk().end_standing(),
                None => connection.close("the server is closing"),
            }
        }
    }

    /// Ends everything.
    pub(super) fn close(&self) {
        self.end_streams();
        let sessions: Vec<_> = self.sessions().drain().collect();
        for (_, connection) in sessions {
            connection.close("the server is closing");
        }
    }

    /// What is held at the moment.
    pub(super) fn stats(&self) -> HttpStats {
        let count = |connection: Arc<Connection>| {
            let stats = connection.stats();
            stats.inbound + stats.outbound + stats.handlers + stats.callers
        };
        HttpStats {
            sessions: self.session_count(),
            connections: self.live.load(Ordering::Relaxed),
            calls: self.connections().into_iter().map(count).sum(),
        }
    }

    /// How many sessions there are.
    pub(super) fn session_count(&self) -> usize {
        self.sessions().len()
    }

    /// The parameters of a tool that stand in header fields as well.
    pub(super) fn params_of(&self, tool: &str) -> Option<Arc<ParamHeaders>> {
        let params = self.params.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = params.known.get(tool) {
            return known.clone();
        }
        let changes = params.changes;
        drop(params);
        let registry = self.server.registry();
        let descriptor = registry.descriptor(Kind::Tool, registry.find(Kind::Tool, tool)?)?;
        let found = read_params(&descriptor);
        let mut params = self.params.lock().unwrap_or_else(PoisonError::into_inner);
        if params.changes == changes {
            params.known.insert(tool.into(), found.clone());
        }
        found
    }
}

/// Annotations that break their rules count for nothing: no client sends what they ask for.
fn read_params(descriptor: &RawValue) -> Option<Arc<ParamHeaders>> {
    #[derive(Deserialize)]
    struct Tool<'a> {
        #[serde(borrow, rename = "inputSchema")]
        input_schema: &'a RawValue,
    }
    let tool: Tool<'_> = serde_json::from_str(descriptor.get()).ok()?;
    let params = ParamHeaders::read(tool.input_schema).ok()?;
    (!params.is_empty()).then(|| Arc::new(params))
}

fn random_part() -> Option<[u8; 7]> {
    let mut part = [0; 7];
    getrandom::fill(&mut part).is_ok().then_some(part)
}
