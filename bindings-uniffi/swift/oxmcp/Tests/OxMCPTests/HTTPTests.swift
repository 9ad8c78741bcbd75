import XCTest

@testable import OxMCP

/// Both sides over HTTP.
final class HTTPTests: XCTestCase {
    /// A server whose tool `waits` tells when it begins and ends.
    private struct Site: Sendable {
        let server: Server
        let started = Notes<Void>()
        let ended = Notes<Void>()

        init() throws {
            let options = ServerOptions {
                $0.subscriptions = true
                $0.limits.drain = .milliseconds(50)
            }
            server = Server("test", version: "1.0", options: options)
            let (started, ended) = (started, ended)
            try server.tool("add") { (numbers: Numbers, _) in Sum(sum: numbers.a + (numbers.b ?? 1)) }
            try server.tool("counts") { (numbers: Numbers, context) in
                for at in 1...numbers.a { context.progress(Double(at), of: Double(numbers.a)) }
                return "done"
            }
            try server.tool("asks") { context in
                try await context.elicit("Where?", as: City.self).value?.city ?? "nowhere"
            }
            try server.tool("waits") { _ in
                started.add(())
                defer { ended.add(()) }
                return try await forever()
            }
            try server.resource("file:///a", name: "a") { _ in "the text" }
        }

        func connect(
            _ listening: Listening, _ era: String, _ configure: (inout ClientOptions) -> Void = { _ in }
        ) async throws -> Client {
            var options = ClientOptions(configure: configure)
            options.protocolVersions = [era]
            return try await Client.connect(to: listening.url, options: options)
        }
    }

    private func overHTTP(_ body: @escaping @Sendable (Site, Listening, String) async throws -> Void) async throws {
        for era in ["2025-03-26", "2025-11-25", "2026-07-28"] {
            try await within {
                let site = try Site()
                let listening = try await site.server.listen()
                try await body(site, listening, era)
                await site.server.close()
                try await listening.wait()
                try await until { site.server.waiting == 0 }
            }
        }
    }

    func testEverySettingIsOneThatTheCoreKnows() async throws {
        try await within {
            let time = Duration.seconds(20)
            let site = try Site()
            let listening = try await site.server.listen(
                http: HTTPOptions {
                    ($0.address, $0.path) = ("127.0.0.1", "/a")
                    ($0.hosts, $0.origins) = (["a.test"], ["https://a.test"])
                    ($0.maxSessions, $0.sessionIdle, $0.bodyLimit) = (5, time, 10_000)
                    ($0.httpSSE, $0.resumable, $0.retry, $0.keepAlive) = (true, false, time, time)
                    ($0.bodyTimeout, $0.maxConnections, $0.headTimeout, $0.writeTimeout) = (time, 10, time, time)
                }
            )
            var http = HTTPClientOptions {
                ($0.headers, $0.noProxy, $0.connectTimeout, $0.closeTimeout) = (["X-Tenant": "a"], true, time, time)
                ($0.renewSessions, $0.httpSSE, $0.maxRequests, $0.listen) = (false, .auto, 3, false)
                $0.redirects = HTTPClientOptions.Redirects(hops: 1, otherOrigins: true)
                $0.backoff = HTTPClientOptions.Backoff(initial: .milliseconds(20), factor: 2, max: time, attempts: 3)
            }
            let options = ClientOptions {
                $0.limits = Limits { limits in
                    (limits.message, limits.depth, limits.inFlight, limits.drain) = (1000, 20, 10, time)
                    (limits.subscriptions, limits.rounds, limits.pages, limits.list) = (5, 2, 3, 10_000)
                }
            }
            let client = try await Client.connect(to: listening.url, http: http, options: options)
            let sum = try await client.callTool("add", with: Numbers(a: 2, b: 3))
            XCTAssertEqual(try sum.structured(), Sum(sum: 5))
            await client.close()
            await site.server.close()
            http.backoff = HTTPClientOptions.Backoff(initial: .seconds(-20))
            let (url, wrong) = (listening.url, http)
            let error = await failure(.usage) { try await Client.connect(to: url, http: wrong) }
            XCTAssert(error.message.contains("backoff.initial"), error.message)
        }
    }

    func testCallsProgressQuestionsAndErrors() async throws {
        try await overHTTP { site, listening, era in
            let client = try await site.connect(listening, era) { $0.onElicitation = { _ in .accept(["city": "Oslo"]) } }
            XCTAssertEqual(client.protocolVersion, era)
            let sum = try await client.callTool("add", with: Numbers(a: 2, b: 3))
            XCTAssertEqual(try sum.structured(), Sum(sum: 5))
            let seen = Notes<Double>()
            _ = try await client.callTool("counts", ["a": 3], onProgress: { seen.add($0.progress) })
            XCTAssertEqual(seen.all, [1, 2, 3])
            if era != "2025-03-26" {
                let asked = try await client.callTool("asks")
                XCTAssertEqual(asked.text, "Oslo")
            }
            let read = try await client.readResource("file:///a")
            XCTAssertEqual(read.text, "the text")
            let error = await failure(.response) { try await client.callTool("none") }
            XCTAssertEqual(error.code, MCPError.Code.invalidParams)
            await client.close()
        }
    }

    func testManyCallsAtOnceOnManyClients() async throws {
        try await overHTTP { site, listening, era in
            let sum = try await withThrowingTaskGroup(of: Int.self) { group in
                for at in 0..<4 {
                    let client = try await site.connect(listening, era)
                    for nth in 0..<25 {
                        group.addTask { try await client.callTool("add", with: Numbers(a: at, b: nth)).structured(as: Sum.self).sum }
                    }
                }
                return try await group.reduce(0, +)
            }
            XCTAssertEqual(sum, 4 * 300 + 25 * 6)
        }
    }

    func testACancelledCallIsCancelledAtTheServer() async throws {
        try await overHTTP { site, listening, era in
            let client = try await site.connect(listening, era)
            let call = Task { try await client.callTool("waits") }
            _ = await site.started.next()
            call.cancel()
            _ = await site.ended.next()
            await isCancelled { try await call.value }
            try await until { client.waiting == 0 }
            await client.close()
        }
    }

    func testAHandlerSeesTheRequestThatBroughtItsCallAndTheSession() async throws {
        try await within {
            let site = try Site()
            let requests = Notes<HTTPRequest?>()
            let sessions = Notes<String?>()
            try site.server.tool("looks") { context in
                requests.add(context.httpRequest)
                sessions.add(context.sessionID)
                return ""
            }
            let listening = try await site.server.listen()
            for era in ["2025-11-25", "2026-07-28"] {
                let client = try await Client.connect(
                    to: listening.url + "?at=1",
                    http: HTTPClientOptions { $0.headers = ["X-Tenant": "a b", "Authorization": "Bearer t"] },
                    options: ClientOptions { $0.protocolVersions = [era] }
                )
                _ = try await client.callTool("looks")
                let request = try XCTUnwrap(requests.all.last ?? nil)
                XCTAssertEqual(request.method, "POST")
                XCTAssertEqual(request.target, "/mcp?at=1")
                XCTAssertEqual(request.authority, "127.0.0.1:\(listening.port)")
                XCTAssertEqual(request.header("X-TENANT"), "a b")
                XCTAssertEqual(request.header("authorization"), "Bearer t")
                XCTAssertNil(request.header("absent"))
                XCTAssert(request.headers.contains { $0.name == "x-tenant" && $0.value == "a b" }, "\(request.headers)")
                let session = try XCTUnwrap(sessions.all.last)
                XCTAssertEqual(session != nil, era == "2025-11-25", "a session in \(era)")
                XCTAssertEqual(session, request.header("mcp-session-id"))
                await client.close()
            }
            let client = try await Client.connect(to: site.server)
            _ = try await client.callTool("looks")
            XCTAssertEqual(requests.all.last, .some(nil))
            XCTAssertEqual(sessions.all.last, .some(nil))
            await client.close()
            await listening.close()
        }
    }

    func testWhatIsToldWithoutBeingAsked() async throws {
        try await within {
            let site = try Site()
            let listening = try await site.server.listen()
            let client = try await site.connect(listening, "2026-07-28")
            let open = Notes<SubscriptionFilter>()
            let changes = client.listen(SubscriptionFilter(toolsListChanged: true)) { open.add($0) }
            _ = await open.next()
            try site.server.tool("new") { _ in "" }
            let change = try await changes.first { _ in true }
            XCTAssertEqual(change?.method, "notifications/tools/list_changed")
            await client.close()
            await listening.close()
        }
    }

    func testAServerThatClosesEndsWhatWaitsAndItsPortIsFree() async throws {
        try await overHTTP { site, listening, era in
            let client = try await site.connect(listening, era) { $0.timeout = .seconds(30) }
            let call = Task { try await client.callTool("waits") }
            _ = await site.started.next()
            await site.server.close()
            await failure { try await call.value }
            await client.close()
            let again = try await Site().server.listen(port: listening.port)
            await again.close()
        }
    }

    func testNobodyThereAndASettingThatIsWrong() async throws {
        try await within {
            let listening = try await Site().server.listen()
            await listening.close()
            let error = await failure(.closed) { try await Client.connect(to: listening.url) }
            XCTAssertEqual(error.fault, .transport)
            await failure { try await Client.connect(to: "nonsense://x") }
            await failure(.usage) { try await Site().server.listen(http: HTTPOptions { $0.address = "here" }) }
            let taken = try await Site().server.listen()
            let second = await failure(.closed) { try await Site().server.listen(port: taken.port) }
            XCTAssert(second.message.contains("\(taken.port)"), second.message)
            await taken.close()
        }
    }

    func testStatelessAndJSONOnly() async throws {
        try await within {
            let site = try Site()
            let http = HTTPOptions {
                $0.stateless = true
                $0.jsonOnly = true
                $0.path = "/here"
            }
            let listening = try await site.server.listen(http: http)
            XCTAssert(listening.url.hasSuffix("/here"), listening.url)
            let url = try XCTUnwrap(URL(string: listening.url))
            for era in ["2025-11-25", "2026-07-28"] {
                let client = try await Client.connect(to: url, options: ClientOptions { $0.protocolVersions = [era] })
                let sum = try await client.callTool("add", with: Numbers(a: 2, b: 3))
                XCTAssertEqual(try sum.structured(), Sum(sum: 5))
                await client.close()
            }
            try await until { site.server.waiting == 0 }
            await listening.close()
        }
    }

    func testNothingIsLeftOfManySessionsAndRequests() async throws {
        try await within {
            try await until { held() == 0 }
            let site = try Site()
            let listening = try await site.server.listen()
            for era in ["2025-11-25", "2026-07-28"] {
                for at in 0..<30 {
                    let client = try await site.connect(listening, era)
                    _ = try await client.callTool("add", with: Numbers(a: at))
                    await client.close()
                }
            }
            await listening.close()
            try await until { held() == 0 }
        }
    }
}
