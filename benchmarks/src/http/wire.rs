//! What the load sends over HTTP: requests of both eras, of which only the id and the text change from call to call.

use serde::Serialize;

use crate::wire::text;

/// The newest revision of each era.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Era {
    /// 2025-11-25: a handshake begins a session, and every request names it.
    Legacy,
    /// 2026-07-28: every request stands for itself.
    Modern,
}

/// What a call is answered by.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "lowercase")]
pub(crate) enum Answers {
    Json,
    /// An event stream of one event or more.
    Sse,
}

impl Era {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Legacy => "legacy",
            Self::Modern => "modern",
        }
    }

    pub(crate) const fn revision(self) -> &'static str {
        match self {
            Self::Legacy => "2025-11-25",
            Self::Modern => "2026-07-28",
        }
    }
}

impl Answers {
    pub(crate) const fn name(self) -> &'static str {
        match self {
            Self::Json => "json",
            Self::Sse => "sse",
        }
    }
}

/// Ids of calls have this many digits, so that all requests of a connection are equally long.
const FIRST_ID: u64 = 10_000_000;

/// Numbers calls; no two share an id or a text.
#[derive(Debug)]
pub(crate) struct Ids(u64);

impl Ids {
    pub(crate) fn new() -> Self {
        Self(FIRST_ID)
    }

    pub(crate) fn next(&mut self) -> u64 {
        self.0 += 1;
        self.0 - 1
    }
}

/// Where requests go, and what their heads say.
#[derive(Clone, Debug)]
pub(crate) struct Target {
    pub(crate) host: String,
    pub(crate) path: String,
    pub(crate) accept: &'static str,
}

/// The requests of one client.
#[derive(Clone, Debug)]
pub(crate) struct Client {
    before_id: Vec<u8>,
    between: Vec<u8>,
    after: Vec<u8>,
}

impl Client {
    /// One of the era: `session` is the one that its handshake began.
    pub(crate) fn new(target: &Target, era: Era, session: Option<&str>) -> Self {
        Self::of_tool(target, era, session, "echo")
    }

    /// The same, which calls another tool.
    pub(crate) fn of_tool(target: &Target, era: Era, session: Option<&str>, tool: &str) -> Self {
        let meta = match era {
            Era::Legacy => "",
            Era::Modern => {
                r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"oxmcp-bench","version":"1.0.0"},"io.modelcontextprotocol/clientCapabilities":{}},"#
            }
        };
        let before = r#"{"jsonrpc":"2.0","id":"#;
        let between = format!(r#","method":"tools/call","params":{{{meta}"name":"{tool}","arguments":{{"text":""#);
        let after = r#""}}}"#;
        let length = before.len() + 8 + between.len() + text(FIRST_ID).len() + after.len();
        let mut fields = format!("MCP-Protocol-Version: {}\r\n", era.revision());
        match (era, session) {
            (Era::Modern, _) => fields.push_str(&format!("Mcp-Method: tools/call\r\nMcp-Name: {tool}\r\n")),
            (Era::Legacy, Some(session)) => fields.push_str(&format!("Mcp-Session-Id: {session}\r\n")),
            (Era::Legacy, None) => {}
        }
        let mut before_id = target.head("POST", &fields, length);
        before_id.extend_from_slice(before.as_bytes());
        Self {
            before_id,
            between: between.into_bytes(),
            after: after.into(),
        }
    }

    /// Writes a call over what is in `request`.
    pub(crate) fn call(&self, id: u64, request: &mut Vec<u8>) {
        request.clear();
        request.extend_from_slice(&self.before_id);
        request.extend_from_slice(id.to_string().as_bytes());
        request.extend_from_slice(&self.between);
        request.extend_from_slice(text(id).as_bytes());
        request.extend_from_slice(&self.after);
    }
}

impl Target {
    /// The request that begins a session.
    pub(crate) fn initialize(&self) -> Vec<u8> {
        self.post(
            "",
            r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"oxmcp-bench","version":"1.0.0"}}}"#,
        )
    }

    /// What completes a handshake.
    pub(crate) fn initialized(&self, session: Option<&str>) -> Vec<u8> {
        self.post(
            &in_session(session),
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        )
    }

    /// What ends a session.
    pub(crate) fn delete(&self, session: &str) -> Vec<u8> {
        self.head("DELETE", &in_session(Some(session)), 0)
    }

    fn post(&self, fields: &str, body: &str) -> Vec<u8> {
        let mut request = self.head("POST", fields, body.len());
        request.extend_from_slice(body.as_bytes());
        request
    }

    fn head(&self, method: &str, fields: &str, length: usize) -> Vec<u8> {
        let Self { host, path, accept } = self;
        format!(
            "{method} {path} HTTP/1.1\r\nHost: {host}\r\nAccept: {accept}\r\nContent-Type: application/json\r\n{fields}Content-Length: {length}\r\n\r\n"
        )
        .into_bytes()
    }
}

fn in_session(session: Option<&str>) -> String {
    let session = session.map_or_else(String::new, |id| format!("Mcp-Session-Id: {id}\r\n"));
    format!("MCP-Protocol-Version: {}\r\n{session}", Era::Legacy.revision())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_length_of_a_call_is_that_of_its_body() {
        let target = Target {
            host: "127.0.0.1:1".to_owned(),
            path: "/mcp".to_owned(),
            accept: "application/json",
        };
        let mut ids = Ids::new();
        for (era, session) in [(Era::Legacy, Some("s")), (Era::Legacy, None), (Era::Modern, None)] {
            let mut request = Vec::new();
            let id = ids.next();
            Client::new(&target, era, session).call(id, &mut request);
            let request = String::from_utf8(request).expect("text");
            let (head, body) = request.split_once("\r\n\r\n").expect("a head");
            assert!(head.ends_with(&format!("Content-Length: {}", body.len())), "{head}");
            assert_eq!(head.contains("\r\nMcp-Session-Id: s"), session.is_some(), "{head}");
            let body: serde_json::Value = serde_json::from_str(body).expect("JSON");
            assert_eq!(body["params"]["arguments"]["text"], text(id));
        }
    }
}
