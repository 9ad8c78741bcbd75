//! Requests that the transport makes by itself, and whose answers the session never sees.

use std::sync::atomic::{AtomicU64, Ordering};

use bytes::Bytes;
use http::{HeaderMap, Method};
use oxmcp_proto::http::client::{
    Backoff, Outcome, Resume, Sent, answers, error_in, failure, list_tools_like, next_cursor, post_fields, result_in,
    stated_revision, string_param,
};
use oxmcp_proto::jsonrpc::{Json, Message, RequestId};
use oxmcp_proto::{Error, ErrorKind, Revision};
use reqwest::Response;

use super::body::{self, Reply, Said, Took};
use super::builder::usage;
use super::shared::Shared;
use super::wire::Request;

/// The answer to a request of our own.
pub(super) struct Answer {
    pub result: Json,
    pub headers: HeaderMap,
}

/// An id that no session gives to a request.
pub(super) fn next_id() -> RequestId {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    RequestId::from(format!("oxmcp-{}", NEXT.fetch_add(1, Ordering::Relaxed)).as_str())
}

/// Makes a request, and waits for its answer no longer than for that of any call. What comes beside it on its
/// stream goes to the session.
pub(super) async fn ask(shared: &Shared, line: &[u8], revision: Option<Revision>) -> Result<Answer, Error> {
    let answered = tokio::time::timeout(shared.patience, ask_at_leisure(shared, line, revision));
    answered.await.unwrap_or_else(|_| {
        let message = format!("the server did not answer within {} s", shared.patience.as_secs_f64());
        Err(Error::new(ErrorKind::Timeout, message))
    })
}

async fn ask_at_leisure(shared: &Shared, line: &[u8], revision: Option<Revision>) -> Result<Answer, Error> {
    let Ok(message @ Message::Request { .. }) = Message::parse(line, shared.limits.depth.max(128)) else {
        return Err(usage("it is no request"));
    };
    let Message::Request { id, method, .. } = &message else {
        return Err(usage("it is no request"));
    };
    let (fields, had_session) = {
        let state = shared.state();
        let session = state.session.carry().0;
        let fields = post_fields(revision, session, &message, None).map_err(|why| usage(why.to_string()))?;
        (fields, session.is_some())
    };
    let request = Request {
        method: Method::POST,
        what: method,
        fields: &fields,
        body: Some(Bytes::copy_from_slice(line)),
        had_session,
        sent: None,
    };
    let response = shared.wire.send(shared.wire.url(), &request, &|| ()).await?;
    let Reply { headers, said, .. } = body::read(shared, method, (Sent::Request, had_session), response).await?;
    let body = match said {
        Said::Outcome(Outcome::Answer, body) => body,
        Said::Outcome(outcome, _) => {
            return Err(failure(method, &outcome).unwrap_or_else(|| no_answer(method)));
        }
        Said::Stream(response) => answer_on(shared, response, id).await.ok_or_else(|| no_answer(method))?,
    };
    match result_in(&body, id) {
        Some(result) => Ok(Answer { result, headers }),
        None => Err(match error_in(&body) {
            Some(error) => Error::response(error),
            None => no_answer(method),
        }),
    }
}

/// Reads a stream up to the answer.
async fn answer_on(shared: &Shared, mut response: Response, id: &RequestId) -> Option<Vec<u8>> {
    let mut answer = None;
    let mut stream = Resume::of_request(false, Backoff::default());
    body::events(shared, &mut response, &mut stream, |event, data| {
        if event == "message" && answers(data.as_bytes(), id) {
            answer = Some(data.as_bytes().to_vec());
            return Took::Last;
        }
        if event == "message" {
            shared.deliver(data.as_bytes());
        }
        Took::More
    })
    .await;
    answer
}

fn no_answer(method: &str) -> Error {
    Error::new(
        ErrorKind::Protocol,
        format!("{method} failed: the server did not answer it"),
    )
}

/// Learns anew which parameters of tools stand in header fields, as the server said that a call had the wrong ones:
/// all pages, until the tool of the call is known.
pub(super) async fn list_tools(shared: &Shared, call: &[u8]) -> Result<(), Error> {
    let Ok(Message::Request { params, .. }) = Message::parse(call, shared.limits.depth.max(128)) else {
        return Err(usage("it is no call"));
    };
    let revision = stated_revision(&params).or(shared.state().revision);
    let name = string_param(&params, "name").unwrap_or_default();
    let mut cursor = None;
    for _ in 0..shared.limits.pages {
        let line = list_tools_like(&next_id(), &params, cursor.as_deref());
        let answer = ask(shared, &line, revision).await?;
        let mut state = shared.state();
        state.tools.learn(&answer.result);
        cursor = next_cursor(&answer.result);
        if cursor.is_none() || state.tools.of(&name).is_some() {
            return Ok(());
        }
    }
    Ok(())
}
