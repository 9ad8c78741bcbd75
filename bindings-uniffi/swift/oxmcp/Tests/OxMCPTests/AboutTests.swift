import Foundation
import XCTest

@testable import OxMCP

/// What is said of the things that a server offers, of its content and of calls, and what functions of tools say.
final class AboutTests: XCTestCase {
    private static let icon = Icon("https://example.com/a.png", mimeType: "image/png", sizes: ["48x48"], theme: "dark")
    private static let meta: JSONObject = ["example.com/kind": "b"]
    private static let forUsers: JSONObject = ["audience": ["user"]]

    private static func server() throws -> Server {
        let options = ServerOptions {
            $0.icons = [icon]
            $0.websiteURL = "https://example.com"
        }
        let server = Server("test", version: "1.0", options: options)
        try server.tool("tool", meta: meta, icons: [icon]) { context in
            context.caller.requestMeta?["example.com/kind"]?.stringValue ?? "none"
        }
        try server.resource("a://b", name: "resource", annotations: forUsers, meta: meta, icons: [icon]) { _ in "" }
        try server.resourceTemplate(
            "c://{d}", name: "template", annotations: forUsers, meta: meta, icons: [icon]
        ) { _, _, _ in "" }
        try server.prompt("prompt", meta: meta, icons: [icon]) { (_: NoArguments, _) in
            Message(.text("hi", annotations: forUsers, meta: meta))
        }
        try server.prompt("raw", arguments: [], meta: meta, icons: [icon]) { _, _ in "" }
        return server
    }

    func testIconsAnnotationsAndExtraDataAreShown() async throws {
        try await inEveryEra({ try Self.server() }) { client, _ in
            XCTAssertEqual(client.serverInfo.icons, [Self.icon])
            XCTAssertEqual(client.serverInfo.websiteURL, "https://example.com")
            let tool = try await client.listTools()[0]
            let resource = try await client.listResources()[0]
            let template = try await client.listResourceTemplates()[0]
            let prompts = try await client.listPrompts()
            for icons in [tool.icons, resource.icons, template.icons] + prompts.map(\.icons) {
                XCTAssertEqual(icons, [Self.icon])
            }
            for meta in [tool.meta, resource.meta, template.meta] + prompts.map(\.meta) { XCTAssertEqual(meta, Self.meta) }
            XCTAssertEqual(prompts.count, 2)
            XCTAssertEqual([resource.annotations, template.annotations], [Self.forUsers, Self.forUsers])
            let content = try await client.getPrompt("prompt").messages[0].content[0]
            XCTAssertEqual([content.annotations, content.meta], [Self.forUsers, Self.meta])
        }
    }

    func testACallTakesExtraDataAlong() async throws {
        try await inEveryEra({ try Self.server() }) { client, _ in
            let with = try await client.callTool("tool", meta: Self.meta)
            XCTAssertEqual(with.text, "b")
            let without = try await client.callTool("tool")
            XCTAssertEqual(without.text, "none")
        }
    }

    func testFunctionsMayBeOneExpression() async throws {
        let server = Server("test", version: "1.0")
        try server.tool("one of two") { context in
            switch context.wantsProgress {
            case true: "asked"
            case false: "not asked"
            }
        }
        try server.tool("sign") { (numbers: Numbers, _) in
            if numbers.a < 0 { "negative" } else { "positive" }
        }
        try server.tool("nothing") { _ in CallToolResult() }
        let client = try await Client.connect(to: server)
        let one = try await client.callTool("one of two")
        XCTAssertEqual(one.text, "not asked")
        let sign = try await client.callTool("sign", ["a": 1])
        XCTAssertEqual(sign.text, "positive")
        let nothing = try await client.callTool("nothing")
        XCTAssertEqual(nothing.content, [])
        await client.close()
        await server.close()
    }

    func testWhatIsWrongIsTold() async throws {
        let server = Server("test", version: "1.0")
        try server.tool("old") { _ -> String in
            throw NSError(domain: "test", code: 7, userInfo: [NSLocalizedDescriptionKey: "no luck"])
        }
        try server.tool("add") { (numbers: Numbers, _) in numbers.a }
        let client = try await Client.connect(to: server)
        let old = try await client.callTool("old")
        XCTAssertEqual(old.text, "no luck")
        XCTAssertTrue(old.isError)
        let integral = try await client.callTool("add", JSONObject(parsing: #"{"a":1.0}"#))
        XCTAssertEqual(integral.text, "1")
        await client.close()
        await server.close()
    }

    func testTheEndOfAConnectionIsWaitedFor() async throws {
        let server = try Self.server()
        let client = try await Client.connect(to: server)
        XCTAssertTrue(client.isConnected)
        async let ended: Void = client.wait()
        await server.close()
        try await ended
        XCTAssertFalse(client.isConnected)
        await client.close()
    }
}
