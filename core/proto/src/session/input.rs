//! Client: a result that asks for input (2026-07-28 mrtr, Client Requirements).
//!
//! Each thing that is asked for becomes a call of the host's handlers, as if the server had made the
//! request by itself. Once all are answered, the first request is made again, under a new id, with the
//! answers and the server's state.

use std::borrow::Cow;

use serde::Deserialize;
use serde_json::value::RawValue;

use super::inbound::{Call as InboundCall, Origin, Work};
use super::outbound::Call;
use super::output::Target;
use super::transmit::{ROUNDS, with_members};
use super::{Answer, Error, ErrorKind, InboundId, OutboundId, Output, Session};
use crate::Instant;
use crate::jsonrpc::{ErrorCode, ErrorObject, Json, ObjectWriter, json, members, object};
use crate::revision::need_of_request;
use crate::session::Role;

/// How much a server may ask for in one round.
const MOST_AT_ONCE: usize = 256;

/// What a call was asked for, and the answers so far.
#[derive(Debug, Default)]
pub(super) struct Input {
    /// How often the server asked.
    pub rounds: usize,
    /// The server's `requestState`, as JSON text.
    state: Option<Json>,
    answers: Vec<(Box<str>, Option<Json>)>,
}

#[derive(Deserialize)]
struct InputRequired<'a> {
    #[serde(borrow, default, rename = "inputRequests")]
    requests: Option<&'a RawValue>,
    #[serde(borrow, default, rename = "requestState")]
    state: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct InputRequest<'a> {
    #[serde(borrow)]
    method: Cow<'a, str>,
    #[serde(borrow, default)]
    params: Option<&'a RawValue>,
}

impl Input {
    /// `params` with the answers and the state.
    pub(super) fn add_to<'a>(&self, params: Option<&'a str>) -> Option<Cow<'a, str>> {
        if self.rounds == 0 {
            return params.map(Cow::Borrowed);
        }
        let mut answers = ObjectWriter::new();
        for (key, answer) in &self.answers {
            answers = answers.json(key, answer.as_ref().map_or("null", |answer| answer.get()));
        }
        let answers = answers.finish();
        let mut own = Vec::new();
        if !self.answers.is_empty() {
            own.push(("inputResponses", answers.as_str()));
        }
        if let Some(state) = &self.state {
            own.push(("requestState", state.get()));
        }
        Some(Cow::Owned(with_members(params, &own)))
    }
}

impl Session {
    /// Takes in a result that asks for input. True when the call can be made again at once.
    pub(super) fn take_round(&mut self, id: OutboundId, mut call: Call, result: &RawValue, now: Instant) -> bool {
        let limit = self.config.limits.rounds;
        let read = self.read_round(&call, result);
        let read = read.and_then(|read| match call.extra.as_mut() {
            Some(extra) if extra.input.rounds < limit => Ok((read, &mut extra.input)),
            Some(_) => Err(format!(
                "the server asked for input {limit} times before it served {}, which is the limit",
                call.method
            )),
            None => Err(format!("the server may not ask for input to serve {}", call.method)),
        });
        let ((requests, state), input) = match read {
            Ok(read) => read,
            Err(why) => {
                self.complete(id, Err(Error::new(ErrorKind::Protocol, why)));
                return false;
            }
        };
        input.rounds += 1;
        input.state = state;
        input.answers = requests.iter().map(|(key, ..)| (key.clone(), None)).collect();
        if requests.is_empty() {
            self.outbound.resend(id, call, now);
            return true;
        }
        let revision = self.revision();
        self.outbound.suspend(id, call, now);
        for (key, method, params) in requests {
            let target = Target::Method(method);
            let origin = Origin::Input { call: id, key };
            let work = Work::Run(target.clone());
            let input = self.inbound.insert(InboundCall::new(origin, revision, work));
            self.outputs.push_back(Output::Call {
                id: input,
                target,
                params,
                wants_progress: false,
            });
        }
        false
    }

    /// What a result asks for, by key, and its state.
    #[expect(clippy::type_complexity, reason = "taken apart by its only caller")]
    fn read_round(
        &self,
        call: &Call,
        result: &RawValue,
    ) -> Result<(Vec<(Box<str>, Box<str>, Option<Json>)>, Option<Json>), String> {
        if !ROUNDS.contains(&&*call.method) {
            return Err(format!("the server may not ask for input to serve {}", call.method));
        }
        let broken = |what: &str| format!("the server asks for input in a broken way: {what}");
        let required: InputRequired<'_> =
            serde_json::from_str(result.get()).map_err(|error| broken(&error.to_string()))?;
        if required.state.is_some_and(|state| !state.get().starts_with('"')) {
            return Err(broken("\"requestState\" must be a string"));
        }
        if required.requests.is_none() && required.state.is_none() {
            return Err(broken("it has neither \"inputRequests\" nor \"requestState\""));
        }
        let requests = match required.requests {
            Some(requests) => members(requests).ok_or_else(|| broken("\"inputRequests\" must be an object"))?,
            None => Vec::new(),
        };
        for (at, (key, _)) in requests.iter().enumerate() {
            if requests[..at].iter().any(|(other, _)| other == key) {
                return Err(broken(&format!("the key \"{key}\" comes twice")));
            }
        }
        if requests.len() > MOST_AT_ONCE {
            return Err(broken("it asks for too much at once"));
        }
        let read = |(key, request): (Cow<'_, str>, &RawValue)| {
            let request: InputRequest<'_> =
                object(request).map_err(|error| broken(&format!("the request \"{key}\": {error}")))?;
            let need = need_of_request(&request.method, request.params.map(RawValue::get));
            match need.filter(|need| need.declared_by == Role::Client) {
                None => Err(broken(&format!("it may not ask for {}", request.method))),
                Some(need) if !self.own.has(need.name) => Err(format!(
                    "the server asks for {}, for which this client does not declare \"{}\"",
                    request.method, need.name
                )),
                Some(_) => Ok((
                    key.into(),
                    request.method.into(),
                    request.params.map(RawValue::to_owned),
                )),
            }
        };
        let requests: Result<Vec<_>, String> = requests.into_iter().map(read).collect();
        Ok((requests?, required.state.map(RawValue::to_owned)))
    }

    /// A handler gave, or failed to give, what a call was asked for.
    pub(super) fn give_input(&mut self, id: OutboundId, key: &str, answer: Answer<'_>, now: Instant) {
        let answer = match answer {
            Answer::Result(text) => json(text).map_err(|error| {
                let message = format!("the handler's result is not JSON: {error}");
                ErrorObject::new(ErrorCode::INTERNAL_ERROR, message)
            }),
            Answer::Error(error) => Err(error),
            Answer::Text(what) | Answer::ToolError(what) | Answer::InvalidArguments(what) => {
                Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, what.to_owned()))
            }
            Answer::InputRequired { .. } => {
                let message = "a client cannot ask for input";
                Err(ErrorObject::new(ErrorCode::INTERNAL_ERROR, message))
            }
        };
        let answer = match answer {
            Ok(answer) => answer,
            Err(error) => {
                self.cancel_inputs(id, "another input failed");
                self.outbound.take(id);
                return self.complete(id, Err(Error::handler(error)));
            }
        };
        let Some(input) = self.outbound.get_mut(id).and_then(|call| call.extra.as_mut()) else {
            return;
        };
        let answers = &mut input.input.answers;
        for (wanted, slot) in answers.iter_mut() {
            if **wanted == *key {
                *slot = Some(answer);
                break;
            }
        }
        if answers.iter().all(|(_, answer)| answer.is_some())
            && let Some(call) = self.outbound.take(id)
        {
            self.outbound.resend(id, call, now);
            self.go_on(id, now);
        }
    }

    /// Stops the handlers that a call of ours waits for.
    pub(super) fn cancel_inputs(&mut self, id: OutboundId, reason: &str) {
        for input in self.inbound.take_inputs(id) {
            self.stop_handler(input, reason);
        }
    }

    pub(super) fn stop_handler(&mut self, id: InboundId, reason: &str) {
        let reason = Some(reason.to_owned());
        self.outputs.push_back(Output::Cancelled { id, reason });
    }
}
