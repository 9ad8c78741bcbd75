//! The side of a connection that its program plays, and how it is told what the session says.

use std::sync::Arc;
use std::task::Context;

use oxmcp_proto::jsonrpc::Json;
use oxmcp_proto::{Direction, Error, InboundId, OutboundId, Output, Peer, Problem, Target};

use super::{Event, Link, Outgoing};

/// The side of a connection that its program plays.
///
/// Of a link that is [raw](Link::raw) it is told by `output` and `closed` alone, of others by all the rest.
pub(crate) trait Host: Send + 'static {
    /// Runs a handler, which answers with [`Link::respond`].
    fn call(&mut self, _link: &Arc<Link>, _call: Incoming) {}
    /// A handler that was started and not polled yet, for drivers that run those themselves.
    #[cfg(feature = "http")]
    fn take_started(&mut self) -> Option<crate::handler::Task> {
        None
    }
    /// A peer needs descriptions that are not all there: waits for a change of what is offered to be complete.
    fn complete_offers(&mut self) {}
    /// The handshake is complete.
    fn ready(&mut self, _peer: Peer) {}
    /// The handshake failed.
    fn connect_failed(&mut self, _error: Error) {}
    /// A notification came that the core does not act on; `subscription` is the call whose stream it is on.
    fn notification(&mut self, _method: &str, _params: Option<Json>, _subscription: Option<OutboundId>) {}
    /// Something is wrong that is no call's failure.
    fn problem(&mut self, _problem: &Problem) {}
    /// A message goes over the wire.
    fn trace(&mut self, _direction: Direction, _line: &str) {}
    /// What the session says, in its own words; never bytes or messages.
    fn output(&mut self, _output: Output) {}
    /// Whether more may be read. If not, the waker is told when that changes.
    fn has_room(&mut self, _cx: &mut Context<'_>) -> bool {
        true
    }
    /// Nothing more comes.
    fn closed(&mut self) {}
}

/// A call of the peer.
#[derive(Debug)]
pub(crate) struct Incoming {
    pub id: InboundId,
    pub target: Target,
    pub params: Option<Json>,
    pub wants_progress: bool,
}

/// Tells the host of an event. Those that only transports act on are theirs to look at before: here they are nothing.
pub(crate) fn tell(link: &Arc<Link>, host: &mut (impl Host + ?Sized), event: Event) {
    match event {
        Event::Call(call) => host.call(link, call),
        Event::Describe(id) => {
            host.complete_offers();
            link.resume(id);
        }
        Event::Cancelled(id, reason) => {
            if let Some(call) = link.take_handler(id) {
                call.cancel(reason);
            }
        }
        Event::Ready(peer) => host.ready(peer),
        Event::ConnectFailed(error) => host.connect_failed(error),
        Event::Progress(caller, params) => caller.progress(params),
        Event::Done(caller, outcome) => caller.complete(outcome),
        Event::Notification {
            method,
            params,
            subscription,
        } => host.notification(&method, params, subscription),
        Event::Problem(problem) => host.problem(&problem),
        Event::Trace(direction, line) => host.trace(direction, &line),
        Event::Output(output) => host.output(output),
        #[cfg(feature = "http")]
        Event::Message { .. } | Event::EndStream(_) => {}
    }
}

/// Ends a connection whose driver goes before it has ended, so that no call outlives it.
pub(crate) fn cut_off(link: &Arc<Link>, host: &mut (impl Host + ?Sized)) {
    link.close("the runtime that drove the connection has ended");
    let mut events = Vec::new();
    link.drain(&mut events, &mut Outgoing::default());
    for event in events {
        let ends_something = matches!(
            event,
            Event::Done(..) | Event::ConnectFailed(_) | Event::Cancelled(..) | Event::Output(_)
        );
        if ends_something {
            tell(link, host, event);
        }
    }
    host.closed();
}
