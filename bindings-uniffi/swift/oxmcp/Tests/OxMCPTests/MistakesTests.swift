import XCTest

@testable import OxMCP

/// What programs get wrong is named: what it is, and what would be right.
final class MistakesTests: XCTestCase {
    private func says(_ parts: String..., line: UInt = #line, work: () async throws -> Any) async {
        let error = await failure(.usage, line: line, work)
        for part in parts { XCTAssert(error.message.contains(part), "\(part) is not in: \(error.message)", line: line) }
    }

    func testOptionsOfAServer() async throws {
        let server = Server("test", version: "1.0")
        await says("65535", "99999") { try await server.listen(port: 99_999) }
        await says("65535", "-1") { try await server.listen(port: -1) }
        await says("must begin with \"/\"", "\"nope\"") { try await server.listen(http: HTTPOptions { $0.path = "nope" }) }
        await server.close()
    }

    func testLimits() async throws {
        await says("\"message\"", "1 or more", "-1") { try Limits { $0.message = -1 }.check() }
        await says("\"depth\"", "0") { try Limits { $0.depth = 0 }.check() }
        await says("\"rounds\"", "0 or more") { try Limits { $0.rounds = -1 }.check() }
        try Limits { $0.rounds = 0 }.check()
        let wrong = Server("test", version: "1.0", options: ServerOptions { $0.limits.list = -1 })
        await says("\"list\"") { try await wrong.listen() }
        let server = Server("test", version: "1.0")
        await says("\"pages\"") { try await Client.connect(to: server, options: ClientOptions { $0.limits.pages = 0 }) }
        await server.close()
    }

    func testAnUpdateWithoutSubscriptions() async throws {
        let server = Server("test", version: "1.0")
        let error = await failure(.notNegotiated) { try server.resourceUpdated("file:///a") }
        XCTAssert(error.message.contains("`subscriptions`"), error.message)
        let told = try Server("test", version: "1.0", options: ServerOptions { $0.subscriptions = true }).resourceUpdated("x:y")
        XCTAssertFalse(told)
    }

    func testANumberThatIsTooLargeForItsType() async throws {
        try await within {
            let server = Server("test", version: "1.0")
            try server.tool("takes") { (numbers: Numbers, _) in "\(numbers.a)" }
            let client = try await Client.connect(to: server)
            let result = try await client.callTool("takes", ["a": try json("99999999999999999999")])
            XCTAssert(result.isError && result.text.contains("a number does not fit"), result.text)
            await client.close()
            await server.close()
        }
    }

    func testWhatAFunctionOfTheServerDoesWrongIsToldToTheServerAndNotToItsClients() async throws {
        try await within {
            let errors = Notes<any Error>()
            let server = Server("test", version: "1.0", options: ServerOptions { $0.onError = { errors.add($0) } })
            try server.resource("bad://r", name: "bad") { _ -> String in throw MCPError.usage("mine") }
            let client = try await Client.connect(to: server)
            let error = await failure(.response) { try await client.readResource("bad://r") }
            XCTAssertEqual(error.code, MCPError.Code.internalError)
            XCTAssertEqual(error.message, "Internal error")
            let told = await errors.next() as? MCPError
            XCTAssertEqual(told?.message, "mine")
            await client.close()
            await server.close()
        }
    }
}
