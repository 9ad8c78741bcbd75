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
}

/// A process that prints its address as its first line, until it is let go of.
final class Site: @unchecked Sendable {
    let url: String
    private let process = Process()
    private let input = Pipe()

    init(_ words: [String]) throws {
        let output = Pipe()
        process.executableURL = URL(fileURLWithPath: words[0])
        process.arguments = Array(words.dropFirst())
        process.standardInput = input
        process.standardOutput = output
        process.standardError = FileHandle.nullDevice
        try process.run()
        var line = Data()
        while let byte = try output.fileHandleForReading.read(upToCount: 1), byte.first ?? 0x0A != 0x0A { line += byte }
        let said = String(decoding: line, as: UTF8.self)
        url = said.hasPrefix("http") ? said : "http://\(said)/mcp"
    }

    func close() {
        // The threads of tasks block all other signals, and so do the programs that they start.
        kill(process.processIdentifier, SIGKILL)
        process.waitUntilExit()
    }
}

/// Runs a program to its end; gives the JSON that it printed.
func output(of words: [String]) throws -> String {
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: words[0])
    process.arguments = Array(words.dropFirst())
    process.standardInput = FileHandle.nullDevice
    process.standardOutput = output
    try process.run()
    let said = output.fileHandleForReading.readDataToEndOfFile()
    process.waitUntilExit()
    guard process.terminationStatus == 0 else { throw Mismatch("\(words) ended with \(process.terminationStatus)") }
    return String(decoding: said, as: UTF8.self)
}
