//! Outputs as one flat JSON array, for hosts to which few large crossings are cheaper than many
//! small ones (see [`encode_outputs`](super::Session::encode_outputs)).

use super::output::{OutboundId, Output, Peer, Target};
use super::{Error, Session};
use crate::jsonrpc::{Json, ObjectWriter, write};

/// Members per output in the flat array: its kind, its id, and two values.
const WIDTH: usize = 4;

impl Session {
    /// Drains the outputs into the text of one flat JSON array, four elements for each output:
    /// kind, id, first value, second value. Returns the bytes for the peer, which stay apart.
    ///
    /// | kind | id | first | second |
    /// | --- | --- | --- | --- |
    /// | `"call"` | call | `[kind, entry or method, wantsProgress]` | params or `null` |
    /// | `"describe"` | call | kind | `null` |
    /// | `"cancelled"` | call | reason or `null` | `null` |
    /// | `"ready"` | `null` | `{protocolVersion, info, capabilities, instructions?}` | `null` |
    /// | `"connectFailed"` | `null` | error | `null` |
    /// | `"progress"` | call | params | `null` |
    /// | `"result"` | call | result | `null` |
    /// | `"error"` | call | error | `null` |
    /// | `"notification"` | subscription or `null` | method | params or `null` |
    /// | `"trace"` | `null` | `"sent"` or `"received"` | the line, as a string |
    /// | `"problem"` | `null` | kind | message |
    /// | `"closed"` | `null` | `null` | `null` |
    ///
    /// An error is `{kind, code?, message, data?, fault, retryable}`.
    ///
    /// ```
    /// use oxmcp_proto::{Config, Implementation, Instant, Session};
    ///
    /// let mut client = Session::client(Config::new(Implementation::new("test", "1")));
    /// client.receive(b"not json\n", Instant::default());
    /// let (mut events, mut wire) = (Vec::new(), Vec::new());
    /// client.encode_outputs(&mut events, &mut wire);
    /// assert!(events.starts_with(br#"["problem",null,"not_json","#));
    /// assert!(wire.is_empty());
    /// ```
    pub fn encode_outputs(&mut self, events: &mut Vec<u8>, wire: &mut Vec<u8>) {
        events.push(b'[');
        let start = events.len();
        while let Some(output) = self.poll_output() {
            let output = match output {
                Output::Wire(bytes) => {
                    wire.extend_from_slice(&bytes);
                    self.recycle(bytes);
                    continue;
                }
                Output::Message { line, .. } => {
                    wire.extend_from_slice(&line);
                    wire.push(b'\n');
                    continue;
                }
                other => other,
            };
            if events.len() > start {
                events.push(b',');
            }
            encode_output(events, output);
        }
        events.push(b']');
    }
}

/// Appends a result as its text: the four elements `"text"`, call, the result as a JSON string, `null`.
///
/// For hosts whose own JSON reader would lose something, such as the digits of large integers.
pub fn encode_text_result(events: &mut Vec<u8>, id: OutboundId, result: &Json) {
    row(events, "text", Some(id.0), [Some(&quoted(result.get())), None]);
}

/// Appends the four elements of one output, without a comma before or after, for drivers that gather
/// the array of [`encode_outputs`](Session::encode_outputs) themselves.
///
/// # Panics
/// For [`Output::Wire`] and [`Output::Message`], which have no place among the events.
pub fn encode_output(events: &mut Vec<u8>, output: Output) {
    match output {
        Output::Call {
            id,
            target,
            params,
            wants_progress,
        } => {
            let head = call_head(&target, wants_progress);
            row(events, "call", Some(id.0), [Some(&head), text(params.as_ref())]);
        }
        Output::Describe { id, kind } => row(events, "describe", Some(id.0), [Some(&quoted(kind.name())), None]),
        Output::Cancelled { id, reason } => {
            row(
                events,
                "cancelled",
                Some(id.0),
                [reason.as_deref().map(quoted).as_deref(), None],
            );
        }
        Output::Ready(peer) => row(events, "ready", None, [Some(&peer_object(&peer)), None]),
        Output::ConnectFailed(error) => row(events, "connectFailed", None, [Some(&error_object(&error)), None]),
        Output::Progress { id, params } => row(events, "progress", Some(id.0), [Some(params.get()), None]),
        Output::Done {
            id,
            outcome: Ok(result),
        } => row(events, "result", Some(id.0), [Some(result.get()), None]),
        Output::Done {
            id,
            outcome: Err(error),
        } => {
            row(events, "error", Some(id.0), [Some(&error_object(&error)), None]);
        }
        Output::Notification {
            method,
            params,
            subscription,
        } => {
            row(
                events,
                "notification",
                subscription.map(|id| id.0),
                [Some(&quoted(&method)), text(params.as_ref())],
            );
        }
        Output::Trace { direction, line } => {
            let (direction, line) = (quoted(direction.name()), quoted(&line));
            row(events, "trace", None, [Some(&direction), Some(&line)]);
        }
        Output::Problem(problem) => {
            let (kind, message) = (quoted(problem.kind.name()), quoted(&problem.message));
            row(events, "problem", None, [Some(&kind), Some(&message)]);
        }
        Output::Closed => row(events, "closed", None, [None, None]),
        Output::Wire(_) | Output::Message { .. } => unreachable!("kept apart by the caller"),
    }
}

fn call_head(target: &Target, wants_progress: bool) -> String {
    let kind = target.kind();
    match target {
        Target::Tool(entry)
        | Target::Resource(entry)
        | Target::Template(entry)
        | Target::Prompt(entry)
        | Target::PromptCompletion(entry)
        | Target::TemplateCompletion(entry) => format!("[\"{kind}\",{entry},{wants_progress}]"),
        Target::Method(name) => format!("[\"{kind}\",{},{wants_progress}]", quoted(name)),
    }
}

fn row(events: &mut Vec<u8>, kind: &str, id: Option<u64>, values: [Option<&str>; WIDTH - 2]) {
    events.push(b'"');
    events.extend_from_slice(kind.as_bytes());
    events.extend_from_slice(b"\",");
    match id {
        // Ids count up from zero one by one, and so stay exact in JavaScript as well.
        Some(id) => write::integer(events, id as i64),
        None => events.extend_from_slice(b"null"),
    }
    for value in values {
        events.push(b',');
        events.extend_from_slice(value.unwrap_or("null").as_bytes());
    }
}

fn text(json: Option<&Json>) -> Option<&str> {
    json.map(|json| json.get())
}

fn quoted(text: &str) -> String {
    let mut quoted = Vec::with_capacity(text.len() + 2);
    write::string(&mut quoted, text);
    String::from_utf8(quoted).unwrap_or_else(|error| unreachable!("made of whole strings: {error}"))
}

fn peer_object(peer: &Peer) -> String {
    let object = ObjectWriter::new()
        .string("protocolVersion", peer.revision.name())
        .json("info", peer.info.get())
        .json("capabilities", peer.capabilities.get());
    match &peer.instructions {
        Some(text) => object.string("instructions", text).finish(),
        None => object.finish(),
    }
}

fn error_object(error: &Error) -> String {
    let mut object = ObjectWriter::new().string("kind", error.kind().name());
    if let Some(code) = error.code() {
        object = object.integer("code", code.0);
    }
    object = object.string("message", error.message());
    if let Some(data) = error.data() {
        object = object.json("data", data);
    }
    let retryable = if error.is_retryable() { "true" } else { "false" };
    object
        .string("fault", error.fault().name())
        .json("retryable", retryable)
        .finish()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::jsonrpc::json;

    #[test]
    fn a_text_result_keeps_every_digit_and_stays_one_row() {
        let mut events = Vec::new();
        let result = json("{\"n\":9007199254740993,\"s\":\"a\\n\"}").unwrap();
        encode_text_result(&mut events, OutboundId(7), &result);
        assert_eq!(
            String::from_utf8(events).unwrap(),
            r#""text",7,"{\"n\":9007199254740993,\"s\":\"a\\n\"}",null"#
        );
    }
}
