//! A server that does what a test says, byte by byte.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use oxmcp::transport::Http;
use oxmcp::{Client, Error, Revision};
use serde_json::{Value, json};
use tokio::io::{AsyncReadExt as _, AsyncWriteExt as _};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::mpsc;
use tokio::task::JoinHandle;

/// A port that is listened on, and the requests that come to it in their order.
pub(super) struct Script {
    pub(super) url: String,
    pub(super) port: u16,
    requests: mpsc::UnboundedReceiver<Asked>,
    opened: Arc<AtomicUsize>,
    accepting: JoinHandle<()>,
}

/// A request, to be answered.
pub(super) struct Asked {
    pub(super) method: String,
    pub(super) path: String,
    fields: Vec<(String, String)>,
    /// Null where there was none.
    pub(super) body: Value,
    stream: TcpStream,
    tell: mpsc::UnboundedSender<Asked>,
}

/// A response that is an event stream, in chunks. Dropping it breaks the connection.
pub(super) struct Events {
    stream: TcpStream,
    tell: mpsc::UnboundedSender<Asked>,
}

impl Drop for Script {
    fn drop(&mut self) {
        self.accepting.abort();
    }
}

impl Script {
    pub(super) async fn start() -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let (tell, requests) = mpsc::unbounded_channel();
        let opened = Arc::<AtomicUsize>::default();
        let count = Arc::clone(&opened);
        let accepting = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                count.fetch_add(1, Ordering::SeqCst);
                stream.set_nodelay(true).unwrap();
                tokio::spawn(read(stream, tell.clone()));
            }
        });
        Self {
            url: format!("http://127.0.0.1:{port}/mcp"),
            port,
            requests,
            opened,
            accepting,
        }
    }

    /// How many connections were opened.
    pub(super) fn opened(&self) -> usize {
        self.opened.load(Ordering::SeqCst)
    }

    pub(super) async fn next(&mut self) -> Asked {
        // Only a test that fails waits so long.
        let next = tokio::time::timeout(std::time::Duration::from_secs(20), self.requests.recv());
        next.await.expect("no request came").unwrap()
    }

    /// The next request, which must be of this method: of HTTP, or the message's.
    pub(super) async fn next_is(&mut self, method: &str) -> Asked {
        let asked = self.next().await;
        assert!(
            asked.is(method),
            "{method} was to come, and not {} {}",
            asked.method,
            asked.body
        );
        asked
    }

    /// A request that has come, if one has.
    pub(super) fn come(&mut self) -> Option<Asked> {
        self.requests.try_recv().ok()
    }

    /// Serves a handshake; the client must not listen.
    pub(super) async fn shake_hands(&mut self, revision: &str, session: Option<&str>) {
        let asked = self.next_is("initialize").await;
        let session = session
            .map(|id| format!("Mcp-Session-Id: {id}\r\n"))
            .unwrap_or_default();
        let result = asked.result(initialized(revision));
        asked
            .reply(
                200,
                &format!("Content-Type: application/json\r\n{session}"),
                &result.to_string(),
            )
            .await;
        let asked = self.next_is("notifications/initialized").await;
        asked.reply(202, "", "").await;
    }

    /// A client that has shaken hands and does not listen.
    pub(super) async fn legacy(&mut self, session: Option<&str>) -> Client {
        self.legacy_with(session, |http| http).await
    }

    pub(super) async fn legacy_with(&mut self, session: Option<&str>, settings: impl FnOnce(Http) -> Http) -> Client {
        let http = settings(Http::new(&self.url).listen(false));
        let builder = Client::builder().revisions([Revision::V2025_11_25]);
        let (client, ()) = tokio::join!(builder.connect(http), self.shake_hands("2025-11-25", session));
        client.unwrap()
    }

    /// Answers the question what the server is.
    pub(super) async fn discover(&mut self) {
        let asked = self.next_is("server/discover").await;
        let result = json!({
            "resultType": "complete",
            "supportedVersions": ["2026-07-28"],
            "capabilities": {"tools": {}, "resources": {"subscribe": true}, "prompts": {}},
        });
        asked.answer(result).await;
    }

    /// A client of a server without a handshake.
    pub(super) async fn modern(&mut self) -> Client {
        self.modern_by(Client::builder()).await
    }

    pub(super) async fn modern_by(&mut self, builder: oxmcp::ClientBuilder) -> Client {
        let http = Http::new(&self.url);
        let builder = builder.revisions([Revision::V2026_07_28]);
        let (client, ()) = tokio::join!(builder.connect(http), self.discover());
        client.unwrap()
    }
}

/// The result of an `initialize`.
pub(super) fn initialized(revision: &str) -> Value {
    json!({
        "protocolVersion": revision,
        "capabilities": {"tools": {}, "resources": {"subscribe": true}, "logging": {}},
        "serverInfo": {"name": "script", "version": "1"},
    })
}

/// Reads one request of a connection, and hands it over with the connection.
async fn read(mut stream: TcpStream, tell: mpsc::UnboundedSender<Asked>) {
    let mut head = Vec::new();
    while !head.ends_with(b"\r\n\r\n") {
        match stream.read_u8().await {
            Ok(byte) => head.push(byte),
            // The client closed it.
            Err(_) => return,
        }
    }
    let head = String::from_utf8(head).unwrap();
    let mut lines = head.lines();
    let mut first = lines.next().unwrap().split(' ');
    let (method, path) = (first.next().unwrap().to_owned(), first.next().unwrap().to_owned());
    let fields: Vec<_> = lines
        .filter_map(|line| line.split_once(": "))
        .map(|(name, value)| (name.to_ascii_lowercase(), value.to_owned()))
        .collect();
    let length = fields.iter().find(|(name, _)| name == "content-length");
    let mut body = vec![0; length.map_or(0, |(_, length)| length.parse().unwrap())];
    if stream.read_exact(&mut body).await.is_err() {
        return;
    }
    let body = serde_json::from_slice(&body).unwrap_or_default();
    let asked = Asked {
        method,
        path,
        fields,
        body,
        stream,
        tell: tell.clone(),
    };
    let _ = tell.send(asked);
}

impl Asked {
    pub(super) fn is(&self, method: &str) -> bool {
        self.method == method || self.body["method"] == method
    }

    /// The value of a header field.
    pub(super) fn field(&self, name: &str) -> Option<&str> {
        let mut found = self.fields.iter().filter(|(key, _)| *key == name.to_ascii_lowercase());
        let value = found.next().map(|(_, value)| &**value);
        assert!(found.next().is_none(), "{name} stands twice");
        value
    }

    /// The response with this result.
    pub(super) fn result(&self, result: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "result": result})
    }

    /// The response with an error of this code.
    pub(super) fn error(&self, code: i64, data: Value) -> Value {
        json!({"jsonrpc": "2.0", "id": self.body["id"], "error": {"code": code, "message": "no", "data": data}})
    }

    /// Answers by JSON.
    pub(super) async fn answer(self, result: Value) {
        let text = self.result(result).to_string();
        self.reply(200, "Content-Type: application/json\r\n", &text).await;
    }

    /// Writes a whole response, after which the connection may be used again.
    pub(super) async fn reply(mut self, status: u16, fields: &str, body: &str) {
        let length = body.len();
        let text = format!("HTTP/1.1 {status} X\r\n{fields}Content-Length: {length}\r\n\r\n{body}");
        // A client that has left needs no response.
        if self.stream.write_all(text.as_bytes()).await.is_ok() {
            tokio::spawn(read(self.stream, self.tell));
        }
    }

    /// Writes these bytes and closes the connection.
    pub(super) async fn raw(mut self, text: &str) {
        let _ = self.stream.write_all(text.as_bytes()).await;
        let _ = self.stream.shutdown().await;
    }

    /// Writes these bytes and gives the connection.
    pub(super) async fn open(mut self, text: &str) -> TcpStream {
        self.stream.write_all(text.as_bytes()).await.unwrap();
        self.stream
    }

    /// Begins an event stream.
    pub(super) async fn events(self, fields: &str) -> Events {
        let mut events = Events {
            stream: self.stream,
            tell: self.tell,
        };
        let head =
            format!("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\n{fields}Transfer-Encoding: chunked\r\n\r\n");
        events.write(head.as_bytes()).await;
        events
    }

    /// Waits until the client closes the connection.
    pub(super) async fn left(self) {
        left(self.stream).await;
    }
}

/// Waits until the client closes a connection.
async fn left(mut stream: TcpStream) {
    let mut byte = [0];
    assert!(
        !matches!(stream.read(&mut byte).await, Ok(1..)),
        "nothing more was to come"
    );
}

impl Events {
    async fn write(&mut self, bytes: &[u8]) {
        // A client that has left is no failure of the script.
        let _ = self.stream.write_all(bytes).await;
        let _ = self.stream.flush().await;
    }

    /// Writes a piece of the stream as a chunk of its own.
    pub(super) async fn piece(&mut self, bytes: &[u8]) {
        self.write(format!("{:x}\r\n", bytes.len()).as_bytes()).await;
        self.write(bytes).await;
        self.write(b"\r\n").await;
    }

    pub(super) async fn text(&mut self, text: &str) {
        self.piece(text.as_bytes()).await;
    }

    /// Writes an event with this message.
    pub(super) async fn message(&mut self, message: &Value) {
        self.text(&format!("data: {message}\n\n")).await;
    }

    /// Ends the stream in good order.
    pub(super) async fn end(mut self) {
        self.write(b"0\r\n\r\n").await;
        tokio::spawn(read(self.stream, self.tell));
    }

    /// Waits until the client closes the stream.
    pub(super) async fn left(self) {
        left(self.stream).await;
    }
}

/// What a call gave, as text.
pub(super) fn text(result: Result<oxmcp::CallToolResult, Error>) -> String {
    result.unwrap().text()
}

/// The result of a tool that gives this text.
pub(super) fn said(text: &str) -> Value {
    json!({"content": [{"type": "text", "text": text}], "resultType": "complete"})
}
