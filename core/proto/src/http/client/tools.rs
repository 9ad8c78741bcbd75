//! The annotated parameters of a server's tools, learnt from its lists.
//!
//! A client without a handshake leaves tools with invalid annotations out of `tools/list`, and uses the others
//! (2026-07-28 streamable-http, Custom Headers from Tool Parameters).

use std::collections::HashMap;
use std::sync::Arc;

use serde_json::value::RawValue;

use super::super::param_headers::{BadAnnotation, ParamHeaders};
use super::message::result_line;
use crate::jsonrpc::{ErrorCode, Json, Message, ObjectWriter, decode_str, json, members};

/// How many tools with annotations are remembered.
const KEPT: usize = 10_000;

/// What is known of the tools of a server.
///
/// ```
/// use oxmcp_proto::http::client::ToolHeaders;
/// use oxmcp_proto::jsonrpc::json;
///
/// let list = json(r#"{"tools":[
///     {"name":"good","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":"A"}}}},
///     {"name":"bad","inputSchema":{"properties":{"a":{"type":"string","x-mcp-header":""}}}}
/// ]}"#)?;
/// let mut known = ToolHeaders::default();
/// let (kept, rejected) = known.learn(&list);
/// assert_eq!(rejected[0].name, "bad");
/// assert!(!kept.unwrap().get().contains("bad"));
/// assert!(known.of("good").is_some());
/// # Ok::<(), serde_json::Error>(())
/// ```
#[derive(Clone, Debug, Default)]
pub struct ToolHeaders(HashMap<Box<str>, Arc<ParamHeaders>>);

/// A tool that is left out of a list.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RejectedTool {
    /// Its name.
    pub name: String,
    /// Why.
    pub why: BadAnnotation,
}

impl ToolHeaders {
    /// Reads the result of a `tools/list`, one page of it. Gives the result without the tools that are
    /// rejected, if there are any; all else in it stays as it was.
    pub fn learn(&mut self, result: &RawValue) -> (Option<Json>, Vec<RejectedTool>) {
        let all = members(result).unwrap_or_default();
        let tools = all.iter().find(|(key, _)| key == "tools").map(|(_, tools)| *tools);
        let tools: Vec<&RawValue> = tools
            .and_then(|tools| serde_json::from_str(tools.get()).ok())
            .unwrap_or_default();
        let mut rejected = Vec::new();
        let mut kept = Vec::with_capacity(tools.len());
        for tool in tools {
            match self.learn_tool(tool) {
                Ok(()) => kept.push(tool.get()),
                Err(tool) => rejected.push(tool),
            }
        }
        if rejected.is_empty() {
            return (None, rejected);
        }
        let kept = format!("[{}]", kept.join(","));
        let whole = all.iter().fold(ObjectWriter::new(), |whole, (key, value)| {
            whole.json(key, if key == "tools" { &kept } else { value.get() })
        });
        (json(whole.finish()).ok(), rejected)
    }

    /// Reads the answer to a `tools/list`: gives it without the tools that are rejected, if there are any.
    pub fn learn_answer(&mut self, answer: &[u8]) -> (Option<Vec<u8>>, Vec<RejectedTool>) {
        let Ok(Message::Result { id, result }) = Message::parse(answer, 128) else {
            return (None, Vec::new());
        };
        let (kept, rejected) = self.learn(result);
        (kept.map(|kept| result_line(&id, kept.get())), rejected)
    }

    fn learn_tool(&mut self, tool: &RawValue) -> Result<(), RejectedTool> {
        let all = members(tool).unwrap_or_default();
        let member = |wanted: &str| all.iter().find(|(key, _)| key == wanted).map(|(_, value)| *value);
        let Some(name) = member("name").and_then(decode_str) else {
            return Ok(());
        };
        let headers = match member("inputSchema").map(ParamHeaders::read) {
            Some(Ok(headers)) => headers,
            Some(Err(why)) => {
                self.0.remove(&*name);
                let name = name.into_owned();
                return Err(RejectedTool { name, why });
            }
            None => ParamHeaders::default(),
        };
        if headers.is_empty() {
            self.0.remove(&*name);
        } else {
            // A server that lists others without end makes us forget, which costs a list; it gets no more memory.
            if self.0.len() == KEPT {
                self.0.clear();
            }
            self.0.insert(name.into(), Arc::new(headers));
        }
        Ok(())
    }

    /// The annotated parameters of a tool; `None` when it has none, or was in no list yet.
    pub fn of(&self, tool: &str) -> Option<&Arc<ParamHeaders>> {
        self.0.get(tool)
    }

    /// Whether a call that failed with `code` may succeed after the tools were listed again: their
    /// annotations may have changed since.
    pub fn may_be_stale(method: &str, code: ErrorCode) -> bool {
        method == "tools/call" && code == ErrorCode::HEADER_MISMATCH
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn tool(name: &str, header: &str) -> String {
        format!(
            r#"{{"name":"{name}","inputSchema":{{"type":"object","properties":{{"a":{{"type":"string"{header}}}}}}}}}"#
        )
    }

    #[test]
    fn one_bad_definition_does_not_hide_the_others() {
        let mut known = ToolHeaders::default();
        let (good, bad, plain) = (
            tool("good", r#","x-mcp-header":"Region""#),
            tool("bad", r#","x-mcp-header":"My Region""#),
            tool("plain", ""),
        );
        let list = json(format!(
            r#"{{"ttlMs":0,"tools":[{good}, {bad},{plain}],"nextCursor":"x"}}"#
        ))
        .unwrap();
        let (kept, rejected) = known.learn(&list);
        assert_eq!(
            kept.unwrap().get(),
            format!(r#"{{"ttlMs":0,"tools":[{good},{plain}],"nextCursor":"x"}}"#)
        );
        assert_eq!(rejected.len(), 1);
        assert!(rejected[0].name == "bad" && rejected[0].why.to_string().contains("at a"));
        assert!(known.of("good").is_some() && known.of("bad").is_none() && known.of("plain").is_none());
    }

    #[test]
    fn a_newer_list_replaces_what_an_older_one_said() {
        let mut known = ToolHeaders::default();
        for (header, is_annotated) in [
            (r#","x-mcp-header":"A""#, true),
            ("", false),
            (r#","x-mcp-header":"B""#, true),
        ] {
            let list = json(format!(r#"{{"tools":[{}]}}"#, tool("t", header))).unwrap();
            assert_eq!(known.learn(&list).0.map(|kept| kept.get().to_owned()), None);
            assert_eq!(known.of("t").is_some(), is_annotated, "{header}");
        }
        known.learn(&json(r#"{"tools":[{"name":"t","inputSchema":{"x-mcp-header":""}}]}"#).unwrap());
        assert!(known.of("t").is_none());
    }

    #[test]
    fn what_is_no_list_is_left_alone() {
        let mut known = ToolHeaders::default();
        for result in ["{}", "[]", "7", r#"{"tools":7}"#, r#"{"tools":[7,{"name":7}]}"#] {
            let (kept, rejected) = known.learn(&json(result).unwrap());
            assert!(kept.is_none() && rejected.is_empty(), "{result}");
        }
        assert!(ToolHeaders::may_be_stale("tools/call", ErrorCode::HEADER_MISMATCH));
        assert!(!ToolHeaders::may_be_stale("tools/list", ErrorCode::HEADER_MISMATCH));
    }
}
