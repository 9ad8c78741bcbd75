// The least a stdio MCP client in Swift can do: a child process, a map of pending ids, one JSON line per request.

import Foundation
import Measuring

struct Failed: Error {
    let answer: String
}

/// What changes is touched under the lock alone.
final class Connection: @unchecked Sendable {
    typealias Waiting = CheckedContinuation<String?, any Error>

    private let child = Process()
    private let input = Pipe()
    private let output = Pipe()
    private let lock = NSLock()
    private var pending: [Int: Waiting] = [:]
    private var last = -1

    init(_ command: [String]) throws {
        child.executableURL = URL(fileURLWithPath: command[0])
        child.arguments = Array(command.dropFirst())
        child.standardInput = input
        child.standardOutput = output
        try child.run()
        Thread.detachNewThread { self.read() }
    }

    private func read() {
        let stream = fdopen(output.fileHandleForReading.fileDescriptor, "r")
        var line: UnsafeMutablePointer<CChar>?
        var capacity = 0
        while let stream, case let count = getline(&line, &capacity, stream), count > 0, let line {
            received(Data(bytesNoCopy: line, count: count, deallocator: .none))
        }
    }

    private func received(_ line: Data) {
        let message = try? JSONSerialization.jsonObject(with: line) as? [String: Any]
        guard let id = message?["id"] as? Int else { return }
        let waiting = lock.withLock { pending.removeValue(forKey: id) }
        if let result = message?["result"] as? [String: Any] {
            let content = result["content"] as? [[String: Any]]
            waiting?.resume(returning: content?.first?["text"] as? String)
        } else {
            waiting?.resume(throwing: Failed(answer: String(decoding: line, as: UTF8.self)))
        }
    }

    func send(_ message: [String: Any]) throws {
        let line = try JSONSerialization.data(withJSONObject: message) + Data([0x0A])
        lock.withLock { input.fileHandleForWriting.write(line) }
    }

    /// Gives the text of the answer, where it has one.
    func request(_ method: String, _ params: [String: any Sendable]) async throws -> String? {
        try await withCheckedThrowingContinuation { waiting in
            let id = lock.withLock {
                last += 1
                pending[last] = waiting
                return last
            }
            do {
                try send(["jsonrpc": "2.0", "id": id, "method": method, "params": params])
            } catch {
                lock.withLock { pending.removeValue(forKey: id) }?.resume(throwing: error)
            }
        }
    }

    func close() {
        input.fileHandleForWriting.closeFile()
        child.waitUntilExit()
    }
}

let plan = Plan(Array(CommandLine.arguments.dropFirst()))
let begin = now(CLOCK_MONOTONIC)
let connection = try Connection(plan.command)
_ = try await connection.request("initialize", [
    "protocolVersion": "2025-06-18", "capabilities": [String: String](),
    "clientInfo": ["name": "bench", "version": "1.0.0"],
])
try connection.send(["jsonrpc": "2.0", "method": "notifications/initialized"])
let measure = Measure(plan, connectSeconds: now(CLOCK_MONOTONIC) - begin) { [connection] text in
    try await connection.request("tools/call", ["name": "echo", "arguments": ["text": text]]) ?? ""
}
try await measure.run()
connection.close()
