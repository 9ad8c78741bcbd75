//! The public client.

mod builder;
mod call;
mod context;
mod host;
mod listen;
mod offer;
mod slot;
mod verbs;

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use oxmcp_proto::jsonrpc::Json;
use oxmcp_proto::{Error, ErrorKind, LogLevel, Peer};
use serde::Serialize;
use serde::de::DeserializeOwned;
use tokio::sync::watch;

pub use builder::ClientBuilder;
#[cfg(feature = "border")]
pub(crate) use builder::{VERDICTS, drive, suit};
pub use call::Call;
pub(crate) use call::Pending;
pub use context::ClientContext;
pub use listen::{Listening, Notification};
pub use offer::IntoElicitResult;
pub(crate) use slot::{News, Slot};

use crate::driver::Link;
use crate::transport::{Group, IntoTransport};
use crate::types::{Implementation, Root, ServerCapabilities, object};
use crate::{CallToolResult, Stats};
use listen::Listeners;

/// A client, connected to one server. Clones share the connection.
///
/// Calls are futures: nothing is sent before they are awaited, dropping one cancels it, and any
/// number may be under way at once.
///
/// [`close`](Self::close) ends the connection in order. When the last clone is dropped without it,
/// the connection ends at once, and a server that was started as a child process is killed.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use oxmcp::{Client, Context, NoArguments, Server, transport};
///
/// let server = Server::new("demo", "1.0")
///     .tool("greet", "Greets.", |_: Context, _: NoArguments| async { Ok("Hello") });
/// let (near, far) = transport::memory();
/// tokio::spawn(server.serve(far));
///
/// let client = Client::connect(near).await?;
/// assert_eq!(client.list_tools().await?[0].name, "greet");
/// assert_eq!(client.call_tool("greet", ()).await?.text(), "Hello");
/// client.close().await;
/// # Ok::<(), oxmcp::Error>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug)]
pub struct Client {
    inner: Arc<Inner>,
}

/// What the clones of a client, and its calls under way, share.
#[derive(Debug)]
struct Inner {
    link: Arc<Link>,
    timeout: Duration,
    child: Option<Group>,
    ended: watch::Receiver<()>,
    peer: Peer,
    info: Implementation,
    listeners: Arc<Listeners>,
    /// What the client answers `roots/list` with, unless a handler does.
    roots: Option<Arc<Mutex<Vec<Root>>>>,
    /// One more than the place of the level in [`LogLevel::ALL`]; zero is none (2026-07-28).
    log_level: AtomicU8,
}

impl Inner {
    /// The level of log messages that calls ask for, where each has to.
    fn log_level(&self) -> Option<LogLevel> {
        let place = self.log_level.load(Ordering::Relaxed).checked_sub(1)?;
        LogLevel::ALL.get(usize::from(place)).copied()
    }
}

impl Drop for Inner {
    fn drop(&mut self) {
        self.link.close("every handle of the client was dropped");
        if let Some(child) = &self.child {
            // Not left to the driver: the runtime may never run again.
            child.kill();
        }
    }
}

impl Client {
    /// Connects with the default settings, and returns when it is done.
    ///
    /// Takes a [`ChildProcess`](crate::ChildProcess), a [`Transport`](crate::transport::Transport) or, with the feature
    /// `http`, the URL of a server, alone or with settings (`transport::Http`). Needs a tokio runtime with time and I/O
    /// enabled, on which the connection runs.
    ///
    /// # Errors
    /// [`ErrorKind::Closed`] when the server cannot be started or reached, or leaves,
    /// [`ErrorKind::Timeout`] when it does not answer within 60 s, [`ErrorKind::Protocol`] when
    /// it speaks none of our revisions, [`ErrorKind::Response`] when it refuses, [`ErrorKind::Usage`] for a URL that is
    /// none.
    ///
    /// ```no_run
    /// # async fn run() -> Result<(), oxmcp::Error> {
    /// use oxmcp::{ChildProcess, Client};
    ///
    /// let client = Client::connect(ChildProcess::new("my-server")).await?;
    /// println!("{}", client.server_info().name);
    /// # Ok(())
    /// # }
    /// ```
    pub async fn connect(server: impl IntoTransport) -> Result<Self, Error> {
        Self::builder().connect(server).await
    }

    /// A client with settings of its own.
    pub fn builder() -> ClientBuilder {
        ClientBuilder::new()
    }

    /// Who the server says it is. Name and version are empty where it did not say (2026-07-28).
    pub fn server_info(&self) -> &Implementation {
        &self.inner.info
    }

    /// What the server can do.
    pub fn server_capabilities(&self) -> ServerCapabilities {
        serde_json::from_str(self.inner.peer.capabilities.get()).unwrap_or_default()
    }

    /// All that the server said when the client connected: the revision, its info and capabilities as they
    /// came, and its instructions.
    pub fn peer(&self) -> &Peer {
        &self.inner.peer
    }

    /// Calls a tool. `arguments` is anything that serialises to a JSON object; `()` is none.
    ///
    /// A tool that fails is a result with [`is_error`](CallToolResult::is_error), not an error.
    ///
    /// # Errors
    /// [`ErrorKind::Response`] when the server answers with an error, [`ErrorKind::Timeout`],
    /// [`ErrorKind::Closed`], [`ErrorKind::NotNegotiated`] when the server has no tools,
    /// [`ErrorKind::Usage`] when the arguments are no object, [`ErrorKind::Protocol`] when the
    /// answer is no result of a tool.
    ///
    /// ```no_run
    /// # async fn run(client: oxmcp::Client) -> Result<(), oxmcp::Error> {
    /// use std::time::Duration;
    ///
    /// let result = client
    ///     .call_tool("index", serde_json::json!({"folder": "/srv"}))
    ///     .timeout(Duration::from_secs(10))
    ///     .reset_timeout_on_progress()
    ///     .max_total_timeout(Duration::from_secs(600))
    ///     .on_progress(|it| eprintln!("{} of {:?}", it.progress, it.total))
    ///     .await?;
    /// println!("{}", result.text());
    /// # Ok(())
    /// # }
    /// ```
    pub fn call_tool(&self, name: impl AsRef<str>, arguments: impl Serialize) -> Call<CallToolResult> {
        #[derive(Serialize)]
        struct Params<'a> {
            name: &'a str,
            #[serde(skip_serializing_if = "Option::is_none")]
            arguments: Option<Json>,
        }
        let name = name.as_ref();
        let params = object(&arguments, "the arguments of a tool").and_then(|arguments| {
            let params = Params { name, arguments };
            object(&params, "the params of tools/call")
        });
        Call::new(Arc::clone(&self.inner), "tools/call".into(), params, read)
    }

    /// Makes any request, for methods this version has no function for. `params` is anything that
    /// serialises to a JSON object; `()` is none.
    ///
    /// # Errors
    /// As for [`call_tool`](Self::call_tool); [`ErrorKind::NotNegotiated`] when the server does not
    /// declare the capability the method rests on.
    ///
    /// ```no_run
    /// # async fn run(client: oxmcp::Client) -> Result<(), oxmcp::Error> {
    /// let result = client.request("resources/read", serde_json::json!({"uri": "file:///etc/hosts"})).await?;
    /// println!("{}", result.get());
    /// # Ok(())
    /// # }
    /// ```
    pub fn request(&self, method: impl Into<String>, params: impl Serialize) -> Call<Json> {
        let method = method.into();
        let params = object(&params, &format!("the params of {method}"));
        Call::new(Arc::clone(&self.inner), method, params, |_, result| Ok(result))
    }

    /// Asks the server for a sign of life.
    ///
    /// # Errors
    /// As for [`request`](Self::request).
    pub fn ping(&self) -> Call<()> {
        let method = self.peer().revision.ping_method();
        Call::new(Arc::clone(&self.inner), method.into(), Ok(None), |_, _| Ok(()))
    }

    /// Sends a notification. It is written soon, in the order of all that is sent.
    ///
    /// # Errors
    /// [`ErrorKind::Closed`] when the connection has ended, [`ErrorKind::Usage`] when `params` is no
    /// object.
    pub fn notify(&self, method: &str, params: impl Serialize) -> Result<(), Error> {
        let params = object(&params, &format!("the params of {method}"))?;
        self.inner.link.notify(method, params.as_ref().map(|json| json.get()))
    }

    /// Sets what the client answers when a server asks for its roots, and tells the server.
    ///
    /// # Errors
    /// [`ErrorKind::Usage`] when the client was built without [`roots`](ClientBuilder::roots),
    /// [`ErrorKind::Closed`] when the connection has ended.
    pub fn set_roots(&self, roots: Vec<Root>) -> Result<(), Error> {
        let Some(own) = &self.inner.roots else {
            let message = "this client declared no roots; build it with ClientBuilder::roots";
            return Err(Error::new(ErrorKind::Usage, message));
        };
        *own.lock().unwrap_or_else(PoisonError::into_inner) = roots;
        // Without a handshake, servers ask when they need them.
        match self.inner.peer.revision.has_handshake() {
            true => self.inner.link.notify("notifications/roots/list_changed", None),
            false => Ok(()),
        }
    }

    /// What the connection holds at the moment.
    pub fn stats(&self) -> Stats {
        self.inner.link.stats()
    }

    /// Ends the connection, and returns when it has ended: calls under way fail with
    /// [`ErrorKind::Closed`], and a server that is a child process has left or was made to. That
    /// takes 8 s at the very most, unless the child's grace was set. Over HTTP, what is left to be said is sent and the
    /// session ended, within 2 s each unless set otherwise. May be called any number of times.
    pub async fn close(&self) {
        self.inner.link.close("the client closed the connection");
        let mut ended = self.inner.ended.clone();
        // Nothing is ever sent: the driver drops the other side at its end.
        while ended.changed().await.is_ok() {}
    }
}

/// A result of the server as a type.
#[expect(clippy::boxed_local, reason = "it has the shape of what reads the result of a call")]
fn read<T: DeserializeOwned>(method: &str, result: Json) -> Result<T, Error> {
    serde_json::from_str(result.get()).map_err(|error| {
        let message = format!("the server's answer to {method} is broken: {error}");
        Error::new(ErrorKind::Protocol, message)
    })
}
