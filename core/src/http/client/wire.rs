//! One HTTP request and its response: over pooled connections, with redirects followed by the protocol's policy.

use std::convert::Infallible;
use std::pin::Pin;
use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, Ordering};
use std::task::{Context, Poll};
use std::time::Duration;

use bytes::Bytes;
use http::{HeaderMap, HeaderName, HeaderValue, Method};
use http_body::{Body, Frame, SizeHint};
use oxmcp_proto::http::Fields;
use oxmcp_proto::http::client::{Carry, Outcome, Redirect, RequestFields, failure};
use oxmcp_proto::{Error, ErrorKind};
use reqwest::{Client, Response, Url};

use super::builder::{HttpTransport, Proxy, Settings, shown, usage};
use super::tls;
use super::unauthorized::Desk;

/// How long a connection that is not in use is kept. Common servers close theirs after 5 s, and a request that
/// meets a connection that is being closed is lost.
const IDLE: Duration = Duration::from_secs(4);

/// What is sent.
#[derive(Debug)]
pub(super) struct Request<'a> {
    pub method: Method,
    /// What the request is for, in errors.
    pub what: &'a str,
    /// The protocol's fields.
    pub fields: &'a RequestFields,
    pub body: Option<Bytes>,
    pub had_session: bool,
    /// For a call: the server may know of it.
    pub sent: Option<&'a AtomicBool>,
}

/// Sends requests to one server.
#[derive(Debug)]
pub(super) struct Wire {
    server: HttpTransport,
    desk: Desk,
    /// Without TLS, and with.
    clients: [OnceLock<Client>; 2],
}

impl Wire {
    pub(super) fn new(server: HttpTransport) -> Self {
        let desk = Desk::new(server.settings.headers.clone(), server.settings.renewal.clone());
        Self {
            server,
            desk,
            clients: Default::default(),
        }
    }

    pub(super) fn settings(&self) -> &Settings {
        &self.server.settings
    }

    pub(super) fn url(&self) -> &Url {
        &self.server.url
    }

    /// Sends a request and gives the head of its response. `taken` is called when the connection takes the body.
    pub(super) async fn send(
        &self,
        url: &Url,
        request: &Request<'_>,
        taken: &(impl Fn() + Clone + Send + Sync + 'static),
    ) -> Result<Response, Error> {
        let mut url = url.clone();
        // With HTTP+SSE it is where a redirect led to, which may have been elsewhere.
        let mut carry = match url.origin() == self.url().origin() {
            true => Carry::All,
            false => Carry::Protocol,
        };
        let mut followed = 0;
        let mut given = self.desk.given();
        let mut renewed = false;
        loop {
            let own = (carry == Carry::All).then_some(&given.fields);
            let response = self.send_once(&url, request, own, taken).await?;
            let refusal = self.desk.refusal(&response).filter(|_| carry == Carry::All && !renewed);
            if let Some(why) = refusal {
                if let Some(sent) = request.sent {
                    // Nothing was done with it, so there is nothing to be cancelled.
                    sent.store(false, Ordering::Release);
                }
                if let Some(other) = self.desk.renew(request.what, &given, why).await? {
                    (given, renewed) = (other, true);
                    continue;
                }
            }
            let Some(next) = redirect(&response, &url) else {
                return Ok(response);
            };
            let (method, status) = (request.method.as_str(), response.status().as_u16());
            let policy = self.settings().redirects;
            match policy.decide(
                method,
                status,
                &shown(&url),
                &shown(&next),
                followed,
                request.had_session,
            ) {
                // Fields that were left behind once are never sent on.
                Redirect::Follow(Carry::All) => {}
                Redirect::Follow(lean) => carry = lean,
                Redirect::Refuse(location) => {
                    return Err(
                        failure(request.what, &Outcome::Moved { status, location }).unwrap_or_else(|| usage(""))
                    );
                }
            }
            url = next;
            followed += 1;
        }
    }

    async fn send_once(
        &self,
        url: &Url,
        request: &Request<'_>,
        own: Option<&HeaderMap>,
        taken: &(impl Fn() + Clone + Send + Sync + 'static),
    ) -> Result<Response, Error> {
        let mut fields = HeaderMap::with_capacity(request.fields.len() + 5);
        fields.insert(
            http::header::USER_AGENT,
            HeaderValue::from_static(concat!("oxmcp/", env!("CARGO_PKG_VERSION"))),
        );
        // Without it a server may send the body in any coding (RFC 9110 §12.5.3).
        fields.insert(http::header::ACCEPT_ENCODING, HeaderValue::from_static("identity"));
        for (name, value) in own.into_iter().flatten() {
            fields.insert(name, value.clone());
        }
        for (name, value) in request.fields {
            let (name, value) = (HeaderName::from_bytes(name.as_bytes()), HeaderValue::from_str(value));
            let (Ok(name), Ok(value)) = (name, value) else {
                return Err(usage(format!(
                    "{} was not sent: a header field of it cannot be sent",
                    request.what
                )));
            };
            // Not inserted: the protocol's own are in no program's gift, so none can be there twice.
            fields.append(name, value);
        }
        let client = self.client(url.scheme() == "https")?;
        let mut sending = client.request(request.method.clone(), url.clone()).headers(fields);
        if let Some(body) = &request.body {
            sending = sending.body(reqwest::Body::wrap(Taken {
                body: Some(body.clone()),
                taken: taken.clone(),
            }));
        }
        sending.send().await.map_err(|error| broken(request.what, url, &error))
    }

    fn client(&self, secure: bool) -> Result<&Client, Error> {
        let place = &self.clients[usize::from(secure)];
        if let Some(client) = place.get() {
            return Ok(client);
        }
        let settings = self.settings();
        let tls = match secure {
            true => tls::config(&settings.roots)?,
            false => tls::none()?,
        };
        let client = Client::builder()
            .tls_backend_preconfigured(tls)
            .redirect(reqwest::redirect::Policy::none())
            .referer(false)
            .retry(reqwest::retry::never())
            .tcp_nodelay(true)
            .connect_timeout(settings.connect_timeout)
            .pool_idle_timeout(IDLE)
            .http1_only();
        let client = match &settings.proxy {
            Proxy::Given(proxy) => client.proxy(reqwest::Proxy::clone(proxy)),
            Proxy::System if !is_this_machine(self.url()) => client,
            Proxy::System | Proxy::None => client.no_proxy(),
        };
        let client = client
            .build()
            .map_err(|error| usage(format!("HTTP cannot be used: {}", innermost(&error))))?;
        Ok(place.get_or_init(|| client))
    }
}

/// Where a response sends its request.
fn redirect(response: &Response, from: &Url) -> Option<Url> {
    if !matches!(response.status().as_u16(), 301 | 302 | 303 | 307 | 308) {
        return None;
    }
    let location = response.headers().get(http::header::LOCATION)?.to_str().ok()?;
    from.join(location).ok()
}

/// Whether a URL names the machine this runs on, where no proxy leads.
fn is_this_machine(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let address = host.trim_start_matches('[').trim_end_matches(']');
    host.eq_ignore_ascii_case("localhost") || address.parse().is_ok_and(|it: std::net::IpAddr| it.is_loopback())
}

/// A request that got no response, or a response that broke off.
pub(super) fn broken(what: &str, url: &Url, error: &reqwest::Error) -> Error {
    let (url, why) = (shown(url), innermost(error));
    if let Some(tls) = in_chain::<rustls::Error>(error) {
        let message = format!("{what} failed: no secure connection to {url}: {tls}");
        return Error::new(ErrorKind::Closed, message).from_transport(false, None);
    }
    if error.is_timeout() {
        let message =
            format!("{what} failed: no connection to {url} in time; raise the connect timeout if it may take longer");
        return Error::new(ErrorKind::Timeout, message);
    }
    let message = if error.is_connect() {
        format!("{what} failed: cannot reach {url}: {why}; is the server running?")
    } else {
        format!("{what} failed: the connection to {url} broke: {why}")
    };
    Error::new(ErrorKind::Closed, message)
}

/// The error of a type among an error and its causes.
fn in_chain<'a, E: std::error::Error + 'static>(error: &'a (dyn std::error::Error + 'static)) -> Option<&'a E> {
    if let Some(found) = error.downcast_ref() {
        return Some(found);
    }
    // What I/O wraps is not its cause.
    let wrapped = error.downcast_ref::<std::io::Error>().and_then(std::io::Error::get_ref);
    match wrapped {
        Some(inner) => in_chain(inner),
        None => in_chain(error.source()?),
    }
}

/// What is behind an error, which says more than the error itself.
fn innermost(error: &reqwest::Error) -> String {
    let mut last: &dyn std::error::Error = error;
    while let Some(source) = last.source() {
        last = source;
    }
    last.to_string()
}

/// A body in one piece, which tells when it is taken.
struct Taken<F> {
    body: Option<Bytes>,
    taken: F,
}

/// Nothing in it is ever pinned.
impl<F> Unpin for Taken<F> {}

impl<F: Fn()> Body for Taken<F> {
    type Data = Bytes;
    type Error = Infallible;

    fn poll_frame(mut self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<Option<Result<Frame<Bytes>, Infallible>>> {
        let Some(body) = self.body.take() else {
            return Poll::Ready(None);
        };
        (self.taken)();
        Poll::Ready(Some(Ok(Frame::data(body))))
    }

    fn is_end_stream(&self) -> bool {
        self.body.is_none()
    }

    fn size_hint(&self) -> SizeHint {
        SizeHint::with_exact(self.body.as_ref().map_or(0, |body| body.len() as u64))
    }
}

/// The header fields of a response.
pub(super) struct Headers<'a>(pub &'a HeaderMap);

impl Fields for Headers<'_> {
    fn each<'a>(&'a self, name: &str, found: &mut dyn FnMut(&'a [u8])) {
        for value in self.0.get_all(name) {
            found(value.as_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_proxy_leads_to_this_machine() {
        for (url, is_here) in [
            ("http://localhost:8000/mcp", true),
            ("http://LOCALHOST/", true),
            ("http://127.0.0.1/", true),
            ("http://127.9.9.9:80/", true),
            ("https://[::1]:8443/", true),
            ("http://localhost.example.com/", false),
            ("http://10.0.0.1/", false),
            ("http://[2001:db8::1]/", false),
            ("https://example.com/?localhost", false),
        ] {
            assert_eq!(is_this_machine(&Url::parse(url).unwrap()), is_here, "{url}");
        }
    }
}
