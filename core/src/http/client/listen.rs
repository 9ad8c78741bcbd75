//! The stream of a session, for what belongs to no request: opened by GET, and again when it breaks.

use std::sync::Arc;
use std::time::Duration;

use http::Method;
use oxmcp_proto::http::client::{Break, Outcome, Resume, Retry, Sent, Ticket, failure, get_fields};
use oxmcp_proto::{Error, ProblemKind};
use reqwest::Response;
use tokio::time::Instant;

use super::body::{self, End, Said, Took};
use super::exchange::jitter;
use super::renew;
use super::shared::Shared;
use super::wire::Request;

const WHAT: &str = "listening to the server";
/// A stream that lasted so long was a good one, even if nothing came on it: something on the way ends idle ones.
const STEADY: Duration = Duration::from_secs(10);

/// What came of an attempt to open the stream.
enum Opened {
    Stream(Response),
    /// There is none here, and never will be.
    None,
    Lost(Ticket),
    Later,
}

/// Listens until the server has no stream to offer.
pub(super) async fn run(shared: Arc<Shared>) {
    shared.greeted().await;
    let mut sessions = shared.sessions.subscribe();
    loop {
        sessions.mark_unchanged();
        tokio::select! {
            // A new session has a stream of its own, and the events of the old one are gone.
            changed = sessions.changed() => if changed.is_err() { return },
            outcome = listen(&shared) => {
                if let Err(Some(error)) = &outcome {
                    shared.problem(ProblemKind::NotDelivered, error.message());
                }
                // A server that has begun another session may have one for that.
                if outcome.is_err() && sessions.changed().await.is_err() {
                    return;
                }
            }
        }
    }
}

/// Listens in one session. Fails when there is nothing to listen to, with the reason if that should be known; else the
/// session is another one.
async fn listen(shared: &Arc<Shared>) -> Result<(), Option<Error>> {
    let mut stream = Resume::of_session(shared.wire.settings().backoff);
    loop {
        let opened = open(shared, &stream).await;
        shared.listens();
        let how = match opened? {
            Opened::Stream(mut response) => {
                let opened = Instant::now();
                let end = body::events(shared, &mut response, &mut stream, |event, data| {
                    if event == "message" {
                        shared.deliver(data.as_bytes());
                    }
                    Took::More
                });
                let end = end.await;
                if opened.elapsed() >= STEADY {
                    stream.saw_event();
                }
                match end {
                    End::Broke(how) => how,
                    End::Last => Break::Ended,
                }
            }
            Opened::None => return Err(None),
            Opened::Lost(ticket) => return renew::renew(shared, ticket).await.map_err(Some),
            Opened::Later => Break::NotOpened,
        };
        match stream.broke(how, shared.link.now(), jitter()) {
            Retry::At(at) => tokio::time::sleep_until(shared.link.on_clock(at)).await,
            Retry::GiveUp(why) => {
                shared.problem(ProblemKind::NotDelivered, format!("{WHAT} failed: {why}"));
                // Until the server is known to be there again.
                shared.answered.notified().await;
                stream.saw_event();
            }
        }
    }
}

async fn open(shared: &Arc<Shared>, stream: &Resume) -> Result<Opened, Option<Error>> {
    let (fields, ticket, had_session) = {
        let state = shared.state();
        let (session, ticket) = state.session.carry();
        (
            get_fields(state.revision, session, stream.last_event_id()),
            ticket,
            session.is_some(),
        )
    };
    let request = Request {
        method: Method::GET,
        what: WHAT,
        fields: &fields,
        body: None,
        had_session,
        sent: None,
    };
    let Ok(response) = shared.wire.send(shared.wire.url(), &request, &|| ()).await else {
        return Ok(Opened::Later);
    };
    let outcome = match body::read(shared, WHAT, (Sent::Listen, had_session), response).await {
        Ok(reply) => match reply.said {
            Said::Stream(response) => return Ok(Opened::Stream(response)),
            Said::Outcome(outcome, _) => outcome,
        },
        Err(_) => return Ok(Opened::Later),
    };
    Ok(match outcome {
        Outcome::SessionLost => Opened::Lost(ticket),
        Outcome::Failed(failed) if failed.transient => Opened::Later,
        // Servers that have no such stream say so in many ways.
        Outcome::Failed(failed) if (400..500).contains(&failed.status) => Opened::None,
        Outcome::NoStream | Outcome::Answer | Outcome::Accepted { .. } => Opened::None,
        outcome => return Err(failure(WHAT, &outcome)),
    })
}
