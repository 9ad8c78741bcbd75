import Foundation
import OxMCPNative
import XCTest

@testable import OxMCP

/// Revisions with a handshake and without one.
let eras = ["2024-11-05", "2025-11-25", "2026-07-28"]

/// The folder of the whole project.
let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../../..").standardizedFileURL

struct Numbers: Codable, Described {
    let a: Int
    var b: Int? = nil
    static let descriptions = ["a": "The first."]
}

struct Sum: Codable, Equatable {
    let sum: Int
}

struct City: Codable, Described {
    let city: String
    static let descriptions = ["city": "The name of a city."]
}

/// Never returns, but throws when it is cancelled.
func forever() async throws -> String {
    try await Task.sleep(for: .seconds(100_000))
    return ""
}

/// What several tasks note down.
final class Notes<Element: Sendable>: Sendable {
    private let state = Locked<[Element]>([])
    private let feed: AsyncStream<Element>.Continuation
    /// Each as it comes, for one reader.
    let stream: AsyncStream<Element>

    init() {
        (stream, feed) = AsyncStream.makeStream(of: Element.self)
    }

    var all: [Element] { state.withLock { $0 } }

    func add(_ element: Element) {
        state.withLock { $0.append(element) }
        feed.yield(element)
    }

    func clear() {
        state.withLock { $0 = [] }
    }

    /// The next one that was not taken yet.
    func next() async -> Element? {
        await stream.first { _ in true }
    }
}

/// Waits until something holds. The time limit of the test bounds it.
func until(_ holds: () -> Bool) async throws {
    while !holds() {
        try Task.checkCancellation()
        await Task.yield()
    }
}

extension XCTestCase {
    /// Runs a test, which must end in a minute.
    func within(_ limit: Duration = .seconds(60), _ body: @escaping @Sendable () async throws -> Void) async throws {
        try await withThrowingTaskGroup(of: Void.self) { group in
            group.addTask { try await body() }
            group.addTask {
                try await Task.sleep(for: limit)
                fatalError("the test does not end")
            }
            try await group.next()
            group.cancelAll()
        }
    }

    /// Runs a test in every era: a client of this revision and a server, in memory. Nothing may be left afterwards.
    func inEveryEra(
        eras: [String] = eras, _ server: @escaping @Sendable () throws -> Server,
        client configure: @escaping @Sendable (inout ClientOptions) -> Void = { _ in },
        _ body: @escaping @Sendable (Client, Server) async throws -> Void
    ) async throws {
        for era in eras {
            try await within {
                let near = try server()
                var options = ClientOptions(configure: configure)
                options.protocolVersions = [era]
                let client = try await Client.connect(to: near, options: options)
                XCTAssertEqual(client.protocolVersion, era)
                try await body(client, near)
                XCTAssertEqual(client.waiting, 0, "calls that wait in \(era)")
                await client.close()
                await near.close()
                // Handlers that were cancelled end in their own time.
                try await until { near.waiting == 0 }
            }
        }
    }
}

/// What work throws, which must be an error of this package.
@discardableResult
func failure<Result>(
    _ kind: MCPError.Kind? = nil, file: StaticString = #filePath, line: UInt = #line, _ work: () async throws -> Result
) async -> MCPError {
    do {
        let result = try await work()
        XCTFail("it gave \(result)", file: file, line: line)
    } catch let error as MCPError {
        if let kind { XCTAssertEqual(error.kind, kind, "\(error)", file: file, line: line) }
        return error
    } catch {
        XCTFail("it threw \(error)", file: file, line: line)
    }
    return MCPError(code: 0, message: "nothing was thrown")
}

/// Work that must throw a `CancellationError`.
func isCancelled<Result>(
    file: StaticString = #filePath, line: UInt = #line, _ work: () async throws -> Result
) async {
    do {
        let result = try await work()
        XCTFail("it gave \(result)", file: file, line: line)
    } catch {
        XCTAssert(error is CancellationError, "\(error)", file: file, line: line)
    }
}

func json(_ text: String) throws -> JSON { try JSON(parsing: text) }

/// How many endpoints and connections the native library holds: none once all tests before have ended what they began.
func held() -> UInt64 {
    let live = OxMCPNative.live()
    return live.endpoints + live.connections
}

/// The words that start a program that was built with these tests.
func program(_ name: String) -> [String] {
    let environment = ProcessInfo.processInfo.environment
    let folder = environment["OXMCP_SWIFT_PROGRAMS"] ?? "\(root.path)/bindings-uniffi/swift/oxmcp/.build/debug"
    let path = "\(folder)/\(name)"
    return environment["OXMCP_SWIFT_RUNNER"].map { [$0, "--run", path] } ?? [path]
}

/// The command of such a program.
func command(_ words: [String], stderr: ServerCommand.Stderr = .inherit) -> ServerCommand {
    var command = ServerCommand(words[0], arguments: Array(words.dropFirst()))
    command.env = ProcessInfo.processInfo.environment.filter { $0.key == "OXMCP_SWIFT" }
    command.stderr = stderr
    return command
}
