import Foundation
import XCTest

@testable import OxMCP

/// Our package with others on the other side, as real processes.
final class InteropTests: XCTestCase {
    // MARK: Our client, over stdio

    func testOurClientAndOurSwiftServer() async throws {
        try await exercise(program("OurServer"))
    }

    func testOurClientAndOurPythonServer() async throws {
        try await exercise([Programs.named("OXMCP_PYTHON"), Programs.file("tests/interop/programs/our_server.py")])
    }

    func testOurClientAndOurNodeServer() async throws {
        try await exercise([Programs.named("OXMCP_NODE"), Programs.file("tests/interop/programs/our_server.mjs")])
    }

    /// Lists, calls, follows, fails and cancels.
    private func exercise(_ server: [String]) async throws {
        for era in ["2025-11-25", "2026-07-28"] {
            try await within {
                let said = Notes<String>()
                let client = try await Client.connect(
                    to: command(server, stderr: .lines { said.add($0) }), options: ClientOptions { $0.protocolVersions = [era] }
                )
                XCTAssertEqual(client.serverInfo.name, "interop")
                XCTAssertEqual(client.instructions, "For tests.")
                try await Self.exerciseTools(client)
                let call = Task { try await client.callTool("wait") }
                while await said.next() != "waiting" {}
                call.cancel()
                await isCancelled { try await call.value }
                while await said.next() != "cancelled" {}
                let after = try await client.callTool("add", ["a": 1, "b": 1])
                XCTAssertEqual(after.text, "2")
                await client.close()
            }
        }
    }

    private static func exerciseTools(_ client: Client) async throws {
        let tools = try await client.listTools()
        XCTAssertEqual(tools.map(\.name), ["add", "count", "wait", "fail"])
        let sum = try await client.callTool("add", ["a": 2, "b": 3])
        XCTAssertEqual(sum.text, "5")
        let seen = Notes<MCPProgress>()
        let counted = try await client.callTool("count", ["to": 3], onProgress: { seen.add($0) })
        XCTAssertEqual(counted.text, "counted")
        XCTAssertEqual(seen.all, (1...3).map { MCPProgress(Double($0), of: 3, "step \($0)") })
        await failure(.response) { try await client.callTool("none") }
        let failed = try await client.callTool("fail")
        XCTAssert(failed.isError && failed.text.contains("on purpose"), failed.text)
    }

    func testOurClientAndAllThatIsBesideToolsInPython() async throws {
        try await surface([Programs.named("OXMCP_PYTHON"), Programs.file("tests/interop/programs/surface.py")])
    }

    func testOurClientAndAllThatIsBesideToolsInNode() async throws {
        try await surface([Programs.named("OXMCP_NODE"), Programs.file("tests/interop/programs/surface.mjs")])
    }

    private func surface(_ server: [String]) async throws {
        for era in ["2025-11-25", "2026-07-28"] {
            try await within {
                let options = ClientOptions {
                    $0.protocolVersions = [era]
                    $0.onElicitation = { _ in .accept(["name": "Ada"]) }
                    $0.onSampling = { SamplingResult("thought of \($0.messages[0].text)", model: "m") }
                    $0.onRoots = { [Root("file:///work")] }
                }
                let client = try await Client.connect(to: command(server, stderr: .discard), options: options)
                let resources = try await client.listResources()
                XCTAssertEqual(resources.map(\.uri), ["config://app", "bytes://all"])
                let templates = try await client.listResourceTemplates()
                XCTAssertEqual(templates.map(\.uriTemplate), ["note://{id}"])
                let config = try await client.readResource("config://app")
                XCTAssertEqual(config.text, "on")
                let bytes = try await client.readResource("bytes://all")
                XCTAssertEqual(bytes.contents.map(\.bytes), [Data((0...255).map { UInt8($0) })])
                let prompts = try await client.listPrompts()
                XCTAssertEqual(prompts.first?.arguments.map(\.name), ["name", "tone"])
                let greeting = try await client.getPrompt("greet", ["name": "Ada"])
                XCTAssertEqual(greeting.messages.map(\.text), ["Greet Ada in a warm way.", "Hello."])
                let names = try await client.completePrompt("greet", "name", "A")
                XCTAssertEqual(names.values, ["Ada", "Alan"])
                let asked = try await client.callTool("ask")
                XCTAssert(asked.text.hasPrefix("accept Ada"), asked.text)
                let thought = try await client.callTool("think")
                XCTAssertEqual(thought.text, "thought of Think.")
                let folders = try await client.callTool("folders")
                XCTAssertEqual(folders.text, "file:///work")
                await client.close()
            }
        }
    }

    // MARK: Our client, over HTTP

    func testOurClientAndOurRustServerOverHTTP() async throws {
        try await overHTTP([Programs.named("OXMCP_HTTP_SERVER"), "tools"]) { client in try await Self.exerciseTools(client) }
    }

    func testOurClientAndOurSwiftServerOverHTTP() async throws {
        try await overHTTP(program("OurServer") + ["--http"]) { client in try await Self.exerciseTools(client) }
    }

    func testOurClientAndOurPythonServerOverHTTP() async throws {
        let server = [try Programs.named("OXMCP_PYTHON"), Programs.file("tests/conformance/python/server.py")]
        try await overHTTP(server) { client in try await Self.exerciseContent(client) }
    }

    func testOurClientAndOurNodeServerOverHTTP() async throws {
        let server = [try Programs.named("OXMCP_NODE"), Programs.file("tests/conformance/node/server.mjs")]
        try await overHTTP(server) { client in try await Self.exerciseContent(client) }
    }

    /// What the servers of the conformance suite offer.
    private static func exerciseContent(_ client: Client) async throws {
        let text = try await client.callTool("test_simple_text")
        XCTAssertEqual(text.text, "This is a simple text response for testing.")
        let seen = Notes<Double>()
        _ = try await client.callTool("test_tool_with_progress", onProgress: { seen.add($0.progress) })
        XCTAssertEqual(seen.all, [0, 50, 100])
        let failed = try await client.callTool("test_error_handling")
        XCTAssert(failed.isError)
        let read = try await client.readResource("test://template/123/data")
        XCTAssertEqual(try JSON(parsing: read.text)["id"], "123")
        let prompt = try await client.getPrompt("test_prompt_with_arguments", ["arg1": "a", "arg2": "b"])
        XCTAssertEqual(prompt.messages.map(\.text), ["Prompt with arguments: arg1='a', arg2='b'"])
    }

    private func overHTTP(_ server: [String], _ body: @escaping @Sendable (Client) async throws -> Void) async throws {
        let site = try Site(server)
        defer { site.close() }
        for era in ["2025-11-25", "2026-07-28"] {
            try await within {
                let client = try await Client.connect(to: site.url, options: ClientOptions { $0.protocolVersions = [era] })
                XCTAssertEqual(client.protocolVersion, era)
                try await body(client)
                await client.close()
            }
        }
    }

    // MARK: Other clients

    private static let seen = """
        {"tools":["add","count","wait","fail"],"add":"5","count":"counted",
         "progress":[[1,3,"step 1"],[2,3,"step 2"],[3,3,"step 3"]],"fail":[true,"on purpose"],"cancelled":true,"note":"note 00123"}
        """

    private func sees(_ client: [String]) throws {
        // Another language may write 1 as 1.0.
        let said = try output(of: client).replacingOccurrences(of: ".0", with: "")
        XCTAssertEqual(try json(said), try json(Self.seen))
    }

    func testOurPythonClientAndOurServer() throws {
        let client = [try Programs.named("OXMCP_PYTHON"), Programs.file("bindings-uniffi/swift/oxmcp/Tests/Interop/client.py")]
        let site = try Site(program("OurServer") + ["--http"])
        defer { site.close() }
        for mode in ["auto", "legacy"] {
            try sees(client + [mode] + program("OurServer"))
            try sees(client + [mode, site.url])
        }
    }

    func testOurNodeClientAndOurServer() throws {
        let script = Programs.file("bindings-uniffi/swift/oxmcp/Tests/Interop/client.mjs")
        let client = [try Programs.named("OXMCP_NODE"), script, Programs.file("bindings-node/dist/index.js")]
        let site = try Site(program("OurServer") + ["--http"])
        defer { site.close() }
        try sees(client + program("OurServer"))
        try sees(client + [site.url])
    }

    func testOurRustClientAndOurServerOverHTTP() throws {
        let client = try Programs.named("OXMCP_HTTP_CLIENT")
        let site = try Site(program("OurServer") + ["--http"])
        defer { site.close() }
        for (mode, revision) in [("auto", "2026-07-28"), ("legacy", "2025-11-25")] {
            let seen = try json(output(of: [client, "tools", mode, site.url]))
            XCTAssertEqual(seen["revision"], .string(revision))
            XCTAssertEqual(seen["tools"], ["add", "count", "wait", "fail"])
            XCTAssertEqual(seen["add"], "5")
            XCTAssertEqual(seen["progress"]?.arrayValue?.count, 3)
            XCTAssertEqual(seen["fail"], [true, "on purpose"])
            XCTAssertEqual(seen["unknown"], -32602)
            XCTAssertEqual(seen["cancelled"], true)
            XCTAssertEqual(seen["after"], "2")
        }
    }
}
