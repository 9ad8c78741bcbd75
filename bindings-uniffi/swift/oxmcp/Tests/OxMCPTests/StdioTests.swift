import Foundation
import XCTest

@testable import OxMCP

/// Servers that are child processes, and servers that are one.
final class StdioTests: XCTestCase {
    private static let server = program("TestServer")

    /// It says nothing, and has to be ended.
    private static var silent: ServerCommand {
        var silent = ServerCommand("sleep", "100")
        silent.grace = .milliseconds(10)
        return silent
    }

    func testAServerInSwiftIsStartedCalledAndEnded() async throws {
        try await within {
            let lines = Notes<String>()
            let client = try await Client.connect(to: command(Self.server, stderr: .lines { lines.add($0) }))
            XCTAssertEqual(client.serverInfo.name, "test server")
            XCTAssertEqual(client.instructions, "be quick")
            let sum = try await client.callTool("add", with: Numbers(a: 2, b: 3))
            XCTAssertEqual(try sum.structured(), Sum(sum: 5))
            let printed = try await client.callTool("prints")
            XCTAssertEqual(printed.text, "printed")
            try await client.ping()
            await client.close()
            let stray = await lines.next(), last = await lines.next()
            XCTAssertEqual([stray, last], ["a stray print", "the server has ended"])
        }
    }

    func testAServerThatDiesFailsTheCallsThatWait() async throws {
        try await within {
            let client = try await Client.connect(to: command(Self.server, stderr: .discard))
            let waiting = Task { try await client.callTool("waits") }
            let error = await failure(.closed) { try await client.callTool("exits") }
            XCTAssert(error.message.contains("3"), error.message)
            XCTAssertEqual(error.fault, .transport)
            await failure(.closed) { try await waiting.value }
            await client.close()
        }
    }

    func testWhatCanNotBeStartedIsSaidAtOnce() async throws {
        try await within {
            var elsewhere = ServerCommand("true")
            elsewhere.folder = "/no/such/folder"
            for (wrong, part) in [
                (ServerCommand("no-such-command"), "no-such-command"), (ServerCommand("false"), "ended"),
                (elsewhere, "/no/such/folder"),
            ] {
                let error = await failure(.closed) { try await Client.connect(to: wrong) }
                XCTAssert(error.message.contains(part), error.message)
            }
            let options = ClientOptions { $0.connectTimeout = .milliseconds(50) }
            let late = await failure(.timeout) { try await Client.connect(to: Self.silent, options: options) }
            XCTAssert(late.isRetryable)
        }
    }

    func testConnectingCanBeCancelled() async throws {
        try await within {
            try await until { held() == 0 }
            let connecting = Task { try await Client.connect(to: Self.silent) }
            try await until { held() != 0 }
            connecting.cancel()
            await isCancelled { try await connecting.value }
            try await until { held() == 0 }
        }
    }

    func testArgumentsAndVariablesArriveAsTheyAre() async throws {
        try await within {
            let said = Notes<String>()
            let script = #"printf '%s|' "$@" "$MINE" "$SECRET" >&2; echo >&2"#
            var shell = ServerCommand("sh", "-c", script, "sh", #"a "b" c&d"#, "", "$HOME", "ü")
            shell.env = ["MINE": "yes"]
            shell.stderr = .lines { said.add($0) }
            await failure(.closed) { try await Client.connect(to: shell) }
            let line = await said.next()
            XCTAssertEqual(line, #"a "b" c&d||$HOME|ü|yes||"#)
        }
    }

    func testAServerAnswersWhatItAcceptedBeforeItsInputEndedAndExits() async throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.server[0])
        process.arguments = Array(Self.server.dropFirst())
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let lines = [
            "not json",
            #"{"jsonrpc":"2.0","id":"1","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
            #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            #"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}"#,
        ]
        input.fileHandleForWriting.write(Data((lines.joined(separator: "\n") + "\n").utf8))
        try input.fileHandleForWriting.close()
        let answers = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        XCTAssertEqual(process.terminationStatus, 0)
        let said = answers.split(separator: "\n")
        XCTAssertEqual(said.count, 3, answers)
        XCTAssert(said[0].contains("-32700") && said[1].contains(#""id":"1""#) && said[2].contains(#""sum":3"#), answers)
    }
}
