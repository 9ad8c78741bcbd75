//! The check of every reply. The first one is read as JSON; one that is spelled like it, byte for byte but for the
//! id and the text, needs no second reading, so that the check of a fast server's replies costs less than the replies.

use std::borrow::Cow;
use std::fmt;

use serde::Deserialize;
use serde_json::value::RawValue;

use crate::wire::{TEXT_AFTER, TEXT_BEFORE, TEXT_DIGITS, text};

/// Checks the replies to `tools/call` of one server.
#[derive(Debug, Default)]
pub(crate) struct Checker {
    spelling: Option<Spelling>,
}

impl Checker {
    /// The id that this reply answers, once it is known to be a success with that id's own text and nothing else.
    /// `None` for a notification, which a server may send at any time.
    pub(crate) fn check(&mut self, line: &[u8]) -> Result<Option<u64>, WrongReply> {
        if let Some(id) = self.spelling.as_ref().and_then(|spelling| spelling.id_of(line)) {
            return Ok(Some(id));
        }
        let id = check_echo(line)?;
        if let Some(id) = id {
            self.spelling = Spelling::learn(line, id);
        }
        Ok(id)
    }
}

/// How a server spells its replies: what stands before, between and after the id and the text.
#[derive(Debug)]
struct Spelling {
    before: Vec<u8>,
    between: Vec<u8>,
    after: Vec<u8>,
    id_first: bool,
}

impl Spelling {
    /// From a reply that was checked. `None` if the id or the text does not stand there once, as it was sent.
    fn learn(line: &[u8], id: u64) -> Option<Self> {
        let digits = id.to_string();
        let (key, text) = (format!("\"id\":{digits}"), text(id));
        let at = [
            find_once(line, key.as_bytes())? + key.len() - digits.len(),
            find_once(line, text.as_bytes())?,
        ];
        let id_first = at[0] < at[1];
        let lengths = [digits.len(), text.len()];
        let (first, second) = if id_first { (0, 1) } else { (1, 0) };
        Some(Self {
            before: line[..at[first]].to_vec(),
            between: line[at[first] + lengths[first]..at[second]].to_vec(),
            after: line[at[second] + lengths[second]..].to_vec(),
            id_first,
        })
    }

    /// The id of a reply that is spelled this way and has its id's text.
    fn id_of(&self, line: &[u8]) -> Option<u64> {
        let rest = line.strip_prefix(&*self.before)?;
        let (first, rest) = if self.id_first {
            take_number(rest, 1)?
        } else {
            take_text(rest)?
        };
        let rest = rest.strip_prefix(&*self.between)?;
        let (second, rest) = if self.id_first {
            take_text(rest)?
        } else {
            take_number(rest, 1)?
        };
        (first == second && rest == &*self.after).then_some(first)
    }
}

fn find_once(line: &[u8], part: &[u8]) -> Option<usize> {
    let mut found = memchr::memmem::find_iter(line, part);
    match (found.next(), found.next()) {
        (Some(at), None) => Some(at),
        _ => None,
    }
}

fn take_text(bytes: &[u8]) -> Option<(u64, &[u8])> {
    let (number, rest) = take_number(bytes.strip_prefix(TEXT_BEFORE.as_bytes())?, TEXT_DIGITS)?;
    Some((number, rest.strip_prefix(TEXT_AFTER.as_bytes())?))
}

/// A decimal number of at least `digits` digits, which has no leading zero if it has more.
fn take_number(bytes: &[u8], digits: usize) -> Option<(u64, &[u8])> {
    let length = bytes.iter().take_while(|byte| byte.is_ascii_digit()).count();
    if length < digits || length > 18 || (length > digits && bytes[0] == b'0') {
        return None;
    }
    let number = bytes[..length]
        .iter()
        .fold(0, |number, digit| number * 10 + u64::from(digit - b'0'));
    Some((number, &bytes[length..]))
}

/// Why a line from a server is not what it had to be.
#[derive(Debug, PartialEq)]
pub(crate) struct WrongReply(String);

impl WrongReply {
    pub(crate) fn new(reason: String) -> Self {
        Self(reason)
    }

    fn in_line(reason: impl fmt::Display, line: &[u8]) -> Self {
        let shown = String::from_utf8_lossy(&line[..line.len().min(400)]);
        Self(format!("{reason}: {shown}"))
    }
}

impl fmt::Display for WrongReply {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl std::error::Error for WrongReply {}

#[derive(Deserialize)]
struct Message<'a> {
    id: Option<u64>,
    #[serde(borrow)]
    method: Option<Cow<'a, str>>,
    #[serde(borrow)]
    error: Option<&'a RawValue>,
    #[serde(borrow)]
    result: Option<&'a RawValue>,
}

#[derive(Deserialize)]
struct EchoResult<'a> {
    #[serde(borrow)]
    content: Vec<Content<'a>>,
    #[serde(rename = "isError", default)]
    is_error: bool,
}

#[derive(Deserialize)]
struct Content<'a> {
    #[serde(borrow)]
    r#type: Cow<'a, str>,
    #[serde(borrow, default)]
    text: Cow<'a, str>,
}

/// What `Checker::check` promises, for a reply in any spelling.
fn check_echo(line: &[u8]) -> Result<Option<u64>, WrongReply> {
    let Some((id, result)) = response(line)? else {
        return Ok(None);
    };
    let Ok(result) = serde_json::from_str::<EchoResult<'_>>(result) else {
        return Err(WrongReply::in_line("not the result of a tools/call", line));
    };
    if result.is_error {
        return Err(WrongReply::in_line("the tool failed", line));
    }
    match result.content.as_slice() {
        [content] if content.r#type == "text" && content.text == text(id) => Ok(Some(id)),
        [content] if content.r#type == "text" => Err(WrongReply::in_line("wrong text", line)),
        _ => Err(WrongReply::in_line("not one text content", line)),
    }
}

/// Whether this line is the answer to `initialize` in the revision that was asked for; `false` for a notification.
pub(crate) fn check_initialize(line: &[u8], revision: &str) -> Result<bool, WrongReply> {
    #[derive(Deserialize)]
    struct Initialized {
        #[serde(rename = "protocolVersion")]
        protocol_version: String,
    }
    let Some((id, result)) = response(line)? else {
        return Ok(false);
    };
    match serde_json::from_str::<Initialized>(result) {
        Ok(initialized) if id == 0 && initialized.protocol_version == revision => Ok(true),
        _ => Err(WrongReply::in_line(
            format_args!("not an answer to initialize in {revision}"),
            line,
        )),
    }
}

/// Id and result of a response; `None` for a notification.
fn response(line: &[u8]) -> Result<Option<(u64, &str)>, WrongReply> {
    let message: Message<'_> = serde_json::from_slice(line)
        .map_err(|error| WrongReply::in_line(format_args!("unreadable ({error})"), line))?;
    match message {
        Message { error: Some(_), .. } => Err(WrongReply::in_line("an error", line)),
        Message {
            method: Some(_),
            id: Some(_),
            ..
        } => Err(WrongReply::in_line("a request of the server", line)),
        Message { method: Some(_), .. } => Ok(None),
        Message {
            id: Some(id),
            result: Some(result),
            ..
        } => Ok(Some((id, result.get()))),
        Message { .. } => Err(WrongReply::in_line("neither a response nor a notification", line)),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::wire::{INITIALIZE, PROTOCOL_VERSION};

    fn echo(id: u64, text: &str) -> String {
        format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"content":[{{"type":"text","text":"{text}"}}]}}}}"#)
    }

    fn rejected(line: &str) -> String {
        check_echo(line.as_bytes()).expect_err(line).to_string()
    }

    #[test]
    fn a_right_reply_passes_in_any_spelling() {
        assert_eq!(check_echo(echo(7, &text(7)).as_bytes()), Ok(Some(7)));
        let other = r#"{ "result": {"structuredContent": {"result": "x"}, "isError": false, "content": [
            {"text": "\u006dessage 00000007 of the benchmark", "annotations": null, "type": "text"}]},
            "id" : 7, "jsonrpc": "2.0"}"#;
        assert_eq!(check_echo(other.as_bytes()), Ok(Some(7)));
    }

    #[test]
    fn a_wrong_reply_is_rejected_with_the_reason() {
        assert!(rejected(&echo(7, &text(8))).starts_with("wrong text"));
        assert!(rejected(r#"{"jsonrpc":"2.0","id":7,"error":{"code":-32603,"message":"x"}}"#).starts_with("an error"));
        assert!(rejected(r#"{"jsonrpc":"2.0","id":7,"result":{}}"#).starts_with("not the result"));
        assert!(rejected(r#"{"jsonrpc":"2.0","id":"7","result":{}}"#).starts_with("unreadable"));
        assert!(rejected(r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#).starts_with("a request"));
        assert!(rejected("Server running on stdio").starts_with("unreadable"));
        assert!(rejected("{}").starts_with("neither"));
        let failed = echo(7, &text(7)).replace(r#""content""#, r#""isError":true,"content""#);
        assert!(rejected(&failed).starts_with("the tool failed"));
        let two = echo(7, &text(7)).replace("[{", r#"[{"type":"text","text":"x"},{"#);
        assert!(rejected(&two).starts_with("not one text content"));
        let image = echo(7, &text(7)).replace(r#""type":"text""#, r#""type":"image""#);
        assert!(rejected(&image).starts_with("not one text content"));
    }

    #[test]
    fn an_error_beside_a_result_is_rejected() {
        let both = echo(7, &text(7)).replace(r#""id""#, r#""error":{"code":1,"message":"x"},"id""#);
        assert!(rejected(&both).starts_with("an error"));
    }

    #[test]
    fn a_notification_is_no_reply() {
        assert_eq!(
            check_echo(br#"{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}"#),
            Ok(None)
        );
    }

    #[test]
    fn initialize_must_be_answered_in_the_revision_asked_for() {
        let answer = |version| format!(r#"{{"jsonrpc":"2.0","id":0,"result":{{"protocolVersion":"{version}"}}}}"#);
        assert_eq!(
            check_initialize(answer(PROTOCOL_VERSION).as_bytes(), PROTOCOL_VERSION),
            Ok(true)
        );
        assert!(check_initialize(answer("2024-11-05").as_bytes(), PROTOCOL_VERSION).is_err());
        assert_eq!(
            check_initialize(
                br#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#,
                PROTOCOL_VERSION
            ),
            Ok(false)
        );
        let asked: serde_json::Value = serde_json::from_slice(INITIALIZE).expect("JSON");
        assert_eq!(asked["params"]["protocolVersion"], PROTOCOL_VERSION);
    }

    #[test]
    fn replies_in_a_known_spelling_pass_like_the_first_one() {
        let id_last = |id| {
            format!(
                r#"{{"result":{{"content":[{{"type":"text","text":"{}"}}]}},"id":{id}}}"#,
                text(id)
            )
        };
        for spelled in [&(|id| echo(id, &text(id))) as &dyn Fn(u64) -> String, &id_last] {
            let mut checker = Checker::default();
            for id in [9, 10, 123_456_789, 1] {
                assert_eq!(checker.check(spelled(id).as_bytes()), Ok(Some(id)));
                let known = checker
                    .spelling
                    .as_ref()
                    .and_then(|spelling| spelling.id_of(spelled(id + 1).as_bytes()));
                assert_eq!(known, Some(id + 1), "it is the short way that is tested here");
            }
        }
    }

    #[test]
    fn a_known_spelling_lets_no_wrong_reply_pass() {
        let mut checker = Checker::default();
        assert_eq!(checker.check(echo(7, &text(7)).as_bytes()), Ok(Some(7)));
        for wrong in [
            echo(7, &text(8)),
            echo(8, &text(7)),
            echo(7, "message 7 of the benchmark"),
            echo(7, "message 000000007 of the benchmark"),
            echo(7, ""),
            echo(7, &text(7)).replace("\"content\"", "\"isError\":true,\"content\""),
            echo(7, &text(7)).replace("\"id\":7", "\"id\":07"),
            echo(7, &text(7)) + "}",
        ] {
            assert!(checker.check(wrong.as_bytes()).is_err(), "{wrong}");
        }
        let longer = echo(8, &text(8)).replace("]}", "],\"structuredContent\":{}}");
        assert_eq!(
            checker.check(longer.as_bytes()),
            Ok(Some(8)),
            "another spelling is read as JSON again"
        );
    }

    #[test]
    fn a_reply_that_says_the_text_twice_has_no_spelling() {
        let twice = echo(7, &text(7)).replace("]}", &format!(r#"],"structuredContent":{{"result":"{}"}}}}"#, text(7)));
        let mut checker = Checker::default();
        assert_eq!(checker.check(twice.as_bytes()), Ok(Some(7)));
        assert!(checker.spelling.is_none());
    }
}
