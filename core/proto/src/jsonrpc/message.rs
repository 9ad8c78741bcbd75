//! From one line of text to one of the four message shapes.

use std::borrow::Cow;

use memchr::memchr2;
use serde_json::value::RawValue;

use super::envelope::{Envelope, Given};
use super::text::{decode_str, members};
use super::{ErrorObject, Params, RequestId};

/// One JSON-RPC message, its payload still text.
///
/// ```
/// use oxmcp_proto::jsonrpc::{Message, RequestId};
///
/// let message = Message::parse(br#"{"jsonrpc":"2.0","id":7,"method":"ping"}"#, 128)?;
/// assert!(matches!(message, Message::Request { id: RequestId::Integer(7), .. }));
/// # Ok::<(), oxmcp_proto::jsonrpc::Malformed>(())
/// ```
#[derive(Debug)]
pub enum Message<'a> {
    /// A call that wants an answer.
    Request {
        /// Chosen by the sender; the answer carries it.
        id: RequestId,
        /// Which operation.
        method: Cow<'a, str>,
        /// With their members.
        params: Params<'a>,
    },
    /// A message that gets no answer.
    Notification {
        /// Which event.
        method: Cow<'a, str>,
        /// An object, or absent.
        params: Option<&'a RawValue>,
    },
    /// A request of ours succeeded.
    Result {
        /// The id of that request.
        id: RequestId,
        /// What it returned.
        result: &'a RawValue,
    },
    /// A request of ours failed; or, without an id, the peer could not read something of ours.
    Error {
        /// The id of that request, where the peer could read it.
        id: Option<RequestId>,
        /// Why.
        error: ErrorObject,
    },
}

/// Why a line is no message.
#[derive(Debug, PartialEq, Eq)]
pub enum Malformed {
    /// The text is not JSON.
    NotJson {
        /// What the JSON parser said, with line and column.
        why: String,
    },
    /// It is JSON, but no message.
    NotAMessage {
        /// The id, where one can be read.
        id: Option<RequestId>,
        /// What it was meant to be: that decides whether it is answered.
        meant: Meant,
        /// What is wrong with it.
        why: Cow<'static, str>,
    },
}

/// What a line that is no message was meant to be.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Meant {
    /// It carries a `method`: it asks for something.
    Request,
    /// A notification in all but its params: it must not be answered.
    Notification,
    /// It carries `result` or `error`: it must not be answered.
    Response,
    /// It carries both `method` and one of those: what it is depends on whether its id is waited for.
    Both,
    /// Neither: perhaps a line of a log.
    Unknown,
}

impl Meant {
    fn told_by(has: impl Fn(&str) -> bool) -> Self {
        match (has("method"), has("result") || has("error")) {
            (true, true) => Self::Both,
            (true, false) => Self::Request,
            (false, true) => Self::Response,
            (false, false) => Self::Unknown,
        }
    }
}

impl<'a> Message<'a> {
    /// Reads one line. `depth` is how deep its JSON may nest.
    ///
    /// # Errors
    /// [`Malformed`], with the id where one can be read.
    pub fn parse(line: &'a [u8], depth: usize) -> Result<Self, Malformed> {
        // Checked as a whole, which costs less than each part by itself.
        let text = std::str::from_utf8(line).ok();
        match text.and_then(|text| Envelope::read(text, depth)) {
            Some(envelope) => envelope.into_message(),
            None => Err(explain(line, depth)),
        }
    }
}

impl<'a> Envelope<'a> {
    fn into_message(self) -> Result<Message<'a>, Malformed> {
        if self.jsonrpc.is_none_or(|version| version.get() != "\"2.0\"") {
            return Err(self.not_a_message("it lacks \"jsonrpc\":\"2.0\""));
        }
        match (self.method, self.result, self.error) {
            (Some(method), None, None) => self.into_call(method),
            (None, Some(result), None) => match self.id.and_then(RequestId::read) {
                Some(id) => Ok(Message::Result { id, result }),
                None => Err(self.not_a_message("a result needs the id of its request")),
            },
            (None, None, Some(error)) => self.into_error(error),
            (None, None, None) => Err(self.not_a_message("it has no method, no result and no error")),
            (Some(_), ..) => Err(self.not_a_message("it has a method and a result or an error")),
            (None, ..) => Err(self.not_a_message("it has both a result and an error")),
        }
    }

    fn into_call(mut self, method: &'a RawValue) -> Result<Message<'a>, Malformed> {
        let Some(method) = decode_str(method) else {
            return Err(self.not_a_message("its method is not a string"));
        };
        let params = match self.params.take() {
            Some(Given::Raw(params)) if params.get() == "null" => None,
            Some(Given::Raw(params)) if !params.get().starts_with('{') => {
                let why = "its params are not an object";
                return Err(match self.id {
                    Some(_) => self.not_a_message(why),
                    None => Malformed::NotAMessage {
                        id: None,
                        meant: Meant::Notification,
                        why: why.into(),
                    },
                });
            }
            params => params,
        };
        match self.id.map(RequestId::read) {
            None => Ok(Message::Notification {
                method,
                params: params.and_then(Given::into_raw),
            }),
            Some(Some(id)) => Ok(Message::Request {
                id,
                method,
                params: params.map(Given::into_params).unwrap_or_default(),
            }),
            Some(None) => Err(self.not_a_message("its id is neither a string nor an integer")),
        }
    }

    fn into_error(self, error: &'a RawValue) -> Result<Message<'a>, Malformed> {
        let Some(error) = ErrorObject::read(error) else {
            return Err(self.not_a_message("its error lacks an integer code or a message"));
        };
        match self.id {
            // A null id is how JSON-RPC writes "could not be read"; MCP leaves the member out.
            Some(id) if id.get() != "null" => match RequestId::read(id) {
                Some(id) => Ok(Message::Error { id: Some(id), error }),
                None => Err(self.not_a_message("its id is neither a string nor an integer")),
            },
            _ => Ok(Message::Error { id: None, error }),
        }
    }

    fn not_a_message(&self, why: impl Into<Cow<'static, str>>) -> Malformed {
        Malformed::NotAMessage {
            id: self.id.and_then(RequestId::read),
            meant: Meant::told_by(|member| match member {
                "method" => self.method.is_some(),
                "result" => self.result.is_some(),
                _ => self.error.is_some(),
            }),
            why: why.into(),
        }
    }
}

/// Why the envelope could not be read: no JSON at all, or JSON of another shape.
fn explain(line: &[u8], depth: usize) -> Malformed {
    // A raw value, unlike one that is skipped, must be UTF-8 inside its strings too.
    let raw = match serde_json::from_slice::<&RawValue>(line) {
        Ok(raw) => raw,
        Err(syntax) => {
            return Malformed::NotJson {
                why: syntax.to_string(),
            };
        }
    };
    let Some(members) = members(raw) else {
        let why = match raw.get().strip_prefix('[') {
            Some(rest) if rest.trim_start().starts_with(']') => "it is an empty array",
            Some(_) => "a batch is not allowed here",
            None => "it is not an object",
        };
        return Malformed::NotAMessage {
            id: None,
            meant: Meant::Unknown,
            why: why.into(),
        };
    };
    // If a member stands twice, the id counts that is the only one.
    let mut ids = members.iter().filter(|(key, _)| key == "id");
    let id = match (ids.next(), ids.next()) {
        (Some((_, id)), None) => RequestId::read(id),
        _ => None,
    };
    let has = |name: &str| members.iter().any(|(key, _)| key == name);
    Malformed::NotAMessage {
        id,
        meant: Meant::told_by(has),
        why: match nests_deeper(line, depth) {
            true => format!("its JSON nests deeper than {depth} levels").into(),
            false => "a member stands in it twice, or its name is not valid text".into(),
        },
    }
}

/// What can be told of a message by its first bytes: its id and what it was meant to be.
///
/// Ids stand before payloads in what libraries write, so that a message too large to be read can still
/// be refused, or its call fail, at once.
pub(crate) fn peek(start: &[u8]) -> (Option<RequestId>, Meant) {
    let (mut id, mut seen) = (None, Vec::new());
    let (mut depth, mut at) = (0usize, 0);
    while at < start.len() {
        match start[at] {
            b'"' => {
                let Some(length) = string_length(&start[at..]) else {
                    break;
                };
                let key = &start[at..at + length];
                at += length;
                let value = start[at..].trim_ascii_start();
                if depth == 1 && value.first() == Some(&b':') {
                    if key == b"\"id\"" {
                        id = whole_id(&value[1..]);
                    }
                    seen.push(key);
                }
                continue;
            }
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        at += 1;
    }
    let meant = Meant::told_by(|name| seen.iter().any(|key| key[1..key.len() - 1] == *name.as_bytes()));
    (id, meant)
}

/// The id that `text` starts with, unless it may be cut.
fn whole_id(text: &[u8]) -> Option<RequestId> {
    let mut values = serde_json::Deserializer::from_slice(text).into_iter::<&RawValue>();
    let id = values.next()?.ok()?;
    let rest = text[values.byte_offset()..].trim_ascii_start();
    matches!(rest.first(), Some(b',' | b'}')).then(|| RequestId::read(id))?
}

/// The bytes of the JSON string that `text` starts with, quotes included; `None` when it has no end.
pub(super) fn string_length(text: &[u8]) -> Option<usize> {
    let mut escaped = false;
    let end = text.iter().skip(1).position(|&byte| {
        let ends = byte == b'"' && !escaped;
        escaped = byte == b'\\' && !escaped;
        ends
    })?;
    Some(end + 2)
}

/// Whether the line holds a JSON array.
pub(crate) fn is_array(line: &[u8]) -> bool {
    line.iter().find(|byte| !byte.is_ascii_whitespace()) == Some(&b'[')
}

/// The elements of a batch (2025-03-26); `None` when the line is no JSON array or an empty one.
pub(crate) fn parse_batch(line: &[u8]) -> Option<Vec<&RawValue>> {
    let elements: Vec<&RawValue> = serde_json::from_slice(line).ok()?;
    (!elements.is_empty()).then_some(elements)
}

/// Whether valid JSON nests deeper than `limit`.
fn nests_deeper(line: &[u8], limit: usize) -> bool {
    let (mut depth, mut at) = (0usize, 0);
    while let Some(&byte) = line.get(at) {
        match byte {
            b'"' => match end_of_string(line, at + 1) {
                Some(end) => at = end,
                None => return false,
            },
            b'{' | b'[' if depth == limit => return true,
            b'{' | b'[' => depth += 1,
            b'}' | b']' => depth -= 1,
            _ => {}
        }
        at += 1;
    }
    false
}

/// Where a string ends, from inside it.
fn end_of_string(line: &[u8], mut at: usize) -> Option<usize> {
    loop {
        let found = at + memchr2(b'"', b'\\', line.get(at..)?)?;
        if line[found] == b'"' {
            return Some(found);
        }
        at = found + 2;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn malformed(line: &str) -> (Option<String>, bool, String) {
        match Message::parse(line.as_bytes(), 128).unwrap_err() {
            Malformed::NotJson { why } => (None, false, format!("not JSON: {why}")),
            Malformed::NotAMessage { id, meant, why } => {
                (id.map(|id| id.to_string()), meant == Meant::Response, why.into_owned())
            }
        }
    }

    #[test]
    fn the_four_shapes() {
        let parse = |line: &'static str| Message::parse(line.as_bytes(), 128).unwrap();
        assert!(matches!(
            parse(r#"{"jsonrpc":"2.0","id":"a","method":"m"}"#),
            Message::Request { .. }
        ));
        assert!(matches!(
            parse(r#" {"method":"m","params":{},"jsonrpc":"2.0"} "#),
            Message::Notification { params: Some(_), .. }
        ));
        assert!(matches!(
            parse(r#"{"jsonrpc":"2.0","id":0,"result":null}"#),
            Message::Result { .. }
        ));
        let error = r#"{"jsonrpc":"2.0","id":null,"error":{"code":-1,"message":"\u00e4","data":[1]}}"#;
        let Message::Error { id: None, error } = parse(error) else {
            panic!()
        };
        assert_eq!((error.code.0, &*error.message), (-1, "ä"));
        assert_eq!(error.data.unwrap().get(), "[1]");
    }

    #[test]
    fn a_broken_envelope_keeps_its_id() {
        assert_eq!(malformed(r#"{"id":99,"method":"tools/list"}"#).0.unwrap(), "99");
        assert_eq!(
            malformed(r#"{"jsonrpc":"2.0","id":"x","method":5}"#).0.unwrap(),
            "\"x\""
        );
        assert_eq!(
            malformed(r#"{"jsonrpc":"2.0","id":1,"method":"m","params":[]}"#)
                .0
                .unwrap(),
            "1"
        );
        assert_eq!(malformed(r#"{"jsonrpc":"2.0","id":1.5,"method":"m"}"#).0, None);
        assert_eq!(malformed(r#"{"jsonrpc":"2.0","id":null,"method":"m"}"#).0, None);
        assert_eq!(
            malformed(r#"{"jsonrpc":"2.0","id":4,"method":"a","method":"b"}"#)
                .0
                .unwrap(),
            "4"
        );
        assert_eq!(malformed(r#"{"jsonrpc":"2.0","id":4,"id":5,"method":"b"}"#).0, None);
    }

    #[test]
    fn what_looks_like_a_response_is_marked_so() {
        assert!(malformed(r#"{"id":1,"result":{}}"#).1);
        assert!(malformed(r#"{"jsonrpc":"2.0","id":1,"result":{},"error":{}}"#).1);
        assert!(malformed(r#"{"jsonrpc":"2.0","id":1,"error":{"code":"x"}}"#).1);
        assert!(!malformed(r#"{"jsonrpc":"2.0","id":1}"#).1);
        // With a method it asks for something, whatever else is in it.
        assert!(!malformed(r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{}}"#).1);
        assert!(!malformed(r#"{"jsonrpc":"2.0","id":1,"method":"m","result":{},"result":{}}"#).1);
        assert!(malformed(r#"{"jsonrpc":"2.0","id":1,"result":{},"result":{}}"#).1);
    }

    #[test]
    fn why_a_line_is_no_message_is_told_apart() {
        assert!(malformed("[{}]").2.contains("a batch is not allowed"));
        assert!(malformed(" [ ] ").2.contains("empty array"));
        // A lone surrogate is grammatical JSON, but no text.
        let (id, is_response, why) = malformed(r#"{"jsonrpc":"2.0","id":1,"method":"m","\ud800":1}"#);
        assert_eq!((id.as_deref(), is_response), (Some("1"), false));
        assert!(why.contains("not valid text"), "{why}");
    }

    #[test]
    fn text_that_is_no_json_is_told_from_json_that_is_no_message() {
        for text in ["not json", "{\"a\":", "{}x", "\"\u{1}\"", "{'a':1}"] {
            assert!(malformed(text).2.starts_with("not JSON"), "{text}");
        }
        for json in ["1", "\"x\"", "null", "[1]", "{}"] {
            assert!(!malformed(json).2.starts_with("not JSON"), "{json}");
        }
        let bad_utf8 = b"{\"jsonrpc\":\"2.0\",\"method\":\"\xff\"}";
        assert!(matches!(Message::parse(bad_utf8, 128), Err(Malformed::NotJson { .. })));
    }

    #[test]
    fn the_start_of_a_message_tells_whose_it_is() {
        let told = |start: &str| {
            let (id, meant) = peek(start.as_bytes());
            (id.map(|id| id.to_string()).unwrap_or_default(), meant)
        };
        let request = r#"{"jsonrpc":"2.0","id": 7 ,"method":"tools/call","params":{"id":1,"a":"xxx"#;
        assert_eq!(told(request), ("7".into(), Meant::Request));
        let response = r#"{"id":"a\"","jsonrpc":"2.0","result":{"content":[{"method":"no"#;
        assert_eq!(told(response), (r#""a\"""#.into(), Meant::Response));
        assert_eq!(
            told(r#"{"result":{"text":"\"id\":5 xxxxx"#),
            (String::new(), Meant::Response)
        );
        let both = r#"{"id":3,"method":"ping","result":{}}"#;
        assert_eq!(told(both), ("3".into(), Meant::Both));
        assert_eq!(told(r#"{"id":12"#), (String::new(), Meant::Unknown));
        assert_eq!(told("[1,2,3"), (String::new(), Meant::Unknown));
        assert_eq!(told(""), (String::new(), Meant::Unknown));
    }

    #[test]
    fn depth_is_bounded_and_brackets_in_strings_do_not_count() {
        let nested = |levels: usize| {
            let (open, close) = ("[".repeat(levels), "]".repeat(levels));
            format!(r#"{{"jsonrpc":"2.0","id":3,"method":"m","params":{{"a":{open}{close}}}}}"#)
        };
        assert!(Message::parse(nested(126).as_bytes(), 128).is_ok());
        assert_eq!(malformed(&nested(127)).0.unwrap(), "3");
        // A recursive parser would overflow its stack here.
        assert!(malformed(&nested(1_000_000)).2.contains("deeper"));
        let string = format!(r#"{{"jsonrpc":"2.0","id":1,"method":"{}\""}}"#, "[{".repeat(500));
        assert!(Message::parse(string.as_bytes(), 128).is_ok());
    }
}
