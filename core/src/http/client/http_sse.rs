//! The HTTP+SSE transport of revision 2024-11-05: one stream for all that the server says, and a place of its
//! choice for all that the client says.

use std::sync::Arc;

use http::Method;
use oxmcp_proto::http::client::{Backoff, Break, Outcome, Resume, Sent, failure, get_fields, http_sse_endpoint};
use oxmcp_proto::{Error, ErrorKind};
use reqwest::{Response, Url};
use tokio::sync::oneshot;

use super::body::{self, End, Said, Took};
use super::builder::{shown, usage};
use super::shared::Shared;
use super::wire::Request;

/// Opens the stream, and waits for the place where messages go.
pub(super) async fn open(shared: &Arc<Shared>) -> Result<(), Error> {
    let response = get(shared).await?;
    let url = response.url().clone();
    let (told, endpoint) = oneshot::channel();
    shared.spawn(read(Arc::clone(shared), response, told));
    let closed = || {
        Error::new(
            ErrorKind::Closed,
            "the server ended its event stream before it said where to send messages",
        )
    };
    let (event, data) = endpoint.await.map_err(|_| closed())?;
    let place = http_sse_endpoint(&shown(&url), &event, &data);
    let place = place.map_err(|why| Error::new(ErrorKind::Protocol, why))?;
    let endpoint: Url = url
        .join(place)
        .map_err(|error| Error::new(ErrorKind::Protocol, error.to_string()))?;
    shared.state().endpoint = Some(endpoint);
    Ok(())
}

async fn get(shared: &Shared) -> Result<Response, Error> {
    const WHAT: &str = "opening the event stream";
    let fields = get_fields(None, None, None);
    let request = Request {
        method: Method::GET,
        what: WHAT,
        fields: &fields,
        body: None,
        had_session: false,
        sent: None,
    };
    let response = shared.wire.send(shared.wire.url(), &request, &|| ()).await?;
    let outcome = match body::read(shared, WHAT, (Sent::Listen, false), response).await?.said {
        Said::Stream(response) => return Ok(response),
        Said::Outcome(outcome, _) => outcome,
    };
    Err(failure(WHAT, &outcome)
        .or_else(|| failure(WHAT, &Outcome::NoStream))
        .unwrap_or_else(|| usage("")))
}

/// Reads the stream to its end, which is the end of the connection: nothing can be answered any more.
async fn read(shared: Arc<Shared>, mut response: Response, told: oneshot::Sender<(String, String)>) {
    let mut told = Some(told);
    let mut stream = Resume::of_request(false, Backoff::default());
    let end = body::events(&shared, &mut response, &mut stream, |event, data| {
        match told.take() {
            // Who waited for it may have given up; then the connection ends soon.
            Some(told) => drop(told.send((event.to_owned(), data.to_owned()))),
            None if event == "message" => shared.deliver(data.as_bytes()),
            None => {}
        }
        Took::More
    });
    let how = match end.await {
        End::Broke(Break::Ended) => "the server ended its event stream",
        _ => "the connection with the event stream of the server broke",
    };
    if told.is_none() {
        shared.link.close(how);
    }
}
