//! Server: what a call carries from one round to the next (2026-07-28 mrtr, Server Requirements).
//!
//! A `requestState` holds the answers so far, the questions that are open, and the handler's own state.
//! It is sealed: bound to the request it belongs to, to who makes it, and to a time.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use super::inbound::{Call, Origin, Work};
use super::output::Target;
use super::{OutboundId, Session};
use crate::jsonrpc::{ErrorCode, ErrorObject, Json, ObjectWriter, Params, canonical_without, decode_str, members};
use crate::seal::Bound;

/// The members of params that are not the request itself.
const OUTSIDE: [&str; 3] = ["_meta", "inputResponses", "requestState"];

/// What a call's handler asked for, in this round and those before.
#[derive(Debug, Default)]
pub(super) struct Replay {
    pub answers: Vec<Known>,
    pub pending: Vec<Pending>,
    /// What the handler kept for itself.
    pub state: Option<String>,
    /// The answers of this round as the client sent them.
    pub responses: Option<Json>,
    /// Whether they came without a state: nothing says then which questions they answer, but their keys.
    pub unbound: bool,
}

/// A question that was answered.
#[derive(Debug, Serialize, Deserialize)]
pub(super) struct Known {
    #[serde(rename = "k")]
    pub key: Box<str>,
    #[serde(rename = "d")]
    pub digest: Box<str>,
    #[serde(rename = "r")]
    pub result: Json,
    /// Whether this run of the handler asked it already: the same question again is another one.
    #[serde(skip)]
    pub used: bool,
}

/// A question that is open.
#[derive(Debug)]
pub(super) struct Pending {
    pub key: Box<str>,
    pub digest: Box<str>,
    pub call: OutboundId,
    pub method: Box<str>,
    pub params: Option<Box<str>>,
}

/// What is sealed.
#[derive(Deserialize)]
struct Sealed {
    #[serde(rename = "a")]
    answers: Vec<Known>,
    /// Keys and digests.
    #[serde(rename = "p")]
    pending: Vec<(Box<str>, Box<str>)>,
    #[serde(rename = "s", default)]
    state: Option<String>,
}

impl Replay {
    /// The answer to a question, if the client gave it.
    ///
    /// A request needs no state for answers under keys that the handler chose: each round has to stand for itself
    /// (mrtr, Basic Workflow), and whoever knows the keys may answer at once. Numbers name another question in
    /// every round, so an answer under one of them counts only beside the state that it was asked with.
    pub(super) fn recall(&mut self, key: Option<&str>, digest: &str) -> Option<Json> {
        let mut known = self
            .answers
            .iter_mut()
            .filter(|known| !known.used && *known.digest == *digest);
        if let Some(known) = known.find(|known| key.is_none_or(|key| *known.key == *key)) {
            known.used = true;
            return Some(known.result.clone());
        }
        let key = key.filter(|key| self.unbound && self.answers.iter().all(|known| *known.key != **key))?;
        let given = members(self.responses.as_deref()?)?;
        let (_, answer) = given.into_iter().find(|(name, _)| name == key)?;
        let result = is_answer(answer).then(|| answer.to_owned())?;
        self.answers.push(Known {
            key: key.into(),
            digest: digest.into(),
            result: result.clone(),
            used: true,
        });
        Some(result)
    }

    /// The key of a new question: the one that was asked for, unless it is taken, or a number.
    pub(super) fn name(&self, key: Option<&str>) -> Option<Box<str>> {
        let open = |key: &str| self.pending.iter().any(|pending| *pending.key == *key);
        if let Some(key) = key {
            return (!open(key)).then(|| key.into());
        }
        let known = |key: &str| self.answers.iter().any(|known| *known.key == *key);
        let numbers = (1_usize..).map(|number| number.to_string());
        numbers.filter(|key| !open(key) && !known(key)).map(Into::into).next()
    }

    /// The open questions as `inputRequests`, after those a handler made itself.
    pub(super) fn requests(&self, own: &str) -> String {
        let mut requests = ObjectWriter::new();
        let own = serde_json::from_str(own).ok().and_then(members).unwrap_or_default();
        for (key, request) in own {
            requests = requests.json(&key, request.get());
        }
        for pending in &self.pending {
            let request = ObjectWriter::new().string("method", &pending.method);
            let request = match &pending.params {
                Some(params) => request.json("params", params),
                None => request,
            };
            requests = requests.json(&pending.key, &request.finish());
        }
        requests.finish()
    }

    /// What is to be sealed.
    pub(super) fn to_json(&self, own_state: Option<&str>) -> String {
        let answers = super::handshake::to_json(&self.answers);
        let mut sealed = ObjectWriter::new().json("a", &answers);
        let pending: Vec<_> = self
            .pending
            .iter()
            .map(|pending| (&pending.key, &pending.digest))
            .collect();
        sealed = sealed.json("p", &super::handshake::to_json(&pending));
        if let Some(state) = own_state {
            sealed = sealed.string("s", state);
        }
        sealed.finish()
    }
}

impl Session {
    /// What a request brings from the rounds before; `None` for a first one.
    ///
    /// # Errors
    /// What the request is refused with.
    pub(super) fn read_replay(&self, method: &str, params: &Params<'_>) -> Result<Option<Box<Replay>>, ErrorObject> {
        let invalid = |what: &str| {
            let message = format!("Invalid params for {method}: {what}");
            ErrorObject::new(ErrorCode::INVALID_PARAMS, message)
        };
        let member = |wanted: &str| match params.member(wanted) {
            Ok(value) => Ok(value.filter(|value| value.get() != "null")),
            Err(twice) => Err(invalid(&twice.0)),
        };
        let (state, responses) = (member("requestState")?, member("inputResponses")?);
        if state.is_none() && responses.is_none() {
            return Ok(None);
        }
        let given = match responses {
            Some(responses) => members(responses).ok_or_else(|| invalid("\"inputResponses\" must be an object"))?,
            None => Vec::new(),
        };
        let mut replay = Box::new(Replay {
            responses: responses.map(RawValue::to_owned),
            ..Replay::default()
        });
        let Some(state) = state else {
            replay.unbound = true;
            return Ok(responses.map(|_| replay));
        };
        let state = decode_str(state).ok_or_else(|| invalid("\"requestState\" must be a string"))?;
        let keys = self.config.state_keys.as_ref();
        let keys = keys.ok_or_else(|| invalid("\"requestState\" was never given out by this server"))?;
        let request = bound_text(method, params.text_or_empty()).ok_or_else(|| invalid("they cannot be read"))?;
        let opened = keys
            .open(&self.bound(&request), self.unix_millis(), &state)
            .map_err(|refusal| invalid(&format!("\"requestState\": {refusal}")))?;
        let broken = |_| invalid("\"requestState\" is of another version of this server");
        let sealed: Sealed = serde_json::from_slice(&opened).map_err(broken)?;
        replay.answers = sealed.answers;
        replay.state = sealed.state;
        // Answers to what was not asked are ignored (mrtr, Error Handling).
        for (key, digest) in sealed.pending {
            let answer = given.iter().find(|(name, _)| **name == *key).map(|(_, answer)| *answer);
            if let Some(result) = answer.filter(|answer| is_answer(answer)).map(RawValue::to_owned) {
                replay.answers.push(Known {
                    key,
                    digest,
                    result,
                    used: false,
                });
            }
        }
        Ok(Some(replay))
    }

    /// The request that a call's state belongs to.
    pub(super) fn bound_request(&self, call: &Call) -> Option<String> {
        let Origin::Request(_) = call.origin else { return None };
        let method = match call.work {
            Work::Run(Target::Tool(_)) => "tools/call",
            Work::Run(Target::Prompt(_)) => "prompts/get",
            Work::Run(Target::Resource(_) | Target::Template(_)) => "resources/read",
            Work::Run(Target::Method(ref method)) => method,
            Work::Run(_) | Work::Parked { .. } | Work::Listen(_) => return None,
        };
        bound_text(method, call.params.as_ref()?)
    }

    pub(super) fn bound<'a>(&'a self, request: &'a str) -> Bound<'a> {
        Bound {
            principal: &self.config.principal,
            request,
        }
    }

    pub(super) fn unix_millis(&self) -> u64 {
        self.unix_epoch.saturating_add(self.now.as_micros() / 1000)
    }
}

/// Every result is an object.
fn is_answer(answer: &RawValue) -> bool {
    answer.get().starts_with('{')
}

fn bound_text(method: &str, params: &str) -> Option<String> {
    Some(format!("{method}\n{}", canonical_without(params, &OUTSIDE)?))
}

impl Replay {
    /// The answers of this round, for a handler that makes the rounds itself.
    pub(super) fn own_responses(&self) -> Option<&str> {
        self.responses.as_ref().map(|responses| responses.get())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::json;

    #[test]
    fn what_is_sealed_can_be_read_again() {
        let replay = Replay {
            answers: vec![Known {
                key: "1".into(),
                digest: "d".into(),
                result: json(r#"{"n":9007199254740993}"#).unwrap(),
                used: true,
            }],
            ..Replay::default()
        };
        let text = replay.to_json(Some("own"));
        let sealed: Sealed = serde_json::from_str(&text).unwrap();
        assert_eq!(sealed.answers[0].result.get(), r#"{"n":9007199254740993}"#);
        assert_eq!(sealed.state.as_deref(), Some("own"));
    }
}
