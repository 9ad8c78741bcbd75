import Foundation
import OxMCP
import Weather
import XCTest

/// The examples do what they say.
final class ExamplesTests: XCTestCase {
    private let root = URL(fileURLWithPath: #filePath).appendingPathComponent("../../../../..").standardizedFileURL

    /// What is said when these lines are typed.
    private func chat(
        _ lines: String..., connect: (ClientOptions) async throws -> Client
    ) async throws -> [String] {
        let typed = LinesToRead(lines)
        let said = LinesSaid()
        let chat = WeatherChat(read: { typed.next() }, say: { said.add($0) })
        let client = try await connect(chat.options)
        try await chat.run(client)
        await client.close()
        return said.all
    }

    private let weather = [
        "Connected to weather. Ask for the weather in a city.",
        #"{"ahead":1,"city":"Oslo","sky":"sunny","temperature":2}"#,
        "For which day do you want the weather in Oslo?",
        #"{"ahead":0,"city":"Oslo","sky":"rainy","temperature":4}"#,
        "It failed: there is no weather in Atlantis; there is in Cairo, Lima, Oslo, Quito, Tokyo",
    ]

    func testAChatWithTheWeatherServerInSwift() async throws {
        let server = try weatherServer()
        let listening = try await server.listen()
        let program = command("weather-server")
        let ways: [(ClientOptions) async throws -> Client] = [
            { try await Client.connect(to: server, options: $0) },
            { try await Client.connect(to: listening.url, options: $0) },
            { try await Client.connect(to: program, options: $0) },
        ]
        for way in ways {
            let heard = try await chat(
                "weather city=Oslo ahead=1", "Oslo", "0", "weather city=Atlantis ahead=0", "forecast city=Lima", "bye", connect: way
            )
            for line in weather { XCTAssert(heard.contains(line), "\(line) is not in\n\(heard.joined(separator: "\n"))") }
            XCTAssertEqual(heard.filter { $0.hasPrefix("… day") }.count, 7)
        }
        await server.close()
    }

    func testTheChatAsAProgramAtTheTerminalOfAPerson() throws {
        let words = [command("weather-chat"), command("weather-server")].flatMap { [$0.program] + $0.arguments }
        let (process, input, output) = (Process(), Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: words[0])
        process.arguments = Array(words.dropFirst())
        process.standardInput = input
        process.standardOutput = output
        try process.run()
        try input.fileHandleForWriting.write(contentsOf: Data("weather city=Oslo ahead=1\nbye\n".utf8))
        try input.fileHandleForWriting.close()
        let heard = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        XCTAssertEqual(process.terminationStatus, 0, heard)
        for line in weather.prefix(2) { XCTAssert(heard.contains(line), heard) }
    }

    func testAChatWithTheExampleServerInPython() async throws {
        guard let python = ProcessInfo.processInfo.environment["OXMCP_PYTHON"] else {
            throw XCTSkip("OXMCP_PYTHON names no Python with the package oxmcp")
        }
        let program = root.appendingPathComponent("examples/python/calculator.py").path
        let heard = try await chat("add a=2 b=3", "nonsense", "bye") {
            try await Client.connect(to: ServerCommand(python, program), options: $0)
        }
        for line in ["5.0", "there is no tool nonsense"] { XCTAssert(heard.contains(line), heard.joined(separator: "\n")) }
    }

    func testWhatThePagesShowIsCompiled() throws {
        let file = "examples/swift/Sources/Readme/Readme.swift"
        let compiled = try String(contentsOf: root.appendingPathComponent(file), encoding: .utf8)
        for (page, atLeast) in [("README.md", 0), ("bindings-uniffi/swift/README.md", 5)] {
            let text = try String(contentsOf: root.appendingPathComponent(page), encoding: .utf8)
            let blocks = text.components(separatedBy: "```swift\n").dropFirst().map { $0.components(separatedBy: "```")[0] }
            XCTAssertGreaterThanOrEqual(blocks.count, atLeast, page)
            for block in blocks where !block.contains("// swift-tools-version") && !block.contains(".package(") {
                XCTAssert(compiled.contains(block), "\(page): \(block)")
            }
        }
    }

    /// The command of a program that was built with these tests.
    private func command(_ name: String) -> ServerCommand {
        let environment = ProcessInfo.processInfo.environment
        let folder = environment["OXMCP_SWIFT_PROGRAMS"] ?? root.appendingPathComponent("examples/swift/.build/debug").path
        let words = (environment["OXMCP_SWIFT_RUNNER"].map { [$0, "--run"] } ?? []) + ["\(folder)/\(name)"]
        var command = ServerCommand(words[0], arguments: Array(words.dropFirst()))
        command.env = environment.filter { $0.key == "OXMCP_SWIFT" }
        return command
    }
}

/// What is typed, line by line.
private final class LinesToRead: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: ArraySlice<String>

    init(_ lines: [String]) {
        self.lines = lines[...]
    }

    func next() -> String? { lock.withLock { lines.popFirst() } }
}

private final class LinesSaid: @unchecked Sendable {
    private let lock = NSLock()
    private var lines: [String] = []

    var all: [String] { lock.withLock { lines } }

    func add(_ line: String) {
        lock.withLock { lines.append(line) }
    }
}
