import XCTest

@testable import OxMCP

/// What a server knows of its clients, and says to them beside any call.
final class SessionsTests: XCTestCase {
    /// What the hooks of both sides heard.
    private struct Heard: Sendable {
        let begun = Notes<ServerSession>()
        let ended = Notes<ServerSession>()
        let told = Notes<MCPNotification>()
        let logged = Notes<LogMessage>()

        func server() throws -> Server {
            let options = ServerOptions {
                $0.onConnect = { [begun] in begun.add($0) }
                $0.onDisconnect = { [ended] in ended.add($0) }
            }
            let server = Server("test", version: "1.0", options: options)
            try server.tool("waits") { _ in try await forever() }
            return server
        }

        func options(_ name: String = "tester") -> ClientOptions {
            ClientOptions {
                $0.info = Implementation(name: name, version: "2.0")
                $0.protocolVersions = ["2025-11-25"]
                $0.onRoots = { [Root("file:///\(name)")] }
                $0.notificationHandlers["acme/told"] = { [told] in told.add($0) }
                $0.onLog = { [logged] in logged.add($0) }
            }
        }

        /// From a client's handshake to its end.
        func follow(_ server: Server, overHTTP: Bool, _ connect: () async throws -> Client) async throws {
            let client = try await connect()
            let session = try await Self.some(begun.next())
            XCTAssertEqual(session.clientInfo.name, "tester")
            XCTAssertEqual(session.protocolVersion, "2025-11-25")
            XCTAssertNotNil(session.clientCapabilities["roots"])
            XCTAssertEqual(session.sessionID != nil, overHTTP)
            XCTAssert(server.sessions.count == 1 && server.sessions.first === session)
            try await session.ping()
            let roots = try await session.listRoots()
            XCTAssertEqual(roots.map(\.uri), ["file:///tester"])
            await failure(.notNegotiated) { try await session.request("sampling/createMessage") }
            try session.notify("acme/told", ["n": 1])
            let notification = await told.next()
            XCTAssertEqual(notification?.params, ["n": 1])
            try session.log(.error, "odd")
            let message = await logged.next()
            XCTAssertEqual(message?.data, "odd")
            await client.close()
            let last = await ended.next()
            XCTAssert(last === session)
            XCTAssert(server.sessions.isEmpty)
            await failure(.closed) { try await session.ping() }
            await failure(.closed) { try session.notify("acme/told") }
            try session.log(.error, "late")
            session.close()
        }

        static func some<Value>(_ value: Value?) throws -> Value { try XCTUnwrap(value) }
    }

    func testASessionIsToldOfFromItsHandshakeToItsEnd() async throws {
        try await within {
            let heard = Heard()
            let server = try heard.server()
            for _ in 0..<2 {
                try await heard.follow(server, overHTTP: false) {
                    try await Client.connect(to: server, options: heard.options())
                }
            }
            let listening = try await server.listen()
            for _ in 0..<2 {
                try await heard.follow(server, overHTTP: true) {
                    try await Client.connect(to: listening.url, options: heard.options())
                }
            }
            await server.close()
            XCTAssertEqual(heard.begun.all.count, 4)
            XCTAssertEqual(heard.ended.all.count, 4)
        }
    }

    func testEachOfSeveralSessionsIsToldOfItsOwn() async throws {
        try await within {
            let heard = Heard()
            let server = try heard.server()
            let listening = try await server.listen()
            var clients: [Client] = []
            for name in ["a", "b", "c"] {
                clients.append(try await Client.connect(to: listening.url, options: heard.options(name)))
            }
            for _ in clients {
                let session = try await Heard.some(heard.begun.next())
                let roots = try await session.listRoots()
                XCTAssertEqual(roots.map(\.uri), ["file:///\(session.clientInfo.name)"])
            }
            XCTAssertEqual(Set(heard.begun.all.map(\.sessionID)).count, 3)
            await clients[1].close()
            let ended = await heard.ended.next()
            XCTAssertEqual(ended?.clientInfo.name, "b")
            XCTAssertEqual(server.sessions.count, 2)
            await server.close()
            try await until { heard.ended.all.count == 3 }
            XCTAssert(server.sessions.isEmpty)
            for client in clients { await client.close() }
        }
    }

    func testAServerEndsOneSessionAlone() async throws {
        try await within {
            let heard = Heard()
            let server = try heard.server()
            let first = try await Client.connect(to: server, options: heard.options())
            let session = try await Heard.some(heard.begun.next())
            let second = try await Client.connect(to: server, options: heard.options())
            let call = Task { try await first.callTool("waits") }
            try await until { server.waiting > 0 }
            session.close()
            await failure(.closed) { try await call.value }
            let ended = await heard.ended.next()
            XCTAssert(ended === session)
            try await second.ping()
            await second.close()
            await server.close()
        }
    }

    func testHooksThatThrowAndThatCloseWhatTheyAreToldOf() async throws {
        struct Mine: Error {}
        try await within {
            let heard = Heard()
            let errors = Notes<any Error>()
            let options = ServerOptions {
                $0.onConnect = { session in
                    session.close()
                    throw Mine()
                }
                $0.onDisconnect = { heard.ended.add($0) }
                $0.onError = { errors.add($0) }
            }
            let server = Server("test", version: "1.0", options: options)
            let client = try await Client.connect(to: server, options: heard.options())
            try await client.wait()
            _ = await heard.ended.next()
            let error = await errors.next()
            XCTAssert(error is Mine)
            await server.close()
        }
    }

    func testWithoutAHandshakeThereAreNoSessions() async throws {
        try await within {
            let heard = Heard()
            let server = try heard.server()
            let near = try await Client.connect(to: server)
            try await near.ping()
            await near.close()
            let listening = try await server.listen()
            let far = try await Client.connect(to: listening.url)
            try await far.ping()
            await far.close()
            let stateless = try await server.listen(http: HTTPOptions { $0.stateless = true })
            let third = try await Client.connect(to: stateless.url, options: heard.options())
            try await third.ping()
            await third.close()
            XCTAssert(server.sessions.isEmpty)
            await server.close()
            XCTAssert(heard.begun.all.isEmpty && heard.ended.all.isEmpty)
        }
    }

    func testSessionsThatAreRefusedLeaveNothing() async throws {
        try await within {
            let heard = Heard()
            let server = try heard.server()
            let listening = try await server.listen(http: HTTPOptions { $0.maxSessions = 1 })
            let first = try await Client.connect(to: listening.url, options: heard.options())
            for _ in 0..<200 {
                await failure(.response) { try await Client.connect(to: listening.url, options: heard.options()) }
            }
            XCTAssertLessThanOrEqual(server.sessions.count, 130)
            try await first.ping()
            await first.close()
            await server.close()
        }
    }
}
