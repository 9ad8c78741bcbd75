//! How a server is reached over HTTP.

use std::fmt;
use std::future::Future;
use std::time::Duration;

use http::{HeaderMap, HeaderName, HeaderValue};
use oxmcp_proto::http::client::{Backoff, RedirectPolicy, is_own_field};
use oxmcp_proto::{Error, ErrorKind};
use reqwest::Url;
use rustls::pki_types::CertificateDer;

use super::tls;
use super::unauthorized::{Renewal, Unauthorized, renewal};
use crate::transport::{IntoTransport, Transport};

/// A server over HTTP, for [`Client::connect`](crate::Client::connect). Its URL alone will do where nothing is to
/// be set.
///
/// ```
/// # tokio::runtime::Builder::new_current_thread().enable_all().build()?.block_on(async {
/// use oxmcp::{Client, Server, transport::Http};
///
/// let serving = Server::new("demo", "1.0").http().bind(0).await?;
/// let url = format!("http://{}/mcp", serving.local_addr());
/// # let handle = serving.handle();
/// # let served =
/// tokio::spawn(serving);
///
/// let client = Client::connect(Http::new(&url).header("Authorization", "Bearer secret")).await?;
/// assert_eq!(client.server_info().name, "demo");
/// client.close().await;
///
/// let client = Client::connect(url.as_str()).await?;
/// client.ping().await?;
/// client.close().await;
/// # handle.shut_down();
/// # served.await??;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// # })?;
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # What a client does over HTTP
///
/// | | revisions with a handshake | 2026-07-28 |
/// | --- | --- | --- |
/// | session | kept by `Mcp-Session-Id`, begun anew when the server lost it, ended by a DELETE | none |
/// | a cancelled call | `notifications/cancelled`, and its stream is closed | its stream is closed |
/// | a stream that breaks before the answer | resumed after the last event that had an id | the call fails |
/// | what the server tells unasked | comes on the stream of a GET, opened again when it breaks | comes on the streams of [`listen`](crate::Client::listen) |
///
/// Which revision a server speaks is found out by its answers, and remembered for the life of the process. One of
/// 2024-11-05 that has only the HTTP+SSE transport is found too; see [`http_sse`](Self::http_sse).
///
/// A call whose request fails, fails alone: the error has the status ([`Error::http_status`]) and says whether a
/// retry can help. There are no timeouts but those of calls, and the one for opening a connection.
#[derive(Clone)]
pub struct Http {
    url: String,
    settings: Settings,
    /// The first thing that was set wrong.
    broken: Option<Error>,
}

/// Whether the HTTP+SSE transport of revision 2024-11-05 is used.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpSse {
    /// If the server turns the other one down as a server of this one would.
    #[default]
    Auto,
    /// Never.
    Never,
    /// Nothing else is tried.
    Only,
}

#[derive(Clone)]
pub(super) struct Settings {
    pub headers: HeaderMap,
    pub proxy: Proxy,
    pub roots: Vec<CertificateDer<'static>>,
    pub connect_timeout: Duration,
    pub close_timeout: Duration,
    pub renew: bool,
    pub http_sse: HttpSse,
    pub listen: bool,
    pub redirects: RedirectPolicy,
    pub backoff: Backoff,
    pub max_requests: usize,
    pub renewal: Option<Renewal>,
}

#[derive(Clone)]
pub(super) enum Proxy {
    System,
    None,
    Given(Box<reqwest::Proxy>),
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            headers: HeaderMap::new(),
            proxy: Proxy::System,
            roots: Vec::new(),
            connect_timeout: Duration::from_secs(30),
            close_timeout: Duration::from_secs(2),
            renew: true,
            http_sse: HttpSse::default(),
            listen: true,
            redirects: RedirectPolicy::default(),
            backoff: Backoff::default(),
            max_requests: 256,
            renewal: None,
        }
    }
}

impl Http {
    /// A server at this `http` or `https` URL. What is wrong with it is told when it is connected to.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            settings: Settings::default(),
            broken: None,
        }
    }

    /// Sends this header field with every request to the server, and in place of one of the same name that was set
    /// before. It never goes to another origin, whatever the server redirects to.
    ///
    /// The fields that are the protocol's own (`Accept`, `Content-Type`, `Mcp-…` and the like) cannot be set.
    #[must_use]
    pub fn header(mut self, name: impl AsRef<str>, value: impl AsRef<str>) -> Self {
        match read_header(name.as_ref(), value.as_ref()) {
            Ok((name, value)) => drop(self.settings.headers.insert(name, value)),
            Err(why) => self.set_wrong(why),
        }
        self
    }

    /// Asks for other header fields when the server refuses a request for want of authorization: with status 401, or
    /// with 403 and a challenge. The request is made once more with them, and so are all that follow; requests that are
    /// refused at the same time ask once. Without any, or with the same, the request fails as it would otherwise.
    ///
    /// Asking is part of the request: a call that is cancelled or times out meanwhile drops the future, and the next
    /// request that is refused asks again. See `basic/authorization` of the specification.
    ///
    /// ```
    /// use oxmcp::transport::Http;
    ///
    /// # async fn fresh_token() -> Result<String, oxmcp::Error> { Ok("newer".to_owned()) }
    /// let http = Http::new("https://example.com/mcp")
    ///     .header("Authorization", "Bearer old")
    ///     .on_unauthorized(|refused| async move {
    ///         eprintln!("refused with {}: {:?}", refused.status, refused.www_authenticate);
    ///         Ok(vec![("Authorization".to_owned(), format!("Bearer {}", fresh_token().await?))])
    ///     });
    /// ```
    #[must_use]
    pub fn on_unauthorized<F>(mut self, renew: impl Fn(Unauthorized) -> F + Send + Sync + 'static) -> Self
    where
        F: Future<Output = Result<Vec<(String, String)>, Error>> + Send + 'static,
    {
        self.settings.renewal = Some(renewal(renew));
        self
    }

    /// Sends all through this proxy: a URL with the scheme `http` or `https`, and user information where the proxy
    /// wants it. Unless set, the proxies of the system are used (`HTTP_PROXY`, `HTTPS_PROXY`, `ALL_PROXY` and
    /// `NO_PROXY`), but never for this machine.
    #[must_use]
    pub fn proxy(mut self, url: impl AsRef<str>) -> Self {
        match reqwest::Proxy::all(url.as_ref()) {
            Ok(proxy) => self.settings.proxy = Proxy::Given(Box::new(proxy)),
            Err(_) => self.set_wrong("the proxy is no URL; write it as in http://proxy.example.com:3128"),
        }
        self
    }

    /// Uses no proxy, whatever the system says.
    #[must_use]
    pub fn no_proxy(mut self) -> Self {
        self.settings.proxy = Proxy::None;
        self
    }

    /// Also trusts servers whose certificates rest on this one: one or more blocks of PEM text.
    #[must_use]
    pub fn root_certificate(mut self, pem: impl AsRef<[u8]>) -> Self {
        match tls::read_pem(pem.as_ref()) {
            Ok(roots) => self.settings.roots.extend(roots),
            Err(error) => self.broken = self.broken.or(Some(error)),
        }
        self
    }

    /// How long opening a connection may take, TLS included; 30 s unless set. The time a call takes is its own:
    /// [`ClientBuilder::timeout`](crate::ClientBuilder::timeout).
    #[must_use]
    pub fn connect_timeout(mut self, timeout: Duration) -> Self {
        self.settings.connect_timeout = timeout;
        self
    }

    /// How long the end of a connection may take, for what is still to be sent and for the DELETE that ends a session,
    /// each; 2 s unless set.
    #[must_use]
    pub fn close_timeout(mut self, timeout: Duration) -> Self {
        self.settings.close_timeout = timeout;
        self
    }

    /// Whether a session that the server no longer knows, as after its restart, is begun anew. On unless set.
    ///
    /// The call that found out is made once more: no handler saw it. Calls of the old session that wait on a stream fail
    /// with [`ErrorKind::Closed`]. Subscriptions to resources and the log level are set again; whatever else the server
    /// kept in the old session is gone. If off, the connection ends.
    #[must_use]
    pub fn renew_sessions(mut self, on: bool) -> Self {
        self.settings.renew = on;
        self
    }

    /// Whether the HTTP+SSE transport of revision 2024-11-05 is used: [`HttpSse::Auto`] unless set.
    #[must_use]
    pub fn http_sse(mut self, when: HttpSse) -> Self {
        self.settings.http_sse = when;
        self
    }

    /// Whether a stream is held open for what a server tells unasked, in revisions with a handshake. On unless set;
    /// without it, changes of lists, updates of resources, and what a server asks beside any call do not come.
    #[must_use]
    pub fn listen(mut self, on: bool) -> Self {
        self.settings.listen = on;
        self
    }

    /// Which redirects are followed: five in a row, and none to another origin, unless set.
    #[must_use]
    pub fn redirects(mut self, policy: RedirectPolicy) -> Self {
        self.settings.redirects = policy;
        self
    }

    /// When and how often a stream that broke is opened again.
    #[must_use]
    pub fn backoff(mut self, backoff: Backoff) -> Self {
        self.settings.backoff = backoff;
        self
    }

    /// How many requests may be under way at once, each on a connection of its own; 256 unless set. More calls wait.
    /// Streams of notifications do not count.
    #[must_use]
    pub fn max_requests(mut self, count: usize) -> Self {
        match count {
            0 => self.set_wrong("max_requests must be at least 1"),
            _ => self.settings.max_requests = count,
        }
        self
    }

    /// Looks through it all.
    pub(crate) fn build(self) -> Result<HttpTransport, Error> {
        match self.broken {
            Some(error) => Err(error),
            None => Ok(HttpTransport {
                url: read_url(&self.url)?,
                settings: self.settings,
            }),
        }
    }

    /// Tells at once what [`build`](Self::build) would.
    pub(super) fn check(self) -> Result<Self, Error> {
        self.clone().build()?;
        Ok(self)
    }

    fn set_wrong(&mut self, why: impl Into<String>) {
        if self.broken.is_none() {
            self.broken = Some(usage(why));
        }
    }
}

/// Never shows the values of headers, or the query of the URL: they may be secret.
impl fmt::Debug for Http {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names: Vec<_> = self.settings.headers.keys().map(HeaderName::as_str).collect();
        f.debug_struct("Http")
            .field("url", &self.url.split(['?', '#']).next().unwrap_or_default())
            .field("headers", &names)
            .finish_non_exhaustive()
    }
}

impl IntoTransport for Http {
    fn into_transport(self) -> Result<Transport, Error> {
        self.build().map(Transport::over_http)
    }
}

/// The URL of a server over HTTP.
impl IntoTransport for &str {
    fn into_transport(self) -> Result<Transport, Error> {
        Http::new(self).into_transport()
    }
}

/// The URL of a server over HTTP.
impl IntoTransport for String {
    fn into_transport(self) -> Result<Transport, Error> {
        Http::new(self).into_transport()
    }
}

/// A server that can be reached: all that was set is right.
#[derive(Clone)]
pub(crate) struct HttpTransport {
    pub(super) url: Url,
    pub(super) settings: Settings,
}

impl HttpTransport {
    /// The name of the server, for what is known of its era: its origin and path.
    pub(crate) fn server(&self) -> String {
        shown(&self.url)
    }

    /// Whether the server may be asked whether it is of 2026-07-28.
    pub(crate) fn may_probe(&self) -> bool {
        self.settings.http_sse != HttpSse::Only
    }
}

impl fmt::Debug for HttpTransport {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpTransport")
            .field("url", &shown(&self.url))
            .finish_non_exhaustive()
    }
}

/// A URL without its query, which may be secret.
pub(super) fn shown(url: &Url) -> String {
    url.as_str().split(['?', '#']).next().unwrap_or_default().to_owned()
}

fn read_url(text: &str) -> Result<Url, Error> {
    let start = text.split(['?', '#']).next().unwrap_or_default();
    let wrong = |why: &str| {
        usage(format!(
            "{start:?} is no URL of a server: {why}; write it as in https://example.com/mcp, and give a server that is \
             started by a command as that"
        ))
    };
    let url = Url::parse(text).map_err(|error| wrong(&error.to_string()))?;
    if !matches!(url.scheme(), "http" | "https") {
        return Err(wrong("its scheme must be http or https"));
    }
    if !url.username().is_empty() || url.password().is_some() {
        let message = "the URL of a server must not have user information; set the header Authorization instead";
        return Err(usage(message));
    }
    let mut url = url;
    url.set_fragment(None);
    Ok(url)
}

pub(super) fn read_header(name: &str, value: &str) -> Result<(HeaderName, HeaderValue), String> {
    if is_own_field(name) {
        return Err(format!("the header {name:?} cannot be set: it is the protocol's own"));
    }
    let key = HeaderName::from_bytes(name.as_bytes())
        .map_err(|_| format!("{name:?} is no name of a header: it must be letters, digits and \"-\""))?;
    let mut value = HeaderValue::from_str(value).map_err(|_| {
        format!("the value of the header {name:?} cannot be sent: it must be visible ASCII characters, spaces and tabs")
    })?;
    value.set_sensitive(true);
    Ok((key, value))
}

pub(super) fn usage(message: impl Into<String>) -> Error {
    Error::new(ErrorKind::Usage, message)
}
