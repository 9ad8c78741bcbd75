//! What a handler asks the peer for while it serves a call: the same for both eras.
//!
//! | the call is in a revision | what happens |
//! | --- | --- |
//! | with a handshake | a request goes to the peer, and its answer comes as `Output::Done` |
//! | without, and the answer is known | `Output::Done` comes at once |
//! | without, and it is not | the call ends with a result that asks for input, and its handler is cancelled. The client makes the call again with the answers, the handler runs from its start, and each question it asks again is answered at once |
//!
//! The server keeps nothing between two rounds: the answers so far travel in the sealed `requestState`
//! (2026-07-28 mrtr). So a handler must ask the same questions when it runs again; one that differs is
//! asked anew, as the client answered another one.

use serde_json::value::RawValue;

use super::declared::Declared;
use super::inbound::{Call, Origin, Work};
use super::output::Target;
use super::replay::{Pending, Replay};
use super::transmit::ROUNDS;
use super::{CallOptions, Error, ErrorKind, InboundId, OutboundId, Session};
use crate::Instant;
use crate::jsonrpc::{ErrorCode, ErrorObject, Json, ObjectWriter, canonical, json, members, write};
use crate::revision::{Need, need_of_request};
use crate::session::Role;
use crate::session::stateless::CAPABILITIES;

impl Session {
    /// Makes a call of ours for a call of the peer: asks its user, its model or its roots.
    ///
    /// It ends with the call it is made for. `key` names the question in revisions without a handshake,
    /// where the client sees it; without one, questions are numbered. A question is known by what it
    /// asks, with a key or without.
    ///
    /// # Errors
    /// As for [`begin`](Self::begin); also when the call is over. A capability that a client of
    /// 2026-07-28 lacks has the code and the data that tell the client so, for handlers that do without
    /// an answer to pass on.
    pub fn ask(
        &mut self,
        call: InboundId,
        key: Option<&str>,
        method: &str,
        params: Option<&str>,
        options: CallOptions,
        now: Instant,
    ) -> Result<OutboundId, Error> {
        self.see(now);
        let Some(entry) = self.inbound.get(call) else {
            return Err(Error::new(
                ErrorKind::Cancelled,
                format!("{method} was not sent: the call it is for is over"),
            ));
        };
        if !entry.revision.era().stateless {
            self.check_params(method, params)?;
            self.check_may_send(method, params)?;
            self.flush_notices();
            self.route_to_call(call);
            let id = self.start(method, params, options, None, now);
            self.route_to(None);
            if let Some(asked) = self.outbound.get_mut(id) {
                asked.asked_for = Some(call);
            }
            if let Some(entry) = self.inbound.get_mut(call) {
                entry.asked.push(id);
            }
            return Ok(id);
        }
        self.check_params(method, params)?;
        self.check_may_ask(entry, method, params)?;
        self.ask_by_round(call, key, method, params)
    }

    fn check_may_ask(&self, call: &Call, method: &str, params: Option<&str>) -> Result<(), Error> {
        let usage = |what: &str| Error::new(ErrorKind::Usage, format!("{method} was not sent: {what}"));
        self.check_may_take_rounds(call).map_err(usage)?;
        let need = need_of_request(method, params).filter(|need| need.declared_by == Role::Client);
        let need = need.ok_or_else(|| usage("a server may ask for roots, sampling and elicitation only"))?;
        if !capabilities(call).is_some_and(|declared| Declared::read(declared).has(need.name)) {
            return Err(Error::not_declared(method, need.name)
                .seen_as(ErrorCode::MISSING_REQUIRED_CLIENT_CAPABILITY, required(&need)));
        }
        Ok(())
    }

    fn check_may_take_rounds(&self, call: &Call) -> Result<(), &'static str> {
        let Origin::Request(_) = call.origin else {
            return Err("a client of 2026-07-28 makes no requests on behalf of its server");
        };
        match call.work {
            Work::Run(Target::Tool(_) | Target::Prompt(_) | Target::Resource(_) | Target::Template(_)) => {}
            Work::Run(Target::Method(ref method)) if ROUNDS.contains(&&**method) => {}
            Work::Run(_) | Work::Parked { .. } | Work::Listen(_) => {
                return Err(
                    "in 2026-07-28 only tools, prompts and resources may ask for input (mrtr, Supported Requests)",
                );
            }
        }
        match self.config.state_keys {
            Some(_) => Ok(()),
            None => Err("asking for input in 2026-07-28 needs keys to seal requestState with (state_keys)"),
        }
    }

    fn ask_by_round(
        &mut self,
        call: InboundId,
        key: Option<&str>,
        method: &str,
        params: Option<&str>,
    ) -> Result<OutboundId, Error> {
        let Some(replay) = self
            .inbound
            .get_mut(call)
            .map(|entry| entry.replay.get_or_insert_default())
        else {
            return Err(Error::new(ErrorKind::Cancelled, "the call is over"));
        };
        // This revision has no id for an elicitation, and one made at random would be another question
        // in each round.
        let stripped = params
            .filter(|_| method == "elicitation/create")
            .map(without_elicitation_id);
        let params = stripped.as_deref().or(params);
        let digest = digest(method, params);
        let answer = replay.recall(key, &digest);
        let key = replay.name(key).ok_or_else(|| {
            let key = key.unwrap_or_default();
            let message = format!("{method} was not sent: this call asks under the key \"{key}\" already");
            Error::new(ErrorKind::Usage, message)
        });
        let id = self.outbound.next_id();
        match answer {
            Some(answer) => {
                let answer = match method {
                    "elicitation/create" => super::elicitation::normalise(params.unwrap_or("{}"), &answer),
                    _ => Ok(answer),
                };
                self.complete(id, answer);
            }
            None => {
                replay.pending.push(Pending {
                    key: key?,
                    digest,
                    call: id,
                    method: method.into(),
                    params: params.map(Into::into),
                });
                self.rounds_due.push(call);
            }
        }
        Ok(id)
    }

    /// Withdraws a question that was not sent yet.
    pub(super) fn withdraw(&mut self, id: OutboundId) -> bool {
        for due in &self.rounds_due {
            let replay = self.inbound.get_mut(*due).and_then(|call| call.replay.as_mut());
            if let Some(replay) = replay
                && let Some(at) = replay.pending.iter().position(|pending| pending.call == id)
            {
                replay.pending.remove(at);
                return true;
            }
        }
        false
    }

    /// Ends the calls whose handlers asked for what is not known: once all of a turn have asked.
    pub(super) fn settle_rounds(&mut self) {
        for due in std::mem::take(&mut self.rounds_due) {
            let waits = self.inbound.get(due).and_then(|call| call.replay.as_ref());
            if waits.is_none_or(|replay| replay.pending.is_empty()) {
                continue;
            }
            self.route_to_call(due);
            let Some(call) = self.inbound.take(due) else { continue };
            self.stop_handler(due, "the client is asked for input, and makes the call again");
            self.send_round(&call, None);
            self.route_to(None);
            self.end_asked(call);
        }
        self.end_drain_if_idle();
    }

    /// Ends what a handler asked for, as the call it was for is over.
    pub(super) fn end_asked(&mut self, call: Call) {
        for id in call.asked {
            if self.outbound.contains(id) {
                self.cancel(id, Some("the call it was made for is over"));
            }
        }
        for pending in call.replay.into_iter().flat_map(|replay| replay.pending) {
            let message = format!("{} is asked in a round of its own", pending.method);
            self.complete(pending.call, Err(Error::new(ErrorKind::Cancelled, message)));
        }
    }

    /// Answers a call by asking for input, the handler's own or what it asked for.
    pub(super) fn send_round(&mut self, call: &Call, own: Option<(&str, Option<&str>)>) {
        let Origin::Request(id) = &call.origin else { return };
        let (own_requests, own_state) = own.unwrap_or(("{}", None));
        let empty = Replay::default();
        let replay = call.replay.as_deref().unwrap_or(&empty);
        let result = match self.seal(call, replay, own_state) {
            Ok(state) => {
                let requests = replay.requests(own_requests);
                let result = ObjectWriter::new().string("resultType", "input_required");
                let result = if requests == "{}" {
                    result
                } else {
                    result.json("inputRequests", &requests)
                };
                result.string("requestState", &state).finish()
            }
            Err(why) => {
                let error = ErrorObject::new(ErrorCode::INTERNAL_ERROR, why);
                return write::error(&mut self.wire, Some(id), &error);
            }
        };
        self.reply_result(id, call.revision.era(), &result);
    }

    fn seal(&self, call: &Call, replay: &Replay, own_state: Option<&str>) -> Result<String, String> {
        let keys = self.config.state_keys.as_ref();
        let keys = keys.ok_or("the server has no keys to seal requestState with (state_keys)")?;
        let request = self.bound_request(call).ok_or("the request cannot be read again")?;
        let payload = replay.to_json(own_state);
        let ttl = u64::try_from(self.config.state_ttl.as_millis()).unwrap_or(u64::MAX);
        let expires = self.unix_millis().saturating_add(ttl);
        keys.seal(&self.bound(&request), expires, payload.as_bytes())
            .map_err(|error| error.to_string())
    }

    /// What a handler that makes the rounds itself asks for, checked as a question of `ask` is.
    ///
    /// # Errors
    /// Why it cannot be sent.
    pub(super) fn check_own_requests(&self, call: &Call, requests: &str) -> Result<(), ErrorObject> {
        let broken = |what: String| {
            let message = format!("what the handler asks for is broken: {what}");
            ErrorObject::new(ErrorCode::INTERNAL_ERROR, message)
        };
        self.check_may_take_rounds(call)
            .map_err(|what| broken(what.to_owned()))?;
        let requests: Json = json(requests).map_err(|error| broken(error.to_string()))?;
        let requests = members(&requests).ok_or_else(|| broken("it is not an object".to_owned()))?;
        for (key, request) in requests {
            let parts = members(request).unwrap_or_default();
            let part = |wanted: &str| parts.iter().find(|(key, _)| key == wanted).map(|(_, value)| *value);
            let method = part("method").and_then(crate::jsonrpc::decode_str);
            let method = method.ok_or_else(|| broken(format!("the request \"{key}\" has no method")))?;
            let params = part("params").map(RawValue::get);
            super::questions::check(&method, params)
                .map_err(|what| broken(format!("the request \"{key}\" ({method}): {what}")))?;
            self.check_may_ask(call, &method, params)
                .map_err(|error| match error.kind() {
                    ErrorKind::NotNegotiated => error.to_object(),
                    _ => broken(error.message().to_owned()),
                })?;
        }
        Ok(())
    }
}

/// The capabilities that a request of a revision without a handshake says its client has.
pub(super) fn capabilities(call: &Call) -> Option<&RawValue> {
    call.stated(CAPABILITIES)
}

/// The `data` of `MissingRequiredClientCapability`.
fn required(need: &Need) -> String {
    let capability = match need.name.split_once('.') {
        Some((name, member)) => format!("{{\"{name}\":{{\"{member}\":{{}}}}}}"),
        None => format!("{{\"{}\":{{}}}}", need.name),
    };
    format!("{{\"requiredCapabilities\":{capability}}}")
}

fn without_elicitation_id(params: &str) -> String {
    let all = serde_json::from_str(params).ok().and_then(members).unwrap_or_default();
    let kept = all.iter().filter(|(key, _)| key != "elicitationId");
    kept.fold(ObjectWriter::new(), |whole, (key, value)| whole.json(key, value.get()))
        .finish()
}

/// Tells one question from another.
fn digest(method: &str, params: Option<&str>) -> Box<str> {
    let params = canonical(params.unwrap_or("{}")).unwrap_or_default();
    crate::seal::digest(&[method.as_bytes(), params.as_bytes()]).into()
}
