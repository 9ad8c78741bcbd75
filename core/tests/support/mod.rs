//! The other side of a connection, message by message.
#![allow(dead_code, reason = "each test file uses a part of it")]

use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use oxmcp::transport::{self, Transport};
use oxmcp::{Client, ClientBuilder, Error, Problem, ProblemKind, Revision, Server, ServingHandle};
use serde_json::{Value, json};
use tokio::io::{AsyncBufReadExt, AsyncWriteExt, BufReader, DuplexStream, Lines, ReadHalf, WriteHalf};
use tokio::task::JoinHandle;

/// A peer that says what the test tells it to, and nothing else.
pub(crate) struct Peer {
    lines: Lines<BufReader<ReadHalf<DuplexStream>>>,
    writer: WriteHalf<DuplexStream>,
}

/// A peer and the transport that leads to it.
pub(crate) fn peer() -> (Peer, Transport) {
    peer_with_room_for(64 * 1024)
}

pub(crate) fn peer_with_room_for(bytes: usize) -> (Peer, Transport) {
    let (near, far) = tokio::io::duplex(bytes);
    let (reader, writer) = tokio::io::split(near);
    let peer = Peer {
        lines: BufReader::new(reader).lines(),
        writer,
    };
    let (reader, writer) = tokio::io::split(far);
    (peer, transport::io(reader, writer))
}

impl Peer {
    pub(crate) async fn send(&mut self, message: Value) {
        self.send_raw(&format!("{message}\n")).await;
    }

    pub(crate) async fn send_raw(&mut self, text: &str) {
        self.writer.write_all(text.as_bytes()).await.unwrap();
    }

    pub(crate) async fn writer(&mut self) -> &mut WriteHalf<DuplexStream> {
        &mut self.writer
    }

    /// The next message.
    pub(crate) async fn receive(&mut self) -> Value {
        let line = self
            .lines
            .next_line()
            .await
            .unwrap()
            .expect("the other side has closed");
        serde_json::from_str(&line).unwrap()
    }

    /// What is left until the other side closes.
    pub(crate) async fn rest(&mut self) -> Vec<Value> {
        let mut rest = Vec::new();
        while let Some(line) = self.lines.next_line().await.unwrap() {
            rest.push(serde_json::from_str(&line).unwrap());
        }
        rest
    }

    /// Sends a request and gives the answer, which must be the next message.
    pub(crate) async fn request(&mut self, id: impl Into<Value>, method: &str, params: Value) -> Value {
        let id = id.into();
        self.send(json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params}))
            .await;
        let answer = self.receive().await;
        assert_eq!(answer["id"], id, "{answer}");
        answer
    }

    pub(crate) async fn call(&mut self, id: impl Into<Value>, tool: &str, arguments: Value) {
        let params = json!({"name": tool, "arguments": arguments, "_meta": {"progressToken": "p"}});
        self.send(json!({"jsonrpc": "2.0", "id": id.into(), "method": "tools/call", "params": params}))
            .await;
    }

    pub(crate) async fn cancel(&mut self, id: impl Into<Value>) {
        let params = json!({"requestId": id.into(), "reason": "no need"});
        self.notify("notifications/cancelled", params).await;
    }

    pub(crate) async fn notify(&mut self, method: &str, params: Value) {
        self.send(json!({"jsonrpc": "2.0", "method": method, "params": params}))
            .await;
    }

    pub(crate) async fn answer(&mut self, request: &Value, result: Value) {
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "result": result}))
            .await;
    }

    pub(crate) async fn refuse(&mut self, request: &Value, code: i32, message: &str) {
        let error = json!({"code": code, "message": message});
        self.send(json!({"jsonrpc": "2.0", "id": request["id"], "error": error}))
            .await;
    }

    /// Nothing else waits to be read: the answer to a ping is the next message.
    pub(crate) async fn expect_silence(&mut self) {
        let answer = self.request("silence", "ping", json!({})).await;
        assert_eq!(answer["result"], json!({}), "{answer}");
    }

    /// The client's side of the handshake.
    pub(crate) async fn initialize(&mut self, version: &str) -> Value {
        let params =
            json!({"protocolVersion": version, "capabilities": {}, "clientInfo": {"name": "peer", "version": "1"}});
        let answer = self.request("initialize", "initialize", params).await;
        self.send(json!({"jsonrpc": "2.0", "method": "notifications/initialized"}))
            .await;
        answer
    }

    /// The server's side of the handshake.
    pub(crate) async fn accept(&mut self) {
        self.accept_with(json!({"tools": {}})).await;
    }

    pub(crate) async fn accept_with(&mut self, capabilities: Value) {
        let mut request = self.receive().await;
        if request["method"] == "server/discover" {
            self.refuse(&request, -32601, "Method not found").await;
            request = self.receive().await;
        }
        assert_eq!(request["method"], "initialize");
        let result = json!({"protocolVersion": "2025-11-25", "capabilities": capabilities, "serverInfo": {"name": "peer", "version": "1"}});
        self.answer(&request, result).await;
        assert_eq!(self.receive().await["method"], "notifications/initialized");
    }

    /// Closes the peer's side of the connection; what comes can still be read.
    pub(crate) async fn close(&mut self) {
        self.writer.shutdown().await.unwrap();
    }
}

/// The problems that were reported.
#[derive(Clone, Default)]
pub(crate) struct Problems(Arc<Mutex<Vec<Problem>>>);

impl Problems {
    pub(crate) fn hook(&self) -> impl Fn(&Problem) + Send + Sync + 'static {
        let problems = Arc::clone(&self.0);
        move |problem| problems.lock().unwrap().push(problem.clone())
    }

    /// Takes out what was reported so far.
    pub(crate) fn take(&self) -> Vec<Problem> {
        std::mem::take(&mut self.0.lock().unwrap())
    }

    pub(crate) fn kinds(&self) -> Vec<ProblemKind> {
        self.take().iter().map(|problem| problem.kind).collect()
    }
}

/// A server that serves a peer, after the handshake.
pub(crate) async fn serve(server: &Server) -> (Peer, ServingHandle, JoinHandle<Result<(), Error>>) {
    let (mut peer, transport) = peer();
    let serving = server.serve(transport);
    let handle = serving.handle();
    let served = tokio::spawn(serving);
    peer.initialize("2025-11-25").await;
    (peer, handle, served)
}

/// A client of a peer, after the handshake.
pub(crate) async fn connect(builder: ClientBuilder) -> (Client, Peer) {
    let (mut peer, transport) = peer();
    let (client, ()) = tokio::join!(builder.connect(transport), peer.accept());
    (client.unwrap(), peer)
}

/// A program that Cargo builds beside the tests.
pub(crate) fn program(name: &str) -> PathBuf {
    let tests = std::env::current_exe().unwrap();
    let program = tests
        .parent()
        .and_then(|deps| deps.parent())
        .unwrap()
        .join("examples")
        .join(name);
    assert!(
        program.exists(),
        "{} is not there: run `cargo build -p oxmcp --examples` first",
        program.display()
    );
    program
}

/// One revision with a handshake and one without.
pub(crate) const ERAS: [Revision; 2] = [Revision::V2025_11_25, Revision::V2026_07_28];

/// A client of this crate, by one revision, and the server it is connected to in memory.
pub(crate) async fn pair_with(server: &Server, builder: ClientBuilder, revision: Revision) -> (Client, ServingHandle) {
    let (near, far) = transport::memory();
    let serving = server.serve(far);
    let handle = serving.handle();
    tokio::spawn(serving);
    let client = builder.revisions([revision]).connect(near).await.unwrap();
    assert_eq!(client.peer().revision, revision);
    (client, handle)
}

pub(crate) async fn pair(server: &Server, revision: Revision) -> Client {
    pair_with(server, Client::builder(), revision).await.0
}
