//! What is said without waiting for an answer: notifications, and answers to the server. One after the other, so
//! that progress comes before the answer it belongs to.

use std::sync::Arc;
use std::time::Duration;

use bytes::Bytes;
use http::Method;
use oxmcp_proto::ProblemKind;
use oxmcp_proto::http::client::{Outcome, Sent, Ticket, failure, post_fields};
use oxmcp_proto::jsonrpc::Message;
use oxmcp_proto::{Error, ErrorKind};
use tokio::sync::mpsc;

use super::body::{self, Reply, Said};
use super::builder::usage;
use super::renew;
use super::shared::{Phase, Shared, Weight};
use super::wire::Request;

/// How long a server may take to take in that the handshake is complete, before calls are sent all the same.
const OPENING: Duration = Duration::from_secs(5);

/// How long the head of the server's own stream may take, before calls are sent all the same: some servers send none
/// before they have something to say.
const HEAD: Duration = Duration::from_millis(500);

/// A message in the lane.
#[derive(Debug)]
pub(super) struct Line {
    pub text: Bytes,
    pub weight: Arc<Weight>,
}

impl Line {
    pub(super) fn new(shared: &Arc<Shared>, text: Bytes) -> Self {
        Self {
            weight: Arc::new(shared.weigh(text.len())),
            text,
        }
    }
}

/// Sends what comes, until nothing more can come.
pub(super) async fn run(shared: Arc<Shared>, mut lines: mpsc::UnboundedReceiver<Line>) {
    while let Some(line) = lines.recv().await {
        post(&shared, &line).await;
    }
}

/// Sends one message, and reports it if that fails.
pub(super) async fn post(shared: &Arc<Shared>, line: &Line) {
    let Ok(message) = Message::parse(&line.text, shared.limits.depth.max(128)) else {
        return;
    };
    let what = match &message {
        Message::Notification { method, .. } | Message::Request { method, .. } => method,
        Message::Result { .. } | Message::Error { .. } => "an answer to the server",
    };
    let opens = what == "notifications/initialized";
    let sent = async {
        if !opens {
            shared.opened().await;
        }
        let Err(ticket) = attempt(shared, line, &message, what).await? else {
            return Ok(());
        };
        renew::renew(shared, ticket).await?;
        // Nobody in the new session waits for an answer of the old one.
        if matches!(message, Message::Notification { .. }) && attempt(shared, line, &message, what).await?.is_err() {
            return Err(failure(what, &Outcome::SessionLost).unwrap_or_else(|| usage("")));
        }
        Ok(())
    };
    let patience = if opens {
        shared.patience.min(OPENING)
    } else {
        shared.patience
    };
    let outcome = tokio::time::timeout(patience, sent).await.unwrap_or_else(|_| {
        let message = format!("{what} was not taken in within {} s", patience.as_secs_f64());
        Err(Error::new(ErrorKind::Timeout, message))
    });
    if opens {
        greeted(shared);
    }
    if let Err(error) = outcome {
        shared.problem(ProblemKind::NotDelivered, error.message());
    }
}

/// The handshake is complete: other requests follow the one for the server's own stream.
fn greeted(shared: &Arc<Shared>) {
    let listens = shared.wire.settings().listen && shared.state().endpoint.is_none();
    let next = if listens { Phase::Listening } else { Phase::Open };
    shared
        .phase
        .send_if_modified(|phase| std::mem::replace(phase, next) != next);
    if listens {
        let waiting = Arc::clone(shared);
        shared.spawn(async move {
            tokio::time::sleep(HEAD).await;
            waiting.listens();
        });
    }
}

/// Sends one message once; gives the ticket of the session where that is lost.
async fn attempt(
    shared: &Arc<Shared>,
    line: &Line,
    message: &Message<'_>,
    what: &str,
) -> Result<Result<(), Ticket>, Error> {
    let (fields, url, ticket, had_session) = {
        let state = shared.state();
        let (session, ticket) = state.session.carry();
        let revision = state.revision.filter(|_| state.endpoint.is_none());
        let fields = post_fields(revision, session, message, None).map_err(|why| usage(why.to_string()))?;
        (fields, state.endpoint.clone(), ticket, session.is_some())
    };
    let request = Request {
        method: Method::POST,
        what,
        fields: &fields,
        body: Some(line.text.clone()),
        had_session,
        sent: None,
    };
    let weight = Arc::clone(&line.weight);
    let url = url.as_ref().unwrap_or(shared.wire.url());
    let response = shared.wire.send(url, &request, &move || weight.lift()).await?;
    let reply = body::read(shared, what, (Sent::Notification, had_session), response).await?;
    let Reply {
        said: Said::Outcome(outcome, _),
        ..
    } = reply
    else {
        return Ok(Ok(()));
    };
    match outcome {
        Outcome::SessionLost => Ok(Err(ticket)),
        outcome => failure(what, &outcome).map_or(Ok(Ok(())), Err),
    }
}
