//! How a client is set up, and its side of the connection.

use std::fmt;
use std::sync::atomic::AtomicU8;
use std::sync::{Arc, LazyLock};
use std::time::Duration;

use oxmcp_proto::jsonrpc::Json;
use oxmcp_proto::types::LoggingMessageNotificationParams;
use oxmcp_proto::{
    Config, Direction, Error, ErrorKind, Implementation, Limits, Peer, Problem, Revision, Session, Verdicts,
};
use tokio::sync::{oneshot, watch};

use super::host::{ClientHost, Told};
use super::listen::Listeners;
use super::offer::Offers;
use super::{Client, Inner, read};
use crate::driver::{Driver, Host, Link};
use crate::handler::{Hooks, Runner};
use crate::transport::{Child, IntoTransport, Transport};
use crate::types;

/// How long a peer that takes nothing may hold up the end of a connection.
const PATIENCE: Duration = Duration::from_secs(2);

/// Which commands start servers of the handshake, and at which URLs there are some.
pub(crate) static VERDICTS: LazyLock<Verdicts> = LazyLock::new(Verdicts::default);

/// The settings of a client, from [`Client::builder`].
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use std::time::Duration;
/// use oxmcp::{Client, Server, transport};
///
/// let (near, far) = transport::memory();
/// tokio::spawn(Server::new("demo", "1.0").serve(far));
/// let client = Client::builder()
///     .info("my-client", "2.0")
///     .timeout(Duration::from_secs(10))
///     .on_problem(|problem| eprintln!("{}", problem.message))
///     .connect(near)
///     .await?;
/// # client.close().await;
/// # Ok::<(), oxmcp::Error>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct ClientBuilder {
    config: Config,
    connect_timeout: Option<Duration>,
    probe: Option<bool>,
    hooks: Hooks,
    told: Told,
    pub(super) offers: Offers,
}

impl ClientBuilder {
    pub(super) fn new() -> Self {
        Self {
            config: Config::new(Implementation::new("oxmcp", crate::VERSION)),
            connect_timeout: None,
            probe: None,
            hooks: Hooks::default(),
            told: Told::default(),
            offers: Offers::default(),
        }
    }

    /// Sets who the client says it is.
    #[must_use]
    pub fn info(mut self, name: impl Into<String>, version: impl Into<String>) -> Self {
        self.config.info = Implementation::new(name, version);
        self
    }

    /// How long a call may go without an answer, unless the call says otherwise. 60 s unless set.
    #[must_use]
    pub fn timeout(mut self, timeout: Duration) -> Self {
        self.config.timeout = timeout;
        self
    }

    /// Whether to ask the server first if it speaks a revision without a handshake, which costs others one more
    /// round trip. Unless set, servers are asked; one that is started by a command, or is at a URL, is not, if
    /// before in this process that led to a server of the handshake. A child process that leaves when it is asked is
    /// started once more.
    #[must_use]
    pub fn probe(mut self, probe: bool) -> Self {
        self.probe = Some(probe);
        self
    }

    /// The revisions of the protocol it speaks. All unless set.
    #[must_use]
    pub fn revisions(mut self, revisions: impl IntoIterator<Item = Revision>) -> Self {
        self.config.revisions = revisions.into_iter().collect();
        self
    }

    /// Keeps results for as long as the server says they stay fresh (2026-07-28). On unless set;
    /// [`Call::fresh`](crate::Call::fresh) asks anew.
    #[must_use]
    pub fn response_cache(mut self, on: bool) -> Self {
        self.config.response_cache = on;
        self
    }

    /// Checks the structured content of tools against the output schemas that were listed. On unless set.
    #[must_use]
    pub fn validate_results(mut self, on: bool) -> Self {
        self.config.validate_results = on;
        self
    }

    /// How long connecting may take. As long as a call unless set. A server that does not answer the question of
    /// [`probe`](Self::probe) within this time, or 5 s, has as long again for its handshake.
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.connect_timeout = Some(timeout);
        self
    }

    /// Sets the bounds on what a server can make the client hold.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// Is told of what is wrong with what the server sends without being the answer to a call, and of handlers
    /// that fail. The connection goes on. `hook` runs on the runtime and must not block.
    #[must_use]
    pub fn on_problem(mut self, hook: impl Fn(&Problem) + Send + Sync + 'static) -> Self {
        self.hooks.on_problem = Some(Arc::new(hook));
        self
    }

    /// Is told of notifications that belong to no call, with their params. `hook` runs on the
    /// runtime and must not block.
    #[must_use]
    pub fn on_notification(mut self, hook: impl Fn(&str, Option<Json>) + Send + 'static) -> Self {
        self.told.on_notification = Some(Box::new(hook));
        self
    }

    /// Is told of log messages. `hook` runs on the runtime and must not block.
    ///
    /// ```
    /// use oxmcp::Client;
    ///
    /// let builder = Client::builder().on_log(|message| eprintln!("{}: {}", message.level, message.data.get()));
    /// ```
    #[must_use]
    pub fn on_log(mut self, hook: impl Fn(LoggingMessageNotificationParams) + Send + 'static) -> Self {
        self.told.on_log = Some(Box::new(hook));
        self
    }

    /// Is shown every message, as it is on the wire and in its order. `hook` runs on the runtime and
    /// must not block.
    #[must_use]
    pub fn on_trace(mut self, hook: impl Fn(Direction, &str) + Send + Sync + 'static) -> Self {
        self.config.trace = true;
        self.hooks.on_trace = Some(Arc::new(hook));
        self
    }

    /// Connects, and returns when that is done. Dropping it before that ends the attempt.
    ///
    /// # Errors
    /// As for [`Client::connect`]; [`ErrorKind::Usage`] when the client was built wrong.
    pub async fn connect(mut self, server: impl IntoTransport) -> Result<Client, Error> {
        if let Some(error) = self.offers.broken.take() {
            return Err(error);
        }
        let transport = server.into_transport()?;
        let server = suit(&mut self.config, self.probe, &transport);
        let connected = self.connect_by(transport).await;
        match (&server, &connected) {
            (Some(server), Ok(client)) => VERDICTS.learn(server, client.peer().revision),
            (Some(server), Err(_)) => VERDICTS.forget(server),
            (None, _) => {}
        }
        connected
    }

    async fn connect_by(mut self, transport: Transport) -> Result<Client, Error> {
        self.offers.finish();
        self.config.capabilities = self.offers.capabilities()?;
        let child = transport.child.as_ref().map(Child::group);
        let timeout = self.config.timeout;
        let link = Link::new(Session::client_with(self.config, self.offers.registry));
        let (connected, connection) = oneshot::channel();
        let (running, ended) = watch::channel(());
        let listeners = Arc::<Listeners>::default();
        let host = ClientHost {
            connected: Some(connected),
            runner: Runner::new(self.hooks),
            told: self.told,
            handlers: self.offers.handlers,
            listeners: Arc::clone(&listeners),
        };
        link.connect(self.connect_timeout)?;
        let driving = drive(Arc::clone(&link), host, transport);
        tokio::spawn(async move {
            driving.await;
            drop(running);
        });
        let attempt = Attempt { link, kept: false };
        let peer = connection
            .await
            .unwrap_or_else(|_| Err(Error::new(ErrorKind::Closed, "the runtime ended")))?;
        let info = read_info(&peer)?;
        Ok(Client {
            inner: Arc::new(Inner {
                link: attempt.keep(),
                timeout,
                child,
                ended,
                peer,
                info,
                listeners,
                roots: self.offers.roots,
                log_level: AtomicU8::new(0),
            }),
        })
    }
}

/// Suits the settings to a transport. Gives what the era of the server is to be remembered by, if it is.
pub(crate) fn suit(config: &mut Config, probe: Option<bool>, transport: &Transport) -> Option<String> {
    // A client of one era finds out nothing about the other.
    let is_of_both = |handshake| config.revisions.iter().any(|it| it.has_handshake() == handshake);
    let learns = probe.is_none() && is_of_both(true) && is_of_both(false) && transport.may_probe();
    let server = transport.server().filter(|_| learns);
    let should_probe = || server.as_ref().is_none_or(|server| VERDICTS.should_probe(server));
    config.probe = transport.may_probe() && probe.unwrap_or_else(should_probe);
    config.routed = transport.is_routed();
    server
}

/// Moves a connection from its start to its end. Its failure is in the errors of the calls.
pub(crate) async fn drive(link: Arc<Link>, host: impl Host, transport: Transport) {
    #[cfg(feature = "http")]
    let transport = {
        let mut transport = transport;
        if let Some(server) = transport.http.take() {
            return crate::http::client::run(link, Box::new(host), *server).await;
        }
        transport
    };
    let _ = Driver::new(link, host, transport).run(PATIENCE).await;
}

/// Who the server says it is. Without a handshake it need not say.
fn read_info(peer: &Peer) -> Result<types::Implementation, Error> {
    match peer.info.get() {
        "{}" if !peer.revision.has_handshake() => Ok(types::Implementation::new("", "")),
        _ => read("initialize", peer.info.clone()),
    }
}

impl fmt::Debug for ClientBuilder {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("ClientBuilder")
            .field("config", &self.config)
            .finish_non_exhaustive()
    }
}

/// A connection that is being made; ends with the future that makes it.
struct Attempt {
    link: Arc<Link>,
    kept: bool,
}

impl Attempt {
    fn keep(mut self) -> Arc<Link> {
        self.kept = true;
        Arc::clone(&self.link)
    }
}

impl Drop for Attempt {
    fn drop(&mut self) {
        if !self.kept {
            self.link.close("the attempt to connect was given up");
        }
    }
}
