//! The border that packages of other languages build on, used as one of them would: a host thread that drains an
//! inbox and answers calls.
#![cfg(feature = "border")]

use std::collections::HashMap;
use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, Sender, channel};
use std::sync::{Arc, Mutex};

use oxmcp::border::{self, Exchange, ExchangeEvent, HttpServer, Inbox, Item, Remote, Request, connect, serve};
use oxmcp::jsonrpc::json;
use oxmcp::transport;
use oxmcp_proto::{
    Answer, CallOptions, Config, Implementation, InboundId, Keyring, Kind, OutboundId, Output, Registry, SealKey,
};
use tokio::io::{AsyncReadExt, AsyncWriteExt};

/// A host of one thread, which takes what comes when it wants to.
struct Program {
    inbox: Arc<Inbox>,
    woken: Receiver<()>,
    items: Vec<Item>,
}

impl Program {
    fn new() -> Self {
        let (wake, woken) = channel();
        let wake = Mutex::new(wake);
        let inbox = Inbox::new(move || {
            let wake: &Sender<()> = &wake.lock().unwrap();
            let _ = wake.send(());
        });
        Self {
            inbox,
            woken,
            items: Vec::new(),
        }
    }

    /// The next item, waited for.
    fn next(&mut self) -> Item {
        while self.items.is_empty() {
            self.woken.recv().unwrap();
            while self.inbox.drain(3, &mut self.items) {}
        }
        self.items.remove(0)
    }

    /// The next call.
    fn call(&mut self) -> (Remote, InboundId) {
        loop {
            if let Item::Output(remote, Output::Call { id, .. }) = self.next() {
                return (remote, id);
            }
        }
    }

    fn exchange_event(&mut self, token: u64) -> ExchangeEvent {
        loop {
            match self.next() {
                Item::Exchange(of, event) if of == token => return event,
                _ => {}
            }
        }
    }

    fn cancelled(&mut self) -> InboundId {
        loop {
            if let Item::Output(_, Output::Cancelled { id, .. }) = self.next() {
                return id;
            }
        }
    }
}

fn config() -> Config {
    let mut config = Config::new(Implementation::new("border", "1.0"));
    config.state_keys = Some(Keyring::new(SealKey::from_bytes(&[7; 64]).unwrap()));
    config.logging = true;
    config
}

fn registry() -> Arc<Registry> {
    let registry = Registry::new();
    let descriptor = json(r#"{"name":"echo","inputSchema":{"type":"object"}}"#.to_owned()).unwrap();
    registry.add_described(Kind::Tool, "echo", &descriptor).unwrap();
    Arc::new(registry)
}

fn modern(id: u32) -> String {
    format!(
        r#"{{"jsonrpc":"2.0","id":{id},"method":"tools/call","params":{{"name":"echo","arguments":{{}},"_meta":{{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{{"name":"t","version":"1"}},"io.modelcontextprotocol/clientCapabilities":{{}},"progressToken":"p{id}"}}}}}}"#
    )
}

fn post(body: &str) -> Request {
    let fields = [
        ("host", "localhost"),
        ("content-type", "application/json"),
        ("accept", "application/json, text/event-stream"),
        ("mcp-protocol-version", "2026-07-28"),
        ("mcp-method", "tools/call"),
        ("mcp-name", "echo"),
    ];
    let length = ("content-length".to_owned(), body.len().to_string());
    let fields = fields.map(|(name, value)| (name.to_owned(), value.to_owned()));
    Request {
        method: "POST".to_owned(),
        target: "/mcp".to_owned(),
        authority: None,
        headers: fields
            .into_iter()
            .chain([length])
            .map(|(n, v)| (n.into(), v.into()))
            .collect(),
    }
}

fn send(server: &HttpServer, token: u64, body: &str) -> Exchange {
    let mut exchange = server.exchange(token, post(body)).unwrap();
    // Cut anywhere, as it comes from a network.
    for chunk in body.as_bytes().chunks(100) {
        assert!(exchange.body(chunk));
    }
    exchange.end_body();
    exchange
}

fn head(event: ExchangeEvent) -> (u16, HashMap<String, String>, Option<String>) {
    let ExchangeEvent::Head { status, headers, body } = event else {
        panic!("a head comes first, not {event:?}");
    };
    let text = |bytes: Vec<u8>| String::from_utf8(bytes).unwrap();
    let headers = headers.into_iter().map(|(name, value)| (text(name), text(value)));
    (status, headers.collect(), body.map(text))
}

#[test]
fn an_exchange_is_answered_whole_when_nothing_is_said_before() {
    let mut program = Program::new();
    let server = HttpServer::new(config(), registry(), "{}", &program.inbox).unwrap();
    let _exchange = send(&server, 7, &modern(1));
    let (remote, id) = program.call();
    let origin = remote.http_request(id).unwrap();
    assert_eq!((origin.token, &*origin.request.target), (Some(7), "/mcp"));
    let field = origin.request.headers.iter().find(|(name, _)| name == b"mcp-name");
    assert_eq!(field.unwrap().1, b"echo");
    assert_eq!(remote.session_id(), None);
    assert!(remote.with_owed(|session, now| session.respond(id, Answer::Text("hello"), now)));
    let (status, headers, body) = head(program.exchange_event(7));
    assert_eq!((status, &*headers["content-type"]), (200, "application/json"));
    assert!(body.unwrap().contains("hello"));
    assert!(remote.http_request(id).is_none());
    assert_eq!(remote.stats(), oxmcp::Stats::default());
}

#[test]
fn an_exchange_streams_what_is_said_and_gives_the_next_when_asked() {
    let mut program = Program::new();
    let server = HttpServer::new(config(), registry(), "{}", &program.inbox).unwrap();
    let exchange = send(&server, 8, &modern(1));
    let (remote, id) = program.call();
    remote.with_owed(|session, _| session.progress(id, 1.0, None, Some("first")));
    let (status, headers, body) = head(program.exchange_event(8));
    assert_eq!((status, body), (200, None));
    assert_eq!(headers["content-type"], "text/event-stream");
    let mut text = String::new();
    exchange.more();
    let ExchangeEvent::Chunk(chunk) = program.exchange_event(8) else {
        panic!("the first event");
    };
    text.push_str(std::str::from_utf8(&chunk).unwrap());
    assert!(text.contains("first") && !text.contains("hello"));
    remote.with_owed(|session, now| session.respond(id, Answer::Text("hello"), now));
    exchange.more();
    while let ExchangeEvent::Chunk(chunk) = program.exchange_event(8) {
        text.push_str(std::str::from_utf8(&chunk).unwrap());
        exchange.more();
    }
    assert!(text.contains("hello"), "{text}");
}

#[test]
fn a_client_that_leaves_an_exchange_cancels_its_call() {
    let mut program = Program::new();
    let server = HttpServer::new(config(), registry(), "{}", &program.inbox).unwrap();
    let exchange = send(&server, 9, &modern(1));
    let (remote, id) = program.call();
    drop(exchange);
    assert_eq!(program.cancelled(), id);
    assert!(!remote.with_owed(|session, now| session.respond(id, Answer::Text("late"), now)));
    assert_eq!(remote.stats().inbound, 0);
}

#[test]
fn a_request_that_is_refused_needs_no_host() {
    let mut program = Program::new();
    let server = HttpServer::new(config(), registry(), "{}", &program.inbox).unwrap();
    let mut request = post("");
    request.headers.retain(|(name, _)| name != b"host");
    request.headers.push((b"host".to_vec(), b"evil.test".to_vec()));
    let _exchange = server.exchange(1, request).unwrap();
    assert_eq!(head(program.exchange_event(1)).0, 421);
    let wrong = Request {
        method: "PO ST".to_owned(),
        ..post("")
    };
    assert!(
        server
            .exchange(2, wrong)
            .unwrap_err()
            .message()
            .contains("no HTTP request")
    );
}

/// Sends a request over a socket, and gives all of the response.
fn over_socket(address: SocketAddr, body: &str) -> String {
    let mut socket = TcpStream::connect(address).unwrap();
    let head: String = post(body)
        .headers
        .into_iter()
        .map(|(name, value)| {
            format!(
                "{}: {}\r\n",
                String::from_utf8(name).unwrap(),
                String::from_utf8(value).unwrap()
            )
        })
        .collect();
    write!(socket, "POST /mcp HTTP/1.1\r\n{head}connection: close\r\n\r\n{body}").unwrap();
    let mut response = String::new();
    BufReader::new(socket).read_to_string(&mut response).unwrap();
    response
}

#[test]
fn a_server_on_a_port_answers_lists_while_its_host_is_busy_and_closes_in_good_order() {
    let mut program = Program::new();
    let server = HttpServer::new(config(), registry(), r#"{"jsonOnly":true}"#, &program.inbox).unwrap();
    let address = server.bind(0).unwrap();
    // Nobody drains the inbox meanwhile.
    let list = modern(1)
        .replace("tools/call", "tools/list")
        .replace(r#""name":"echo","arguments":{},"#, "");
    let mut socket = TcpStream::connect(address).unwrap();
    write!(
        socket,
        "POST /mcp HTTP/1.1\r\nhost: localhost\r\ncontent-type: application/json\r\naccept: application/json, text/event-stream\r\n\
         mcp-protocol-version: 2026-07-28\r\nmcp-method: tools/list\r\ncontent-length: {}\r\n\r\n{list}",
        list.len()
    )
    .unwrap();
    let mut status = String::new();
    BufReader::new(socket).read_line(&mut status).unwrap();
    assert!(status.contains("200"), "{status}");

    let calling = std::thread::spawn(move || over_socket(address, &modern(2)));
    let (remote, id) = program.call();
    let (done, closed) = channel();
    server.shut_down(move || done.send(()).unwrap());
    // A call under way may finish.
    remote.with_owed(|session, now| session.respond(id, Answer::Text("in time"), now));
    assert!(calling.join().unwrap().contains("in time"));
    closed.recv().unwrap();
    assert!(TcpStream::connect(address).is_err());
}

#[test]
fn a_server_tells_its_end_when_all_is_written() {
    /// So much is taken at a time.
    const STEP: usize = 16;
    let (runtime, mut program) = (border::runtime().unwrap(), Program::new());
    let (near, far) = tokio::io::duplex(STEP);
    let (reader, writer) = tokio::io::split(far);
    serve(config(), registry(), transport::io(reader, writer), &program.inbox).unwrap();
    let (mut answers, mut requests) = tokio::io::split(near);
    runtime.spawn(async move {
        requests.write_all(format!("{}\n", modern(1)).as_bytes()).await.unwrap();
        requests.shutdown().await.unwrap();
    });
    let (remote, id) = program.call();
    let text = "x".repeat(10_000);
    remote.with_owed(|session, now| session.respond(id, Answer::Text(&text), now));
    let read = Arc::new(AtomicUsize::new(0));
    let reading = runtime.spawn({
        let read = Arc::clone(&read);
        async move {
            let mut step = [0; STEP];
            while let count @ 1.. = answers.read(&mut step).await.unwrap() {
                read.fetch_add(count, Ordering::Relaxed);
            }
        }
    });
    while !matches!(program.next(), Item::Output(_, Output::Closed)) {}
    let read_by_then = read.load(Ordering::Relaxed);
    runtime.block_on(reading).unwrap();
    let all = read.load(Ordering::Relaxed);
    assert!(all > text.len(), "the answer came whole: {all}");
    assert!(
        all - read_by_then <= 2 * STEP,
        "{read_by_then} of {all} were read when it ended"
    );
}

#[test]
fn both_sides_of_a_connection_in_memory_may_be_hosts() {
    let (mut near, mut far) = (Program::new(), Program::new());
    let (client, serving) = {
        let (left, right) = transport::memory();
        let serving = serve(config(), registry(), right, &far.inbox).unwrap();
        let client = connect(config(), Arc::default(), left, None, None, &near.inbox).unwrap();
        (client, serving)
    };
    assert_ne!(client.number(), serving.number());
    while !matches!(near.next(), Item::Output(_, Output::Ready(_))) {}
    let call = client.with(|session, now| session.call_tool("echo", None, CallOptions::default(), now));
    let call: OutboundId = call.unwrap();
    let (remote, id) = far.call();
    assert_eq!(remote.number(), serving.number());
    remote.with_owed(|session, now| session.respond(id, Answer::Text("from afar"), now));
    let result = loop {
        if let Item::Output(_, Output::Done { id, outcome }) = near.next() {
            assert_eq!(id, call);
            break outcome.unwrap();
        }
    };
    assert!(result.get().contains("from afar"));
    client.close("done");
    while !matches!(near.next(), Item::Output(_, Output::Closed)) {}
    while !matches!(far.next(), Item::Output(_, Output::Closed)) {}
    assert_eq!(client.stats(), oxmcp::Stats::default());
}

/// Serves a discovery to those who have this token, and 401 to all others; one request a connection.
fn guarded(token: &'static str) -> String {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let mut stream = BufReader::new(stream.unwrap());
            let (mut head, mut length) = (String::new(), 0);
            while stream.read_line(&mut head).unwrap() > 2 {
                if let Some(value) = head.lines().last().unwrap().strip_prefix("content-length: ") {
                    length = value.parse().unwrap();
                }
            }
            let mut body = vec![0; length];
            stream.read_exact(&mut body).unwrap();
            let response = if head.contains(&format!("authorization: Bearer {token}\r\n")) {
                let id: serde_json::Value = serde_json::from_slice(&body).unwrap();
                let result = format!(
                    r#"{{"jsonrpc":"2.0","id":{},"result":{{"supportedVersions":["2026-07-28"],"capabilities":{{}}}}}}"#,
                    id["id"]
                );
                let length = result.len();
                format!(
                    "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\nContent-Length: {length}\r\nConnection: close\r\n\r\n{result}"
                )
            } else {
                let challenge = "WWW-Authenticate: Bearer\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
                format!("HTTP/1.1 401 Unauthorized\r\n{challenge}")
            };
            let _ = stream.get_mut().write_all(response.as_bytes());
        }
    });
    format!("http://{address}/mcp")
}

#[test]
fn a_host_gives_header_fields_when_its_credentials_are_refused() {
    let mut program = Program::new();
    let connect = |url: &str, inbox: &Arc<Inbox>| {
        let http = transport::Http::new(url).header("Authorization", "Bearer old");
        border::connect_http(config(), Arc::default(), http, true, None, None, inbox).unwrap()
    };
    let remote = connect(&guarded("new"), &program.inbox);
    let Item::Unauthorized(asking, refused) = program.next() else {
        panic!("it was to ask for other credentials");
    };
    assert_eq!(asking.number(), remote.number());
    assert_eq!(
        (refused.status, refused.www_authenticate.as_deref()),
        (401, Some("Bearer"))
    );
    let fresh = vec![("Authorization".to_owned(), "Bearer new".to_owned())];
    assert!(asking.give_headers(Ok(fresh)) && !asking.give_headers(Ok(Vec::new())));
    assert!(matches!(program.next(), Item::Output(_, Output::Ready(_))));
    remote.close("the end");

    // Nothing new leaves it refused.
    let remote = connect(&guarded("another"), &program.inbox);
    loop {
        match program.next() {
            Item::Unauthorized(asking, _) => assert!(asking.give_headers(Ok(Vec::new()))),
            Item::Output(of, Output::ConnectFailed(error)) => {
                assert_eq!((of.number(), error.http_status()), (remote.number(), Some(401)));
                break;
            }
            _ => {}
        }
    }
}
