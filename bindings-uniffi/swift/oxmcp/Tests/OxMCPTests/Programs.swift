import Foundation
import XCTest

/// Programs of other languages, from the variables that name them.
enum Programs {
    static let environment = ProcessInfo.processInfo.environment

    /// The program that a variable names.
    static func named(_ variable: String) throws -> String {
        guard let program = environment[variable] else { throw XCTSkip("\(variable) names no program") }
        return program
    }

    static func file(_ path: String) -> String { root.appendingPathComponent(path).path }

    /// A script of the interop tests, and what a variable names to run it.
    static func script(_ variable: String, _ name: String, _ arguments: String...) throws -> [String] {
        [try named(variable), file("tests/interop/programs/\(name)")] + arguments
    }
}

extension FileHandle {
    /// Calls a function with each line, on this thread, until the end.
    fileprivate func forEachLine(_ body: (String) -> Void) {
        var line = Data()
        while let byte = try? read(upToCount: 1)?.first {
            if byte != 0x0A {
                line.append(byte)
                continue
            }
            body(String(decoding: line, as: UTF8.self))
            line = Data()
        }
    }

    fileprivate func line() -> String {
        var line = Data()
        while let byte = try? read(upToCount: 1)?.first, byte != 0x0A { line.append(byte) }
        return String(decoding: line, as: UTF8.self)
    }
}

/// A process that prints its address as its first line, until it is let go of.
final class Site: @unchecked Sendable {
    let url: String
    /// The lines of its standard error.
    let said = Notes<String>()
    private let process = Process()
    private let input = Pipe()

    init(_ words: [String]) throws {
        let (output, error) = (Pipe(), Pipe())
        process.executableURL = URL(fileURLWithPath: words[0])
        process.arguments = Array(words.dropFirst())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = error
        try process.run()
        Thread.detachNewThread { [said] in error.fileHandleForReading.forEachLine { said.add($0) } }
        let first = output.fileHandleForReading.line()
        url = first.hasPrefix("http") ? first : "http://\(first)/mcp"
    }

    func close() {
        // The threads of tasks block all other signals, and so do the programs that they start.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}

/// Runs a client program to its end; gives the JSON that it printed. What the server says on its standard error goes to the
/// program's standard input, which ends when the server has said that a call was cancelled. A server over HTTP is a `site`.
func output(of words: [String], on site: Site? = nil) async throws -> String {
    let process = Process()
    let (input, output, error) = (Pipe(), Pipe(), Pipe())
    let said = site?.said ?? Notes<String>()
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = Array(words.dropFirst())
    process.standardInput = input
    process.standardOutput = output
    process.standardError = error
    // A program that has ended reads no more.
    signal(SIGPIPE, SIG_IGN)
    try process.run()
    Thread.detachNewThread {
        error.fileHandleForReading.forEachLine { line in
            if site == nil { said.add(line) }
        }
    }
    let telling = Task {
        while let line = await said.next() {
            try? input.fileHandleForWriting.write(contentsOf: Data("\(line)\n".utf8))
            if line == "cancelled" { break }
        }
        try? input.fileHandleForWriting.close()
    }
    let printed = await withCheckedContinuation { done in
        Thread.detachNewThread {
            let printed = output.fileHandleForReading.readDataToEndOfFile()
            process.waitUntilExit()
            done.resume(returning: printed)
        }
    }
    telling.cancel()
    guard process.terminationStatus == 0 else {
        throw Mismatch("\(words) ended with \(process.terminationStatus): \(said.all)")
    }
    return String(decoding: printed, as: UTF8.self)
}
