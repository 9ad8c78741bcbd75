import XCTest

@testable import OxMCP

/// What a server asks its client while a call runs.
final class QuestionsTests: XCTestCase {
    private struct Day: Codable, Described, Equatable {
        let ahead: Int
        let place: String?
        static let descriptions = ["ahead": "How many days from now."]
    }

    private struct Secret: Error {}

    private static func server() throws -> Server {
        let server = Server("test", version: "1.0")
        try server.tool("weather") { (city: City, context) in
            switch try await context.elicit("For which day?", as: Day.self) {
            case .accepted(let day): "In \(day.ahead) days it is sunny in \(city.city)."
            case .declined: "As you like."
            case .cancelled: "Gone."
            }
        }
        try server.tool("visit") { context in
            try await context.elicit(URLElicitation("Log in", url: "https://example.com/in", elicitationId: "1")).action.rawValue
        }
        try server.tool("ask a model") { context in
            try await context.sample(SamplingRequest([Message("2+2?")], maxTokens: 10)).text
        }
        try server.tool("roots") { context in try await context.listRoots().map(\.uri).joined(separator: ", ") }
        try server.tool("who") { context in
            let caller = context.caller
            return "\(caller.info?.name ?? "") \(caller.protocolVersion ?? "")"
        }
        try server.tool("twice") { context in
            let first = try await context.elicit("First?", as: Day.self).value?.ahead ?? 0
            let second = try await context.elicit("Second?", as: Day.self).value?.ahead ?? 0
            return "\(first) and \(second)"
        }
        try server.tool("both") { context in
            async let roots = context.listRoots(key: "folders")
            async let day = context.elicit("For which day?", as: Day.self, key: "day")
            return "\(try await roots.count) and \(try await day.value?.ahead ?? 0)"
        }
        try server.tool("by hand") { context in
            guard let answer = context.inputResponses?["where"] else {
                throw InputRequired(state: "asked", ["where": .listRoots])
            }
            return "\(context.requestState ?? ""): \(answer["roots"]?[0]?["uri"]?.stringValue ?? "")"
        }
        try server.tool("locked") { _ -> String in
            throw MCPError.urlElicitationRequired([URLElicitation("Log in", url: "https://example.com", elicitationId: "7")])
        }
        return server
    }

    private static let asked = ["2025-06-18", "2025-11-25", "2026-07-28"]

    private func asking(
        _ configure: @escaping @Sendable (inout ClientOptions) -> Void, eras: [String] = asked,
        _ body: @escaping @Sendable (Client) async throws -> Void
    ) async throws {
        try await inEveryEra(eras: eras, Self.server, client: configure) { client, server in
            try await body(client)
            try await until { server.waiting == 0 }
        }
    }

    func testAUserIsAskedAndTheAnswerIsAValue() async throws {
        for (answer, text) in [
            (ElicitResult.accept(["ahead": 2]), "In 2 days it is sunny in Oslo."), (.decline, "As you like."), (.cancel, "Gone."),
        ] {
            try await asking({ $0.onElicitation = { _ in answer } }) { client in
                let result = try await client.callTool("weather", ["city": "Oslo"])
                XCTAssertEqual(result.text, text)
            }
        }
    }

    func testTheFormHasTheMembersOfTheType() async throws {
        let asked = Notes<ElicitRequest>()
        try await asking({
            $0.onElicitation = { request in
                asked.add(request)
                return .accept(["ahead": 1])
            }
        }) { client in
            _ = try await client.callTool("weather", ["city": "Oslo"])
            let request = await asked.next()
            XCTAssertEqual(request?.message, "For which day?")
            XCTAssertEqual(
                request.map { JSON.object($0.requestedSchema) },
                try json(
                    """
                    {"type":"object","properties":{"ahead":{"type":"integer","description":"How many days from now."},
                     "place":{"type":"string"}},"required":["ahead"]}
                    """
                )
            )
        }
    }

    func testTwoQuestionsInARowAndTwoAtOnce() async throws {
        try await asking({
            $0.onElicitation = { .accept(["ahead": $0.message == "First?" ? 1 : 2]) }
            $0.onRoots = { [Root("file:///a"), Root("file:///b")] }
        }) { client in
            let twice = try await client.callTool("twice")
            XCTAssertEqual(twice.text, "1 and 2")
            let both = try await client.callTool("both")
            XCTAssertEqual(both.text, "2 and 2")
        }
    }

    func testAURLAModelRootsAndAName() async throws {
        try await asking({
            $0.info = Implementation(name: "asker", version: "9")
            $0.showsURLs = true
            $0.onElicitation = { $0.isURL ? .accept() : .cancel }
            $0.onSampling = { SamplingResult("\($0.messages[0].text) 4", model: "abacus") }
            $0.onRoots = { [Root("file:///home", name: "home"), Root("file:///work")] }
        }) { client in
            if client.protocolVersion != "2025-06-18" {
                let visit = try await client.callTool("visit")
                XCTAssertEqual(visit.text, "accept")
            }
            let model = try await client.callTool("ask a model")
            XCTAssertEqual(model.text, "2+2? 4")
            let roots = try await client.callTool("roots")
            XCTAssertEqual(roots.text, "file:///home, file:///work")
            let who = try await client.callTool("who")
            XCTAssertEqual(who.text, "asker \(client.protocolVersion)")
        }
    }

    func testRoundsByHand() async throws {
        try await asking({ $0.onRoots = { [Root("file:///home")] } }, eras: ["2026-07-28"]) { client in
            let result = try await client.callTool("by hand")
            XCTAssertEqual(result.text, "asked: file:///home")
        }
    }

    func testAClientThatCanNotBeAskedIsToldSo() async throws {
        try await asking({ _ in }) { client in
            do {
                let result = try await client.callTool("weather", ["city": "Oslo"])
                XCTAssert(result.isError && result.text.contains("elicitation"), result.text)
            } catch let error as MCPError {
                XCTAssert(error.message.contains("elicitation"), error.message)
            }
        }
    }

    func testAHandlerOfTheClientThatThrowsFailsTheCallAlone() async throws {
        let thrown = Notes<any Error>()
        try await asking({
            $0.onElicitation = { _ in throw Secret() }
            $0.onError = { thrown.add($0) }
        }) { client in
            do {
                let result = try await client.callTool("weather", ["city": "Oslo"])
                XCTAssert(result.isError && !result.text.contains("Secret"), result.text)
            } catch let error as MCPError {
                XCTAssertFalse(error.message.contains("Secret"), error.message)
            }
            let error = await thrown.next()
            XCTAssert(error is Secret)
            try await client.ping(options: RequestOptions(timeout: .seconds(10)))
        }
    }

    func testAURLThatIsRequiredBeforeACall() async throws {
        try await asking({
            $0.showsURLs = true
            $0.onElicitation = { _ in .decline }
        }, eras: ["2025-11-25"]) { client in
            let error = await failure(.response) { try await client.callTool("locked") }
            XCTAssertEqual(error.code, MCPError.Code.urlElicitationRequired)
            XCTAssertEqual(error.urlElicitations.map(\.url), ["https://example.com"])
        }
    }

    func testAModelThatMayWishForToolsDoes() async throws {
        let server = Server("test", version: "1.0")
        let tools: [JSONObject] = [["name": "add", "inputSchema": ["type": "object"]]]
        try server.tool("think") { context in
            let question = Message("2+2?")
            let first = try await context.sample(SamplingRequest([question], maxTokens: 10, tools: tools), key: "first")
            guard case .toolUse(let id, let name, _)? = first.content.first?.kind else { return "no wish" }
            let messages = [
                question, Message(first.content, role: .assistant), Message([.toolResult(toolUseId: id, CallToolResult("4"))]),
            ]
            let second = try await context.sample(SamplingRequest(messages, maxTokens: 10, tools: tools), key: "second")
            return "\(name) \(first.stopReason ?? ""): \(second.text)"
        }
        for era in ["2025-11-25", "2026-07-28"] {
            let options = ClientOptions {
                $0.protocolVersions = [era]
                $0.samplesWithTools = true
                $0.onSampling = { asked in
                    if case .toolResult(let id, let given)? = asked.messages.last?.content.first?.kind {
                        return SamplingResult("\(id) gave \(given.text)", model: "m")
                    }
                    return SamplingResult([.toolUse(id: "u1", name: "add", input: ["a": 2])], model: "m", stopReason: "toolUse")
                }
            }
            let client = try await Client.connect(to: server, options: options)
            let thought = try await client.callTool("think")
            XCTAssertEqual(thought.text, "add toolUse: u1 gave 4", era)
            await client.close()
        }
        await server.close()
    }
}
