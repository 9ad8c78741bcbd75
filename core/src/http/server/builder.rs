//! The settings of a service.

use std::net::{IpAddr, Ipv4Addr};
use std::sync::Arc;
use std::time::Duration;

use oxmcp_proto::http::{BadName, Endpoint, EventLimits, Guard, Sessions};
use oxmcp_proto::{Config, Error, ErrorKind};

use super::HttpService;
use super::listen::{HttpServing, Listening};
#[cfg(feature = "border")]
use super::route::Routes;
use super::shared::{Settings, Shared};
use super::state::{MemoryState, SharedState, StateLimits};
use crate::Server;
use crate::server::Served;

/// How a server is served over HTTP, from [`Server::http`].
#[derive(Clone, Debug)]
pub struct HttpBuilder {
    server: Arc<dyn Served>,
    address: IpAddr,
    hosts: Vec<String>,
    any_host: bool,
    origins: Vec<String>,
    sessions: bool,
    http_sse: bool,
    max_sessions: usize,
    session_idle: Duration,
    events: EventLimits,
    body_limit: Option<usize>,
    state: Option<Arc<dyn SharedState>>,
    settings: Settings,
    listening: Listening,
}

impl Server {
    /// Serves it over HTTP: see [`HttpBuilder::bind`] and [`HttpBuilder::build`].
    pub fn http(&self) -> HttpBuilder {
        HttpBuilder::new(Arc::new(self.clone()))
    }
}

impl HttpBuilder {
    pub(crate) fn new(server: Arc<dyn Served>) -> Self {
        Self {
            server,
            address: Ipv4Addr::LOCALHOST.into(),
            hosts: Vec::new(),
            any_host: false,
            origins: Vec::new(),
            sessions: true,
            http_sse: false,
            max_sessions: 10_000,
            session_idle: Duration::from_secs(30 * 60),
            events: EventLimits::default(),
            body_limit: None,
            state: None,
            settings: Settings {
                json_only: false,
                keep_alive: Duration::from_secs(15),
                retry: Duration::from_secs(1),
                body_timeout: Duration::from_secs(30),
                resumable: true,
            },
            listening: Listening::default(),
        }
    }

    /// The address of this machine to listen on: 127.0.0.1 unless set. One that others can reach needs the
    /// names under which they do, see [`host`](Self::host).
    #[must_use]
    pub fn address(mut self, address: impl Into<IpAddr>) -> Self {
        self.address = address.into();
        self
    }

    /// Also serves requests for this host: a name, or an address, whatever the port. On a loopback address the
    /// names of this machine are served without being listed.
    ///
    /// A web page can let any name point to this machine (DNS rebinding), so requests for other hosts are
    /// refused.
    #[must_use]
    pub fn host(mut self, name: impl Into<String>) -> Self {
        self.hosts.push(name.into());
        self
    }

    /// Serves requests for any host, where something before this server checks them.
    #[must_use]
    pub fn any_host(mut self) -> Self {
        self.any_host = true;
        self
    }

    /// Also serves web pages of this origin, such as `https://app.example.com`. Pages of the hosts that are
    /// served need not be listed.
    #[must_use]
    pub fn origin(mut self, origin: impl Into<String>) -> Self {
        self.origins.push(origin.into());
        self
    }

    /// Keeps no sessions: each request stands for itself in all revisions, and handlers cannot ask clients of
    /// older ones for anything.
    #[must_use]
    pub fn stateless(mut self) -> Self {
        self.sessions = false;
        self
    }

    /// Answers requests by JSON, never by event streams. Progress and log messages then go on the stream of the
    /// session, if there is one. `subscriptions/listen` is a stream all the same.
    #[must_use]
    pub fn json_only(mut self) -> Self {
        self.settings.json_only = true;
        self
    }

    /// Also serves clients that know only the HTTP+SSE transport of revision 2024-11-05, on the same path.
    #[must_use]
    pub fn http_sse(mut self) -> Self {
        self.http_sse = true;
        self
    }

    /// How many sessions there may be; 10,000 unless set. A client that would begin one more is told to come
    /// back later (503).
    #[must_use]
    pub fn max_sessions(mut self, count: usize) -> Self {
        self.max_sessions = count;
        self
    }

    /// How long a session may be without a request or an open stream before it ends; 30 minutes unless set.
    #[must_use]
    pub fn session_idle(mut self, idle: Duration) -> Self {
        self.session_idle = idle;
        self
    }

    /// How much is kept of streams, for clients that lost their connection. Where processes
    /// [share](Self::shared) their state by Redis, the bytes are those of one session.
    #[must_use]
    pub fn events(mut self, limits: EventLimits) -> Self {
        self.events = limits;
        self
    }

    /// Shares sessions, streams and news with other processes, so that they act as one server: see
    /// [several processes](crate::http#several-processes). All of them must offer the same, and have the same
    /// [keys](Server::state_keys).
    #[must_use]
    pub fn shared(mut self, state: impl SharedState + 'static) -> Self {
        self.state = Some(Arc::new(state));
        self
    }

    /// Keeps nothing of streams: they cannot be resumed.
    #[must_use]
    pub fn not_resumable(mut self) -> Self {
        self.settings.resumable = false;
        self
    }

    /// How long clients are told to wait before they resume a stream; one second unless set.
    #[must_use]
    pub fn retry(mut self, retry: Duration) -> Self {
        self.settings.retry = retry;
        self
    }

    /// After how long a silence a stream gets a comment, so that nothing on the way takes it for dead; 15 seconds
    /// unless set. A response that may be a stream becomes one when there is no answer within a second, or this time if
    /// that is shorter.
    #[must_use]
    pub fn keep_alive(mut self, every: Duration) -> Self {
        self.settings.keep_alive = every;
        self
    }

    /// The largest body of a request, in bytes; as much as [`Limits::message`](crate::Limits::message) unless
    /// set.
    #[must_use]
    pub fn body_limit(mut self, bytes: usize) -> Self {
        self.body_limit = Some(bytes);
        self
    }

    /// How long the body of a request may take to come; 30 seconds unless set.
    #[must_use]
    pub fn body_timeout(mut self, timeout: Duration) -> Self {
        self.settings.body_timeout = timeout;
        self
    }

    /// The path that [`bind`](Self::bind) serves; `/mcp` unless set.
    #[must_use]
    pub fn path(mut self, path: impl Into<String>) -> Self {
        self.listening.path = path.into().into();
        self
    }

    /// How many connections [`bind`](Self::bind) serves at the same time; 16,384 unless set. Others wait.
    #[must_use]
    pub fn max_connections(mut self, count: usize) -> Self {
        self.listening.connections = count;
        self
    }

    /// How long the head of a request may take to come, and a connection may be idle between two requests; 60
    /// seconds unless set. Applies to [`bind`](Self::bind).
    #[must_use]
    pub fn head_timeout(mut self, timeout: Duration) -> Self {
        self.listening.head_timeout = timeout;
        self
    }

    /// How long a client may take nothing of what is written to it; 60 seconds unless set. Applies to
    /// [`bind`](Self::bind).
    #[must_use]
    pub fn write_timeout(mut self, timeout: Duration) -> Self {
        self.listening.write_timeout = timeout;
        self
    }

    /// What answers requests to the port of [`bind`](Self::bind) for other paths.
    #[cfg(feature = "border")]
    #[must_use]
    pub(crate) fn routes(mut self, routes: Arc<dyn Routes>) -> Self {
        self.listening.routes = Some(routes);
        self
    }

    /// The service, for an app that listens itself. Unless [hosts](Self::host) are listed, it serves the names of
    /// this machine only.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when the server was built wrong, or a host or an origin is none, or what is
    /// [shared](Self::shared) does not go with the other settings.
    pub fn build(&self) -> Result<HttpService, Error> {
        let mut config = self.server.config()?;
        config.routed = true;
        self.check_shared(&config)?;
        let config = Arc::new(config);
        let mut endpoint = Endpoint::new(
            self.guard()
                .map_err(|bad| Error::new(ErrorKind::Usage, bad.to_string()))?,
        );
        endpoint.revisions.clone_from(&config.revisions);
        endpoint.sessions = self.sessions;
        endpoint.http_sse = self.http_sse;
        endpoint.body_limit = self.body_limit.unwrap_or(config.limits.message);
        endpoint.json_depth = config.limits.depth;
        let sessions = Sessions::new(self.max_sessions, self.session_idle);
        let limits = StateLimits {
            sessions: self.max_sessions,
            idle: self.session_idle,
            events: self.events,
        };
        let state = self.state.clone();
        let state = state.unwrap_or_else(|| Arc::new(MemoryState::new(self.events)));
        let shared = Shared::new(
            Arc::clone(&self.server),
            config,
            endpoint,
            self.settings.clone(),
            sessions,
            Arc::clone(&state),
        );
        let process = Arc::downgrade(&shared);
        state.join(process, limits)?;
        Ok(HttpService { shared })
    }

    /// Listens on a port of this machine; 0 is any free one. Nothing is served until the result is awaited or
    /// spawned.
    ///
    /// # Errors
    /// As for [`build`](Self::build), and [`ErrorKind::Closed`] when the port cannot be listened on.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// let serving = oxmcp::Server::new("demo", "1.0").http().bind(0).await?;
    /// println!("http://{}/mcp", serving.local_addr());
    /// let handle = serving.handle();
    /// let served = tokio::spawn(serving);
    /// handle.shut_down();
    /// served.await??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub async fn bind(&self, port: u16) -> Result<HttpServing, Error> {
        self.bind_service(self.build()?, port).await
    }

    pub(crate) async fn bind_service(&self, service: HttpService, port: u16) -> Result<HttpServing, Error> {
        let drain = service.shared.config.limits.drain;
        let listening = Listening {
            drain,
            ..self.listening.clone()
        };
        listening.bind((self.address, port).into(), service).await
    }

    /// Whether the settings go with a state that processes share.
    fn check_shared(&self, config: &Config) -> Result<(), Error> {
        if !self.state.as_ref().is_some_and(|state| state.is_shared()) {
            return Ok(());
        }
        let wrong = |what: &str| Err(Error::new(ErrorKind::Usage, what));
        if config.revisions.iter().any(|it| !it.has_handshake()) && !self.server.has_keys() {
            return wrong(
                "processes that share their state need the same keys to seal with, or one cannot read what another \
                 gave to a client: set state_keys",
            );
        }
        if self.http_sse {
            return wrong("connections of HTTP+SSE (http_sse) cannot be shared by processes");
        }
        if !self.settings.resumable {
            return wrong("processes that share their state keep streams in it, so not_resumable does not go with it");
        }
        Ok(())
    }

    fn guard(&self) -> Result<Guard, BadName> {
        let guard = match self.any_host {
            true => Guard::any_host(),
            false => Guard::for_address(self.address, &self.hosts)?,
        };
        self.origins
            .iter()
            .try_fold(guard, |guard, origin| guard.with_origin(origin))
    }
}
