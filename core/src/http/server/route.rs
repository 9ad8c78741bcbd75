//! Requests to a port for other paths than the endpoint's, where something else answers them.
//!
//! They pass the same checks of hosts and origins, and the same bounds, before anything of theirs is looked at.

use std::fmt;
use std::future::Future;
use std::io;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::header::{
    ACCESS_CONTROL_ALLOW_ORIGIN, ACCESS_CONTROL_REQUEST_METHOD, CONNECTION, CONTENT_LENGTH, HeaderValue, ORIGIN,
    TRANSFER_ENCODING,
};
use http::request::Parts;
use http::{Method, Request, Response, StatusCode};
use http_body::{Body, Frame, SizeHint};
use oxmcp_proto::http::{Admitted, Head, Refusal};

use super::body::{self, HttpBody};
use super::exchange::{add_fields, refused, status};
use super::headers::Headers;
use super::refuse;
use super::shared::Shared;

/// A body of a response. An error breaks the connection off.
pub(crate) type RouteBody = Pin<Box<dyn Body<Data = Bytes, Error = io::Error> + Send>>;

/// What comes of a request; `None` when there is nothing at its path.
pub(crate) type Routed = Pin<Box<dyn Future<Output = Option<Response<RouteBody>>> + Send>>;

/// Answers requests for other paths. Dropping what it gave means that the client left.
pub(crate) trait Routes: fmt::Debug + Send + Sync {
    fn serve(&self, parts: Parts, peer: SocketAddr, body: Vec<u8>) -> Routed;
}

/// The body of a response of a port.
pub(super) enum PortBody {
    Endpoint(HttpBody),
    Route(RouteBody),
    /// None at all, where a length that is told is that of another response.
    Nothing,
}

impl Body for PortBody {
    type Data = Bytes;
    type Error = io::Error;

    fn poll_frame(mut self: Pin<&mut Self>, cx: &mut Context<'_>) -> Poll<Option<io::Result<Frame<Bytes>>>> {
        match &mut *self {
            Self::Endpoint(body) => Pin::new(body).poll_frame(cx).map_err(|never| match never {}),
            Self::Route(body) => body.as_mut().poll_frame(cx),
            Self::Nothing => Poll::Ready(None),
        }
    }

    fn is_end_stream(&self) -> bool {
        match self {
            Self::Endpoint(body) => body.is_end_stream(),
            Self::Route(body) => body.is_end_stream(),
            Self::Nothing => true,
        }
    }

    fn size_hint(&self) -> SizeHint {
        match self {
            Self::Endpoint(body) => body.size_hint(),
            Self::Route(body) => body.size_hint(),
            Self::Nothing => SizeHint::default(),
        }
    }
}

/// Serves one request.
pub(super) async fn serve<B>(
    shared: Arc<Shared>,
    routes: &dyn Routes,
    (endpoint, peer): (&str, SocketAddr),
    request: Request<B>,
) -> Response<PortBody>
where
    B: Body,
    B::Error: fmt::Display,
{
    let (parts, body) = request.into_parts();
    let headers = parts.headers.clone();
    let fields = Headers::of(&headers);
    let method = parts.method.clone();
    let authority = parts.uri.authority().cloned();
    let head = Head {
        method: method.as_str(),
        authority: authority.as_ref().map(http::uri::Authority::as_str),
        fields: &fields,
    };
    let served = match admit(&shared, &head, &parts) {
        Ok(Some(preflight)) => Ok(preflight.map(PortBody::Endpoint)),
        Ok(None) => pass_on(&shared, routes, (endpoint, peer), parts, body).await,
        Err(refusal) => Err(refusal),
    };
    let mut response = served.unwrap_or_else(|refusal| refused(&refusal).map(PortBody::Endpoint));
    if headers.contains_key(ORIGIN) && !response.headers().contains_key(ACCESS_CONTROL_ALLOW_ORIGIN) {
        add_fields(&mut response, shared.endpoint.cors_fields(&head));
    }
    tidy(&method, response)
}

/// Judges a request by its head. Gives the answer to a browser that asks whether it may.
fn admit(shared: &Shared, head: &Head<'_>, parts: &Parts) -> Result<Option<Response<HttpBody>>, Refusal> {
    let listed = shared.endpoint.guard.check(head.authority, head.fields)?;
    let asked = parts.headers.get(ACCESS_CONTROL_REQUEST_METHOD);
    if let (Some(_), Some(asked), &Method::OPTIONS) = (listed, asked, &parts.method) {
        let Admitted::Preflight(mut fields) = shared.endpoint.admit(head)? else {
            return Ok(None);
        };
        // Whether there is such a route is told by the answer to the request itself.
        if let Some(asked) = asked.to_str().ok().filter(|asked| Method::try_from(*asked).is_ok()) {
            for (name, value) in &mut fields {
                if *name == "Access-Control-Allow-Methods" {
                    asked.clone_into(value);
                }
            }
        }
        let mut response = status(204);
        add_fields(&mut response, fields);
        return Ok(Some(response));
    }
    let length = parts
        .headers
        .get(CONTENT_LENGTH)
        .and_then(|length| length.to_str().ok());
    match length.and_then(|length| length.parse::<u64>().ok()) {
        Some(length) if length > shared.endpoint.body_limit as u64 => {
            Err(Refusal::body_too_large(shared.endpoint.body_limit))
        }
        _ => Ok(None),
    }
}

async fn pass_on<B>(
    shared: &Shared,
    routes: &dyn Routes,
    (endpoint, peer): (&str, SocketAddr),
    parts: Parts,
    body: B,
) -> Result<Response<PortBody>, Refusal>
where
    B: Body,
    B::Error: fmt::Display,
{
    let body = body::read(body, shared.endpoint.body_limit, shared.settings.body_timeout).await?;
    match routes.serve(parts, peer, body.into()).await {
        Some(response) => Ok(response.map(PortBody::Route)),
        None => Err(refuse::no_such_path(endpoint)),
    }
}

/// Makes one response of HTTP of it, whatever was said: what is of the connection is not the answer's business.
fn tidy(method: &Method, mut response: Response<PortBody>) -> Response<PortBody> {
    response.headers_mut().remove(TRANSFER_ENCODING);
    response.headers_mut().remove(CONNECTION);
    let size = response.body().size_hint().exact();
    if matches!(response.status(), StatusCode::NO_CONTENT | StatusCode::NOT_MODIFIED) {
        *response.body_mut() = PortBody::Nothing;
    } else if method == Method::HEAD {
        // As long as the answer to a GET would be, which has no body here, or knows it already.
        if let Some(size) = size.filter(|size| *size > 0 || !response.headers().contains_key(CONTENT_LENGTH)) {
            response.headers_mut().insert(CONTENT_LENGTH, HeaderValue::from(size));
        }
        *response.body_mut() = PortBody::Nothing;
    } else if size.is_some() {
        response.headers_mut().remove(CONTENT_LENGTH);
    }
    response
}
