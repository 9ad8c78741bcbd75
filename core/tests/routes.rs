//! Requests to a port for other paths than the endpoint's, answered by a host as packages of other languages do it.
#![cfg(feature = "border")]

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{SocketAddr, TcpStream};
use std::sync::mpsc::{Receiver, channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use bytes::Bytes;
use http_body_util::{BodyExt as _, Full};
use hyper::client::conn::http2;
use hyper_util::rt::{TokioExecutor, TokioIo};
use oxmcp::border::{HttpServer, Inbox, RouteEvent, RouteRequest};
use oxmcp_proto::{Config, Implementation, Keyring, SealKey};

/// A server that listens, and the thread that answers for it.
struct Program {
    server: HttpServer,
    address: SocketAddr,
    inbox: Arc<Inbox<RouteEvent>>,
    woken: Receiver<()>,
    items: Vec<RouteEvent>,
}

impl Program {
    fn new(settings: &str) -> Self {
        Self::with(settings, |_| {})
    }

    fn with(settings: &str, change: impl FnOnce(&mut Config)) -> Self {
        let mut config = Config::new(Implementation::new("routes", "1.0"));
        config.state_keys = Some(Keyring::new(SealKey::from_bytes(&[7; 64]).unwrap()));
        change(&mut config);
        let (wake, woken) = channel();
        let wake = Mutex::new(wake);
        // The test may be over when something comes.
        let inbox = Inbox::new(move || {
            let _ = wake.lock().unwrap().send(());
        });
        let server = HttpServer::new(config, Arc::default(), settings, &Inbox::new(|| ())).unwrap();
        let server = server.with_routes(&inbox);
        Self {
            address: server.bind(0).unwrap(),
            server,
            inbox,
            woken,
            items: Vec::new(),
        }
    }

    fn next(&mut self) -> RouteEvent {
        while self.items.is_empty() {
            self.woken.recv_timeout(Duration::from_secs(30)).unwrap();
            while self.inbox.drain(3, &mut self.items) {}
        }
        self.items.remove(0)
    }

    fn request(&mut self) -> RouteRequest {
        match self.next() {
            RouteEvent::Request(request) => request,
            event => panic!("a request, not {event:?}"),
        }
    }

    fn connect(&self) -> Wire {
        Wire(BufReader::new(TcpStream::connect(self.address).unwrap()))
    }

    /// Sends a request, and answers it.
    fn ask(&mut self, request: &str, answer: impl FnOnce(&RouteRequest)) -> (String, Vec<u8>) {
        let mut wire = self.connect();
        wire.send(request.as_bytes());
        answer(&self.request());
        wire.response(request.starts_with("HEAD"))
    }
}

/// A connection of a client.
struct Wire(BufReader<TcpStream>);

impl Wire {
    fn send(&mut self, bytes: &[u8]) {
        self.0.get_mut().write_all(bytes).unwrap();
    }

    fn line(&mut self) -> String {
        let mut line = String::new();
        self.0.read_line(&mut line).unwrap();
        line
    }

    fn head(&mut self) -> String {
        let mut head = String::new();
        while !head.ends_with("\r\n\r\n") {
            let line = self.line();
            assert!(!line.is_empty(), "the connection ended after {head:?}");
            head.push_str(&line);
        }
        head
    }

    /// One chunk of a body; `None` when the connection broke.
    fn chunk(&mut self) -> Option<Vec<u8>> {
        let size = usize::from_str_radix(self.line().trim(), 16).ok()?;
        let mut chunk = vec![0; size + 2];
        self.0.read_exact(&mut chunk).ok()?;
        chunk.truncate(size);
        Some(chunk)
    }

    /// The next response, with the length that it says.
    fn response(&mut self, is_bare: bool) -> (String, Vec<u8>) {
        let head = self.head();
        let length = fields(&head, "content-length");
        let length = if is_bare { "0" } else { length.first().unwrap_or(&"0") };
        let mut body = vec![0; length.parse().unwrap()];
        self.0.read_exact(&mut body).unwrap();
        (head, body)
    }
}

fn status(head: &str) -> u16 {
    head.split(' ').nth(1).unwrap().parse().unwrap()
}

fn fields<'a>(head: &'a str, name: &str) -> Vec<&'a str> {
    let lines = head.lines().filter_map(|line| line.split_once(": "));
    lines
        .filter(|(known, _)| known.eq_ignore_ascii_case(name))
        .map(|(_, value)| value)
        .collect()
}

fn of(pairs: &[(&str, &str)]) -> Vec<(Vec<u8>, Vec<u8>)> {
    pairs
        .iter()
        .map(|(name, value)| ((*name).into(), (*value).into()))
        .collect()
}

const GET: &str = "GET /health HTTP/1.1\r\nHost: localhost\r\n\r\n";

#[test]
fn a_request_comes_whole_and_its_answer_goes_out_whole() {
    let mut program = Program::new("{}");
    let mut wire = program.connect();
    let sent = [0, 255, 10, 13, 128];
    wire.send(b"POST /a%20b?c=%2F&c HTTP/1.1\r\nHost: localhost\r\nX-A: 1\r\nx-a: \xff2\r\nContent-Length: 5\r\n\r\n");
    wire.send(&sent);
    let request = program.request();
    assert_eq!(request.peer, wire.0.get_ref().local_addr().unwrap());
    assert_eq!(
        (&*request.head.method, &*request.head.target),
        ("POST", "/a%20b?c=%2F&c")
    );
    assert_eq!(request.body, sent);
    let given: Vec<_> = request.head.headers.iter().filter(|(name, _)| name == b"x-a").collect();
    assert_eq!((&*given[0].1, &*given[1].1, given.len()), (&b"1"[..], &b"\xff2"[..], 2));
    let headers = of(&[("Set-Cookie", "a=1"), ("set-cookie", "b=2"), ("content-length", "77")]);
    assert!(request.reply.answer(201, headers, sent.to_vec()).unwrap());
    let (head, body) = wire.response(false);
    assert_eq!((status(&head), fields(&head, "set-cookie")), (201, vec!["a=1", "b=2"]));
    assert_eq!((fields(&head, "content-length"), &*body), (vec!["5"], &sent[..]));
    // It was answered, and so it stays.
    assert!(!request.reply.answer(200, Vec::new(), Vec::new()).unwrap());
}

#[test]
fn what_the_host_does_not_know_is_not_found_and_the_endpoint_is_the_cores() {
    let mut program = Program::new("{}");
    let (head, body) = program.ask(GET, |request| assert!(request.reply.unknown()));
    assert_eq!(status(&head), 404);
    assert!(String::from_utf8(body).unwrap().contains("the endpoint is /mcp"));
    let mut wire = program.connect();
    wire.send(b"PUT /mcp HTTP/1.1\r\nHost: localhost\r\n\r\n");
    assert_eq!(status(&wire.head()), 405);
}

#[test]
fn answers_without_a_body_say_what_they_would_have() {
    let mut program = Program::new("{}");
    let head = "HEAD /health HTTP/1.1\r\nHost: localhost\r\n\r\n";
    let mut wire = program.connect();
    for (headers, body, length) in [
        (of(&[]), b"fine".to_vec(), vec!["4"]),
        (of(&[("content-length", "9")]), Vec::new(), vec!["9"]),
        (of(&[]), Vec::new(), vec!["0"]),
    ] {
        wire.send(head.as_bytes());
        let request = program.request();
        assert!(request.reply.answer(200, headers, body).unwrap());
        assert_eq!(fields(&wire.head(), "content-length"), length);
    }
    wire.send(head.as_bytes());
    let request = program.request();
    assert!(request.reply.begin(200, Vec::new()).unwrap());
    assert_eq!(fields(&wire.head(), "content-length"), Vec::<&str>::new());
    assert!(matches!(program.next(), RouteEvent::Left(token) if token == request.token));
    assert!(!request.reply.chunk(b"nobody".to_vec()).unwrap());
    // The connection goes on behind all of them.
    wire.send(GET.as_bytes());
    program
        .request()
        .reply
        .answer(204, Vec::new(), b"none".to_vec())
        .unwrap();
    let (head, body) = wire.response(false);
    assert_eq!((status(&head), &*body), (204, &b""[..]));
    wire.send(GET.as_bytes());
    program
        .request()
        .reply
        .answer(200, Vec::new(), b"last".to_vec())
        .unwrap();
    assert_eq!(wire.response(false).1, b"last");
}

#[test]
fn hosts_and_origins_are_checked_before_the_host_hears_of_it() {
    let mut program = Program::new(r#"{"origins":["https://app.example.com"]}"#);
    for (fields, expected) in [
        ("Host: evil.test", 421),
        ("Host: localhost\r\nOrigin: https://evil.test", 403),
    ] {
        let mut wire = program.connect();
        wire.send(format!("GET /health HTTP/1.1\r\n{fields}\r\n\r\n").as_bytes());
        assert_eq!(status(&wire.head()), expected, "{fields}");
    }
    let page = "Host: localhost\r\nOrigin: https://app.example.com\r\n";
    let mut wire = program.connect();
    wire.send(format!("OPTIONS /health HTTP/1.1\r\n{page}Access-Control-Request-Method: PATCH\r\n\r\n").as_bytes());
    let head = wire.head();
    assert_eq!(
        (status(&head), fields(&head, "access-control-allow-methods")),
        (204, vec!["PATCH"])
    );
    // Nothing of that came to the host. Without that question it is the host's to answer.
    for own in [
        of(&[]),
        of(&[("access-control-allow-origin", "https://app.example.com")]),
    ] {
        let request = format!("OPTIONS /health HTTP/1.1\r\n{page}\r\n");
        let (head, _) = program.ask(&request, |request| {
            assert_eq!(request.head.method, "OPTIONS");
            request.reply.answer(200, own, Vec::new()).unwrap();
        });
        assert_eq!(
            fields(&head, "access-control-allow-origin"),
            ["https://app.example.com"]
        );
    }
}

#[test]
fn a_body_has_a_bound_and_a_time() {
    let mut program = Program::new(r#"{"bodyLimit":8,"bodyTimeout":20}"#);
    for (body, expected) in [
        ("Content-Length: 9\r\n\r\n", 413),
        ("Transfer-Encoding: chunked\r\n\r\n9\r\n123456789\r\n", 413),
        ("Content-Length: 8\r\n\r\n1", 408),
    ] {
        let mut wire = program.connect();
        wire.send(format!("POST /health HTTP/1.1\r\nHost: localhost\r\n{body}").as_bytes());
        assert_eq!(status(&wire.head()), expected, "{body}");
    }
    let largest = "POST /health HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8\r\n\r\n12345678";
    let (head, _) = program.ask(largest, |request| {
        assert_eq!(request.body, b"12345678");
        request.reply.answer(200, Vec::new(), Vec::new()).unwrap();
    });
    assert_eq!(status(&head), 200);
}

#[test]
fn a_request_that_nobody_answers_ends_all_the_same() {
    let mut program = Program::new("{}");
    let mut wire = program.connect();
    wire.send(GET.as_bytes());
    drop(program.request());
    let (head, body) = wire.response(false);
    assert_eq!((status(&head), &*body), (500, &b"internal error"[..]));

    let mut program = Program::new(r#"{"routeTimeout":20}"#);
    let mut wire = program.connect();
    wire.send(GET.as_bytes());
    let request = program.request();
    let (head, body) = wire.response(false);
    assert_eq!((status(&head), &*body), (503, &b"no answer came in time"[..]));
    assert!(matches!(program.next(), RouteEvent::Late(token) if token == request.token));
    assert!(!request.reply.answer(200, Vec::new(), Vec::new()).unwrap());
    assert!(!request.reply.unknown());
}

#[test]
fn an_answer_that_is_none_is_refused_and_may_be_given_anew() {
    let mut program = Program::new("{}");
    let (head, _) = program.ask(GET, |request| {
        for (status, headers, named) in [
            (199, of(&[]), "199"),
            (600, of(&[]), "600"),
            (200, of(&[("a b", "c")]), "\"a b\""),
            (200, of(&[("x-a", "b\r\nset-cookie: c")]), "\"x-a\""),
        ] {
            let error = request.reply.answer(status, headers.clone(), Vec::new()).unwrap_err();
            assert!(error.message().contains(named), "{error}");
            assert!(request.reply.begin(status, headers).is_err());
        }
        assert!(request.reply.answer(599, Vec::new(), Vec::new()).unwrap());
    });
    assert_eq!(status(&head), 599);
}

#[test]
fn a_body_goes_out_piece_by_piece_as_it_is_taken() {
    let mut program = Program::new("{}");
    let mut wire = program.connect();
    wire.send(GET.as_bytes());
    let request = program.request();
    let reply = &request.reply;
    assert!(reply.begin(200, of(&[("content-type", "text/x")])).unwrap());
    let head = wire.head();
    assert_eq!(
        (fields(&head, "transfer-encoding"), fields(&head, "content-type")),
        (vec!["chunked"], vec!["text/x"])
    );
    for piece in [b"first", b"again"] {
        assert!(reply.chunk(piece.to_vec()).unwrap());
        assert_eq!(wire.chunk().unwrap(), piece);
        assert!(matches!(program.next(), RouteEvent::More(token) if token == request.token));
    }
    assert!(reply.end());
    assert_eq!(wire.chunk().unwrap(), b"");
    assert!(!reply.end() && !reply.chunk(b"late".to_vec()).unwrap());
    wire.send(GET.as_bytes());
    // No word of a client that left comes in between.
    assert_eq!(program.request().token, request.token + 1);
}

#[test]
fn a_host_that_does_not_wait_for_its_client_is_told_so() {
    let mut program = Program::new("{}");
    let mut wire = program.connect();
    wire.send(GET.as_bytes());
    let request = program.request();
    assert!(request.reply.begin(200, Vec::new()).unwrap());
    wire.head();
    // Nobody reads on: what the system and the server hold for a connection is full after some of it.
    let refused = loop {
        if let Err(error) = request.reply.chunk(vec![b'x'; 1 << 20]) {
            break error;
        }
    };
    assert!(refused.message().contains("not taken yet"), "{refused}");
    drop(request);
    while let Some(chunk) = wire.chunk() {
        assert!(!chunk.is_empty(), "a body that broke off looks whole");
    }
}

#[test]
fn a_client_that_leaves_is_seen() {
    let mut program = Program::new("{}");
    for streams in [false, true] {
        let mut wire = program.connect();
        wire.send(GET.as_bytes());
        let request = program.request();
        if streams {
            assert!(request.reply.begin(200, Vec::new()).unwrap());
            wire.head();
        }
        drop(wire);
        assert!(matches!(program.next(), RouteEvent::Left(token) if token == request.token));
        assert!(!request.reply.chunk(Vec::new()).unwrap());
        assert!(!request.reply.answer(200, Vec::new(), Vec::new()).unwrap());
    }
}

#[test]
fn a_server_that_shuts_down_waits_for_answers_and_cuts_what_does_not_end() {
    let mut program = Program::new("{}");
    let mut wire = program.connect();
    wire.send(GET.as_bytes());
    let request = program.request();
    let (done, closed) = channel();
    program.server.shut_down(move || done.send(()).unwrap());
    request.reply.answer(200, Vec::new(), b"in time".to_vec()).unwrap();
    assert_eq!(wire.response(false).1, b"in time");
    closed.recv().unwrap();
    assert!(TcpStream::connect(program.address).is_err());

    let mut program = Program::with("{}", |config| config.limits.drain = Duration::from_millis(20));
    let mut wire = program.connect();
    wire.send(GET.as_bytes());
    let request = program.request();
    request.reply.begin(200, Vec::new()).unwrap();
    wire.head();
    let (done, closed) = channel();
    program.server.shut_down(move || done.send(()).unwrap());
    closed.recv().unwrap();
    assert!(matches!(program.next(), RouteEvent::Left(token) if token == request.token));
    assert_eq!(wire.chunk(), None);
}

#[tokio::test(flavor = "multi_thread")]
async fn routes_are_served_over_http2() {
    let mut program = Program::new("{}");
    let stream = tokio::net::TcpStream::connect(program.address).await.unwrap();
    let (mut sender, connection) = http2::handshake::<_, _, Full<Bytes>>(TokioExecutor::new(), TokioIo::new(stream))
        .await
        .unwrap();
    let connection = tokio::spawn(connection);
    for (method, expected) in [("POST", &b"fine"[..]), ("HEAD", b"")] {
        let request = hyper::Request::builder()
            .method(method)
            .uri("http://localhost:1/health?a");
        let response = sender.send_request(request.body(Full::from("text")).unwrap());
        let request = program.request();
        assert_eq!(
            (&*request.head.target, request.head.authority.as_deref()),
            ("/health?a", Some("localhost:1"))
        );
        request
            .reply
            .answer(200, of(&[("connection", "close")]), b"fine".to_vec())
            .unwrap();
        let response = response.await.unwrap();
        assert_eq!(
            (response.status().as_u16(), &response.headers()["content-length"]),
            (200, &"4".parse().unwrap())
        );
        assert_eq!(response.into_body().collect().await.unwrap().to_bytes(), expected);
    }
    let request = hyper::Request::builder().uri("http://localhost:1/health");
    let response = sender.send_request(request.body(Full::default()).unwrap());
    let request = program.request();
    request.reply.begin(200, Vec::new()).unwrap();
    let mut body = response.await.unwrap().into_body();
    request.reply.chunk(b"first".to_vec()).unwrap();
    assert_eq!(body.frame().await.unwrap().unwrap().into_data().unwrap(), "first");
    assert!(matches!(program.next(), RouteEvent::More(_)));
    drop(body);
    assert!(matches!(program.next(), RouteEvent::Left(token) if token == request.token));
    connection.abort();
}
