import Foundation
import XCTest

@testable import OxMCP

/// Resources, prompts, completion, and what is told.
final class FeaturesTests: XCTestCase {
    private struct Guess: Codable, Described {
        let name: String
        let age: Int?
        static let descriptions = ["name": "Of the animal."]
    }

    private static let bytes = Data([0, 255, 127])

    @Sendable private static func cities(_ value: String, _ known: [String: String]) -> [String] {
        ["Oslo", "Olso"].filter { $0.hasPrefix(value) } + known.values
    }

    private static func server(_ configure: (inout ServerOptions) -> Void = { _ in }) throws -> Server {
        let server = Server("test", version: "1.0", options: ServerOptions(configure: configure))
        try server.resource("file:///a.txt", name: "a", mimeType: "text/plain") { _ in "the text" }
        try server.resource("file:///b.bin", name: "b") { _ in bytes }
        try server.resourceTemplate(
            "city://{city}/{street}", name: "street", complete: ["city": cities]
        ) { uri, variables, _ in
            ResourceContents(uri: uri, text: "\(variables["street"] ?? "") in \(variables["city"] ?? "")")
        }
        try server.prompt("describe", "Describes.", complete: ["name": cities]) { (guess: Guess, _) in
            [Message("\(guess.name) is \(guess.age ?? 3)"), Message("I see", role: .assistant)]
        }
        try server.prompt("plain", arguments: [PromptArgument("x", isRequired: true)]) { arguments, _ in
            "x is \(arguments["x"] ?? "")"
        }
        try server.tool("logs") { context in
            try context.log(.warning, "hot", logger: "thermometer")
            return "done"
        }
        return server
    }

    func testResourcesAreRead() async throws {
        try await inEveryEra({ try Self.server() }) { client, _ in
            let resources = try await client.listResources()
            XCTAssertEqual(resources.map(\.uri), ["file:///a.txt", "file:///b.bin"])
            let templates = try await client.listResourceTemplates()
            XCTAssertEqual(templates.map(\.uriTemplate), ["city://{city}/{street}"])
            let text = try await client.readResource("file:///a.txt")
            XCTAssertEqual(text.contents, [ResourceContents(uri: "file:///a.txt", text: "the text", mimeType: "text/plain")])
            let bytes = try await client.readResource("file:///b.bin")
            XCTAssertEqual(bytes.contents.map(\.bytes), [Self.bytes])
            let street = try await client.readResource("city://Oslo/Karl%20Johan")
            XCTAssertEqual(street.text, "Karl Johan in Oslo")
            await failure(.response) { try await client.readResource("file:///none") }
        }
    }

    func testPromptsAreFilledIn() async throws {
        try await inEveryEra({ try Self.server() }) { client, _ in
            let prompts = try await client.listPrompts()
            let prompt = try XCTUnwrap(prompts.first { $0.name == "describe" })
            XCTAssertEqual(prompt.arguments.map(\.name), ["name", "age"])
            XCTAssertEqual(prompt.arguments.map(\.isRequired), [true, false])
            XCTAssertEqual(prompt.arguments.first?.description, "Of the animal.")
            let messages = try await client.getPrompt("describe", ["name": "Rex", "age": "7"]).messages
            XCTAssertEqual(messages.map(\.text), ["Rex is 7", "I see"])
            XCTAssertEqual(messages.map(\.role), [.user, .assistant])
            let plain = try await client.getPrompt("plain", ["x": "1"])
            XCTAssertEqual(plain.messages.map(\.text), ["x is 1"])
            let wrong = await failure(.response) { try await client.getPrompt("describe", ["name": "Rex", "age": "old"]) }
            XCTAssertEqual(wrong.code, MCPError.Code.invalidParams)
            XCTAssert(wrong.message.contains("age"), wrong.message)
        }
    }

    func testArgumentsAreCompleted() async throws {
        try await inEveryEra(eras: ["2025-11-25", "2026-07-28"], { try Self.server() }) { client, _ in
            let names = try await client.completePrompt("describe", "name", "Os")
            XCTAssertEqual(names.values, ["Oslo"])
            let known = try await client.completeTemplate("city://{city}/{street}", "city", "Ol", known: ["street": "A"])
            XCTAssertEqual(known.values, ["Olso", "A"])
            let none = try await client.completePrompt("describe", "age", "")
            XCTAssertEqual(none.values, [])
        }
    }

    func testAChangeOfWhatIsOfferedIsTold() async throws {
        try await inEveryEra(eras: ["2025-11-25"], { try Self.server() }) { client, near in
            let notifications = client.notifications
            let extra = try near.tool("extra") { _ in "" }
            let told = await notifications.first { _ in true }
            XCTAssertEqual(told?.method, "notifications/tools/list_changed")
            let names = { @Sendable in try await client.listTools().map(\.name) }
            var tools = try await names()
            XCTAssert(tools.contains("extra"))
            try extra.setEnabled(false)
            tools = try await names()
            XCTAssertFalse(tools.contains("extra"))
            try extra.setEnabled(true)
            try extra.remove()
            await failure(.response) { try await client.callTool("extra") }
        }
    }

    func testNotificationsEndWithTheConnection() async throws {
        try await within {
            let near = try Self.server()
            let client = try await Client.connect(to: near)
            let notifications = client.notifications
            await client.close()
            for await notification in notifications { XCTFail("\(notification)") }
            for await notification in client.notifications { XCTFail("\(notification)") }
            await near.close()
        }
    }

    func testSubscribersAreToldOfUpdates() async throws {
        let updates = Notes<MCPNotification>()
        let client: @Sendable (inout ClientOptions) -> Void = {
            $0.notificationHandlers["notifications/resources/updated"] = { updates.add($0) }
        }
        try await inEveryEra(eras: ["2025-11-25"], { try Self.server { $0.subscriptions = true } }, client: client) { client, near in
            try await client.subscribeResource("file:///a.txt")
            try near.resourceUpdated("file:///b.bin")
            try near.resourceUpdated("file:///a.txt")
            let update = await updates.next()
            XCTAssertEqual(update?.params?["uri"], "file:///a.txt")
            try await client.unsubscribeResource("file:///a.txt")
        }
        try await inEveryEra(eras: ["2025-11-25"], { try Self.server() }) { client, near in
            await failure(.notNegotiated) { try await client.subscribeResource("file:///a.txt") }
            await failure(.notNegotiated) { try near.resourceUpdated("file:///a.txt") }
        }
    }

    func testWhoDidNotSubscribeOrHasLeftIsToldNothing() async throws {
        try await within {
            let near = try Self.server { $0.subscriptions = true }
            let told = Notes<MCPNotification>(), untold = Notes<MCPNotification>()
            let connect = { @Sendable (heard: Notes<MCPNotification>) in
                let options = ClientOptions {
                    $0.protocolVersions = ["2025-11-25"]
                    $0.notificationHandlers["notifications/resources/updated"] = { heard.add($0) }
                }
                return try await Client.connect(to: near, options: options)
            }
            let first = try await connect(told), second = try await connect(untold)
            try await first.subscribeResource("file:///a.txt")
            try near.resourceUpdated("file:///a.txt")
            _ = await told.next()
            await first.close()
            try near.resourceUpdated("file:///a.txt")
            // What had been told would come before this.
            try await second.ping()
            await second.close()
            await near.close()
            XCTAssertEqual([told.all.count, untold.all.count], [1, 0])
        }
    }

    func testAStreamEndsWithItsReaderOrItsServer() async throws {
        try await within {
            let near = try Self.server { $0.subscriptions = true }
            let client = try await Client.connect(to: near)
            XCTAssertEqual(client.protocolVersion, "2026-07-28")
            let open = Notes<SubscriptionFilter>()
            let filter = SubscriptionFilter(toolsListChanged: true, resourceSubscriptions: ["file:///a.txt"])
            let seen = Task {
                var seen: Set<String> = []
                for try await notification in client.listen(filter, onOpen: { open.add($0) }) {
                    seen.insert(notification.method)
                    if seen.count == 2 { break }
                }
                return seen
            }
            let honoured = await open.next()
            XCTAssertEqual(honoured, filter)
            try near.resourceUpdated("file:///a.txt")
            let extra = try near.tool("extra") { _ in "" }
            let methods = try await seen.value
            XCTAssertEqual(methods, ["notifications/resources/updated", "notifications/tools/list_changed"])
            try await until { client.waiting == 0 }
            try extra.remove()

            let ended = Task { for try await _ in client.listen(filter, onOpen: { open.add($0) }) {} }
            _ = await open.next()
            await near.close()
            _ = await ended.result
            try await until { client.waiting == 0 }
            await client.close()
        }
        try await inEveryEra(eras: ["2025-11-25"], { try Self.server() }) { client, _ in
            await failure(.notNegotiated) { for try await _ in client.listen(SubscriptionFilter(toolsListChanged: true)) {} }
        }
    }

    func testLogMessagesReachTheClientThatWantsThem() async throws {
        let logged = Notes<LogMessage>()
        try await inEveryEra({ try Self.server() }, client: { $0.onLog = { logged.add($0) } }) { client, _ in
            logged.clear()
            if client.protocolVersion == "2026-07-28" {
                _ = try await client.callTool("logs")
                _ = try await client.callTool("logs", logLevel: .info)
            } else {
                try await client.setLogLevel(.error)
                _ = try await client.callTool("logs")
                try await client.setLogLevel(.info)
                _ = try await client.callTool("logs")
            }
            let message = await logged.next()
            XCTAssertEqual(message, LogMessage(.warning, "hot", logger: "thermometer"))
            XCTAssertEqual(logged.all.count, 1)
        }
    }

    func testTheWireCanBeLookedAt() async throws {
        let lines = Notes<String>()
        let trace: @Sendable (inout ClientOptions) -> Void = { $0.onTrace = { sent, line in lines.add("\(sent) \(line)") } }
        try await inEveryEra(eras: ["2025-11-25"], { try Self.server() }, client: trace) { client, _ in
            let first = await lines.next() ?? ""
            XCTAssert(first.hasPrefix("true") && first.contains("initialize"), first)
            XCTAssertEqual(client.serverInfo.name, "test")
        }
    }

    func testContentOfAKindThatNobodyKnowsIsPassedOn() async throws {
        let strange = Content(json: ["type": "hologram", "x": .number("1.0")])
        let server = { @Sendable in
            let server = Server("test", version: "1.0")
            try server.tool("shows") { _ in [Content.text("a"), strange] }
            return server
        }
        try await inEveryEra(server) { client, _ in
            let result = try await client.callTool("shows")
            XCTAssertEqual(result.content, [.text("a"), strange])
            XCTAssertEqual(result.content.map(\.kind), [.text("a"), .unknown(type: "hologram")])
        }
    }
}
