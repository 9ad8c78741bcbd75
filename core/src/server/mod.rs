//! The public server: what it offers, its settings, and how it is served.

mod ask;
mod context;
mod form;
mod host;
mod offer;
mod offers;
#[cfg(feature = "http")]
mod routed;
mod schema;
mod serving;
mod settings;
mod text;

use std::fmt;
use std::future::Future;
use std::sync::Arc;

use oxmcp_proto::{Config, Error, ErrorKind, Implementation, Keyring, Kind, SealKey, Session};
use schemars::JsonSchema;
use serde::Serialize;
use serde::de::DeserializeOwned;

pub use ask::{Ask, Elicited};
pub use context::{Caller, Context};
pub(crate) use offer::typed_method;
pub use offer::{
    Completing, IntoCompletion, IntoPromptResult, IntoResourceResult, IntoToolResult, JsonResult as Json, NoArguments,
    Offer, PromptOffer, ResourceOffer, TemplateOffer, ToolError, ToolOffer,
};
#[cfg(feature = "http")]
pub(crate) use offers::OnUpdate;
pub use offers::{Offered, Offers};
#[cfg(feature = "http")]
pub(crate) use routed::Served;
#[cfg(feature = "border")]
pub(crate) use routed::session;
pub use serving::{Serving, ServingHandle};

use crate::driver::{Driver, Link};
use crate::handler::{HandlerError, Hooks};
use crate::transport::{self, Transport};
use host::ServerHost;
use offers::Shared;

/// A server: what it is called, what it offers, and what to do with errors that are nobody's answer.
///
/// It is built step by step, and may then serve any number of connections; clones share what is offered, which
/// [`offers`](Self::offers) changes while it serves.
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
    shared: Arc<Shared>,
    hooks: Hooks,
    /// The first thing that was wrong with what was built.
    broken: Option<Error>,
}

impl Server {
    /// A server that offers nothing yet. `version` is the version of the server, not of the protocol.
    pub fn new(name: impl Into<String>, version: impl Into<String>) -> Self {
        let mut config = Config::new(Implementation::new(name, version));
        config.logging = true;
        Self {
            config,
            shared: Arc::default(),
            hooks: Hooks::default(),
            broken: None,
        }
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
    /// server starts to serve. A [`ToolOffer`] says more of a tool.
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
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Fn(Context, A) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        R: IntoToolResult,
        F: Future<Output = Result<R, ToolError>> + Send + 'static,
    {
        self.offer(ToolOffer::new(name, description, function))
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
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Fn(Context, A) -> Result<R, ToolError> + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema + Send + 'static,
        R: IntoToolResult,
    {
        self.offer(ToolOffer::blocking(name, description, function))
    }

    /// Adds a resource: an async function that reads it. It gives text, bytes, [`Json`], or
    /// [`ResourceContents`](crate::types::ResourceContents). A [`ResourceOffer`] says more of a resource, such as
    /// its media type.
    ///
    /// ```
    /// use oxmcp::{Context, Server};
    ///
    /// let server = Server::new("demo", "1.0")
    ///     .resource("app://motto", "motto", |_: Context| async { Ok("Less is more.") });
    /// ```
    #[must_use]
    pub fn resource<R, F>(
        self,
        uri: impl Into<String>,
        name: impl Into<String>,
        function: impl Fn(Context) -> F + Send + Sync + 'static,
    ) -> Self
    where
        R: IntoResourceResult,
        F: Future<Output = Result<R, HandlerError>> + Send + 'static,
    {
        self.offer(ResourceOffer::new(uri, name, function))
    }

    /// Adds a family of resources: a URI template (RFC 6570), and an async function of its variables, any type
    /// with [`serde::Deserialize`]. Variables are text, which is read as the type says. A [`TemplateOffer`] says
    /// more of a family.
    ///
    /// ```
    /// use oxmcp::{Context, HandlerError, Server};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Note {
    ///     id: u32,
    /// }
    ///
    /// async fn note(ctx: Context, Note { id }: Note) -> Result<String, HandlerError> {
    ///     let uri = ctx.uri().unwrap_or_default();
    ///     if id > 100 {
    ///         return Err(HandlerError::not_found(uri));
    ///     }
    ///     Ok(format!("This is note {id}."))
    /// }
    ///
    /// let server = Server::new("demo", "1.0").resource_template("note://{id}", "note", note);
    /// ```
    #[must_use]
    pub fn resource_template<V, R, F>(
        self,
        uri_template: impl Into<String>,
        name: impl Into<String>,
        function: impl Fn(Context, V) -> F + Send + Sync + 'static,
    ) -> Self
    where
        V: DeserializeOwned,
        R: IntoResourceResult,
        F: Future<Output = Result<R, HandlerError>> + Send + 'static,
    {
        self.offer(TemplateOffer::new(uri_template, name, function))
    }

    /// Adds a prompt: an async function that makes its messages. Its arguments are the fields of a type with
    /// [`serde::Deserialize`] and [`schemars::JsonSchema`]; they come as text, which is read as the type says. A
    /// `String` is one message of the user's. A [`PromptOffer`] says more of a prompt.
    ///
    /// ```
    /// use oxmcp::{Context, HandlerError, Server};
    ///
    /// #[derive(serde::Deserialize, schemars::JsonSchema)]
    /// struct Poem {
    ///     /// What it is about.
    ///     about: String,
    ///     lines: Option<u8>,
    /// }
    ///
    /// async fn poem(_: Context, Poem { about, lines }: Poem) -> Result<String, HandlerError> {
    ///     Ok(format!("Write a poem of {} lines about {about}.", lines.unwrap_or(4)))
    /// }
    ///
    /// let server = Server::new("demo", "1.0").prompt("poem", "Writes a poem.", poem);
    /// ```
    #[must_use]
    pub fn prompt<A, R, F>(
        self,
        name: impl Into<String>,
        description: impl Into<String>,
        function: impl Fn(Context, A) -> F + Send + Sync + 'static,
    ) -> Self
    where
        A: DeserializeOwned + JsonSchema,
        R: IntoPromptResult,
        F: Future<Output = Result<R, HandlerError>> + Send + 'static,
    {
        self.offer(PromptOffer::new(name, description, function))
    }

    /// Completes an argument of a prompt, or a variable of a resource template, that was added before: `of` is
    /// the name of the prompt or the pattern of the template.
    ///
    /// ```
    /// use oxmcp::{Completing, Context, Server};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct City {
    ///     name: String,
    /// }
    ///
    /// let server = Server::new("demo", "1.0")
    ///     .resource_template("city://{name}", "city", |_: Context, City { name }: City| async { Ok(name) })
    ///     .completion("city://{name}", "name", |_: Context, typed: Completing| async move {
    ///         let cities = ["Bergen", "Oslo"].into_iter();
    ///         Ok(cities.filter(|city| city.starts_with(&typed.value)).collect::<Vec<_>>())
    ///     });
    /// ```
    #[must_use]
    pub fn completion<C, F>(
        mut self,
        of: &str,
        argument: &str,
        function: impl Fn(Context, Completing) -> F + Send + Sync + 'static,
    ) -> Self
    where
        C: IntoCompletion,
        F: Future<Output = Result<C, HandlerError>> + Send + 'static,
    {
        let added = self.shared.add_completion(of, argument, offer::completer(function));
        self.note(added);
        self
    }

    /// Adds a method of your own. `params` are any type with [`serde::Deserialize`], the result is any with
    /// [`serde::Serialize`] that becomes an object.
    ///
    /// ```
    /// use oxmcp::{Context, Server};
    ///
    /// #[derive(serde::Deserialize)]
    /// struct Add {
    ///     a: i64,
    ///     b: i64,
    /// }
    ///
    /// let server = Server::new("demo", "1.0").method("acme/add", |_: Context, Add { a, b }: Add| async move {
    ///     Ok(serde_json::json!({"sum": a + b}))
    /// });
    /// ```
    #[must_use]
    pub fn method<P, R, F>(mut self, name: &str, function: impl Fn(Context, P) -> F + Send + Sync + 'static) -> Self
    where
        P: DeserializeOwned,
        R: Serialize,
        F: Future<Output = Result<R, HandlerError>> + Send + 'static,
    {
        let run = typed_method(Context::new, function);
        let added = self.shared.add_method(name, None, run);
        self.note(added);
        self
    }

    /// Adds a method of an extension: it is there for clients that declare the extension, an identifier such as
    /// `com.example/search`. The server declares it by [`capabilities`](Self::capabilities).
    ///
    /// ```
    /// use oxmcp::{Context, NoArguments, Server};
    ///
    /// let server = Server::new("demo", "1.0")
    ///     .capabilities(serde_json::json!({"extensions": {"com.example/search": {}}}))
    ///     .extension_method("com.example/search", "search/reset", |_: Context, _: NoArguments| async {
    ///         Ok(serde_json::json!({}))
    ///     });
    /// ```
    #[must_use]
    pub fn extension_method<P, R, F>(
        mut self,
        extension: &str,
        name: &str,
        function: impl Fn(Context, P) -> F + Send + Sync + 'static,
    ) -> Self
    where
        P: DeserializeOwned,
        R: Serialize,
        F: Future<Output = Result<R, HandlerError>> + Send + 'static,
    {
        let run = typed_method(Context::new, function);
        let added = self.shared.add_method(name, Some(extension), run);
        self.note(added);
        self
    }

    /// Adds anything that can be offered, with all that can be said of it.
    ///
    /// ```
    /// use oxmcp::{Context, NoArguments, Server, ToolOffer};
    ///
    /// let now = ToolOffer::new("now", "Tells the time.", |_: Context, _: NoArguments| async { Ok("noon") });
    /// let server = Server::new("demo", "1.0").offer(now.title("Clock").read_only());
    /// ```
    #[must_use]
    pub fn offer(mut self, offer: impl Offer) -> Self {
        let added = self.shared.add(offer).map(drop);
        self.note(added);
        self
    }

    /// What is offered, to be changed while the server serves.
    pub fn offers(&self) -> Offers {
        Offers {
            shared: Arc::clone(&self.shared),
        }
    }

    /// Keeps the first failure for those who start to serve.
    fn note(&mut self, done: Result<(), Error>) {
        if let Err(error) = done {
            self.broken.get_or_insert(error);
        }
    }

    /// Serves one client on the standard input and output of this process, until it leaves.
    ///
    /// This is the whole of `main` for most servers. It blocks, and runs everything on a runtime of
    /// this thread, which gives the shortest round trip. When the client closes its side, calls
    /// under way may finish for [`Limits::drain`](crate::Limits::drain). Standard output is the wire meanwhile; what
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
        let mut config = self.config.clone();
        let keys = config.state_keys.take().map_or_else(|| self.own_keys(), Ok);
        let broken = match (&self.broken, keys) {
            (Some(error), _) => Some(error.clone()),
            (None, Err(error)) => Some(error),
            (None, Ok(keys)) => {
                config.state_keys = Some(keys);
                None
            }
        };
        config.unix_epoch = unix_millis();
        let patience = config.limits.drain;
        let link = Link::new(Session::server(config, Arc::clone(&self.shared.registry)));
        let host = ServerHost::new(Arc::clone(&self.shared), self.hooks.clone(), &link);
        self.shared.connected(&link);
        let driver_link = Arc::clone(&link);
        let future = Box::pin(async move {
            match broken {
                Some(error) => Err(error),
                None => Driver::new(driver_link, host, transport).run(patience).await,
            }
        });
        Serving { future, link }
    }

    /// Keys that this process alone knows.
    fn own_keys(&self) -> Result<Keyring, Error> {
        if let Some(keys) = self.shared.state_keys.get() {
            return Ok(keys.clone());
        }
        let broken = |error: &dyn fmt::Display| {
            let message = format!("the system gives no random bytes to seal requestState with: {error}");
            Error::new(ErrorKind::Usage, message)
        };
        let mut secret = [0; 64];
        getrandom::fill(&mut secret).map_err(|error| broken(&error))?;
        let key = SealKey::from_bytes(&secret).map_err(|error| broken(&error))?;
        Ok(self.shared.state_keys.get_or_init(|| Keyring::new(key)).clone())
    }
}

/// The time of the wall clock; the clocks of connections begin with them.
pub(crate) fn unix_millis() -> u64 {
    let since = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
    since.map_or(0, |since| u64::try_from(since.as_millis()).unwrap_or(u64::MAX))
}

impl fmt::Debug for Server {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Server")
            .field("info", &self.config.info)
            .field("tools", &self.shared.keys(Kind::Tool))
            .finish_non_exhaustive()
    }
}
