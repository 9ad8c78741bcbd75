//! An HTTP client that hides nothing.

use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt as _, AsyncReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpStream;

use super::within;

pub(crate) const MODERN: &str = "2026-07-28";
pub(crate) const LEGACY: &str = "2025-11-25";

/// A request, written as it is.
#[derive(Clone, Debug)]
pub(crate) struct Request {
    method: String,
    target: String,
    fields: Vec<(String, String)>,
    body: Option<String>,
}

/// The head of a response.
#[derive(Clone, Debug)]
pub(crate) struct Head {
    pub status: u16,
    fields: Vec<(String, String)>,
}

/// One event of a stream.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Event {
    pub kind: Option<String>,
    pub id: Option<String>,
    pub data: String,
    pub retry: Option<String>,
    pub comment: bool,
}

impl Event {
    pub(crate) fn json(&self) -> Value {
        serde_json::from_str(&self.data).unwrap()
    }
}

/// A connection.
pub(crate) struct Wire {
    stream: BufReader<TcpStream>,
    /// Of an event stream: what was read of it.
    text: String,
    /// It is all of a stream.
    whole: bool,
}

impl Request {
    pub(crate) fn new(method: &str, body: Option<String>) -> Self {
        let request = Self {
            method: method.to_owned(),
            target: "/mcp".to_owned(),
            fields: Vec::new(),
            body,
        };
        request
            .field("Host", "localhost")
            .field("Accept", "application/json, text/event-stream")
    }

    pub(crate) fn post(body: &Value) -> Self {
        Self::new("POST", Some(body.to_string())).field("Content-Type", "application/json")
    }

    pub(crate) fn get(session: &str) -> Self {
        Self::new("GET", None).field("Mcp-Session-Id", session)
    }

    /// A request of a session.
    pub(crate) fn of(session: &str, body: &Value) -> Self {
        Self::post(body).field("Mcp-Session-Id", session)
    }

    /// A request of 2026-07-28, of a client that answers questions.
    pub(crate) fn modern(id: u32, method: &str, mut params: Value) -> Self {
        params["_meta"] = json!({
            "io.modelcontextprotocol/protocolVersion": MODERN,
            "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}},
            "progressToken": id,
        });
        let request = Self::post(&json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}));
        let request = request
            .field("MCP-Protocol-Version", MODERN)
            .field("Mcp-Method", method);
        match params["name"].as_str() {
            Some(name) => request.field("Mcp-Name", name),
            None => request,
        }
    }

    /// The same with this field, in place of what it had.
    pub(crate) fn field(mut self, name: &str, value: &str) -> Self {
        self = self.without(name);
        self.fields.push((name.to_owned(), value.to_owned()));
        self
    }

    pub(crate) fn without(mut self, name: &str) -> Self {
        self.fields.retain(|(known, _)| !known.eq_ignore_ascii_case(name));
        self
    }

    pub(crate) fn target(mut self, target: &str) -> Self {
        target.clone_into(&mut self.target);
        self
    }

    /// Method, target, fields and body, for a client of its own.
    pub(crate) fn parts(&self) -> (&str, &str, &[(String, String)], Option<&str>) {
        (&self.method, &self.target, &self.fields, self.body.as_deref())
    }

    fn text(&self) -> String {
        let mut text = format!("{} {} HTTP/1.1\r\n", self.method, self.target);
        for (name, value) in &self.fields {
            text.push_str(&format!("{name}: {value}\r\n"));
        }
        if let Some(body) = &self.body {
            text.push_str(&format!("Content-Length: {}\r\n\r\n{body}", body.len()));
        } else {
            text.push_str("\r\n");
        }
        text
    }
}

impl Head {
    pub(crate) fn field(&self, name: &str) -> Option<&str> {
        let found = self.fields.iter().find(|(known, _)| known.eq_ignore_ascii_case(name));
        found.map(|(_, value)| &**value)
    }

    pub(crate) fn is_stream(&self) -> bool {
        self.field("content-type") == Some("text/event-stream")
    }
}

impl Wire {
    pub(crate) async fn open(port: u16) -> Self {
        let stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        Self {
            stream: BufReader::new(stream),
            text: String::new(),
            whole: false,
        }
    }

    pub(crate) async fn send(&mut self, request: &Request) {
        self.send_text(&request.text()).await;
    }

    pub(crate) async fn send_text(&mut self, text: &str) {
        self.stream.get_mut().write_all(text.as_bytes()).await.unwrap();
    }

    /// The bytes that one read gives.
    pub(crate) async fn read_once(&mut self) -> String {
        let mut bytes = vec![0; 64 * 1024];
        let length = within(self.stream.get_mut().read(&mut bytes)).await.unwrap();
        String::from_utf8(bytes[..length].to_vec()).unwrap()
    }

    /// Whether the server closes, without a word.
    pub(crate) async fn ends(&mut self) -> bool {
        let mut bytes = Vec::new();
        within(self.stream.read_to_end(&mut bytes)).await.is_err() || bytes.is_empty()
    }

    /// What comes until the connection ends, one way or another.
    pub(crate) async fn last_words(&mut self) -> String {
        let mut bytes = Vec::new();
        let _ = within(self.stream.read_to_end(&mut bytes)).await;
        String::from_utf8(bytes).unwrap()
    }

    /// How many bytes come until the connection ends, one way or another.
    pub(crate) async fn rest(&mut self) -> usize {
        let mut bytes = Vec::new();
        let _ = within(self.stream.read_to_end(&mut bytes)).await;
        bytes.len()
    }

    async fn line(&mut self) -> String {
        let mut line = String::new();
        within(self.stream.read_line(&mut line)).await.unwrap();
        assert!(line.ends_with('\n'), "the connection ended in {line:?}");
        line.truncate(line.trim_end().len());
        line
    }

    pub(crate) async fn head(&mut self) -> Head {
        let status = self.line().await;
        let status = status.split(' ').nth(1).unwrap().parse().unwrap();
        let mut fields = Vec::new();
        loop {
            let line = self.line().await;
            let Some((name, value)) = line.split_once(": ") else {
                break;
            };
            fields.push((name.to_owned(), value.to_owned()));
        }
        self.text.clear();
        let head = Head { status, fields };
        let length = head.field("content-length").filter(|_| head.is_stream());
        self.whole = length.is_some();
        if let Some(length) = length {
            let mut body = vec![0; length.parse().unwrap()];
            within(self.stream.read_exact(&mut body)).await.unwrap();
            self.text = String::from_utf8(body).unwrap();
        }
        head
    }

    /// A request and the whole of its response.
    pub(crate) async fn call(&mut self, request: &Request) -> (Head, String) {
        self.send(request).await;
        self.response().await
    }

    pub(crate) async fn response(&mut self) -> (Head, String) {
        let head = self.head().await;
        if head.is_stream() || head.field("transfer-encoding").is_some() {
            while self.chunk().await {}
            return (head, std::mem::take(&mut self.text));
        }
        let length = head.field("content-length").map_or(0, |length| length.parse().unwrap());
        let mut body = vec![0; length];
        within(self.stream.read_exact(&mut body)).await.unwrap();
        (head, String::from_utf8(body).unwrap())
    }

    /// The status of a response and the JSON in it.
    pub(crate) async fn json(&mut self, request: &Request) -> (u16, Value) {
        let (head, body) = self.call(request).await;
        let value = serde_json::from_str(&body).unwrap_or_else(|_| panic!("{head:?} {body:?}"));
        (head.status, value)
    }

    /// Reads one more chunk of a stream. False at its end.
    async fn chunk(&mut self) -> bool {
        if self.whole {
            return false;
        }
        let length = usize::from_str_radix(&self.line().await, 16).unwrap();
        let mut data = vec![0; length + 2];
        within(self.stream.read_exact(&mut data)).await.unwrap();
        self.text.push_str(std::str::from_utf8(&data[..length]).unwrap());
        length > 0
    }

    /// The next event, or comment, of a stream; `None` at its end.
    pub(crate) async fn event(&mut self) -> Option<Event> {
        loop {
            if let Some(at) = self.text.find("\n\n") {
                let text: String = self.text.drain(..at + 2).collect();
                return Some(read_event(&text));
            }
            if !self.chunk().await {
                return None;
            }
        }
    }

    /// The JSON of the next event.
    pub(crate) async fn message(&mut self) -> Value {
        self.event().await.expect("the stream ended").json()
    }

    /// Begins a session of this revision.
    pub(crate) async fn initialize(&mut self, revision: &str) -> String {
        let (head, _) = self.call(&initialize(revision)).await;
        assert_eq!(head.status, 200);
        let session = head.field("mcp-session-id").unwrap().to_owned();
        let initialized = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let (head, body) = self.call(&Request::of(&session, &initialized)).await;
        assert_eq!((head.status, &*body), (202, ""));
        session
    }
}

pub(crate) fn initialize(revision: &str) -> Request {
    Request::post(&json!({"jsonrpc": "2.0", "id": 0, "method": "initialize", "params": {
        "protocolVersion": revision,
        "capabilities": {"elicitation": {}},
        "clientInfo": {"name": "wire", "version": "0"},
    }}))
}

/// The message of a call of a tool.
pub(crate) fn call(id: u32, tool: &str) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "tools/call", "params": {
        "name": tool, "arguments": {}, "_meta": {"progressToken": id},
    }})
}

pub(crate) fn ping(id: u32) -> Value {
    json!({"jsonrpc": "2.0", "id": id, "method": "ping"})
}

fn read_event(text: &str) -> Event {
    let mut event = Event::default();
    for line in text.lines().filter(|line| !line.is_empty()) {
        let (name, value) = line.split_once(": ").unwrap_or((line, ""));
        match name {
            "id" => event.id = Some(value.to_owned()),
            "event" => event.kind = Some(value.to_owned()),
            "retry" => event.retry = Some(value.to_owned()),
            "data" | "data:" => event.data.push_str(value),
            _ => {
                assert!(line.starts_with(':'), "{line:?}");
                event.comment = true;
            }
        }
    }
    event
}
