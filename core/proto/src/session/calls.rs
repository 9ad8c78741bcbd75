//! What the program wants of the peer: calls, their cancel, notifications; and what it may send.

use super::transmit::{Paging, items_of};
use super::{CallOptions, Error, ErrorKind, OutboundId, Session, State, closed, not_ready};
use crate::Instant;
use crate::jsonrpc::{ObjectWriter, write};
use crate::revision::{REMOVED, need_of_request};

/// A call without an end of its own: only a total timeout ends it.
pub(super) const OPEN_ENDED: &str = "subscriptions/listen";

impl Session {
    /// Makes a call.
    ///
    /// `params` is the text of a JSON object, which the caller vouches to be valid. Progress, if
    /// `options` ask for it, needs no token from the caller.
    ///
    /// # Errors
    /// The call was not sent: the handshake is not done, the peer did not declare the capability
    /// the method rests on, the params are no object, or the connection is closed.
    pub fn begin(
        &mut self,
        method: &str,
        params: Option<&str>,
        mut options: CallOptions,
        now: Instant,
    ) -> Result<OutboundId, Error> {
        self.see(now);
        self.check_may_send(method, params)?;
        self.check_params(method, params)?;
        if method == OPEN_ENDED {
            options.timeout = options.timeout.or(Some(std::time::Duration::MAX));
        }
        Ok(self.start(method, params, options, None, now))
    }

    /// Asks for a sign of life: `ping`, or `server/discover` in revisions that have no `ping`.
    ///
    /// # Errors
    /// As for `begin`.
    pub fn ping(&mut self, options: CallOptions, now: Instant) -> Result<OutboundId, Error> {
        let options = CallOptions { fresh: true, ..options };
        self.begin(self.revision().ping_method(), None, options, now)
    }

    /// Calls a tool: [`begin`](Self::begin) with the params of `tools/call`.
    ///
    /// # Errors
    /// As for `begin`.
    pub fn call_tool(
        &mut self,
        name: &str,
        arguments: Option<&str>,
        options: CallOptions,
        now: Instant,
    ) -> Result<OutboundId, Error> {
        if arguments.is_some_and(|arguments| !arguments.trim_start().starts_with('{')) {
            return Err(Error::new(
                ErrorKind::Usage,
                "the arguments of a tool must be a JSON object",
            ));
        }
        let params = ObjectWriter::new().string("name", name);
        let params = match arguments {
            Some(arguments) => params.json("arguments", arguments),
            None => params,
        };
        self.begin("tools/call", Some(&params.finish()), options, now)
    }

    /// Asks for a whole list, page by page: one result with the items of all pages. `method` is
    /// `tools/list`, `resources/list`, `resources/templates/list` or `prompts/list`. A list without an
    /// end fails at [`Limits::pages`](super::Limits::pages); no list is cut in silence.
    ///
    /// # Errors
    /// As for `begin`, and for a method that gives no list.
    pub fn list(&mut self, method: &str, options: CallOptions, now: Instant) -> Result<OutboundId, Error> {
        self.see(now);
        self.check_may_send(method, None)?;
        if items_of(method).is_none() {
            return Err(Error::new(ErrorKind::Usage, format!("{method} gives no list")));
        }
        Ok(self.start(method, None, options, Some(Paging::default()), now))
    }

    /// Cancels a call of ours: it ends at once as [`ErrorKind::Cancelled`], the peer is told, and
    /// a late answer is dropped in silence. False when the call had ended.
    pub fn cancel(&mut self, id: OutboundId, reason: Option<&str>) -> bool {
        if self.is_handshake(id) || self.is_probe(id) {
            return false;
        }
        match self.outbound.take(id) {
            Some(call) => self.give_up(id, call.wire, reason.unwrap_or("Cancelled by the caller")),
            None if self.withdraw(id) => {}
            None => return false,
        }
        let message = reason.map_or_else(|| "the call was cancelled".to_owned(), str::to_owned);
        self.complete(id, Err(Error::new(ErrorKind::Cancelled, message)));
        true
    }

    /// Sends a notification. One that is debounced ([`Config::debounced`](super::Config::debounced)) and
    /// has no params goes out once, at the end of the turn.
    ///
    /// # Errors
    /// When the handshake is not done or the connection is closed, the params are no object, or this side
    /// does not declare the capability that the notification rests on.
    pub fn notify(&mut self, method: &str, params: Option<&str>) -> Result<(), Error> {
        let debounced = params.is_none() && self.config.debounced.iter().any(|known| **known == *method);
        match self.state {
            State::Closed => return Err(closed(format!("{method} was not sent: the connection is closed"))),
            // The streams of clients without a handshake may want it.
            State::Fresh if debounced && !self.inbound.listening.is_empty() => {}
            State::Fresh | State::Probing { .. } | State::Connecting { .. } => return Err(not_ready(method)),
            State::Ready { .. } if self.era().stateless && REMOVED.contains(&method) => {
                return Err(removed(method));
            }
            State::Ready { .. } => {}
        }
        self.check_params(method, params)?;
        self.check_may_notify(method)?;
        if method == "notifications/resources/updated" {
            self.tell_updated(params);
        } else if method == "notifications/message" && !self.wants_message(params) {
            // The client set a higher level.
        } else if debounced {
            self.debounce(method);
        } else {
            self.flush_notices();
            write::notification(&mut self.wire, method, params);
        }
        Ok(())
    }

    pub(super) fn check_params(&self, method: &str, params: Option<&str>) -> Result<(), Error> {
        if params.is_some_and(|params| !params.trim_start().starts_with('{')) {
            let message = format!("the params of {method} must be a JSON object");
            return Err(Error::new(ErrorKind::Usage, message));
        }
        super::questions::check(method, params)
            .map_err(|what| Error::new(ErrorKind::Usage, format!("{method} was not sent: {what}")))
    }

    pub(super) fn check_may_send(&self, method: &str, params: Option<&str>) -> Result<(), Error> {
        let declared = match &self.state {
            State::Closed => return Err(closed(format!("{method} was not sent: the connection is closed"))),
            _ if self.draining.is_some() => return Err(closed(format!("{method} was not sent: the peer has left"))),
            _ if method == "initialize" => return Err(Error::new(ErrorKind::Usage, "initialize is sent by connect")),
            State::Ready { .. } if !self.initialized && method != "ping" => {
                let message = format!("{method} was not sent: the client has not said notifications/initialized yet");
                return Err(Error::new(ErrorKind::Usage, message));
            }
            State::Ready { declared, .. } => declared,
            State::Connecting { .. } if method == "ping" => return Ok(()),
            State::Fresh | State::Probing { .. } | State::Connecting { .. } => return Err(not_ready(method)),
        };
        let era = self.era();
        if era.stateless && REMOVED.contains(&method) {
            return Err(removed(method));
        }
        if !era.stateless && matches!(method, OPEN_ENDED | "server/discover") {
            let message = format!("{method} was not sent: it exists from revision 2026-07-28 on");
            return Err(Error::new(ErrorKind::NotNegotiated, message));
        }
        match need_of_request(method, params) {
            Some(needed) if needed.declared_by == self.role => Err(Error::new(
                ErrorKind::Usage,
                format!("{method} is a request to this side, it cannot be sent from it"),
            )),
            Some(needed) if needed.name == "completions" && era.completions_undeclared => Ok(()),
            Some(needed) if !declared.has(needed.name) => Err(Error::not_declared(method, needed.name)),
            _ => Ok(()),
        }
    }
}

fn removed(method: &str) -> Error {
    let message = format!("{method} was not sent: revision 2026-07-28 has no such method");
    Error::new(ErrorKind::NotNegotiated, message)
}
