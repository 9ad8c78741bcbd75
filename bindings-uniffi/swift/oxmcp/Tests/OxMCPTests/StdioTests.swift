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

    func testAServerThatPrintsWhatIsNoMessageIsPutUpWith() async throws {
        let script = #"""
            while read -r line; do
                echo "got it"
                case "$line" in
                    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}' ;;
                    *'"ping"'*) echo '{"jsonrpc":"2.0","id":1,"result":{}}' ;;
                esac
                echo "$line" >&2
            done
            """#
        try await within {
            let lines = Notes<String>(), problems = Notes<Problem>()
            var shell = ServerCommand("sh", "-c", script)
            shell.stderr = .lines { lines.add($0) }
            let options = ClientOptions {
                $0.probe = false
                $0.onProblem = { problems.add($0) }
            }
            let client = try await Client.connect(to: shell, options: options)
            try await client.ping()
            await client.close()
            // The handshake and the ping, and no answer to what was printed.
            XCTAssertEqual(lines.all.count, 3, "\(lines.all)")
            XCTAssertFalse(problems.all.isEmpty)
            XCTAssert(problems.all.allSatisfy { $0.kind == "not_json" && $0.message.contains("got it") }, "\(problems.all)")
        }
    }

    func testAServerThatLeavesAtTheFirstQuestionIsStartedAgainForTheHandshake() async throws {
        let script = #"""
            read -r request
            case "$request" in *'"initialize"'*) ;; *) echo left >&2; exit 1; esac
            id=${request#*'"id":'}
            echo '{"jsonrpc":"2.0","id":'"${id%%,*}"',"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"strict","version":"1"}}}'
            read -r initialized
            echo initialized >&2
            read -r end
            """#
        try await within {
            let lines = Notes<String>()
            var shell = ServerCommand("sh", "-c", script)
            shell.stderr = .lines { lines.add($0) }
            let client = try await Client.connect(to: shell)
            XCTAssertEqual(client.serverInfo.name, "strict")
            try await until { lines.all.count == 2 }
            XCTAssertEqual(lines.all, ["left", "initialized"])
            await client.close()
        }
    }

    func testAChildThatIgnoresTheEndOfItsInputIsEnded() async throws {
        let script = #"""
            read -r line
            echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}'
            exec sleep 1000
            """#
        try await within {
            var shell = ServerCommand("sh", "-c", script)
            shell.grace = .milliseconds(20)
            let client = try await Client.connect(to: shell, options: ClientOptions { $0.probe = false })
            let call = Task { try await client.ping() }
            try await until { client.waiting > 0 }
            await client.close()
            await failure(.closed) { try await call.value }
            XCTAssertFalse(client.isConnected)
        }
    }

    func testAnIdleServerThatIsToldToEndDoesSoWithoutAWord() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.server[0])
        process.arguments = Array(Self.server.dropFirst())
        let (input, output, error) = (Pipe(), Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = error
        try process.run()
        input.fileHandleForWriting.write(Data((#"{"jsonrpc":"2.0","id":1,"method":"ping"}"# + "\n").utf8))
        let pong = String(decoding: output.fileHandleForReading.availableData, as: UTF8.self)
        XCTAssert(pong.contains(#""result":{}"#), pong)
        process.terminate()
        process.waitUntilExit()
        let said = String(decoding: error.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        XCTAssertEqual(said, "")
    }

    func testAServerLeavesAtTheEndOfItsInputWhateverStillRunsInIt() throws {
        let process = Process()
        process.executableURL = URL(fileURLWithPath: Self.server[0])
        process.arguments = Array(Self.server.dropFirst()) + ["impatient"]
        let (input, output) = (Pipe(), Pipe())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        let lines = [
            #"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"#,
            #"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
            #"{"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"waits"}}"#,
        ]
        input.fileHandleForWriting.write(Data((lines.joined(separator: "\n") + "\n").utf8))
        try input.fileHandleForWriting.close()
        let answers = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        XCTAssertEqual(process.terminationStatus, 0)
        XCTAssertEqual(answers.split(separator: "\n").count, 1, answers)
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
        guard said.count == 3 else { return XCTFail(answers) }
        XCTAssert(said[0].contains("-32700") && said[1].contains(#""id":"1""#) && said[2].contains(#""sum":3"#), answers)
    }
}
