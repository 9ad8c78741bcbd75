//! Endpoints as a host drives them: from their opening to the last event, over memory and over HTTP.

use std::io::{BufRead, BufReader, Write};
use std::net::TcpListener;
use std::pin::pin;
use std::sync::Arc;
use std::sync::mpsc::{self, Receiver, Sender};
use std::task::{Context, Poll, Wake, Waker};
use std::thread::{self, Thread};

use oxmcp_uniffi::{Endpoint, Happening, HttpField, Registry, Reply, Request, live};

struct Unpark(Thread);

impl Wake for Unpark {
    fn wake(self: Arc<Self>) {
        self.0.unpark();
    }
}

/// All that happens until the endpoint is over, for `each` to act on.
fn drive(endpoint: &Endpoint, mut each: impl FnMut(u64, &Happening)) {
    let waker = Waker::from(Arc::new(Unpark(thread::current())));
    let mut cx = Context::from_waker(&waker);
    loop {
        let mut next = pin!(endpoint.next_events(16));
        let events = loop {
            match next.as_mut().poll(&mut cx) {
                Poll::Ready(events) => break events,
                Poll::Pending => thread::park(),
            }
        };
        if events.is_empty() {
            return;
        }
        for event in events {
            each(event.connection, &event.what);
        }
    }
}

fn spec(settings: &str, what: &str) -> String {
    format!(r#"{{"info":{{"name":"test","version":"1"}},"settings":{settings},{what}}}"#)
}

fn registry() -> Registry {
    let registry = Registry::new();
    let tool = r#"{"name":"echo","inputSchema":{"type":"object"}}"#;
    let added = registry.command(&format!(
        r#"{{"add":{{"kind":"tool","key":"echo","descriptor":{tool}}}}}"#
    ));
    assert_eq!(added.unwrap(), r#"{"entry":0}"#);
    registry
}

/// Serves on a thread of its own until the endpoint is over.
fn serve(server: &Arc<Endpoint>) -> thread::JoinHandle<()> {
    let server = Arc::clone(server);
    thread::spawn(move || {
        drive(&server, |connection, what| {
            if let Happening::Call { id, params, .. } = what {
                let text = params.clone().unwrap_or_default();
                see_origin(&server, connection, *id);
                assert!(server.respond(connection, *id, Reply::Text { text }).unwrap());
                assert_eq!(server.http_request(connection, *id), None, "the call is over");
            }
        });
    })
}

/// That a call over HTTP shows its request, and a session over HTTP its name.
fn see_origin(server: &Endpoint, connection: u64, call: u64) {
    let Some(request) = server.http_request(connection, call) else {
        assert!(server.address().is_none() && server.session_id(connection).is_none());
        return;
    };
    let field = |name: &str| request.headers.iter().find(|field| field.name == name);
    assert_eq!((&*request.method, &*request.target), ("POST", "/mcp"));
    assert_eq!(field("host").map(|host| host.value.clone()), server.address());
    let named = field("mcp-session-id").map(|session| session.value.clone());
    assert_eq!(named, server.session_id(connection));
}

/// Calls a tool once and closes; gives the result.
fn call_once(client: &Arc<Endpoint>) -> Option<String> {
    let mut given = None;
    drive(client, |connection, what| match what {
        Happening::Ready { .. } => {
            let request = Request::Tool {
                name: "echo".into(),
                arguments: Some(r#"{"a":1}"#.into()),
            };
            client.begin(connection, request, None).unwrap();
        }
        Happening::Result { result, .. } => {
            given = Some(result.clone());
            client.close(None, "done");
        }
        Happening::ConnectFailed { failure } => panic!("{}", failure.message),
        _ => {}
    });
    given
}

/// Serves a session over HTTP: asks its client for a sign of life between calls, tells when it has one, and ends the
/// session when `end` says so.
fn ping_once(server: &Arc<Endpoint>, lives: Sender<()>, end: Receiver<()>) -> thread::JoinHandle<()> {
    let server = Arc::clone(server);
    thread::spawn(move || {
        drive(&server, |connection, what| match what {
            Happening::Notification { .. } => {
                assert!(server.session_id(connection).is_some());
                server.begin(connection, Request::Ping, None).unwrap();
            }
            Happening::Result { .. } => {
                lives.send(()).unwrap();
                end.recv().unwrap();
                server.close(Some(connection), "enough");
                server.close(None, "done");
            }
            Happening::Closed => assert_eq!(server.session_id(connection), None),
            _ => {}
        });
    })
}

/// A session is there from its handshake to its end, and one that is refused is not.
fn speak_between_calls() {
    let registry = Registry::new();
    let initialized = r#"{"takeOver":{"method":"notifications/initialized","how":"replace"}}"#;
    registry.command(initialized).unwrap();
    let one = r#""server":{"http":{"settings":{"maxSessions":1}}}"#;
    let server = Endpoint::open(&spec("{}", one), &registry, None).unwrap();
    let ((lives, alive), (end, ends)) = (mpsc::channel(), mpsc::channel());
    let serving = ping_once(&server, lives, ends);
    let url = format!("http://{}/mcp", server.address().unwrap());
    let to = format!(r#""client":{{"http":{{"url":"{url}"}}}}"#);
    let open = || Endpoint::open(&spec(r#"{"revisions":["2025-11-25"]}"#, &to), &Registry::new(), None).unwrap();
    let first = open();
    drive(&first, |_, what| {
        if matches!(what, Happening::Ready { .. }) {
            let mut refused = false;
            drive(&open(), |_, what| {
                refused |= matches!(what, Happening::ConnectFailed { .. });
            });
            assert!(refused);
            alive.recv().unwrap();
            end.send(()).unwrap();
            first.close(None, "done");
        }
    });
    serving.join().unwrap();
    assert_eq!(server.stats().connections, 0);
}

/// The URL of a server that refuses two requests, each on a connection of its own, and gives the credentials of the second.
fn refusing() -> (String, thread::JoinHandle<Option<String>>) {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("http://{}/mcp", listener.local_addr().unwrap());
    let serving = thread::spawn(move || {
        let mut given = None;
        for _ in 0..2 {
            let mut stream = BufReader::new(listener.accept().unwrap().0);
            let mut head = String::new();
            while stream.read_line(&mut head).unwrap() > 2 {}
            let field = head.lines().find_map(|line| line.strip_prefix("authorization: "));
            given = field.map(str::to_owned);
            let response =
                "HTTP/1.1 401 No\r\nWWW-Authenticate: Bearer\r\nContent-Length: 0\r\nConnection: close\r\n\r\n";
            stream.get_mut().write_all(response.as_bytes()).unwrap();
        }
        given
    });
    (url, serving)
}

/// A host is asked for header fields, and says that it has some, or why it has none.
fn give_headers() {
    let open = |url: &str, renews: bool| {
        let to = format!(r#""client":{{"http":{{"url":"{url}","renews":{renews}}}}}"#);
        Endpoint::open(&spec("{}", &to), &Registry::new(), None).unwrap()
    };
    let fresh = HttpField {
        name: "Authorization".into(),
        value: "Bearer fresh".into(),
    };
    let (url, serving) = refusing();
    let client = open(&url, true);
    let mut heard = Vec::new();
    drive(&client, |connection, what| match what {
        Happening::Unauthorized { status, challenge } => {
            heard.push(format!("{status} {challenge:?}"));
            assert!(
                !client.give_headers(connection + 1, vec![], None),
                "nobody of that number"
            );
            assert!(client.give_headers(connection, vec![fresh.clone()], None));
            assert!(!client.give_headers(connection, vec![], None), "nobody waits any more");
        }
        Happening::ConnectFailed { failure } => heard.push(failure.message.clone()),
        _ => {}
    });
    assert_eq!(serving.join().unwrap().as_deref(), Some("Bearer fresh"));
    assert_eq!((heard.len(), &*heard[0]), (2, r#"401 Some("Bearer")"#));

    let (url, serving) = refusing();
    let client = open(&url, true);
    drive(&client, |connection, what| match what {
        Happening::Unauthorized { .. } => {
            assert!(client.give_headers(connection, vec![], Some("the keyring is locked".into())));
        }
        Happening::ConnectFailed { failure } => heard.push(failure.message.clone()),
        _ => {}
    });
    assert!(
        heard[2].ends_with("; there are no others: the keyring is locked"),
        "{}",
        heard[2]
    );
    drive(&open(&url, false), |_, what| {
        assert!(
            !matches!(what, Happening::Unauthorized { .. }),
            "it was not to be asked"
        );
    });
    assert_eq!(serving.join().unwrap(), None);
}

/// One test, since it counts what lives in the process.
#[test]
fn endpoints_are_driven_to_their_end_and_leave_nothing() {
    let registry = registry();
    let nothing = live();
    for revision in ["2025-11-25", "2026-07-28"] {
        let settings = format!(r#"{{"revisions":["{revision}"]}}"#);
        let server = Endpoint::open(&spec("{}", r#""server":"memory""#), &registry, None).unwrap();
        let serving = serve(&server);
        let client = Endpoint::open(
            &spec(&settings, r#""client":"memory""#),
            &Registry::new(),
            Some(Arc::clone(&server)),
        )
        .unwrap();
        assert!(call_once(&client).unwrap().contains(r#"{\"a\":1}"#), "{revision}");
        serving.join().unwrap();

        let server = Endpoint::open(&spec("{}", r#""server":{"http":{}}"#), &registry, None).unwrap();
        let serving = serve(&server);
        let url = format!("http://{}/mcp", server.address().unwrap());
        let to = format!(r#""client":{{"http":{{"url":"{url}"}}}}"#);
        for _ in 0..3 {
            let client = Endpoint::open(&spec(&settings, &to), &Registry::new(), None).unwrap();
            assert!(call_once(&client).unwrap().contains(r#"{\"a\":1}"#), "{revision}");
        }
        server.close(None, "done");
        serving.join().unwrap();
        assert_eq!(server.stats().connections, 0, "{revision}");
    }
    speak_between_calls();
    give_headers();
    assert_eq!(live(), nothing);
}
