import XCTest

@testable import OxMCP

/// Several clients, many changes, and what neither side knows.
final class SeveralTests: XCTestCase {
    private struct Who: Codable {
        let name: String
    }

    private struct Numbered: Codable, Equatable {
        let id: Int64
        let text: String?
    }

    func testEachClientOfAServerHearsOfItsOwnCallsAlone() async throws {
        try await within {
            let release = Promise<Void>()
            let server = Server("test", version: "1.0")
            try server.tool("slow") { (who: Who, call) in
                call.progress(1, "for \(who.name)")
                try await release.get()
                call.progress(2, "for \(who.name)")
                return "for \(who.name)"
            }
            var calls: [Task<String, any Error>] = []
            var heard: [Notes<String>] = []
            for name in ["a", "b"] {
                let client = try await Client.connect(to: server)
                let notes = Notes<String>()
                calls.append(
                    Task {
                        let options = RequestOptions(onProgress: { notes.add($0.message ?? "") })
                        return try await client.callTool("slow", with: Who(name: name), options: options).text
                    }
                )
                heard.append(notes)
                _ = await notes.next()
            }
            release.give(.success(()))
            for (at, name) in ["a", "b"].enumerated() {
                let text = try await calls[at].value
                XCTAssertEqual(text, "for \(name)")
                XCTAssertEqual(heard[at].all, ["for \(name)", "for \(name)"])
            }
            await server.close()
        }
    }

    func testWhatChangedLastIsTold() async throws {
        let told = Notes<MCPNotification>()
        let server = { @Sendable in
            let server = Server("test", version: "1.0")
            try server.tool("one") { _ in "" }
            return server
        }
        let client: @Sendable (inout ClientOptions) -> Void = {
            $0.notificationHandlers["notifications/tools/list_changed"] = { told.add($0) }
        }
        try await inEveryEra(eras: ["2025-11-25"], server, client: client) { client, server in
            for at in 0..<200 { try server.tool("more \(at)") { _ in "" } }
            let tools = try await client.listTools()
            XCTAssertEqual(tools.count, 201)
            // Several changes may be told at once, and one is told after the last.
            try await until { !told.all.isEmpty }
            XCTAssertLessThanOrEqual(told.all.count, 200)
            XCTAssert(told.all.allSatisfy { $0.params == nil })
        }
    }

    func testWhatIsNotDeclaredIsNeitherToldNorSent() async throws {
        let told = Notes<MCPNotification>()
        let server = { @Sendable in
            let options = ServerOptions { $0.capabilities = ["tools": ["listChanged": false]] }
            let server = Server("test", version: "1.0", options: options)
            try server.tool("one") { _ in "" }
            return server
        }
        let client: @Sendable (inout ClientOptions) -> Void = {
            $0.notificationHandlers["notifications/tools/list_changed"] = { told.add($0) }
        }
        try await inEveryEra(eras: ["2025-11-25"], server, client: client) { client, server in
            XCTAssertNotEqual(client.serverCapabilities["tools"]?["listChanged"], true)
            try server.tool("two") { _ in "" }
            let tools = try await client.listTools()
            XCTAssertEqual(tools.count, 2)
            XCTAssert(told.all.isEmpty, "\(told.all)")
            let refused = await failure(.notNegotiated) { try server.resourceUpdated("file:///a") }
            XCTAssert(refused.message.contains("resources.subscribe"), refused.message)
        }
    }

    func testMembersThatNobodyKnowsSurvive() async throws {
        let text = """
            {"content":[{"type":"text","text":"a","annotations":{"z":1,"a":2.50}},{"type":"hologram","x":[1,{}]}],\
            "_meta":{"acme/n":9007199254740993}}
            """
        let server = { @Sendable in
            let result = CallToolResult(json: try JSONObject(parsing: text))
            let server = Server("test", version: "1.0")
            try server.tool("odd") { _ in result }
            return server
        }
        try await inEveryEra(server) { client, _ in
            let result = try await client.callTool("odd")
            XCTAssertEqual(result.text, "a")
            XCTAssertEqual(result.content[0].annotations?.text, #"{"z":1,"a":2.50}"#)
            XCTAssertEqual(result.content[1].json.text, #"{"type":"hologram","x":[1,{}]}"#)
            XCTAssertEqual(result.meta?["acme/n"], .number("9007199254740993"))
        }
    }

    func testNumbersKeepTheirDigitsAndTextsThatLookLikeNumbersStayTexts() async throws {
        let server = { @Sendable in
            let server = Server("test", version: "1.0")
            try server.tool("id") { (numbered: Numbered, _) in numbered }
            try server.tool("name") { (who: Who, _) in who.name }
            return server
        }
        try await inEveryEra(server) { client, _ in
            let numbered = Numbered(id: 9_007_199_254_740_993, text: "00123")
            let given = try await client.callTool("id", with: numbered)
            XCTAssertEqual(try given.structured(), numbered)
            let name = try await client.callTool("name", with: Who(name: "00123"))
            XCTAssertEqual(name.text, "00123")
        }
    }

    func testASchemaOfOnesOwnGoesThroughAsItWasWritten() async throws {
        let text = """
            {"$schema":"http://json-schema.org/draft-07/schema#","type":"object",\
            "properties":{"p":{"type":"array","items":[{"type":"string"}]}}}
            """
        let schema = try JSONObject(parsing: text)
        let server = { @Sendable in
            let server = Server("test", version: "1.0")
            try server.tool("raw", inputSchema: schema) { _, _ in CallToolResult("done") }
            return server
        }
        try await inEveryEra(server) { client, _ in
            let tools = try await client.listTools()
            XCTAssertEqual(tools.map(\.inputSchema.text), [text])
            let done = try await client.callTool("raw", ["p": ["a", 1]])
            XCTAssertEqual(done.text, "done")
            do {
                let refused = try await client.callTool("raw", ["p": [1]])
                XCTAssert(refused.isError, "the rules of its draft hold")
            } catch let error as MCPError {
                XCTAssertEqual(error.code, MCPError.Code.invalidParams)
            }
        }
    }

    func testBytesAreReadWhereSlashesAreEscaped() throws {
        let image = Content(json: try JSONObject(parsing: #"{"type":"image","data":"\/+8=","mimeType":"image/png"}"#))
        XCTAssertEqual(image.kind, .image(Data([0xFF, 0xEF]), mimeType: "image/png"))
    }

    func testAFormGoesThroughAsItWasWritten() async throws {
        let text = """
            {"type":"object","properties":{"z":{"type":"string","enum":["a","b"],"enumNames":["A","B"]},\
            "a":{"type":"integer","default":7}},"required":["z"]}
            """
        let form = try JSONObject(parsing: text)
        let asked = Notes<String>()
        let server = { @Sendable in
            let server = Server("test", version: "1.0")
            try server.tool("ask") { call in try await call.elicit("Which?", schema: form).content?.text ?? "" }
            return server
        }
        let client: @Sendable (inout ClientOptions) -> Void = {
            $0.onElicitation = { request in
                asked.add(request.requestedSchema.text)
                return .accept(["z": "a"])
            }
        }
        try await inEveryEra(eras: ["2025-11-25", "2026-07-28"], server, client: client) { client, _ in
            let answer = try await client.callTool("ask")
            XCTAssertEqual(try JSON(parsing: answer.text)["z"], "a")
            let schema = await asked.next()
            XCTAssertEqual(schema, text)
        }
    }
}
