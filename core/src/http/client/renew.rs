//! A session that the server no longer knows is begun anew, by the `initialize` that began it the first time.

use std::sync::Arc;

use bytes::Bytes;
use http::Method;
use oxmcp_proto::http::SESSION_FIELD;
use oxmcp_proto::http::client::{INITIALIZED, Lost, Outcome, Ticket, failure, negotiated, post_fields};
use oxmcp_proto::jsonrpc::Message;
use oxmcp_proto::{Error, ErrorKind, ProblemKind};

use super::builder::usage;
use super::own;
use super::shared::{Phase, Shared};
use super::wire::Request;

/// Sees to it that there is a session again, after the server did not know the one of a request with this ticket.
pub(super) async fn renew(shared: &Arc<Shared>, ticket: Ticket) -> Result<(), Error> {
    let lost = {
        let mut state = shared.state();
        let lost = state.session.lost(ticket);
        if lost == Lost::BeginAnew {
            // Under the lock, so that whoever is told to wait has something to wait for.
            shared.phase.send_replace(Phase::Renewing);
        }
        lost
    };
    match lost {
        Lost::SendAgain => return Ok(()),
        Lost::Expired => {
            let error = expired("connect again");
            shared.link.close(error.message());
            return Err(error);
        }
        Lost::BeginAnew => {
            shared.fail_streams_of(ticket);
            // In a task of its own: others wait for it too, if the call that found out is given up.
            let renewing = Renewing(Arc::clone(shared));
            shared.spawn(renewing.run());
        }
        Lost::Wait => {}
    }
    shared.opened().await;
    let state = shared.state();
    match state.session.carry().1 == ticket {
        true => Err(expired(&format!("a new one could not be begun: {}", state.not_renewed))),
        false => Ok(()),
    }
}

/// A session being begun anew. If that comes to no good end, the next request tries again.
struct Renewing(Arc<Shared>);

impl Renewing {
    async fn run(self) {
        if let Err(error) = begin(&self.0).await {
            let mut state = self.0.state();
            state.not_renewed = error.message().to_owned();
            state.session.not_begun();
        }
    }
}

impl Drop for Renewing {
    fn drop(&mut self) {
        self.0.phase.send_replace(Phase::Open);
    }
}

async fn begin(shared: &Arc<Shared>) -> Result<(), Error> {
    let (line, revision) = {
        let state = shared.state();
        (state.initialize.clone(), state.revision)
    };
    let line = line.ok_or_else(|| usage("there was no handshake"))?;
    let answer = own::ask(shared, &line, None).await?;
    if negotiated(&answer.result) != revision {
        let message = "the server speaks another revision now; connect again";
        shared.link.close(message);
        return Err(Error::new(ErrorKind::Protocol, message));
    }
    let id = answer
        .headers
        .get(SESSION_FIELD)
        .map(|id| String::from_utf8_lossy(id.as_bytes()));
    let begun = shared.state().session.begun(id.as_deref());
    begun.map_err(|why| Error::new(ErrorKind::Protocol, why))?;
    say_initialized(shared).await?;
    set_again(shared).await;
    shared.sessions.send_modify(|count| *count += 1);
    Ok(())
}

async fn say_initialized(shared: &Shared) -> Result<(), Error> {
    let message = Message::parse(INITIALIZED, 8).map_err(|_| usage("it is no message"))?;
    let (fields, had_session) = {
        let state = shared.state();
        let session = state.session.carry().0;
        let fields = post_fields(state.revision, session, &message, None).map_err(|why| usage(why.to_string()))?;
        (fields, session.is_some())
    };
    let request = Request {
        method: Method::POST,
        what: "notifications/initialized",
        fields: &fields,
        body: Some(Bytes::from_static(INITIALIZED)),
        had_session,
        sent: None,
    };
    let sent = shared.wire.send(shared.wire.url(), &request, &|| ());
    match tokio::time::timeout(shared.patience, sent).await {
        Ok(Ok(_)) => Ok(()),
        Ok(Err(error)) => Err(error),
        Err(_) => Err(Error::new(
            ErrorKind::Timeout,
            "the server did not take the end of the handshake",
        )),
    }
}

/// Tells the new session what the old one was told.
async fn set_again(shared: &Shared) {
    let (kept, revision) = {
        let state = shared.state();
        (state.kept.clone(), state.revision)
    };
    for (what, line) in kept {
        if let Err(error) = own::ask(shared, &line, revision).await {
            let message = format!("{what:?} could not be set again in a new session: {}", error.message());
            shared.problem(ProblemKind::NotDelivered, message);
        }
    }
}

fn expired(why: &str) -> Error {
    let error = failure("the call", &Outcome::SessionLost).unwrap_or_else(|| usage(""));
    let message = format!("the session has expired, the server does not know it any more; {why}");
    error.with_message(message)
}
