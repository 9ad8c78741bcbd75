//! How a client is set up, and its side of the connection.

use std::fmt;
use std::sync::Arc;
use std::time::Duration;

use oxmcp_proto::jsonrpc::Json;
use oxmcp_proto::{Config, Direction, Error, ErrorKind, Implementation, Limits, Peer, Problem, Session};
use tokio::sync::{oneshot, watch};

use super::{Client, Inner, read};
use crate::driver::{Driver, Host, Link, ToolCall};
use crate::transport::{Child, IntoTransport};

/// How long a peer that takes nothing may hold up the end of a connection.
const PATIENCE: Duration = Duration::from_secs(2);

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
    hooks: Hooks,
}

/// What the program wants to be told.
#[derive(Default)]
struct Hooks {
    on_problem: Option<OnProblem>,
    on_notification: Option<OnNotification>,
    on_trace: Option<OnTrace>,
}

type OnProblem = Box<dyn Fn(&Problem) + Send>;
type OnNotification = Box<dyn Fn(&str, Option<Json>) + Send>;
type OnTrace = Box<dyn Fn(Direction, &str) + Send>;

impl ClientBuilder {
    pub(super) fn new() -> Self {
        Self {
            config: Config::new(Implementation::new("oxmcp", crate::VERSION)),
            connect_timeout: None,
            hooks: Hooks::default(),
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

    /// Asks the server first whether it speaks 2026-07-28, which has no handshake. Costs servers of
    /// older revisions one more round trip.
    #[must_use]
    pub fn probe(mut self) -> Self {
        self.config.probe = true;
        self
    }

    /// How long the handshake may take. As long as a call unless set.
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

    /// Is told of what is wrong with what the server sends without being the answer to a call. The
    /// connection goes on. `hook` runs on the runtime and must not block.
    #[must_use]
    pub fn on_problem(mut self, hook: impl Fn(&Problem) + Send + 'static) -> Self {
        self.hooks.on_problem = Some(Box::new(hook));
        self
    }

    /// Is told of notifications that belong to no call, with their params. `hook` runs on the
    /// runtime and must not block.
    #[must_use]
    pub fn on_notification(mut self, hook: impl Fn(&str, Option<Json>) + Send + 'static) -> Self {
        self.hooks.on_notification = Some(Box::new(hook));
        self
    }

    /// Is shown every message, as it is on the wire and in its order. `hook` runs on the runtime and
    /// must not block.
    #[must_use]
    pub fn on_trace(mut self, hook: impl Fn(Direction, &str) + Send + 'static) -> Self {
        self.config.trace = true;
        self.hooks.on_trace = Some(Box::new(hook));
        self
    }

    /// Connects, and returns when the handshake is complete. Dropping it before that ends the
    /// attempt.
    ///
    /// # Errors
    /// As for [`Client::connect`].
    pub async fn connect(self, server: impl IntoTransport) -> Result<Client, Error> {
        let transport = server.into_transport()?;
        let child = transport.child.as_ref().map(Child::group);
        let timeout = self.config.timeout;
        let link = Link::new(Session::client(self.config));
        let (connected, connection) = oneshot::channel();
        let (running, ended) = watch::channel(());
        let host = ClientHost {
            connected: Some(connected),
            hooks: self.hooks,
        };
        link.connect(self.connect_timeout)?;
        let driver = Driver::new(Arc::clone(&link), host, transport);
        tokio::spawn(async move {
            // Its failure is in the errors of the calls.
            let _ = driver.run(PATIENCE).await;
            drop(running);
        });
        let attempt = Attempt { link, kept: false };
        let peer = connection
            .await
            .unwrap_or_else(|_| Err(Error::new(ErrorKind::Closed, "the runtime ended")))?;
        let info = read("initialize", &peer.info)?;
        Ok(Client {
            inner: Arc::new(Inner {
                link: attempt.keep(),
                timeout,
                child,
                ended,
                peer,
                info,
            }),
        })
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

/// The client's side of one connection.
struct ClientHost {
    connected: Option<oneshot::Sender<Result<Peer, Error>>>,
    hooks: Hooks,
}

impl ClientHost {
    fn connected(&mut self, outcome: Result<Peer, Error>) {
        if let Some(connected) = self.connected.take() {
            // Whoever gave up waiting does not want to know.
            let _ = connected.send(outcome);
        }
    }
}

impl Host for ClientHost {
    fn tool_call(&mut self, _: &Arc<Link>, call: ToolCall, _: &mut std::task::Context<'_>) {
        unreachable!("a client offers no tools, and got {call:?}");
    }

    fn ready(&mut self, peer: Peer) {
        self.connected(Ok(peer));
    }

    fn connect_failed(&mut self, error: Error) {
        self.connected(Err(error));
    }

    fn notification(&mut self, method: &str, params: Option<Json>) {
        if let Some(hook) = &self.hooks.on_notification {
            guarded(|| hook(method, params));
        }
    }

    fn problem(&mut self, problem: &Problem) {
        if let Some(hook) = &self.hooks.on_problem {
            guarded(|| hook(problem));
        }
    }

    fn trace(&mut self, direction: Direction, line: &str) {
        if let Some(hook) = &self.hooks.on_trace {
            guarded(|| hook(direction, line));
        }
    }
}

/// Runs a hook. One that panics must not take the connection with it.
fn guarded(hook: impl FnOnce()) {
    let _ = std::panic::catch_unwind(std::panic::AssertUnwindSafe(hook));
}
