use super::*;
use crate::jsonrpc::json;

const MODERN: &str = "2026-07-28";
const META: &str = concat!(
    r#""_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","#,
    r#""io.modelcontextprotocol/clientCapabilities":{}}"#
);

type Pairs<'a> = &'a [(&'a str, &'a str)];

fn endpoint() -> Endpoint {
    Endpoint::new(Guard::for_address("127.0.0.1".parse().unwrap(), [""; 0]).unwrap())
}

fn modern_only() -> Endpoint {
    Endpoint {
        revisions: vec![Revision::V2026_07_28],
        ..endpoint()
    }
}

fn legacy_only() -> Endpoint {
    let legacy = Revision::ALL.into_iter().filter(|it| it.has_handshake());
    Endpoint {
        revisions: legacy.collect(),
        ..endpoint()
    }
}

fn stateless() -> Endpoint {
    Endpoint {
        sessions: false,
        ..endpoint()
    }
}

/// One annotated tool: `query`, with its region in `Mcp-Param-Region`.
fn tools(name: &str) -> Option<Arc<ParamHeaders>> {
    let schema = json(r#"{"properties":{"region":{"type":"string","x-mcp-header":"Region"}}}"#).unwrap();
    (name == "query").then(|| Arc::new(ParamHeaders::read(&schema).unwrap()))
}

/// What became of a request, in one word or by status and code.
fn fate(endpoint: &Endpoint, method: &str, fields: Pairs<'_>, body: &str) -> String {
    match sent(endpoint, method, fields, body) {
        Ok(kind) => kind,
        Err(refusal) => format!("{} {}", refusal.status, refusal.error.code.0),
    }
}

fn sent(endpoint: &Endpoint, method: &str, fields: Pairs<'_>, body: &str) -> Result<String, Refusal> {
    let mut all = vec![("Host", "localhost:3000")];
    if method == "POST" {
        all.push(("Content-Type", "application/json"));
    }
    all.extend(fields);
    let head = Head {
        method,
        authority: None,
        fields: &all,
    };
    Ok(match endpoint.admit(&head)? {
        Admitted::Post(post) => match post.read(body.as_bytes(), tools)? {
            Exchange::Modern { revision, .. } => format!("modern {revision}"),
            Exchange::Initialize(_) => "initialize".to_owned(),
            Exchange::Session(post) => format!("session {}", post.session.id),
            Exchange::Stateless { revision, content } => format!("stateless {revision} {}", content.wants_answer()),
        },
        Admitted::Listen { session, last_event_id } => format!("listen {} {last_event_id:?}", session.id),
        Admitted::End(session) => format!("end {}", session.id),
        Admitted::Preflight(_) => "preflight".to_owned(),
        Admitted::HttpSse => "http+sse".to_owned(),
    })
}

fn request(method: &str, params: &str) -> String {
    format!(r#"{{"jsonrpc":"2.0","id":7,"method":"{method}","params":{{{params}}}}}"#)
}

#[test]
fn the_whole_life_of_a_session() {
    let it = endpoint();
    let session = ("mcp-session-id", "abc");
    let version = ("MCP-Protocol-Version", "2025-11-25");
    let initialize = request("initialize", r#""protocolVersion":"2025-11-25","capabilities":{}"#);
    let list = request("tools/list", "");
    for (method, fields, body, want) in [
        ("POST", &[][..], &*initialize, "initialize"),
        ("POST", &[version], &initialize, "initialize"),
        ("POST", &[session], &initialize, "initialize"),
        ("POST", &[session, version], &list, "session abc"),
        ("POST", &[session], &list, "session abc"),
        (
            "POST",
            &[session, version],
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            "session abc",
        ),
        (
            "POST",
            &[session, version],
            r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
            "session abc",
        ),
        ("GET", &[session, version], "", "listen abc None"),
        (
            "GET",
            &[session, ("Last-Event-ID", "x.1")],
            "",
            r#"listen abc Some("x.1")"#,
        ),
        ("GET", &[session, ("Last-Event-ID", "")], "", "listen abc None"),
        ("DELETE", &[session, version], "", "end abc"),
        ("POST", &[version], &list, "400 -32600"),
        ("POST", &[], &list, "400 -32600"),
        ("POST", &[("Mcp-Session-Id", "a b")], &list, "404 -32600"),
        ("POST", &[session, session], &list, "400 -32600"),
        ("GET", &[version], "", "400 -32600"),
        ("DELETE", &[version], "", "400 -32600"),
        ("GET", &[session, ("Accept", "application/json")], "", "406 -32600"),
        ("PUT", &[session], "", "405 -32600"),
        ("HEAD", &[session], "", "405 -32600"),
        ("OPTIONS", &[], "", "405 -32600"),
    ] {
        assert_eq!(fate(&it, method, fields, body), want, "{method} {fields:?} {body}");
    }
    assert_eq!(Refusal::no_such_session().status, 404);
}

#[test]
fn the_version_header_of_a_session_says_what_was_negotiated() {
    let it = endpoint();
    for (header, negotiated, status) in [
        (Some("2025-06-18"), Revision::V2025_06_18, 200),
        (None, Revision::V2025_11_25, 200),
        (None, Revision::V2024_11_05, 200),
        (Some("2025-03-26"), Revision::V2025_06_18, 400),
    ] {
        let mut fields = vec![
            ("Host", "localhost"),
            ("Content-Type", "application/json"),
            ("Mcp-Session-Id", "abc"),
        ];
        fields.extend(header.map(|it| ("MCP-Protocol-Version", it)));
        let head = Head {
            method: "POST",
            authority: None,
            fields: &fields,
        };
        let body = request("ping", "");
        let Ok(Admitted::Post(post)) = it.admit(&head) else {
            panic!()
        };
        let Ok(Exchange::Session(post)) = post.read(body.as_bytes(), tools) else {
            panic!()
        };
        assert_eq!(post.no_such_session().id, Some(RequestId::from(7)));
        let got = post.agree(negotiated).map_or_else(|refusal| refusal.status, |_| 200);
        assert_eq!(got, status, "{header:?} {negotiated}");
    }
    for method in ["GET", "DELETE"] {
        let fields = [("Mcp-Session-Id", "abc"), ("MCP-Protocol-Version", "1900-01-01")];
        assert_eq!(fate(&it, method, &fields, ""), "400 -32600", "{method}");
    }
}

#[test]
fn a_version_that_body_and_header_of_the_handshake_do_not_share_is_refused() {
    let it = endpoint();
    let body = request("initialize", r#""protocolVersion":"2025-06-18""#);
    for (header, want) in [
        ("2025-06-18", "initialize"),
        ("2025-03-26", "400 -32600"),
        (MODERN, "400 -32600"),
    ] {
        assert_eq!(
            fate(&it, "POST", &[("MCP-Protocol-Version", header)], &body),
            want,
            "{header}"
        );
    }
    // A revision of the future may be asked for: the handshake finds one to share.
    let future = request("initialize", r#""protocolVersion":"2031-01-01""#);
    assert_eq!(
        fate(&it, "POST", &[("MCP-Protocol-Version", "2031-01-01")], &future),
        "initialize"
    );
}

#[test]
fn an_unknown_version_is_refused_in_the_era_of_the_request() {
    let list = request("tools/list", "");
    let header = ("MCP-Protocol-Version", "v999.0.0");
    let session = ("Mcp-Session-Id", "abc");
    assert_eq!(fate(&endpoint(), "POST", &[header, session], &list), "400 -32600");
    assert_eq!(fate(&endpoint(), "POST", &[header], &list), "400 -32022");
    assert_eq!(fate(&legacy_only(), "POST", &[header], &list), "400 -32600");
    let modern = ("MCP-Protocol-Version", MODERN);
    assert_eq!(
        fate(&legacy_only(), "POST", &[modern], &request("server/discover", META)),
        "400 -32600"
    );
}

/// Sends a request of the new era to servers of every make; a refusal carries its id.
fn modern(fields: Pairs<'_>, method: &str, params: &str, want: &str) {
    let body = request(method, params);
    for it in [endpoint(), modern_only(), stateless()] {
        assert_eq!(fate(&it, "POST", fields, &body), want, "{fields:?} {body}");
        if let Err(refusal) = sent(&it, "POST", fields, &body) {
            assert_eq!(refusal.id, Some(RequestId::from(7)), "{body}");
        }
    }
}

const VERSION: (&str, &str) = ("MCP-Protocol-Version", MODERN);
const LIST: (&str, &str) = ("Mcp-Method", "tools/list");
const CALL: (&str, &str) = ("Mcp-Method", "tools/call");

#[test]
fn fields_that_say_what_the_body_says_pass_whatever_their_case() {
    let named = format!(r#""name":"t","arguments":{{}},{META}"#);
    for fields in [
        &[VERSION, LIST][..],
        &[VERSION, ("mcp-method", "tools/list")],
        &[VERSION, ("MCP-METHOD", "  tools/list ")],
        &[VERSION, LIST, ("Mcp-Session-Id", "old")],
        &[VERSION, LIST, ("Last-Event-ID", "x.1")],
    ] {
        modern(fields, "tools/list", META, "modern 2026-07-28");
    }
    for name in ["t", "  t  ", "=?base64?dA==?="] {
        modern(
            &[VERSION, CALL, ("mcp-name", name)],
            "tools/call",
            &named,
            "modern 2026-07-28",
        );
    }
    // The name is missing in the body too: that is for the method to complain of.
    modern(&[VERSION, CALL], "tools/call", META, "modern 2026-07-28");
    for method in ["initialize", "ping", "no/such"] {
        modern(&[VERSION, ("Mcp-Method", method)], method, META, "modern 2026-07-28");
    }
}

#[test]
fn a_version_that_header_and_body_do_not_share_is_refused() {
    let other = META.replace(MODERN, "v999.0.0");
    let header = |version| ("MCP-Protocol-Version", version);
    modern(&[LIST], "tools/list", META, "400 -32020");
    modern(&[header("2025-11-25"), LIST], "tools/list", META, "400 -32020");
    modern(&[header("2026-07-28\u{e9}"), LIST], "tools/list", META, "400 -32020");
    modern(&[VERSION, VERSION, LIST], "tools/list", META, "400 -32020");
    modern(&[VERSION, LIST], "tools/list", &other, "400 -32020");
    modern(&[header("v999.0.0"), LIST], "tools/list", &other, "400 -32022");
    let legacy = META.replace(MODERN, "2025-11-25");
    modern(&[header("2025-11-25"), LIST], "tools/list", &legacy, "400 -32022");
}

#[test]
fn a_method_or_name_that_header_and_body_do_not_share_is_refused() {
    for fields in [
        &[VERSION][..],
        &[VERSION, ("Mcp-Method", "TOOLS/LIST")],
        &[VERSION, ("Mcp-Method", "prompts/list")],
        &[VERSION, ("Mcp-Method", "=?base64?dG9vbHMvbGlzdA==?=")],
        &[VERSION, LIST, LIST],
    ] {
        modern(fields, "tools/list", META, "400 -32020");
    }
    let named = format!(r#""name":"t","arguments":{{}},{META}"#);
    for name in ["wrong", "T", "", "=?base64?dA?=", "\u{e9}"] {
        modern(&[VERSION, CALL, ("Mcp-Name", name)], "tools/call", &named, "400 -32020");
    }
    modern(&[VERSION, CALL], "tools/call", &named, "400 -32020");
    let twice = format!(r#""name":"x",{named}"#);
    modern(&[VERSION, CALL, ("Mcp-Name", "t")], "tools/call", &twice, "400 -32020");
    modern(&[VERSION, CALL, ("Mcp-Name", "t")], "tools/call", META, "400 -32020");
    for (method, source) in [
        ("resources/read", "uri"),
        ("prompts/get", "name"),
        ("tasks/cancel", "taskId"),
    ] {
        let params = format!(r#""{source}":"a",{META}"#);
        let fields = [VERSION, ("Mcp-Method", method), ("Mcp-Name", "b")];
        modern(&fields[..2], method, &params, "400 -32020");
        modern(&fields, method, &params, "400 -32020");
    }
}

#[test]
fn a_request_that_does_not_state_what_it_must_is_refused() {
    for params in [
        String::new(),
        r#""_meta":{}"#.to_owned(),
        r#""_meta":7"#.to_owned(),
        META.replace("{}", "null"),
        META.replace("\"2026-07-28\"", "7"),
        META.replace("clientCapabilities", "other"),
        META.replace("protocolVersion", "other"),
        format!("{META},{META}"),
    ] {
        modern(&[VERSION, LIST], "tools/list", &params, "400 -32602");
    }
}

#[test]
fn writers_that_escape_slashes_are_understood() {
    let fields = [("MCP-Protocol-Version", MODERN), ("Mcp-Method", "tools/list")];
    let escaped = META.replace('/', "\\/");
    assert_eq!(
        fate(&endpoint(), "POST", &fields, &request("tools\\/list", &escaped)),
        "modern 2026-07-28"
    );
    // Without the header it is still seen to be of the new era.
    for meta in [escaped, META.replace('/', "\\u002f")] {
        assert_eq!(
            fate(&endpoint(), "POST", &fields[1..], &request("tools/list", &meta)),
            "400 -32020"
        );
    }
}

#[test]
fn mirrored_arguments_of_a_tool_agree() {
    let base = [
        ("MCP-Protocol-Version", MODERN),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "query"),
    ];
    for (region, want) in [
        (Some("=?base64?SGVsbG8=?="), "modern 2026-07-28"),
        (Some("Hello"), "modern 2026-07-28"),
        (Some("=?base64?SGVsbG8?="), "400 -32020"),
        (Some("=?base64?SGVs!!!bG8=?="), "400 -32020"),
        (Some("other"), "400 -32020"),
        (None, "400 -32020"),
    ] {
        let mut fields = base.to_vec();
        fields.extend(region.map(|it| ("Mcp-Param-Region", it)));
        let body = request(
            "tools/call",
            &format!(r#""name":"query","arguments":{{"region":"Hello"}},{META}"#),
        );
        assert_eq!(fate(&endpoint(), "POST", &fields, &body), want, "{region:?}");
    }
    let bare = request("tools/call", &format!(r#""name":"query",{META}"#));
    assert_eq!(fate(&endpoint(), "POST", &base, &bare), "modern 2026-07-28");
}

#[test]
fn an_unsupported_version_names_those_that_are_asked_for_alike() {
    let fields = [("MCP-Protocol-Version", "v999.0.0"), ("Mcp-Method", "server/discover")];
    let body = request("server/discover", &META.replace(MODERN, "v999.0.0"));
    let refusal = sent(&endpoint(), "POST", &fields, &body).unwrap_err();
    let data = refusal.error.data.unwrap();
    assert_eq!(data.get(), r#"{"supported":["2026-07-28"],"requested":"v999.0.0"}"#);
}

#[test]
fn a_server_without_handshakes_tells_older_clients_what_it_speaks() {
    let it = modern_only();
    let initialize = request("initialize", r#""protocolVersion":"2025-11-25""#);
    let refusal = sent(&it, "POST", &[], &initialize).unwrap_err();
    assert_eq!(
        (refusal.status, refusal.error.code),
        (400, ErrorCode::UNSUPPORTED_PROTOCOL_VERSION)
    );
    let data = refusal.error.data.unwrap();
    assert_eq!(data.get(), r#"{"supported":["2026-07-28"],"requested":"2025-11-25"}"#);
    for method in ["GET", "DELETE"] {
        let refusal = sent(&it, method, &[("Mcp-Session-Id", "abc")], "").unwrap_err();
        assert_eq!(
            (refusal.status, &refusal.fields[..]),
            (405, &[("Allow", "POST".into())][..])
        );
    }
    let list = request("tools/list", "");
    assert_eq!(fate(&it, "POST", &[("Mcp-Session-Id", "abc")], &list), "400 -32020");
}

#[test]
fn messages_of_the_new_era_that_want_no_answer() {
    let version = ("MCP-Protocol-Version", MODERN);
    let notification = r#"{"jsonrpc":"2.0","method":"notifications/x"}"#;
    for (fields, body, want) in [
        (&[version][..], notification, "modern 2026-07-28"),
        (
            &[version, ("Mcp-Method", "notifications/x")],
            notification,
            "modern 2026-07-28",
        ),
        (
            &[version, ("Mcp-Method", "notifications/y")],
            notification,
            "400 -32020",
        ),
        (&[version], r#"{"jsonrpc":"2.0","id":1,"result":{}}"#, "400 -32600"),
        (&[version], r#"[{"jsonrpc":"2.0","id":1,"method":"a"}]"#, "400 -32600"),
    ] {
        assert_eq!(fate(&endpoint(), "POST", fields, body), want, "{fields:?} {body}");
    }
    assert_eq!(
        fate(
            &modern_only(),
            "POST",
            &[("MCP-Protocol-Version", "2025-11-25")],
            notification
        ),
        "modern 2026-07-28"
    );
    assert_eq!(
        fate(&endpoint(), "GET", &[version, ("Mcp-Session-Id", "abc")], ""),
        "405 -32600"
    );
}

#[test]
fn without_sessions_each_post_stands_for_itself() {
    let it = stateless();
    let list = request("tools/list", "");
    for (method, fields, body, want) in [
        ("POST", &[][..], &*list, "stateless 2025-03-26 true"),
        (
            "POST",
            &[("MCP-Protocol-Version", "2025-11-25")],
            &list,
            "stateless 2025-11-25 true",
        ),
        (
            "POST",
            &[("Mcp-Session-Id", "left over")],
            &list,
            "stateless 2025-03-26 true",
        ),
        (
            "POST",
            &[],
            r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            "stateless 2025-03-26 false",
        ),
        ("POST", &[], &request("initialize", ""), "initialize"),
        ("GET", &[("Mcp-Session-Id", "abc")], "", "405 -32600"),
        ("DELETE", &[("Mcp-Session-Id", "abc")], "", "405 -32600"),
    ] {
        assert_eq!(fate(&it, method, fields, body), want, "{method} {fields:?} {body}");
    }
    let newer = Endpoint {
        revisions: vec![Revision::V2025_06_18],
        ..stateless()
    };
    assert_eq!(fate(&newer, "POST", &[], &list), "400 -32600");
}

#[test]
fn batches_exist_in_one_revision() {
    let it = stateless();
    let call = r#"{"jsonrpc":"2.0","id":1,"method":"a"}"#;
    let note = r#"{"jsonrpc":"2.0","method":"b"}"#;
    for (version, body, want) in [
        ("2025-03-26", format!("[{call},{note}]"), "stateless 2025-03-26 true"),
        ("2025-03-26", format!("[{note}]"), "stateless 2025-03-26 false"),
        ("2025-03-26", r#"[{"id":1}]"#.to_owned(), "stateless 2025-03-26 true"),
        ("2025-03-26", format!("[{}]", request("initialize", "")), "400 -32600"),
        ("2025-06-18", format!("[{call}]"), "400 -32600"),
        ("2025-03-26", "[]".to_owned(), "400 -32600"),
        ("2025-03-26", "[1".to_owned(), "400 -32700"),
    ] {
        assert_eq!(
            fate(&it, "POST", &[("MCP-Protocol-Version", version)], &body),
            want,
            "{version} {body}"
        );
    }
}

#[test]
fn bodies_that_are_no_message_are_answered_with_what_is_known_of_them() {
    let it = endpoint();
    for (body, status, code, id) in [
        ("not json", 400, -32700, None),
        ("", 400, -32700, None),
        (
            r#"{"id":99,"method":"tools/list"}"#,
            400,
            -32600,
            Some(RequestId::from(99)),
        ),
        (
            r#"{"jsonrpc":"2.0","id":"x","method":5}"#,
            400,
            -32600,
            Some(RequestId::from("x")),
        ),
        (r#"{"jsonrpc":"2.0","id":3,"result":{},"error":{}}"#, 400, -32600, None),
        ("7", 400, -32600, None),
    ] {
        let refusal = sent(&it, "POST", &[("Mcp-Session-Id", "abc")], body).unwrap_err();
        assert_eq!(
            (refusal.status, refusal.error.code.0, refusal.id),
            (status, code, id),
            "{body}"
        );
    }
}

#[test]
fn media_types_decide_by_what_they_mean() {
    let body = request("initialize", r#""protocolVersion":"2025-11-25""#);
    for (kind, accept, want) in [
        ("application/json", "application/json, text/event-stream", "initialize"),
        ("Application/JSON; charset=utf-8", "*/*", "initialize"),
        ("application/json", "application/json", "initialize"),
        ("application/json", "text/event-stream", "initialize"),
        ("text/plain; a=application/json", "*/*", "415 -32600"),
        ("text/plain", "*/*", "415 -32600"),
        ("application/json", "text/html", "406 -32600"),
        ("application/json", "*/*;q=0", "406 -32600"),
    ] {
        let fields = [("Host", "localhost"), ("Content-Type", kind), ("Accept", accept)];
        let head = Head {
            method: "POST",
            authority: None,
            fields: &fields,
        };
        let it = endpoint();
        let got = match it.admit(&head) {
            Ok(Admitted::Post(post)) => match post.read(body.as_bytes(), tools) {
                Ok(Exchange::Initialize(_)) => "initialize".to_owned(),
                other => panic!("{other:?}"),
            },
            Ok(other) => panic!("{other:?}"),
            Err(refusal) => format!("{} {}", refusal.status, refusal.error.code.0),
        };
        assert_eq!(got, want, "{kind} {accept}");
    }
    let without = Head {
        method: "POST",
        authority: None,
        fields: &[("Host", "localhost")],
    };
    assert_eq!(endpoint().admit(&without).unwrap_err().status, 415);
}

#[test]
fn a_body_over_the_limit_is_refused_before_it_is_read() {
    let it = Endpoint {
        body_limit: 10,
        ..endpoint()
    };
    assert_eq!(fate(&it, "POST", &[("Content-Length", "11")], ""), "413 -32600");
    assert_eq!(
        fate(&it, "POST", &[("Content-Length", "99999999999999999999")], ""),
        "400 -32700"
    );
    assert_eq!(fate(&it, "POST", &[], "12345678901"), "413 -32600");
}

#[test]
fn a_coded_body_is_refused_and_a_plain_one_may_say_so() {
    let it = endpoint();
    let body = request("initialize", r#""protocolVersion":"2025-11-25""#);
    for (coding, want) in [
        ("gzip", "415 -32600"),
        ("br, gzip", "415 -32600"),
        ("identity", "initialize"),
    ] {
        assert_eq!(
            fate(&it, "POST", &[("Content-Encoding", coding)], &body),
            want,
            "{coding}"
        );
    }
}

#[test]
fn strangers_are_turned_away_before_anything_else() {
    for (host, origin, want) in [
        ("evil.example.com", "http://evil.example.com", "421"),
        ("localhost:3000", "http://evil.example.com", "403"),
    ] {
        for method in ["POST", "GET", "DELETE", "OPTIONS", "PUT"] {
            let fields = [("Host", host), ("Origin", origin)];
            let head = Head {
                method,
                authority: None,
                fields: &fields,
            };
            let refusal = endpoint().admit(&head).unwrap_err();
            assert_eq!(refusal.status.to_string(), want, "{method} {host}");
            assert!(endpoint().cors_fields(&head).is_empty());
        }
    }
}

#[test]
fn browsers_are_told_of_listed_origins_only() {
    let guard = Guard::for_address("127.0.0.1".parse().unwrap(), [""; 0]).unwrap();
    let it = Endpoint::new(guard.with_origin("https://app.test").unwrap());
    for (origin, told) in [("https://app.test", true), ("http://localhost:5173", false)] {
        let fields = [
            ("Host", "localhost"),
            ("Origin", origin),
            ("Access-Control-Request-Method", "POST"),
            ("Access-Control-Request-Headers", "content-type,mcp-session-id"),
        ];
        let head = Head {
            method: "OPTIONS",
            authority: None,
            fields: &fields,
        };
        let preflight = match it.admit(&head) {
            Ok(Admitted::Preflight(fields)) => fields,
            Ok(other) => panic!("{other:?}"),
            Err(refusal) => {
                assert_eq!(refusal.status, 405);
                Vec::new()
            }
        };
        let says = |name: &str, value: &str| preflight.contains(&(name_of(name), value.to_owned()));
        assert_eq!(says("Access-Control-Allow-Origin", origin), told);
        assert_eq!(
            says("Access-Control-Allow-Headers", "content-type,mcp-session-id"),
            told
        );
        assert_eq!(
            it.cors_fields(&head)
                .iter()
                .any(|(name, _)| *name == "Access-Control-Expose-Headers"),
            told
        );
    }
}

fn name_of(name: &str) -> &'static str {
    ["Access-Control-Allow-Origin", "Access-Control-Allow-Headers"]
        .into_iter()
        .find(|it| *it == name)
        .unwrap()
}

#[test]
fn the_oldest_transport_is_served_on_request() {
    let it = Endpoint {
        http_sse: true,
        ..endpoint()
    };
    assert_eq!(fate(&it, "GET", &[("Accept", "text/event-stream")], ""), "http+sse");
    assert_eq!(fate(&it, "GET", &[("Mcp-Session-Id", "abc")], ""), "listen abc None");
    assert_eq!(fate(&it, "GET", &[("Accept", "text/html")], ""), "406 -32600");
    for (method, kind, status) in [
        ("POST", "application/json", 200),
        ("POST", "text/plain", 415),
        ("GET", "application/json", 405),
    ] {
        let fields = [("Host", "localhost"), ("Content-Type", kind)];
        let head = Head {
            method,
            authority: None,
            fields: &fields,
        };
        let got = it
            .admit_http_sse_message(&head)
            .map_or_else(|refusal| refusal.status, |()| 200);
        assert_eq!(got, status, "{method} {kind}");
    }
}

const NAMES: &str = "Host|Origin|Accept|Content-Type|Mcp-Name|Mcp-Method|MCP-Protocol-Version|Mcp-Session-Id";
const VALUES: &str = "[ -~]{0,12}|2026-07-28|localhost(:[0-9]{1,6})?|\\PC{0,6}|application/json(;q=.{0,4})?";

proptest::proptest! {
    #[test]
    fn any_request_is_served_or_refused_with_a_status(
        method in "POST|GET|DELETE|OPTIONS",
        names in proptest::collection::vec(NAMES, 0..6),
        values in proptest::collection::vec(VALUES, 6),
        body in "[\\[\\]{},:\"a-z0-9_./ ]{0,60}|\\PC{0,30}",
    ) {
        let mut fields: Vec<(String, String)> = names.into_iter().zip(values).collect();
        fields.push(("Content-Type".to_owned(), "application/json".to_owned()));
        let it = endpoint();
        let head = Head { method: &method, authority: Some("localhost"), fields: &fields };
        let refusal = match it.admit(&head) {
            Ok(Admitted::Post(post)) => post.read(body.as_bytes(), tools).err(),
            Ok(_) => None,
            Err(refusal) => Some(refusal),
        };
        if let Some(refusal) = refusal {
            proptest::prop_assert!((400..500).contains(&refusal.status));
            proptest::prop_assert!(json(refusal.body()).is_ok());
        }
    }
}
