//! A client, or a server with all its connections, and the eight verbs on it.

use std::future::poll_fn;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::task::{Context, Poll};

use oxmcp::border::{self, HttpServer, Inbox, Item, Remote};
use oxmcp::transport::{self, Http, Transport};
use oxmcp_proto::{Config, Error, ErrorKind, InboundId, Output, duration_from_millis};

use crate::event::{Event, Happening};
use crate::failure::{Refusal, guarded};
use crate::origin::{HttpField, HttpRequest};
use crate::registry::Registry;
use crate::signal::Signal;
use crate::spec::{Clients, Process, Server, Spec, Stderr, What};
use crate::table::{self, Table};
use crate::transcript::Stats;
use crate::verbs::{self, Notice, Reply, Request, RequestOptions};

static ENDPOINTS: AtomicU64 = AtomicU64::new(0);

/// What lives in this process, for tests of leaks. All is zero when all was closed and let go.
#[derive(Clone, Copy, Debug, PartialEq, Eq, uniffi::Record)]
pub struct Live {
    /// Endpoints.
    pub endpoints: u64,
    /// Connections that endpoints hold.
    pub connections: u64,
}

/// Counts what lives.
#[uniffi::export]
#[must_use]
pub fn live() -> Live {
    Live {
        endpoints: ENDPOINTS.load(Ordering::Relaxed),
        connections: table::live(),
    }
}

/// A client's one connection, or a server with those of all its clients.
#[derive(Debug, uniffi::Object)]
pub struct Endpoint {
    inbox: Arc<Inbox>,
    signal: Arc<Signal>,
    table: Mutex<Table>,
    kind: Kind,
}

#[derive(Debug)]
enum Kind {
    /// Ends with its one connection, which has this number.
    Stream(u64),
    /// Waits for one client of this process, and ends with it.
    Memory(Box<Config>, Arc<oxmcp_proto::Registry>),
    Http(Box<HttpServer>, String),
}

#[uniffi::export]
impl Endpoint {
    /// Opens a client or a server, as `spec` says (see `spec.rs`). `registry` is what a server offers, or the methods of a
    /// client's own; `peer` the server, for a client in memory. Returns at once: `Ready` or `ConnectFailed` comes as an
    /// event.
    ///
    /// # Errors
    /// When something is wrong with the spec, a command can not be started, or a port not be listened on.
    #[uniffi::constructor(name = "open")]
    pub fn open(spec: &str, registry: &Registry, peer: Option<Arc<Self>>) -> Result<Arc<Self>, Refusal> {
        guarded(|| {
            let spec = Spec::read(spec)?;
            let (config, entries) = (spec.config()?, Arc::clone(&registry.entries));
            let mut opening = Opening::default();
            let kind = match spec.what()? {
                What::Client(server) => opening.client(&spec, server, config, entries, peer.as_deref())?,
                What::Server(clients) => opening.server(clients, config, entries)?,
            };
            ENDPOINTS.fetch_add(1, Ordering::Relaxed);
            Ok(Arc::new(Self {
                inbox: opening.inbox,
                signal: opening.signal,
                table: Mutex::new(opening.table),
                kind,
            }))
        })
    }

    /// The number of the one connection, unless there may be several.
    pub fn connection(&self) -> Option<u64> {
        match self.kind {
            Kind::Stream(number) => Some(number),
            _ => None,
        }
    }

    /// Where a server over HTTP listens: `ADDRESS:PORT`.
    pub fn address(&self) -> Option<String> {
        match &self.kind {
            Kind::Http(_, address) => Some(address.clone()),
            _ => None,
        }
    }

    /// Waits until something happened, and gives at most `max` events, the oldest first. None at all: the endpoint is over.
    ///
    /// For one caller at a time, which waits for each answer to the end: events that were given are gone.
    pub async fn next_events(&self, max: u32) -> Vec<Event> {
        poll_fn(|cx| self.poll_events(max as usize, cx)).await
    }

    /// Makes a call; gives its id.
    ///
    /// # Errors
    /// When it can not be made; nothing was sent.
    pub fn begin(&self, connection: u64, request: Request, options: Option<RequestOptions>) -> Result<u64, Refusal> {
        guarded(|| {
            let remote = self.remote(connection)?;
            remote.with(|session, now| verbs::begin(session, request, options, now))
        })
    }

    /// Answers a call of the peer. False when it was cancelled or answered before.
    ///
    /// # Errors
    /// When the answer is none.
    pub fn respond(&self, connection: u64, id: u64, reply: Reply) -> Result<bool, Refusal> {
        guarded(|| {
            let Some(remote) = self.table().get(connection) else {
                return Ok(false);
            };
            let responded = remote.with_owed(|session, now| verbs::respond(session, id, reply, now));
            if responded.is_ok() {
                self.table().let_go(connection, id);
                self.signal.wake_if_over();
            }
            responded
        })
    }

    /// Tells a peer something, or every one where `connection` is none. False when nobody was told.
    ///
    /// # Errors
    /// When a peer can not be told this.
    pub fn notify(&self, connection: Option<u64>, notice: Notice) -> Result<bool, Refusal> {
        guarded(|| match connection {
            None => self.notify_all(&notice),
            Some(connection) => match self.table().get(connection) {
                Some(remote) => tell(&remote, notice),
                None => Ok(false),
            },
        })
    }

    /// Gives a call of ours up. False when it had ended.
    ///
    /// # Errors
    /// Never, but for a fault of this package.
    pub fn cancel(&self, connection: u64, id: u64, reason: Option<String>) -> Result<bool, Refusal> {
        guarded(|| {
            let Some(remote) = self.table().get(connection) else {
                return Ok(false);
            };
            Ok(remote.with(|session, _| verbs::cancel(session, id, reason.as_deref())))
        })
    }

    /// Gives up the stream that the answer to a call of the peer would go on, in sessions over HTTP: the peer comes back for
    /// the rest. Elsewhere it does nothing.
    pub fn end_stream(&self, connection: u64, id: u64) {
        // Not under the lock: what a connection holds may be let go of here.
        let remote = self.table().get(connection);
        if let Some(remote) = remote {
            remote.end_stream(InboundId(id));
        }
    }

    /// The HTTP request that brought a call of the peer, while that is under way. None where no request did.
    pub fn http_request(&self, connection: u64, id: u64) -> Option<HttpRequest> {
        let remote = self.table().get(connection)?;
        remote.http_request(InboundId(id)).map(Into::into)
    }

    /// The name of a session over HTTP, where it has one.
    pub fn session_id(&self, connection: u64) -> Option<String> {
        let remote = self.table().get(connection)?;
        remote.session_id().map(|id| String::from(&*id))
    }

    /// Answers `Unauthorized`: header fields to be sent from now on, none when there is nothing new, or why there are none.
    /// False when nobody waits any more.
    pub fn give_headers(&self, connection: u64, fields: Vec<HttpField>, why_not: Option<String>) -> bool {
        let fields = match why_not {
            Some(why) => Err(Error::new(ErrorKind::Usage, why)),
            None => Ok(fields.into_iter().map(|field| (field.name, field.value)).collect()),
        };
        let remote = self.table().get(connection);
        remote.is_some_and(|remote| remote.give_headers(fields))
    }

    /// Runs a command that is asked for seldom, given and answered as JSON: `caller` and what else is in
    /// `core/proto/src/session/command.rs`.
    ///
    /// # Errors
    /// A command that nobody knows, or what its verb refuses.
    pub fn command(&self, connection: u64, text: &str) -> Result<String, Refusal> {
        guarded(|| {
            Ok(self
                .remote(connection)?
                .with(|session, now| session.command(text, now))?)
        })
    }

    /// What all connections hold.
    pub fn stats(&self) -> Stats {
        let table = self.table();
        let mut sum = Stats {
            connections: table.len() as u64,
            ..Stats::default()
        };
        for remote in table.all() {
            let stats = remote.stats();
            sum.inbound += stats.inbound as u64;
            sum.outbound += stats.outbound as u64;
            sum.buffered += stats.buffered as u64;
        }
        sum
    }

    /// Ends one connection, or all of them and the endpoint with them where `connection` is none: a server over HTTP takes
    /// no more requests and lets those under way finish. The last events tell when it is done.
    pub fn close(&self, connection: Option<u64>, why: &str) {
        if let Some(connection) = connection {
            // Not under the lock: what a connection holds may be let go of here.
            let remote = self.table().get(connection);
            if let Some(remote) = remote {
                remote.close(why);
            }
            return;
        }
        let signal = Arc::clone(&self.signal);
        match &self.kind {
            Kind::Http(server, _) => server.shut_down(move || signal.end()),
            Kind::Memory(..) => {
                // No more are accepted from here on.
                signal.end();
                self.close_all(why);
            }
            Kind::Stream(_) => self.close_all(why),
        }
    }
}

impl Endpoint {
    pub(crate) fn poll_events(&self, max: usize, cx: &mut Context<'_>) -> Poll<Vec<Event>> {
        // First, so that what comes between a look and the end of this poll wakes.
        self.signal.register(cx.waker());
        let mut events = Vec::new();
        self.signal.take_lines(&mut events);
        self.take_items(max.max(1), &mut events);
        let over = self.signal.is_over() && self.table().is_done();
        if !events.is_empty() {
            return Poll::Ready(events);
        }
        if !over {
            return Poll::Pending;
        }
        // Dropped without the lock: what they hold may be let go of here.
        let ended_without_a_word = self.table().take_all();
        drop(ended_without_a_word);
        Poll::Ready(events)
    }

    fn take_items(&self, max: usize, events: &mut Vec<Event>) {
        let mut items = Vec::new();
        loop {
            let more = self.inbox.drain(max, &mut items);
            let mut table = self.table();
            for item in items.drain(..) {
                match item {
                    Item::Output(remote, output) => self.take_output(&mut table, &remote, output, events),
                    Item::Unauthorized(remote, refused) => events.push(Event {
                        connection: remote.number(),
                        what: Happening::Unauthorized {
                            status: refused.status,
                            challenge: refused.www_authenticate,
                        },
                    }),
                    // No HTTP library of the host's is served.
                    Item::Exchange(..) => {}
                }
            }
            if !more || !events.is_empty() {
                return;
            }
        }
    }

    fn take_output(&self, table: &mut Table, remote: &Remote, output: Output, events: &mut Vec<Event>) {
        let connection = remote.number();
        let over = table.see(remote, &output).into_iter();
        events.extend(over.map(|connection| Event {
            connection,
            what: Happening::Closed,
        }));
        if matches!(output, Output::Closed) && matches!(self.kind, Kind::Stream(number) if number == connection) {
            self.signal.end();
        }
        events.extend(Happening::of(output).map(|what| Event { connection, what }));
    }

    fn notify_all(&self, notice: &Notice) -> Result<bool, Refusal> {
        let mut told = Ok(false);
        let mut add = |one: Result<bool, Refusal>| {
            told = match (std::mem::replace(&mut told, Ok(false)), one) {
                (Ok(before), Ok(now)) => Ok(before || now),
                (Err(error), _) | (_, Err(error)) => Err(error),
            };
        };
        match &self.kind {
            Kind::Http(server, _) => server.with_each(|session, _| add(verbs::notify(session, notice.clone()))),
            _ => {
                let remotes: Vec<Remote> = self.table().all().cloned().collect();
                for remote in remotes {
                    add(tell(&remote, notice.clone()));
                }
            }
        }
        told
    }

    fn close_all(&self, why: &str) {
        let remotes: Vec<Remote> = self.table().all().cloned().collect();
        for remote in remotes {
            remote.close(why);
        }
    }

    fn remote(&self, connection: u64) -> Result<Remote, Refusal> {
        let ended = || Error::new(ErrorKind::Closed, "the connection has ended");
        Ok(self.table().get(connection).ok_or_else(ended)?)
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// A client of this process comes.
    fn accept(&self) -> Result<Transport, Refusal> {
        let Kind::Memory(config, registry) = &self.kind else {
            return Err(Refusal::usage("the server does not wait for clients in memory"));
        };
        let (near, far) = transport::memory();
        let mut table = self.table();
        if self.signal.is_over() {
            return Err(Error::new(ErrorKind::Closed, "the server had its client, or was closed").into());
        }
        let remote = border::serve(Config::clone(config), Arc::clone(registry), far, &self.inbox)?;
        table.add(remote);
        self.signal.end();
        Ok(near)
    }
}

impl Drop for Endpoint {
    fn drop(&mut self) {
        ENDPOINTS.fetch_sub(1, Ordering::Relaxed);
        self.close(None, "the program let go of the connection");
        self.inbox.close();
    }
}

/// An endpoint that is being made.
struct Opening {
    inbox: Arc<Inbox>,
    signal: Arc<Signal>,
    table: Table,
}

impl Default for Opening {
    fn default() -> Self {
        let signal = Arc::<Signal>::default();
        let woken = Arc::clone(&signal);
        Self {
            inbox: Inbox::new(move || woken.wake()),
            signal,
            table: Table::default(),
        }
    }
}

impl Opening {
    fn client(
        &mut self,
        spec: &Spec,
        server: &Server,
        config: Config,
        registry: Arc<oxmcp_proto::Registry>,
        peer: Option<&Endpoint>,
    ) -> Result<Kind, Refusal> {
        let timeout = spec.timeout()?;
        let remote = match server {
            Server::Command(process) => {
                let child = self.child(process)?;
                border::connect(config, registry, child, spec.probe, timeout, &self.inbox)?
            }
            Server::Http { url, settings, renews } => {
                let settings = settings.as_ref().map_or("{}", |settings| settings.get());
                let http = Http::from_json(url, settings)?;
                border::connect_http(config, registry, http, *renews, spec.probe, timeout, &self.inbox)?
            }
            Server::Memory => {
                let peer = peer.ok_or_else(|| Refusal::usage("a client in memory needs its server"))?;
                border::connect(config, registry, peer.accept()?, spec.probe, timeout, &self.inbox)?
            }
        };
        Ok(self.hold(remote))
    }

    #[cfg(not(any(target_os = "ios", target_os = "tvos", target_os = "watchos")))]
    fn child(&self, process: &Process) -> Result<oxmcp::ChildProcess, Refusal> {
        let mut child = oxmcp::ChildProcess::new(&process.program);
        if process.inherit_env {
            child = child.env_inherit_all();
        }
        child = child.args(&process.args);
        for (name, value) in &process.env {
            child = child.env(name, value);
        }
        if let Some(folder) = &process.cwd {
            child = child.current_dir(folder);
        }
        if let Some(grace) = process.grace {
            child = child.shutdown_grace(duration_from_millis("grace", grace)?);
        }
        Ok(match process.stderr {
            Stderr::Inherit => child,
            Stderr::Null => child.stderr_null(),
            Stderr::Lines => {
                let signal = Arc::clone(&self.signal);
                child.stderr_lines(move |line| signal.add_line(line))
            }
        })
    }

    #[cfg(any(target_os = "ios", target_os = "tvos", target_os = "watchos"))]
    fn child(&self, _: &Process) -> Result<oxmcp::ChildProcess, Refusal> {
        Err(Refusal::usage(
            "this system starts no child processes; connect to a URL, or in memory",
        ))
    }

    fn server(
        &mut self,
        clients: &Clients,
        config: Config,
        registry: Arc<oxmcp_proto::Registry>,
    ) -> Result<Kind, Refusal> {
        match clients {
            Clients::Stdio => {
                let runtime = border::runtime()?;
                let _entered = runtime.enter();
                let remote = border::serve(config, registry, transport::stdio()?, &self.inbox)?;
                Ok(self.hold(remote))
            }
            Clients::Memory => Ok(Kind::Memory(Box::new(config), registry)),
            Clients::Http { port, settings } => {
                let settings = settings.as_ref().map_or("{}", |settings| settings.get());
                let server = HttpServer::new(config, registry, settings, &self.inbox)?;
                let address = server.bind(*port)?.to_string();
                Ok(Kind::Http(Box::new(server), address))
            }
        }
    }

    /// The one connection of its endpoint.
    fn hold(&mut self, remote: Remote) -> Kind {
        let number = remote.number();
        self.table.add(remote);
        Kind::Stream(number)
    }
}

/// What a peer makes us say is left out for one that does not read.
fn tell(remote: &Remote, notice: Notice) -> Result<bool, Refusal> {
    match notice {
        Notice::Progress { .. } | Notice::Log { .. } => {
            if remote.is_full() {
                return Ok(false);
            }
            remote.with_owed(|session, _| verbs::notify(session, notice))
        }
        _ => remote.with(|session, _| verbs::notify(session, notice)),
    }
}
