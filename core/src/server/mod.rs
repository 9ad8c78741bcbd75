//! The public server: tools, and how they are served.

mod call;
mod context;
mod run;
mod tool;

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, OnceLock};
use std::task::{self, Poll};

use oxmcp_proto::{
    Config, Direction, Error, ErrorKind, Implementation, Limits, Peer, Problem, Registry, RegistryError, Session,
};
use schemars::JsonSchema;
use serde::de::DeserializeOwned;

pub(crate) use call::Call;
pub use context::Context;
pub(crate) use tool::Reply;
pub use tool::{IntoToolResult, Json, NoArguments, ToolError};

use crate::Stats;
use crate::driver::{Driver, Link};
use crate::transport::{self, Transport};
use run::{Hooks, ServerHost};
use tool::Handler;

/// A server: what it is called, what it offers, and what to do with errors that are nobody's answer.
///
/// It is built step by step, and may then serve any number of connections; clones share all.
///
/// A tool is an async function of a [`Context`] and its arguments, a type with
/// [`serde::Deserialize`] and [`schemars::JsonSchema`]. Its input schema is made from that type, and
/// arguments that do not fit it are refused before the function is called. What it returns is
/// any type with [`IntoToolResult`]; a [`ToolError`], which any error becomes by `?`, is a
/// result that tells the model what failed.
///
/// ```
/// use oxmcp::{Client, Context, Server, ToolError, transport};
///
/// #[derive(serde::Deserialize, schemars::JsonSchema)]
/// struct Add {
///     /// The first number.
///     a: i64,
///     /// The second number.
///     b: i64,
/// }
///
/// async fn add(_: Context, Add { a, b }: Add) -> Result<String, ToolError> {
///     let sum = a.checked_add(b).ok_or_else(|| ToolError::new("the sum does not fit 64 bits"))?;
///     Ok(sum.to_string())
/// }
///
/// let server = Server::new("calculator", "1.0").tool("add", "Adds two numbers.", add);
///
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// let (near, far) = transport::memory();
/// tokio::spawn(server.serve(far));
/// let client = Client::connect(near).await?;
/// let result = client.call_tool("add", serde_json::json!({"a": 2, "b": 3})).await?;
/// assert_eq!(result.text(), "5");
/// # Ok::<(), oxmcp::Error>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Server {
    config: Config,
    registry: Arc<Registry>,
    tools: Arc<Vec<Tool>>,
    hooks: Hooks,
    /// The first thing that was wrong with what was built.
    broken: Option<Error>,
}

pub(crate) struct Tool {
    pub name: Box<str>,
    pub run: Handler,
}

impl Server {
    /// A server without tools. `version` is the version of the server, not of the protocol.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        Self {
            config: Config::new(Implementation::new(name, version)),
            registry: Arc::default(),
            tools: Arc::default(),
            hooks: Hooks::default(),
            broken: None,
        }
    }

    /// Sets the name that people see.
    #[must_use]
    pub fn title(mut self, title: impl Into<String>) -> Self {
        self.config.info.title = Some(title.into());
        self
    }

    /// Tells a model how to use this server.
    #[must_use]
    pub fn instructions(mut self, text: impl Into<String>) -> Self {
        self.config.instructions = Some(text.into());
        self
    }

    /// Sets the bounds on what a client can make the server hold.
    #[must_use]
    pub fn limits(mut self, limits: Limits) -> Self {
        self.config.limits = limits;
        self
    }

    /// Refuses a client that asks for a revision of the protocol that we do not speak, instead of
    /// offering it our newest.
    #[must_use]
    pub fn strict_revision(mut self) -> Self {
        self.config.strict_revision = true;
        self
    }

    /// Is told of what goes wrong without being the answer to a call: a line that is no message, a
    /// handler that panicked. The connection goes on. `hook` runs on the runtime and must not block.
    ///
    /// ```
    /// let server = oxmcp::Server::new("demo", "1.0").on_problem(|problem| eprintln!("{}", problem.message));
    /// ```
    #[must_use]
    pub fn on_problem(mut self, hook: impl Fn(&Problem) + Send + Sync + 'static) -> Self {
        self.hooks.on_problem = Some(Arc::new(hook));
        self
    }

    /// Is shown every message, as it is on the wire and in its order. `hook` runs on the runtime and
    /// must not block.
    ///
    /// ```
    /// let server = oxmcp::Server::new("demo", "1.0").on_trace(|direction, line| eprintln!("{direction:?} {line}"));
    /// ```
    #[must_use]
    pub fn on_trace(mut self, hook: impl Fn(Direction, &str) + Send + Sync + 'static) -> Self {
        self.config.trace = true;
        self.hooks.on_trace = Some(Arc::new(hook));
        self
    }

    /// Adds a tool: an async function.
    ///
    /// `description` is for the model that chooses a tool. The function must not block: for code
    /// that computes for long or waits in the operating system, there is
    /// [`blocking_tool`](Self::blocking_tool).
    ///
    /// When the client cancels the call, [`Context::cancelled`] resolves; if the function still
    /// waits then, it is dropped at that `await`. A panic is answered with `-32603` and
    /// reported to [`on_problem`](Self::on_problem).
    ///
    /// A name that is empty or taken, and arguments that are no struct, are reported when the
    /// server starts to serve.
    ///
    /// ```
    /// use oxmcp::{Context, NoArguments, Server, ToolError};
    ///
    /// let server = Server::new("demo", "1.0")
    ///     .tool("name", "Says the name of the server.", |_: Context, _: NoArguments| async { Ok("demo") });
    /// ```
    #[must_use]
    pub fn tool<A, R, F>(
        self,
        name: &str,
        description: &str,
        function: impl Fn(Context, A) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        R: IntoToolResult,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.add::<A, R>(name, description, tool::asynchronous(function))
    }

    /// Adds a tool: a function that may block. Each call runs on a thread of the runtime's
    /// blocking pool, so that all else goes on meanwhile.
    ///
    /// Such a function cannot be interrupted: one that runs for long should look at
    /// [`Context::is_cancelled`] now and then. What it returns after a cancel is dropped.
    ///
    /// ```
    /// use oxmcp::{Context, NoArguments, Server, ToolError};
    ///
    /// let server = Server::new("demo", "1.0").blocking_tool(
    ///     "hosts",
    ///     "Gives the hosts file.",
    ///     |_: Context, _: NoArguments| Ok(std::fs::read_to_string("/etc/hosts")?),
    /// );
    /// ```
    #[must_use]
    pub fn blocking_tool<A, R>(
        self,
        name: &str,
        description: &str,
        function: impl Fn(Context, A) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        R: IntoToolResult,
    {
        self.add::<A, R>(name, description, tool::blocking(function))
    }

    fn add<A: JsonSchema, R: IntoToolResult>(mut self, name: &str, description: &str, run: Handler) -> Self {
        if let Err(error) = self.register::<A, R>(name, description) {
            self.broken.get_or_insert(error);
            return self;
        }
        let tool = Tool { name: name.into(), run };
        match Arc::get_mut(&mut self.tools) {
            Some(tools) => tools.push(tool),
            None => {
                let message =
                    format!("the tool {name} came after the server was cloned or began to serve; add it before");
                self.broken.get_or_insert(Error::new(ErrorKind::Usage, message));
            }
        }
        self
    }

    fn register<A: JsonSchema, R: IntoToolResult>(&self, name: &str, description: &str) -> Result<(), Error> {
        let broken = |error: RegistryError| Error::new(ErrorKind::Usage, error.to_string());
        let descriptor = tool::descriptor::<A, R>(name, description)?;
        let index = self.registry.add_tool(name).map_err(broken)?;
        self.registry.describe_tool(index, &descriptor).map_err(broken)
    }

    /// Serves one client on the standard input and output of this process, until it leaves.
    ///
    /// This is the whole of `main` for most servers. It blocks, and runs everything on a runtime of
    /// this thread, which gives the shortest round trip. When the client closes its side, calls
    /// under way may finish for [`Limits::drain`]. Standard output is the wire meanwhile; what
    /// anything prints goes to standard error, see [`transport::stdio`].
    ///
    /// # Errors
    /// When the server was built wrong, the standard streams are not there, the runtime cannot be
    /// made, or this is called inside an async runtime.
    ///
    /// ```no_run
    /// fn main() -> Result<(), oxmcp::Error> {
    ///     oxmcp::Server::new("demo", "1.0").run_stdio()
    /// }
    /// ```
    pub fn run_stdio(&self) -> Result<(), Error> {
        if tokio::runtime::Handle::try_current().is_ok() {
            let message =
                "run_stdio blocks and makes its own runtime; inside one, use serve(oxmcp::transport::stdio()?).await";
            return Err(Error::new(ErrorKind::Usage, message));
        }
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_io()
            .enable_time()
            .build();
        let runtime =
            runtime.map_err(|error| Error::new(ErrorKind::Closed, format!("cannot make a runtime: {error}")))?;
        let served = runtime.block_on(async {
            let transport = transport::stdio()?;
            self.serve(transport).await
        });
        // A blocking tool that still runs must not keep the process.
        runtime.shutdown_background();
        served
    }

    /// Serves one connection until it ends: await the result, or spawn it.
    ///
    /// It needs a tokio runtime with time enabled. Dropping it ends the connection at once.
    ///
    /// On a runtime of one thread a tool that finishes without waiting costs no task. On a runtime
    /// of several threads every call is a task, so that one that computes does not hold up others.
    ///
    /// # Errors
    /// When the server was built wrong, or the transport failed otherwise than by the client's
    /// leaving.
    ///
    /// ```no_run
    /// # async fn run() -> Result<(), Box<dyn std::error::Error>> {
    /// use oxmcp::{Server, transport};
    ///
    /// let server = Server::new("demo", "1.0");
    /// let listener = tokio::net::TcpListener::bind("127.0.0.1:7000").await?;
    /// loop {
    ///     let (reader, writer) = listener.accept().await?.0.into_split();
    ///     tokio::spawn(server.serve(transport::io(reader, writer)));
    /// }
    /// # }
    /// ```
    pub fn serve(&self, transport: Transport) -> Serving {
        let session = Session::server(self.config.clone(), Arc::clone(&self.registry));
        let link = Link::new(session);
        let peer = Arc::<OnceLock<Peer>>::default();
        let host = ServerHost::new(Arc::clone(&self.tools), self.hooks.clone(), peer);
        let broken = self.broken.clone();
        let patience = self.config.limits.drain;
        let driver_link = Arc::clone(&link);
        let future = Box::pin(async move {
            if let Some(error) = broken {
                return Err(error);
            }
            Driver::new(driver_link, host, transport).run(patience).await
        });
        Serving { future, link }
    }
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let tools: Vec<_> = self.tools.iter().map(|tool| &tool.name).collect();
        f.debug_struct("Server")
            .field("info", &self.config.info)
            .field("tools", &tools)
            .finish_non_exhaustive()
    }
}

/// A connection that is served: a future that is done when it ends.
#[must_use = "nothing is served until this is awaited or spawned"]
pub struct Serving {
    future: Pin<Box<dyn Future<Output = Result<(), Error>> + Send>>,
    link: Arc<Link>,
}

impl Serving {
    /// A handle to look at the connection and to end it while it is served elsewhere.
    ///
    /// ```
    /// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
    /// use oxmcp::{Server, transport};
    ///
    /// let (_near, far) = transport::memory();
    /// let serving = Server::new("demo", "1.0").serve(far);
    /// let handle = serving.handle();
    /// let served = tokio::spawn(serving);
    /// assert_eq!(handle.stats().inbound, 0);
    /// handle.close();
    /// served.await??;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// # })?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    pub fn handle(&self) -> ServingHandle {
        ServingHandle {
            link: Arc::clone(&self.link),
        }
    }
}

impl Future for Serving {
    type Output = Result<(), Error>;

    fn poll(mut self: Pin<&mut Self>, cx: &mut task::Context<'_>) -> Poll<Self::Output> {
        self.future.as_mut().poll(cx)
    }
}

impl fmt::Debug for Serving {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Serving").finish_non_exhaustive()
    }
}

/// A handle of a connection that is served, from [`Serving::handle`].
#[derive(Clone, Debug)]
pub struct ServingHandle {
    link: Arc<Link>,
}

impl ServingHandle {
    /// What the connection holds at the moment.
    pub fn stats(&self) -> Stats {
        self.link.stats()
    }

    /// Ends the connection: calls under way are cancelled, what was answered is still written.
    /// [`Serving`] is done soon after. Does nothing when it has ended.
    pub fn close(&self) {
        self.link.close("the server closed the connection");
    }
}
