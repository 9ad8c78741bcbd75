import XCTest

@testable import OxMCP

/// Servers over HTTP that want other credentials.
final class UnauthorizedTests: XCTestCase {
    private typealias Renew = @Sendable (Unauthorized) async throws -> [String: String]?

    /// A server that takes one token, which may be changed, for all but the tool `open`. Its tools give the token.
    private final class Guarded: Sendable {
        /// One for each request that was refused.
        let refusals = Notes<Void>()
        let server: FakeServer
        private let opened = Promise<Void>()
        private let taken = Locked("first")

        var token: String {
            get { taken.withLock { $0 } }
            set { taken.withLock { $0 = newValue } }
        }

        init() {
            let (refusals, opened, taken) = (refusals, opened, taken)
            server = FakeServer { asked in
                let given = asked.headers["authorization"] ?? ""
                if given != "Bearer \(taken.withLock { $0 })", !asked.body.contains(#""open""#) {
                    refusals.add(())
                    return respond(401, "", ["WWW-Authenticate: Bearer realm=\"x\""])
                }
                switch asked.call {
                case "initialize": return asked.handshake()
                case "server/discover":
                    return asked.result(#"{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}"#)
                case "tools/call": return asked.text(given)
                default:
                    opened.give(.success(()))
                    return respond(202)
                }
            }
        }

        /// A client whose handshake is over: nothing but what the test asks for is refused.
        func connect(_ era: String = "2025-11-25", _ renew: @escaping Renew) async throws -> Client {
            let http = HTTPClientOptions {
                ($0.headers, $0.listen) = (["Authorization": "Bearer first"], false)
                $0.onUnauthorized = renew
            }
            let options = ClientOptions { $0.protocolVersions = [era] }
            let client = try await Client.connect(to: server.url, http: http, options: options)
            if era == "2025-11-25" { try await opened.get() }
            return client
        }
    }

    private static let refused = Unauthorized(status: 401, wwwAuthenticate: "Bearer realm=\"x\"")

    private static func bearer(_ token: String) -> [String: String] { ["Authorization": "Bearer \(token)"] }

    /// Runs a test, after which nothing may be left.
    private func guarded(_ body: @escaping @Sendable (Guarded) async throws -> Void) async throws {
        try await within {
            try await until { held() == 0 }
            try await body(Guarded())
            try await until { held() == 0 }
        }
    }

    func testOtherHeaderFieldsAreAskedForWhenThoseThatWereSentAreRefused() async throws {
        for era in ["2025-11-25", "2026-07-28"] {
            try await guarded { guarded in
                let told = Notes<Unauthorized>()
                guarded.token = "second"
                let client = try await guarded.connect(era) {
                    told.add($0)
                    await Task.yield()
                    return Self.bearer(guarded.token)
                }
                XCTAssertEqual(told.all, [Self.refused], "at connect in \(era)")
                let second = try await client.callTool("any")
                XCTAssertEqual(second.text, "Bearer second")
                guarded.token = "third"
                for _ in 0..<2 {
                    let third = try await client.callTool("any")
                    XCTAssertEqual(third.text, "Bearer third")
                    XCTAssertEqual(told.all, [Self.refused, Self.refused], "in mid-connection in \(era)")
                }
                XCTAssertEqual(client.waiting, 0)
                await client.close()
            }
        }
    }

    func testCallsThatAreRefusedTogetherAskOnce() async throws {
        try await guarded { guarded in
            let asked = Notes<Void>()
            let client = try await guarded.connect { _ in
                asked.add(())
                for _ in 0..<8 { _ = await guarded.refusals.next() }
                return Self.bearer("second")
            }
            guarded.token = "second"
            let texts = try await withThrowingTaskGroup(of: String.self) { group in
                for _ in 0..<8 { group.addTask { try await client.callTool("any").text } }
                return try await group.reduce(into: []) { $0.append($1) }
            }
            XCTAssertEqual(texts, Array(repeating: "Bearer second", count: 8))
            XCTAssertEqual(asked.all.count, 1)
            await client.close()
        }
    }

    func testWhatIsNoAnswerToARefusalFailsTheCallAlone() async throws {
        struct Closed: LocalizedError { let errorDescription: String? = "the keyring is locked" }
        struct Lost: Error {}
        let whys: [(String, Renew)] = [
            ("give it credentials", { _ in nil }),
            ("give it credentials", { _ in [:] }),
            ("give it credentials", { _ in Self.bearer("first") }),
            ("; there are no others: the keyring is locked", { _ in throw Closed() }),
            ("; there are no others: Lost()", { _ in throw Lost() }),
            ("; there are no others: it was cancelled", { _ in throw CancellationError() }),
            ("; there are no others: no such luck", { _ in throw MCPError(code: 1, message: "no such luck") }),
            ("; there are no others: the header \"Accept\" cannot be set", { _ in ["Accept": "x"] }),
        ]
        try await guarded { guarded in
            let asked = Notes<Void>()
            let client = try await guarded.connect {
                asked.add(())
                return try await whys[asked.all.count - 1].1($0)
            }
            guarded.token = "second"
            for (why, _) in whys {
                let error = await failure(.response) { try await client.callTool("any") }
                XCTAssert(error.message.contains(why), error.message)
                XCTAssertEqual(error.httpStatus, 401)
                XCTAssertEqual(error.data, ["status": 401, "wwwAuthenticate": "Bearer realm=\"x\""])
                XCTAssertEqual(error.unauthorized, Self.refused)
                XCTAssertFalse(error.isRetryable)
            }
            guarded.token = "first"
            let result = try await client.callTool("any")
            XCTAssertEqual(result.text, "Bearer first")
            XCTAssertEqual(asked.all.count, whys.count)
            XCTAssertEqual(client.waiting, 0)
            await client.close()
        }
    }

    func testConnectingFailsWithWhatTheFunctionThrows() async throws {
        try await guarded { guarded in
            guarded.token = "second"
            let error = await failure(.response) {
                try await guarded.connect { _ in throw MCPError(code: 1, message: "nobody is signed in") }
            }
            XCTAssert(error.message.contains("nobody is signed in"), error.message)
            XCTAssertEqual(error.httpStatus, 401)
        }
    }

    func testASlowFunctionDelaysNothingElseAndIsNotRunTwice() async throws {
        try await guarded { guarded in
            let asked = Notes<Void>()
            let gate = Promise<Void>()
            let client = try await guarded.connect { _ in
                asked.add(())
                try await gate.get()
                return Self.bearer("second")
            }
            guarded.token = "second"
            let first = Task { try await client.callTool("any") }
            _ = await asked.next()
            let open = try await client.callTool("open")
            XCTAssertEqual(open.text, "Bearer first")
            _ = await guarded.refusals.next()
            first.cancel()
            await isCancelled { try await first.value }
            // The first waits no more, and this one has what is given.
            let next = Task { try await client.callTool("any").text }
            _ = await guarded.refusals.next()
            let again = try await client.callTool("open")
            XCTAssertEqual(again.text, "Bearer first")
            gate.give(.success(()))
            let text = try await next.value
            XCTAssertEqual(text, "Bearer second")
            XCTAssertEqual(asked.all.count, 1)
            try await until { client.waiting == 0 }
            await client.close()
        }
    }

    func testAClientThatClosesAsksNoFurther() async throws {
        try await guarded { guarded in
            let asked = Notes<Void>(), ended = Notes<Void>()
            let client = try await guarded.connect { _ in
                asked.add(())
                defer { ended.add(()) }
                return ["X": try await forever()]
            }
            guarded.token = "second"
            let call = Task { try await client.callTool("any") }
            _ = await asked.next()
            await client.close()
            _ = await ended.next()
            await failure(.closed) { try await call.value }
            XCTAssert(guarded.server.requests.contains { $0.method == "DELETE" }, "the session was to end")
            XCTAssertEqual(asked.all.count, 1, "the end of the session asks nobody")
        }
    }

    func testAFunctionIsCancelledWithTheTaskThatConnects() async throws {
        try await guarded { guarded in
            guarded.token = "second"
            let asked = Notes<Void>(), ended = Notes<Void>()
            let connecting = Task {
                try await guarded.connect { _ in
                    asked.add(())
                    defer { ended.add(()) }
                    return ["X": try await forever()]
                }
            }
            _ = await asked.next()
            connecting.cancel()
            _ = await ended.next()
            await isCancelled { try await connecting.value }
        }
    }

    func testAClientThatIsLetGoOfEndsTheFunction() async throws {
        try await guarded { guarded in
            let asked = Notes<Void>(), ended = Notes<Void>()
            var client: Client? = try await guarded.connect { _ in
                asked.add(())
                defer { ended.add(()) }
                return ["X": try await forever()]
            }
            guarded.token = "second"
            let call = Task { [client] in try await client?.callTool("any") }
            _ = await asked.next()
            call.cancel()
            await isCancelled { try await call.value }
            client = nil
            _ = await ended.next()
        }
    }
}
