import Foundation
import XCTest

@testable import OxMCP

/// What a server offers: `tools`, or all that is beside them.
private enum Kind: String, CaseIterable, Sendable {
    case tools, surface
}

/// A server of others, and how it differs from ours.
private struct Peer: Sendable {
    var stdio: [String]?
    var http: [String]?
    var eras = ["2025-11-25", "2026-07-28"]
    /// The tool that is not there is a result, and no error.
    var resultForUnknownTools = false
    /// Over HTTP and in revisions with a handshake it knows nothing of the call that it is to cancel.
    var isStateless = false
}

/// Our package with others on the other side, as real processes, over both transports and in both eras.
final class InteropTests: XCTestCase {
    // MARK: Our client

    func testOurClientAndOurSwiftServer() async throws {
        try await sees { kind in
            Peer(stdio: program("OurServer") + [kind.rawValue], http: program("OurServer") + [kind.rawValue, "http"])
        }
    }

    func testOurClientAndOurRustServer() async throws {
        let server = try Programs.named("OXMCP_HTTP_SERVER")
        try await sees { kind in Peer(stdio: [server, kind.rawValue, "stdio"], http: [server, kind.rawValue]) }
    }

    func testOurClientAndOurPythonServer() async throws {
        try await sees { kind in
            Peer(
                stdio: try Programs.script("OXMCP_PYTHON", kind == .tools ? "our_server.py" : "surface.py"),
                http: try Programs.script("OXMCP_PYTHON", "our_http_server.py", kind.rawValue)
            )
        }
    }

    func testOurClientAndOurNodeServer() async throws {
        try await sees { kind in
            Peer(
                stdio: try Programs.script("OXMCP_NODE", kind == .tools ? "our_server.mjs" : "surface.mjs"),
                http: try Programs.script("OXMCP_NODE", "our_http_server.mjs", kind.rawValue)
            )
        }
    }

    func testOurClientAndTheOfficialPythonServer() async throws {
        let peer = Peer(
            stdio: try Programs.script("OXMCP_PEER_PYTHON", "official_server.py"),
            http: try Programs.script("OXMCP_PEER_PYTHON", "official_http_server.py", "tools"), resultForUnknownTools: true
        )
        try await sees([.tools]) { _ in peer }
    }

    func testOurClientAndTheOfficialTypeScriptServers() async throws {
        let peer = Peer(
            stdio: try Programs.script("OXMCP_NODE", "official_server.mjs"),
            http: try Programs.script("OXMCP_NODE", "official_http_server.mjs", "v2"), isStateless: true
        )
        try await sees([.tools]) { _ in peer }
        let older = Peer(
            http: try Programs.script("OXMCP_NODE", "official_http_server.mjs", "v1"), eras: ["2025-11-25"],
            resultForUnknownTools: true
        )
        try await sees([.tools]) { _ in older }
    }

    private func sees(_ kinds: [Kind] = Kind.allCases, _ peer: (Kind) throws -> Peer) async throws {
        for kind in kinds {
            let peer = try peer(kind)
            for era in peer.eras {
                if let stdio = peer.stdio {
                    let said = Notes<String>()
                    let server = command(stdio, stderr: .lines { said.add($0) })
                    try await within {
                        let client = try await Client.connect(to: server, options: Self.options(era))
                        try await Self.exercise(client, kind, peer, said, cancels: true)
                    }
                }
                if let http = peer.http {
                    let site = try Site(http)
                    defer { site.close() }
                    let cancels = !(peer.isStateless && era == "2025-11-25")
                    try await within {
                        let client = try await Client.connect(to: site.url, options: Self.options(era))
                        XCTAssertEqual(client.protocolVersion, era)
                        try await Self.exercise(client, kind, peer, site.said, cancels: cancels)
                    }
                }
            }
        }
    }

    private static func options(_ era: String) -> ClientOptions {
        ClientOptions {
            $0.protocolVersions = [era]
            $0.onElicitation = { _ in .accept(["name": "Ada"]) }
            $0.onSampling = { SamplingResult("thought of \($0.messages[0].text)", model: "m") }
            $0.onRoots = { [Root("file:///work")] }
        }
    }

    private static func exercise(
        _ client: Client, _ kind: Kind, _ peer: Peer, _ said: Notes<String>, cancels: Bool
    ) async throws {
        switch kind {
        case .tools: try await exerciseTools(client, peer, said, cancels)
        case .surface: try await exerciseSurface(client)
        }
        await client.close()
    }

    private static func exerciseTools(
        _ client: Client, _ peer: Peer, _ said: Notes<String>, _ cancels: Bool
    ) async throws {
        XCTAssertEqual(client.serverInfo.name, "interop")
        XCTAssertEqual(client.instructions, "For tests.")
        let tools = try await client.listTools()
        XCTAssertEqual(tools.map(\.name), ["add", "count", "wait", "fail"])
        let sum = try await client.callTool("add", ["a": 2, "b": 3])
        XCTAssertEqual(sum.text, "5")
        let seen = Notes<MCPProgress>()
        let counted = try await client.callTool("count", ["to": 3], onProgress: { seen.add($0) })
        XCTAssertEqual(counted.text, "counted")
        XCTAssertEqual(seen.all, (1...3).map { MCPProgress(Double($0), of: 3, "step \($0)") })
        if peer.resultForUnknownTools {
            let unknown = try await client.callTool("none")
            XCTAssert(unknown.isError)
        } else {
            let unknown = await failure(.response) { try await client.callTool("none") }
            XCTAssertEqual(unknown.code, MCPError.Code.invalidParams)
        }
        let failed = try await client.callTool("fail")
        XCTAssert(failed.isError && failed.text.contains("on purpose"), failed.text)
        let call = Task { try await client.callTool("wait") }
        while let line = await said.next(), line != "waiting" {}
        call.cancel()
        await isCancelled { try await call.value }
        if cancels { while let line = await said.next(), line != "cancelled" {} }
        let after = try await client.callTool("add", ["a": 1, "b": 1])
        XCTAssertEqual(after.text, "2")
    }

    private static func exerciseSurface(_ client: Client) async throws {
        let resources = try await client.listResources()
        XCTAssertEqual(resources.map(\.uri), ["config://app", "bytes://all"])
        let templates = try await client.listResourceTemplates()
        XCTAssertEqual(templates.map(\.uriTemplate), ["note://{id}"])
        let config = try await client.readResource("config://app")
        XCTAssertEqual(config.text, "on")
        let note = try await client.readResource("note://00123")
        XCTAssertEqual(note.text, "note 00123")
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
    }

    // MARK: Our server

    func testOurServerAndOurSwiftClient() async throws {
        try await isSeen({ try Self.matches($0, $1, $2) }) { kind, mode in program("OurClient") + [kind.rawValue, mode] }
    }

    func testOurServerAndOurRustClient() async throws {
        let client = try Programs.named("OXMCP_HTTP_CLIENT")
        try await isSeen({ try Self.matches($0, $1, $2) }) { kind, mode in [client, kind.rawValue, mode] }
    }

    func testOurServerAndOurPythonClient() async throws {
        try await isSeen({ try Self.matches($0, $1, $2) }) { kind, mode in
            try Programs.script("OXMCP_PYTHON", "our_client.py", kind.rawValue, mode)
        }
    }

    func testOurServerAndOurNodeClient() async throws {
        try await isSeen(Self.looksItself) { kind, mode in
            try Programs.script("OXMCP_NODE", "our_client.mjs", kind.rawValue, mode)
        }
    }

    func testOurServerAndTheOfficialPythonClient() async throws {
        try await isSeen({ try Self.matches($0, $1, $2, omitted: "rejoin") }) { kind, mode in
            let name = kind == .tools ? "official_client.py" : "official_surface_client.py"
            return try Programs.script("OXMCP_PEER_PYTHON", name, mode)
        }
    }

    func testOurServerAndTheOfficialTypeScriptClients() async throws {
        try await isSeen(modes: ["v1", "legacy", "auto"], Self.looksItself) { kind, mode in
            try Programs.script("OXMCP_NODE", "official_client.mjs", kind.rawValue, mode)
        }
    }

    /// Tries a client program on our server. `check` looks at what it printed.
    private func isSeen(
        modes: [String] = ["auto", "legacy"], _ check: @escaping @Sendable (Kind, String, String) throws -> Void,
        _ client: (Kind, String) throws -> [String]
    ) async throws {
        for kind in Kind.allCases {
            let server = program("OurServer") + [kind.rawValue]
            for mode in modes {
                let client = try client(kind, mode)
                try await within {
                    try check(kind, mode, await output(of: client + server))
                    let site = try Site(server + ["http"])
                    defer { site.close() }
                    try check(kind, mode, await output(of: client + [site.url], on: site))
                }
            }
        }
    }

    /// A client in Node finds out by itself whether all is as it should be.
    @Sendable private static func looksItself(_ kind: Kind, _ mode: String, _ printed: String) {
        XCTAssertEqual(printed, "\"as it should be\"\n")
    }

    private static func matches(_ kind: Kind, _ mode: String, _ printed: String, omitted: String? = nil) throws {
        // Another language may write 1 as 1.0.
        let seen = try json(printed.replacingOccurrences(of: ".0,", with: ","))
        let wanted = kind == .tools ? tools(mode == "auto" ? "2026-07-28" : "2025-11-25") : surface
        for (name, value) in try JSONObject(parsing: wanted) where name != omitted {
            XCTAssertEqual(seen[name], value, "\(name) in \(printed)")
        }
    }

    private static func tools(_ revision: String) -> String {
        """
        {"revision":"\(revision)","instructions":"For tests.","tools":["add","count","wait","fail"],"add":"5","count":"counted",
         "progress":[[1,3,"step 1"],[2,3,"step 2"],[3,3,"step 3"]],"fail":[true,"on purpose"],"unknown":-32602,
         "cancelled":true,"after":"2"}
        """
    }

    private static let surface = """
        {"resources":["config://app","bytes://all"],"templates":["note://{id}"],"config":"on","bytes":true,"note":"note 00123",
         "prompt":["greet",[["name",true],["tone",false]]],
         "messages":[["user","Greet Ada in a warm way."],["assistant","Hello."]],"completed":["Ada","Alan"],
         "ask":"accept Ada 30","think":"thought of Think.","folders":"file:///work","rejoin":"rejoined"}
        """
}
