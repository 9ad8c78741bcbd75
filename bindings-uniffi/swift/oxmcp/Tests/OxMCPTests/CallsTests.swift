import Foundation
import XCTest

@testable import OxMCP

/// Tools, and what calls of them can come to.
final class CallsTests: XCTestCase {
    private enum Trouble: Error, CustomStringConvertible {
        case noLuck
        var description: String { "no luck" }
    }

    private static let bytes = Data((0...255).map { UInt8($0) })

    private static func server() throws -> Server {
        let server = Server("test", version: "1.0")
        try server.tool("add", "Adds.") { (numbers: Numbers, _) in Sum(sum: numbers.a + (numbers.b ?? 1)) }
        try server.tool("greet") { (city: City, _) in "Hello \(city.city)" }
        try server.tool("nothing") { _ in CallToolResult() }
        try server.tool("picture") { _ in Content.image(bytes, mimeType: "image/png") }
        try server.tool("several") { _ in [Content.text("one"), .text("two")] }
        try server.tool("echo") { (arguments: JSONObject, _) in CallToolResult(arguments.text) }
        try server.tool("list") { _ in [1, 2, 3] }
        try server.tool("fails") { _ -> String in throw Trouble.noLuck }
        try server.tool("refuses") { _ -> String in
            throw MCPError(code: -32050, message: "not today", data: ["when": "tomorrow"])
        }
        try server.tool("gives up") { _ -> String in throw CancellationError() }
        try server.tool("counts") { (numbers: Numbers, context) in
            for at in 1...numbers.a { context.progress(Double(at), of: Double(numbers.a), "at \(at)") }
            return "done"
        }
        try server.method("acme/double") { params, _ in ["twice": JSON((params["n"]?.intValue ?? 0) * 2)] }
        return server
    }

    func testToolsAreListedWithTheSchemasOfTheirTypes() async throws {
        try await inEveryEra(Self.server) { client, _ in
            let tools = try await client.listTools()
            let add = try XCTUnwrap(tools.first { $0.name == "add" })
            XCTAssertEqual(add.description, "Adds.")
            XCTAssertEqual(
                try json(
                    """
                    {"type":"object","properties":{"a":{"type":"integer","description":"The first."},
                     "b":{"type":["integer","null"]}},"required":["a"]}
                    """
                ), .object(add.inputSchema)
            )
            XCTAssertEqual(
                try json(#"{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}"#),
                add.outputSchema.map(JSON.object)
            )
            XCTAssertEqual(tools.first { $0.name == "nothing" }?.inputSchema, ["type": "object", "properties": [:]])
            XCTAssertNil(tools.first { $0.name == "list" }?.outputSchema)
        }
    }

    func testWhatAToolGivesArrives() async throws {
        try await inEveryEra(Self.server) { client, _ in
            let sum = try await client.callTool("add", with: Numbers(a: 2, b: 3))
            XCTAssertEqual(try sum.structured(), Sum(sum: 5))
            XCTAssertEqual(sum.text, #"{"sum":5}"#)
            let one = try await client.callTool("add", ["a": 2])
            XCTAssertEqual(try one.structured(), Sum(sum: 3))
            let greeting = try await client.callTool("greet", ["city": "Oslo"])
            XCTAssertEqual(greeting.text, "Hello Oslo")
            let nothing = try await client.callTool("nothing")
            XCTAssertEqual(nothing.content, [])
            let picture = try await client.callTool("picture")
            XCTAssertEqual(picture.content.map(\.kind), [.image(Self.bytes, mimeType: "image/png")])
            let several = try await client.callTool("several")
            XCTAssertEqual(several.text, "one\ntwo")
            let list = try await client.callTool("list")
            XCTAssertEqual(list.text, "[1,2,3]")
            let digits: JSONObject = ["n": .number("9007199254740993"), "f": .number("1.50"), "s": "00123", "u": "é😀"]
            let echo = try await client.callTool("echo", digits)
            XCTAssertEqual(try JSONObject(parsing: echo.text), digits)
        }
    }

    func testWhatGoesWrongInAToolIsSaid() async throws {
        try await inEveryEra(Self.server) { client, _ in
            let failed = try await client.callTool("fails")
            XCTAssert(failed.isError)
            XCTAssertEqual(failed.text, "no luck")
            let refused = await failure(.response) { try await client.callTool("refuses") }
            XCTAssertEqual(refused.code, -32050)
            XCTAssertEqual(refused.message, "not today")
            XCTAssertEqual(refused.fault, .peer)
            XCTAssertEqual(refused.data, ["when": "tomorrow"])
            let gaveUp = try await client.callTool("gives up")
            XCTAssert(gaveUp.isError)
        }
    }

    func testArgumentsThatDoNotFitAreRefusedBeforeTheToolRuns() async throws {
        try await inEveryEra(Self.server) { client, _ in
            let wrong: [JSONObject] = [[:], ["a": "1"], ["a": 1.5]]
            for arguments in wrong {
                do {
                    let result = try await client.callTool("add", arguments)
                    XCTAssert(result.isError && result.text.contains("a"), "\(result)")
                } catch let error as MCPError {
                    XCTAssertEqual(error.code, MCPError.Code.invalidParams)
                    XCTAssert(error.message.contains("a"), error.message)
                }
            }
            let unknown = await failure(.response) { try await client.callTool("no such tool") }
            XCTAssertEqual(unknown.code, MCPError.Code.invalidParams)
            let params = await failure(.response) { try await client.request("tools/call", ["name": 5]) }
            XCTAssertEqual(params.code, MCPError.Code.invalidParams)
            let usage = await failure(.usage) { try await client.callTool("add", with: [1, 2]) }
            XCTAssert(usage.message.contains("[1,2]"), usage.message)
        }
    }

    func testProgressComesInOrderAndBeforeTheResult() async throws {
        struct Mine: Error {}
        try await inEveryEra(Self.server) { client, _ in
            let seen = Notes<MCPProgress>()
            let result = try await client.callTool("counts", ["a": 5], onProgress: { seen.add($0) })
            XCTAssertEqual(result.text, "done")
            XCTAssertEqual(seen.all, (1...5).map { MCPProgress(Double($0), of: 5, "at \($0)") })
            do {
                _ = try await client.callTool("counts", ["a": 5], onProgress: { _ in throw Mine() })
                XCTFail("what the function threw was lost")
            } catch {
                XCTAssert(error is Mine, "\(error)")
            }
        }
    }

    func testACancelledTaskCancelsTheCallAtTheServer() async throws {
        let started = Notes<Void>(), ended = Notes<any Error>()
        let server = { @Sendable in
            let server = Server("test", version: "1.0")
            try server.tool("waits") { _ in
                started.add(())
                do {
                    return try await forever()
                } catch {
                    ended.add(error)
                    throw error
                }
            }
            return server
        }
        try await inEveryEra(server) { client, server in
            let call = Task { try await client.callTool("waits") }
            _ = await started.next()
            call.cancel()
            let error = await ended.next()
            XCTAssert(error is CancellationError, "\(String(describing: error))")
            await isCancelled { try await call.value }
            try await client.ping()
            try await until { server.waiting == 0 }
        }
    }

    func testCallsEndInTheirTime() async throws {
        let server = { @Sendable in
            let server = Server("test", version: "1.0")
            try server.tool("waits") { _ in try await forever() }
            return server
        }
        try await inEveryEra(server) { client, server in
            let late = await failure(.timeout) { try await client.callTool("waits", timeout: .milliseconds(20)) }
            XCTAssertEqual(late.code, MCPError.Code.requestTimeout)
            XCTAssert(late.isRetryable)
            let bound = await failure(.timeout) {
                try await client.callTool("waits", timeout: .unlimited, maxTotalTimeout: .milliseconds(20))
            }
            XCTAssert(bound.message.contains("total"), bound.message)
            let usage = await failure(.usage) { try await client.callTool("waits", timeout: .milliseconds(-1)) }
            XCTAssert(usage.message.contains("timeout"), usage.message)
            try await until { server.waiting == 0 }
        }
    }

    func testAClientsOwnTimeBoundsItsCallsAndTheServerIsTold() async throws {
        let server = { @Sendable in
            let server = Server("test", version: "1.0")
            try server.tool("waits") { _ in try await forever() }
            return server
        }
        let sent = Notes<String>()
        let client: @Sendable (inout ClientOptions) -> Void = {
            $0.timeout = .milliseconds(200)
            $0.onTrace = { out, line in if out { sent.add(line) } }
        }
        try await inEveryEra(server, client: client) { client, server in
            await failure(.timeout) { try await client.callTool("waits") }
            try await until { server.waiting == 0 && sent.all.contains { $0.contains("notifications/cancelled") } }
            sent.clear()
        }
    }

    func testAskingThatProgressRestartsTheClockAsksForProgress() async throws {
        let sent = Notes<String>()
        let client: @Sendable (inout ClientOptions) -> Void = {
            $0.onTrace = { out, line in if out && line.contains("counts") { sent.add(line) } }
        }
        try await inEveryEra(Self.server, client: client) { client, _ in
            _ = try await client.callTool("counts", ["a": 2], resetTimeoutOnProgress: true)
            let line = await sent.next()
            XCTAssert(line?.contains("progressToken") == true, "\(line ?? "")")
        }
    }

    func testAnAnswerThatComesTooLateIsNobodysBusiness() async throws {
        try await within {
            let release = Promise<Void>(), odd = Notes<String>()
            let server = Server(
                "test", version: "1.0",
                options: ServerOptions {
                    $0.onProblem = { odd.add($0.message) }
                    $0.onError = { odd.add("\($0)") }
                }
            )
            try server.tool("deaf") { _ in
                // A task of its own is not cancelled with this one.
                try await Task.detached { try await release.get() }.value
                return "late"
            }
            let client = try await Client.connect(
                to: server,
                options: ClientOptions {
                    $0.onProblem = { odd.add($0.message) }
                    $0.onError = { odd.add("\($0)") }
                }
            )
            await failure(.timeout) { try await client.callTool("deaf", timeout: .milliseconds(10)) }
            release.give(.success(()))
            try await until { server.waiting == 0 }
            try await client.ping()
            XCTAssertEqual(odd.all, [])
            await client.close()
            await server.close()
        }
    }

    func testAMethodOfOnesOwn() async throws {
        try await inEveryEra(Self.server) { client, _ in
            let given = try await client.request("acme/double", ["n": 4])
            XCTAssertEqual(given["twice"], 8)
            let unknown = await failure(.response) { try await client.request("acme/none") }
            XCTAssertEqual(unknown.code, MCPError.Code.methodNotFound)
        }
    }

    func testNamesThatAreTakenAndTypesWithoutASchemaAreRefused() async throws {
        let server = try Self.server()
        await failure(.usage) { try server.tool("add") { _ in "again" } }
        await failure(.usage) { try server.method("tools/call") { params, _ in params } }
        let error = await failure(.usage) { try server.tool("numbers") { (_: [Int], _) in "" } }
        XCTAssert(error.message.contains("the tool \"numbers\""), error.message)
    }

    func testACallOnAClosedClientFailsAtOnceAndClosingAgainDoesNoHarm() async throws {
        try await within {
            let server = try Self.server()
            let client = try await Client.connect(to: server)
            await client.close()
            await client.close()
            XCTAssertFalse(client.isConnected)
            await failure(.closed) { try await client.ping() }
            await failure(.closed) { try client.notify("notifications/x") }
            await failure(.closed) { try await client.callTool("nothing", onProgress: { _ in }) }
        }
    }
}
