//! What a host does with the outputs of a session: it runs handlers.

use std::collections::BTreeMap;

use oxmcp_proto::{Answer, CallOptions, ErrorKind, InboundId, Instant, OutboundId, Session};
use serde_json::{Value, json};

/// A handler of the server's: it asks its questions one by one, and gives all answers.
#[derive(Debug)]
pub(crate) struct Handler {
    /// The number of the call, from its arguments.
    call: u64,
    questions: u64,
    answers: Vec<Value>,
    waits_for: Option<OutboundId>,
}

/// The handlers of one side.
#[derive(Debug, Default)]
pub(crate) struct Handlers {
    pub running: BTreeMap<InboundId, Handler>,
    /// Questions of the server that the client's program has not answered.
    pub asked: BTreeMap<InboundId, Value>,
}

/// The one answer to a question, so that a mixed up one is found.
pub(crate) fn answer_to(call: u64, question: u64) -> Value {
    json!({ "action": "accept", "content": { "text": format!("{call}/{question}") } })
}

impl Handlers {
    /// The server is to run a handler.
    pub(crate) fn start(&mut self, session: &mut Session, id: InboundId, arguments: &str, now: Instant) {
        let arguments: Value = serde_json::from_str(arguments).unwrap();
        let handler = Handler {
            call: arguments["call"].as_u64().unwrap(),
            questions: arguments["questions"].as_u64().unwrap(),
            answers: Vec::new(),
            waits_for: None,
        };
        assert!(
            self.running.insert(id, handler).is_none(),
            "one handler runs for a call"
        );
        self.step(session, id, now);
    }

    /// A question was answered, or will not be.
    pub(crate) fn answered(
        &mut self,
        session: &mut Session,
        question: OutboundId,
        outcome: Result<&str, ErrorKind>,
        now: Instant,
    ) {
        let waiting = self
            .running
            .iter_mut()
            .find(|(_, handler)| handler.waits_for == Some(question));
        let Some((&id, handler)) = waiting else { return };
        handler.waits_for = None;
        match outcome {
            Ok(answer) => {
                handler.answers.push(serde_json::from_str(answer).unwrap());
                self.step(session, id, now);
            }
            // Its own cancel may have come together with this, and is the next output.
            Err(_) if session.is_open(id) => {
                self.running.remove(&id);
                assert!(session.respond(id, Answer::ToolError("no answer"), now));
            }
            Err(_) => {}
        }
    }

    fn step(&mut self, session: &mut Session, id: InboundId, now: Instant) {
        let handler = self.running.get_mut(&id).unwrap();
        let next = handler.answers.len() as u64;
        if next == handler.questions {
            if session.is_open(id) {
                let result = json!({ "content": [], "answers": handler.answers });
                self.running.remove(&id);
                assert!(session.respond(id, Answer::Result(&result.to_string()), now));
            }
            return;
        }
        let params = json!({
            "message": format!("{}/{next}", handler.call),
            "requestedSchema": { "type": "object", "properties": { "text": { "type": "string" } } },
        });
        let params = params.to_string();
        match session.ask(
            id,
            None,
            "elicitation/create",
            Some(&params),
            CallOptions::default(),
            now,
        ) {
            Ok(question) => handler.waits_for = Some(question),
            // As above.
            Err(error) => assert_eq!(error.kind(), ErrorKind::Cancelled),
        }
    }

    /// The client's program answers one of the questions it was asked, or fails to.
    pub(crate) fn reply(&mut self, session: &mut Session, at: usize, fails: bool, now: Instant) {
        let Some(id) = self.asked.keys().nth(at % self.asked.len().max(1)).copied() else {
            return;
        };
        let params = self.asked.remove(&id).unwrap();
        let (call, question) = params["message"].as_str().unwrap().split_once('/').unwrap();
        let answer = answer_to(call.parse().unwrap(), question.parse().unwrap()).to_string();
        let answer = match fails {
            true => Answer::ToolError("the user is away"),
            false => Answer::Result(&answer),
        };
        assert!(
            session.respond(id, answer, now),
            "a question that was not withdrawn is open"
        );
    }

    /// The session says that a handler is to stop.
    pub(crate) fn stop(&mut self, id: InboundId) {
        let ran = self.running.remove(&id).is_some();
        let asked = self.asked.remove(&id).is_some();
        assert!(ran || asked, "a cancel of a handler that does not run");
    }
}
