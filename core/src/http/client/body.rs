//! Reading the body of a response: whole, or as a stream of events.

use http::HeaderMap;
use oxmcp_proto::frame::sse::{SseItem, SseParser};
use oxmcp_proto::http::client::{Break, Outcome, Reading, Resume, Sent, answered_by_start, read_body, read_head};
use oxmcp_proto::{Error, ErrorKind, ProblemKind};
use reqwest::Response;

use super::shared::Shared;
use super::wire::{self, Headers};

/// As much of the body of a failure as is read: a sentence for a person, or an error.
const FAILURE: usize = 64 * 1024;
/// As much of a body that is ignored is read.
const IGNORED: u64 = 4096;

/// What was done with a message of a stream.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Took {
    /// More may come.
    More,
    /// It was what the stream was waited on for.
    Last,
}

/// How reading a stream came to its end.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum End {
    /// What was waited for has come; there may be more.
    Last,
    Broke(Break),
}

/// A response, read as far as its head asks for.
pub(super) struct Reply {
    pub status: u16,
    pub headers: HeaderMap,
    pub said: Said,
}

/// What a response says.
pub(super) enum Said {
    /// Its events say it.
    Stream(Response),
    /// With its body, where that matters.
    Outcome(Outcome, Vec<u8>),
}

/// Reads a response, but not the events of a stream.
///
/// # Errors
/// When it breaks off, or is larger than a message may be.
pub(super) async fn read(
    shared: &Shared,
    what: &str,
    (sent, had_session): (Sent, bool),
    response: Response,
) -> Result<Reply, Error> {
    let (status, headers) = (response.status().as_u16(), response.headers().clone());
    let fields = Headers(&headers);
    let said = match read_head(sent, had_session, status, &fields) {
        Reading::Stream => Said::Stream(response),
        Reading::Done(outcome) => {
            // Whatever there is: at its end the connection can be used again.
            if response.content_length().is_some_and(|length| length <= IGNORED) {
                let _ = response.bytes().await;
            }
            Said::Outcome(outcome, Vec::new())
        }
        Reading::Body => {
            let body = whole(shared, what, response).await?;
            Said::Outcome(read_body(sent, had_session, status, &fields, &body), body)
        }
    };
    Ok(Reply { status, headers, said })
}

/// Reads a whole body. One of a failure is cut where it is too long.
async fn whole(shared: &Shared, what: &str, mut response: Response) -> Result<Vec<u8>, Error> {
    let is_failure = !response.status().is_success();
    let limit = if is_failure { FAILURE } else { shared.limits.message };
    let mut body = Vec::new();
    loop {
        shared.may_read().await;
        let chunk = response.chunk().await;
        let chunk = chunk.map_err(|error| wire::broken(what, response.url(), &error))?;
        let Some(chunk) = chunk else {
            return Ok(without_mark(body));
        };
        let room = limit - body.len();
        if chunk.len() > room && !is_failure {
            let message =
                format!("{what} failed: the server answered with more than {limit} bytes, which is the limit");
            return Err(Error::new(ErrorKind::Protocol, message));
        }
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if body.len() == limit && is_failure {
            return Ok(body);
        }
    }
}

/// A byte order mark is no part of JSON, and may be ignored (RFC 8259 §8.1).
fn without_mark(mut body: Vec<u8>) -> Vec<u8> {
    if body.starts_with("\u{feff}".as_bytes()) {
        body.drain(..3);
    }
    body
}

/// Reads events until `take` says that one was the last, or the stream ends.
pub(super) async fn events(
    shared: &Shared,
    response: &mut Response,
    stream: &mut Resume,
    mut take: impl FnMut(&str, &str) -> Took,
) -> End {
    let mut parser = SseParser::new(shared.limits.message);
    loop {
        shared.may_read().await;
        let chunk = match response.chunk().await {
            Ok(Some(chunk)) => chunk,
            Ok(None) => return End::Broke(Break::Ended),
            Err(_) => return End::Broke(Break::Broken),
        };
        let mut end = Took::More;
        parser.push(&chunk, |item| match item {
            SseItem::Event { id, event, data } => {
                stream.saw_event();
                if let Some(id) = id {
                    stream.saw_id(id);
                }
                if take(event, data) == Took::Last {
                    end = Took::Last;
                }
            }
            SseItem::Primed { id } => stream.saw_id(id),
            SseItem::Retry(millis) => stream.saw_retry(millis),
            SseItem::TooLong { length, start } => too_long(shared, length, start),
        });
        if end == Took::Last {
            return End::Last;
        }
    }
}

/// A message over the limit: its call fails if it was an answer.
fn too_long(shared: &Shared, length: usize, start: &[u8]) {
    let limit = shared.limits.message;
    let why = format!("an event of {length} bytes was dropped; the limit is {limit}");
    if let Some(request) = answered_by_start(start) {
        shared.fail(&request, Error::new(ErrorKind::Protocol, why.clone()));
    }
    shared.problem(ProblemKind::TooLarge, why);
}
