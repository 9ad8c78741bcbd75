import XCTest

@testable import OxMCP

/// Servers and clients over HTTP that do what they should not, or what is seldom done.
final class HTTPPeersTests: XCTestCase {
    private static let legacy = ClientOptions { $0.protocolVersions = ["2025-11-25"] }
    private static let meta = """
        "_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",\
        "io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}
        """
    private static let modern = ["MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: any"]

    /// A server of a revision with a handshake, whose tools answer as a test wants.
    private static func fake(
        initialized: [String] = respond(202), _ tool: @escaping @Sendable (Wire) -> [String]?
    ) -> FakeServer {
        FakeServer { request in
            switch (request.method, request.call) {
            case (_, "initialize"): request.handshake()
            case (_, "notifications/initialized"): initialized
            case (_, "tools/call"): tool(request)
            case ("GET", _): request.headers["last-event-id"] == nil ? respond(405) : tool(request)
            default: respond(202)
            }
        }
    }

    private static func message(_ text: String, _ id: JSON) -> String {
        #"{"jsonrpc":"2.0","id":\#(id.text),"result":{"content":[{"type":"text","text":"\#(text)"}]}}"#
    }

    func testAServerThatRefusesToBeAskedIsNotTakenForAnOlderOne() async throws {
        try await within {
            for status in [401, 403, 503] {
                let server = FakeServer { _ in respond(status) }
                let error = await failure { try await Client.connect(to: server.url) }
                XCTAssertEqual(error.httpStatus, status, "\(error)")
                XCTAssert(server.requests.allSatisfy { $0.call != "initialize" }, "an older revision was tried after \(status)")
            }
        }
    }

    func testANotificationMayBeAnsweredByAnySuccess() async throws {
        try await within {
            for answer in [respond(202), respond(204), respond(200)] {
                let server = Self.fake(initialized: answer) { $0.text("done") }
                let client = try await Client.connect(to: server.url, options: Self.legacy)
                let done = try await client.callTool("any")
                XCTAssertEqual(done.text, "done")
                await client.close()
            }
        }
    }

    func testAStreamThatEndsWithoutItsAnswerFailsTheCallAtOnce() async throws {
        try await within {
            let log = #"{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"#
            let server = Self.fake { _ in eventStream(["data: \(log)\n\n"]) }
            let client = try await Client.connect(to: server.url, options: Self.legacy)
            let error = await failure { try await client.callTool("any") }
            XCTAssertNotEqual(error.kind, .timeout, "\(error)")
            XCTAssertEqual(client.waiting, 0)
            await client.close()
        }
    }

    func testAnEventStreamIsReadHoweverItIsWrittenAndCut() async throws {
        try await within {
            for newline in ["\n", "\r\n", "\r"] {
                let server = Self.fake { call in
                    let text = Self.message("\\u00fc", call.id).replacingOccurrences(of: #","id""#, with: ",\ndata: \"id\"")
                    let events = ": a note\n\nevent: ping\ndata: x\n\nid: 5\ndata:\n\ndata: \(text)\n\n"
                    return eventStream(events.replacingOccurrences(of: "\n", with: newline).unicodeScalars.map { String($0) })
                }
                let client = try await Client.connect(to: server.url, options: Self.legacy)
                let result = try await client.callTool("any")
                XCTAssertEqual(result.text, "ü")
                await client.close()
            }
        }
    }

    func testAStreamIsTakenUpAgainAtTheLastEventThatCameAsOftenAsItBreaks() async throws {
        try await within {
            let id = Locked(JSON.null), resumed = Locked(0)
            let server = Self.fake { asked in
                if asked.method == "POST" {
                    id.withLock { $0 = asked.id }
                    return eventStream(["id: e1\nretry: 1\ndata:\n\n"])
                }
                let times = resumed.withLock { times in
                    times += 1
                    return times
                }
                return times < 3 ? eventStream([]) : eventStream(["data: \(Self.message("at last", id.withLock { $0 }))\n\n"])
            }
            let client = try await Client.connect(to: server.url, options: Self.legacy)
            let result = try await client.callTool("any")
            XCTAssertEqual(result.text, "at last")
            XCTAssertEqual(server.requests.compactMap { $0.headers["last-event-id"] }, ["e1", "e1", "e1"])
            await client.close()
        }
    }

    func testASessionIsNamedByItsHandshakeAlone() async throws {
        try await within {
            let server = Self.fake { $0.result(#"{"content":[]}"#, "Mcp-Session-Id: other") }
            for _ in 0..<2 {
                let client = try await Client.connect(to: server.url, options: Self.legacy)
                for _ in 0..<2 { _ = try await client.callTool("any") }
                await client.close()
            }
            for request in server.requests {
                let named = request.headers["mcp-session-id"]
                XCTAssertEqual(named, request.call == "initialize" ? nil : "s1", "\(request.method) \(request.call ?? "")")
            }
        }
    }

    func testCallsOneAfterTheOtherShareTheirConnections() async throws {
        try await within {
            let server = Self.fake { $0.text("done") }
            let client = try await Client.connect(to: server.url, options: Self.legacy)
            for _ in 0..<50 { _ = try await client.callTool("any") }
            await client.close()
            XCTAssertLessThanOrEqual(server.connections, 3)
        }
    }

    func testAServerThatDoesNotAnswerHoldsUpNoClosing() async throws {
        try await within {
            let server = FakeServer { request in
                switch (request.method, request.call) {
                case (_, "initialize"): request.handshake()
                case ("DELETE", _): nil
                case ("GET", _): respond(405)
                default: respond(202)
                }
            }
            let http = HTTPClientOptions { $0.closeTimeout = .milliseconds(20) }
            let client = try await Client.connect(to: server.url, http: http, options: Self.legacy)
            await client.close()
            await client.close()
            XCTAssert(server.requests.contains { $0.method == "DELETE" })
        }
    }

    func testASessionThatTheServerDoesNotKnowAnyMoreIsBegunAnew() async throws {
        try await within {
            let server = Server("test", version: "1.0")
            try server.tool("add") { (numbers: Numbers, _) in Sum(sum: numbers.a + (numbers.b ?? 1)) }
            let first = try await server.listen()
            let client = try await Client.connect(to: first.url, options: Self.legacy)
            let before = try await client.callTool("add", with: Numbers(a: 2, b: 3))
            XCTAssertEqual(try before.structured(), Sum(sum: 5))
            await first.close()
            let second = try await server.listen(port: first.port)
            let after = try await client.callTool("add", with: Numbers(a: 3, b: 3))
            XCTAssertEqual(try after.structured(), Sum(sum: 6))
            await client.close()
            await second.close()
        }
    }

    func testRequestsThatAreNotWhatTheySayAreRefusedBeforeAHandlerRuns() async throws {
        try await within {
            let runs = Locked(0)
            let server = Server("test", version: "1.0")
            try server.tool("any") { _ in
                runs.withLock { $0 += 1 }
                return ""
            }
            let listening = try await server.listen()
            let port = listening.port
            let call = #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"any",\#(Self.meta)}}"#
            let ping = #"{"jsonrpc":"2.0","id":1,"method":"ping"}"#
            let unnamed = ask(port, call)
            XCTAssertEqual(unnamed.status, 400)
            XCTAssert(unnamed.text.contains("-32020"), unnamed.text)
            XCTAssertEqual(ask(port, call, ["MCP-Protocol-Version: 2025-11-25"]).status, 400)
            XCTAssertEqual(ask(port, ping).status, 400, "a request without a session")
            XCTAssertEqual(ask(port, ping, ["Mcp-Session-Id: invented"]).status, 404)
            for (header, status) in [
                ("Host: evil.test", 421), ("Origin: http://evil.test", 403),
                ("Content-Type: text/plain; a=application/json", 415), ("Accept: text/html", 406),
            ] {
                XCTAssertEqual(ask(port, call, [header] + Self.modern).status, status, header)
            }
            XCTAssertEqual(runs.withLock { $0 }, 0)
            for header in ["Accept: */*", "Content-Type: Application/JSON; charset=utf-8", "Host: localhost:9"] {
                XCTAssertEqual(ask(port, call, [header] + Self.modern).status, 200, header)
            }
            XCTAssertEqual(runs.withLock { $0 }, 3)
            await listening.close()
        }
    }

    func testAClientThatLeavesCancelsItsCallInRevisionsWithoutSessionsAndInNoOthers() async throws {
        try await within {
            let started = Notes<Void>(), cancelled = Notes<Void>(), release = Promise<Void>()
            let server = Server("test", version: "1.0")
            try server.tool("any") { _ in
                started.add(())
                try await withTaskCancellationHandler {
                    try await release.get()
                } onCancel: {
                    cancelled.add(())
                }
                return ""
            }
            let listening = try await server.listen()
            let port = listening.port
            let params = #"{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}"#
            let hello = ask(port, #"{"jsonrpc":"2.0","id":0,"method":"initialize","params":\#(params)}"#).text
            let line = hello.components(separatedBy: "\r\n").first { $0.lowercased().hasPrefix("mcp-session-id: ") }
            let session = try XCTUnwrap(line, hello)
            let call = #"{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"any"}}"#
            var asked: Asked? = Asked(port, call, [session])
            _ = await started.next()
            let modern = call.replacingOccurrences(of: #""any""#, with: #""any",\#(Self.meta)"#)
            asked = Asked(port, modern, Self.modern)
            _ = await started.next()
            XCTAssertNotNil(asked)
            asked = nil
            _ = await cancelled.next()
            XCTAssertEqual(cancelled.all.count, 1, "the call of the session goes on")
            release.give(.success(()))
            try await until { server.waiting == 0 }
            XCTAssertEqual(cancelled.all.count, 1)
            await listening.close()
        }
    }
}
