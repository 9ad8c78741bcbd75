import XCTest

@testable import OxMCP

/// Lists page by page.
final class PagesTests: XCTestCase {
    private static func server() throws -> Server {
        let server = Server("test", version: "1.0", options: ServerOptions { $0.pageSize = 2 })
        for at in 0..<5 {
            try server.tool("tool \(at)") { _ in "" }
            try server.resource("file:///\(at)", name: "resource \(at)") { _ in "" }
            try server.resourceTemplate("note\(at)://{id}", name: "template \(at)") { _, _, _ in "" }
            try server.prompt("prompt \(at)") { (_: NoArguments, _) in "" }
        }
        return server
    }

    private static func pages<Entry>(_ page: (String?) async throws -> Page<Entry>) async throws -> [[String]] {
        var all: [[String]] = []
        var cursor: String?
        repeat {
            let next = try await page(cursor)
            all.append(next.entries.map { $0.text("name") ?? "" })
            cursor = next.nextCursor
        } while cursor != nil
        return all
    }

    func testPagesAreWhatTheWholeListIsMadeOf() async throws {
        try await inEveryEra(Self.server) { client, _ in
            let pages = [
                (try await Self.pages { try await client.listToolsPage(after: $0) }, try await client.listTools().map(\.name)),
                (
                    try await Self.pages { try await client.listResourcesPage(after: $0) },
                    try await client.listResources().map(\.name)
                ),
                (
                    try await Self.pages { try await client.listResourceTemplatesPage(after: $0) },
                    try await client.listResourceTemplates().map(\.name)
                ),
                (
                    try await Self.pages { try await client.listPromptsPage(after: $0) },
                    try await client.listPrompts().map(\.name)
                ),
            ]
            for (parts, whole) in pages {
                XCTAssertEqual(parts.map(\.count), [2, 2, 1])
                XCTAssertEqual(parts.flatMap { $0 }, whole)
            }
            let error = await failure(.response) { try await client.listToolsPage(after: "nowhere") }
            XCTAssertEqual(error.code, MCPError.Code.invalidParams)
            XCTAssert(error.message.contains("cursor"), error.message)
        }
    }
}
