//! Which request of the peer each message of ours belongs to, for transports with a stream for each
//! request (Streamable HTTP): an answer, progress, a log message or a question of its handler goes on the
//! stream of the request, all else on none (2025-11-25 transports, Sending Messages to the Server).

use memchr::memchr;

use super::inbound::Origin;
use super::{InboundId, Output, Session};
use crate::jsonrpc::{RequestId, write};

/// From where on in the wire messages belong to a request.
#[derive(Debug)]
pub(super) struct Route {
    from: usize,
    request: Option<RequestId>,
}

impl Session {
    /// What is written from now on belongs to this request.
    pub(super) fn route_to(&mut self, request: Option<&RequestId>) {
        if self.config.routed {
            self.routes.push(Route {
                from: self.wire.len(),
                request: request.cloned(),
            });
        }
    }

    /// What is written from now on belongs to the request of this call.
    pub(super) fn route_to_call(&mut self, call: InboundId) {
        if !self.config.routed {
            return;
        }
        let request = match self.inbound.get(call).map(|call| &call.origin) {
            Some(Origin::Request(request)) => Some(request.clone()),
            _ => None,
        };
        self.route_to(request.as_ref());
    }

    /// Hands out what was written, message by message.
    pub(super) fn route_wire(&mut self) {
        let closed = match self.outputs.back() {
            Some(Output::Closed) => self.outputs.pop_back(),
            _ => None,
        };
        let (mut wire, routes) = (std::mem::take(&mut self.wire), std::mem::take(&mut self.routes));
        self.traced = 0;
        let route = |at| routes.iter().rev().find(|route| route.from <= at)?.request.clone();
        let mut at = 0;
        while let Some(length) = memchr(b'\n', &wire[at..]) {
            let is_only = at == 0 && length + 1 == wire.len();
            let line = if is_only {
                wire.truncate(length);
                std::mem::take(&mut wire)
            } else {
                wire[at..at + length].to_vec()
            };
            self.outputs.push_back(Output::Message {
                request: route(at),
                answers: write::is_response(&line),
                line,
            });
            if is_only {
                break;
            }
            at += length + 1;
        }
        self.outputs.extend(closed);
    }
}
