//! Moves one connection over HTTP from its start to its end: hands out what the session says, and sends what it has
//! to send. What comes is taken in by the tasks of the requests.

use std::future::{Future as _, poll_fn};
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::task::{Context, Poll};

use bytes::Bytes;
use http::Method;
use oxmcp_proto::http::client::{cancelled_request, delete_fields};
use oxmcp_proto::jsonrpc::{Message, RequestId};
use oxmcp_proto::{Instant, Output, Revision};
use serde_json::value::RawValue;
use tokio::sync::mpsc;
use tokio::task::JoinHandle;
use tokio::time::Sleep;

use super::builder::HttpTransport;
use super::exchange::Exchange;
use super::lane::{self, Line};
use super::listen;
use super::shared::{Phase, Shared};
use super::wire::{Request, Wire};
use crate::driver::{self, Event, Host, Link, Outgoing};

/// Times that the session is looked at again before other tasks of the runtime get their turn.
const TURNS: usize = 64;

/// Drives the client's end of a connection over HTTP. The session of `link` must be
/// [routed](oxmcp_proto::Config::routed), and told to connect. Ends when it is closed.
pub(crate) async fn run(link: Arc<Link>, host: Box<dyn Host>, server: HttpTransport) {
    let shared = Shared::new(Arc::clone(&link), Wire::new(server));
    let (lane, lines) = mpsc::unbounded_channel();
    let sending = tokio::spawn(lane::run(Arc::clone(&shared), lines));
    let mut driver = Driver {
        link,
        host,
        shared,
        lane: Some(lane),
        sending,
        events: Vec::new(),
        outgoing: Outgoing::default(),
        sleep: None,
        probe: None,
    };
    poll_fn(|cx| driver.converse(cx)).await;
    driver.end().await;
}

struct Driver {
    link: Arc<Link>,
    host: Box<dyn Host>,
    shared: Arc<Shared>,
    lane: Option<mpsc::UnboundedSender<Line>>,
    sending: JoinHandle<()>,
    events: Vec<Event>,
    /// Stays empty: all comes message by message.
    outgoing: Outgoing,
    sleep: Option<(Instant, Pin<Box<Sleep>>)>,
    /// The request that asks the server what it is.
    probe: Option<RequestId>,
}

/// What is known once the session is silent.
struct Settled {
    deadline: Option<Instant>,
    closed: bool,
    stop_reading: bool,
    full: bool,
}

impl Driver {
    fn converse(&mut self, cx: &mut Context<'_>) -> Poll<()> {
        self.link.unpark();
        for _ in 0..TURNS {
            let settled = self.settle();
            if settled.closed {
                return Poll::Ready(());
            }
            self.shared.full.store(settled.full, Ordering::Release);
            let reading = !settled.stop_reading && self.host.has_room(cx);
            self.shared
                .reading
                .send_if_modified(|was| std::mem::replace(was, reading) != reading);
            if self.time_passed(settled.deadline, cx) {
                self.link.handle_timeout();
            } else if self.link.park(cx.waker(), self.shared.waiting()) {
                return Poll::Pending;
            }
        }
        cx.waker().wake_by_ref();
        Poll::Pending
    }

    /// Hands out all that the session has to say, and what that leads to.
    fn settle(&mut self) -> Settled {
        loop {
            let mut events = std::mem::take(&mut self.events);
            let drained = self.link.drain(&mut events, &mut self.outgoing);
            let problems = self.shared.take_problems();
            let silent = events.is_empty() && problems.is_empty();
            for event in events.drain(..) {
                self.hand_out(event);
            }
            for problem in problems {
                self.host.problem(&problem);
                self.host.output(Output::Problem(problem));
            }
            self.events = events;
            if silent {
                self.shared.saw_all();
                return Settled {
                    deadline: drained.deadline,
                    closed: drained.closed,
                    stop_reading: drained.stop_reading,
                    full: self.link.written(self.shared.waiting()),
                };
            }
        }
    }

    fn hand_out(&mut self, event: Event) {
        if let Some(revision) = event.agreed() {
            self.ready(revision);
        }
        match event {
            Event::Message { line, .. } => self.send(line.into()),
            event => driver::tell(&self.link, &mut *self.host, event),
        }
    }

    /// The session knows what the server is.
    fn ready(&mut self, revision: Revision) {
        let mut state = self.shared.state();
        state.revision = Some(revision);
        let has_get = revision.has_handshake() && state.endpoint.is_none();
        drop(state);
        if !revision.has_handshake() {
            // There is no end of a handshake to wait for.
            self.shared.phase.send_replace(Phase::Open);
        } else if has_get && self.shared.wire.settings().listen {
            self.shared.spawn(listen::run(Arc::clone(&self.shared)));
        }
    }

    /// Sends one message.
    fn send(&mut self, line: Bytes) {
        // It is ours, so it can be read.
        let Ok(message) = Message::parse(&line, usize::MAX) else {
            return;
        };
        match &message {
            Message::Request { id, method, .. } => {
                // A session that goes on with a handshake waits for the answer to its probe no longer.
                if let Some((probe, _)) = self.probe.take().and_then(|probe| self.shared.withdraw(&probe)) {
                    probe.abort();
                }
                self.probe = (&**method == "server/discover" && !self.shared.is_open()).then(|| id.clone());
                Exchange::start(&self.shared, id, &message, line.clone());
            }
            Message::Notification { method, params } if &**method == "notifications/cancelled" => {
                self.cancel(*params, line.clone());
            }
            _ => {
                let said = Line::new(&self.shared, line.clone());
                // It ends only after the connection.
                let _ = self.lane.as_ref().map(|lane| lane.send(said));
            }
        }
    }

    /// A call is no longer wanted: closing its stream says so, and in revisions with a handshake a message.
    fn cancel(&self, params: Option<&RawValue>, line: Bytes) {
        let exchange = cancelled_request(params).and_then(|request: RequestId| self.shared.withdraw(&request));
        let is_told = self.shared.state().revision.is_some_and(Revision::has_handshake);
        let was_sent = exchange.as_ref().is_none_or(|(_, sent)| *sent);
        let task = exchange.map(|(task, _)| task);
        if !is_told || !was_sent {
            if let Some(task) = task {
                task.abort();
            }
            return;
        }
        let (shared, said) = (Arc::clone(&self.shared), Line::new(&self.shared, line));
        self.shared.spawn(async move {
            lane::post(&shared, &said).await;
            // Not before: a request that is cut off would not be there to be cancelled.
            if let Some(task) = task {
                task.abort();
            }
        });
    }

    /// True when the deadline of the session has come.
    fn time_passed(&mut self, deadline: Option<Instant>, cx: &mut Context<'_>) -> bool {
        let Some(deadline) = deadline else { return false };
        let link = &self.link;
        let (armed, sleep) = self.sleep.get_or_insert_with(|| {
            let sleep = Box::pin(tokio::time::sleep_until(link.on_clock(deadline)));
            (deadline, sleep)
        });
        // One that comes early does no harm, and costs less than moving it with every call.
        if deadline < *armed {
            *armed = deadline;
            sleep.as_mut().reset(link.on_clock(deadline));
        }
        let passed = sleep.as_mut().poll(cx).is_ready();
        if passed {
            self.sleep = None;
        }
        passed
    }

    /// Says what is left to be said, and ends the session at the server.
    async fn end(mut self) {
        self.host.closed();
        self.shared.close();
        self.lane = None;
        let bound = self.shared.wire.settings().close_timeout;
        let is_ready = self.shared.state().revision.is_some();
        if is_ready {
            let _ = tokio::time::timeout(bound, &mut self.sending).await;
        }
        let (session, revision) = {
            let mut state = self.shared.state();
            (state.session.close(), state.revision)
        };
        let Some(session) = session else { return };
        let fields = delete_fields(revision, &session);
        let request = Request {
            method: Method::DELETE,
            what: "ending the session",
            fields: &fields,
            body: None,
            had_session: true,
            sent: None,
        };
        let wire = &self.shared.wire;
        // Whether or not the server takes it: it forgets the session in its own time.
        let _ = tokio::time::timeout(bound, wire.send(wire.url(), &request, &|| ())).await;
    }
}

impl Drop for Driver {
    /// No call outlives its connection, also when the runtime goes first.
    fn drop(&mut self) {
        self.sending.abort();
        self.shared.close();
        driver::cut_off(&self.link, &mut *self.host);
    }
}
