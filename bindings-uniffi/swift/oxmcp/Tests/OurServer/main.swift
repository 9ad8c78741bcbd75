// The server that clients in every language are tried on: over stdio, or with `--http` over HTTP. Then it prints its address
// as its first line, and ends when its standard input does.

import Foundation
import OxMCP

struct Numbers: Codable {
    let a: Int
    let b: Int
}

struct Until: Codable {
    let to: Int
}

struct Greeting: Codable, Described {
    let name: String
    let tone: String?
    static let descriptions = ["name": "Whom."]
}

struct OnPurpose: Error, CustomStringConvertible {
    var description: String { "on purpose" }
}

@Sendable func say(_ what: String) {
    FileHandle.standardError.write(Data("\(what)\n".utf8))
}

let server = Server("interop", version: "1.0", options: ServerOptions { $0.instructions = "For tests." })
try server.tool("add", "Adds two numbers.") { (numbers: Numbers, _) in "\(numbers.a + numbers.b)" }
try server.tool("count", "Counts, and reports progress.") { (until: Until, call) in
    for step in 1...until.to { call.progress(Double(step), of: Double(until.to), "step \(step)") }
    return "counted"
}
try server.tool("wait", "Waits for its cancel.") { call in
    say("waiting")
    call.progress(1, "waiting")
    do {
        try await Task.sleep(for: .seconds(100_000))
    } catch {
        say("cancelled")
        throw error
    }
    return "never"
}
try server.tool("fail", "Fails.") { _ -> String in throw OnPurpose() }
try server.resource("config://app", name: "config", mimeType: "text/plain") { _ in "on" }
try server.resource("bytes://all", name: "bytes") { _ in Data((0...255).map { UInt8($0) }) }
try server.resourceTemplate("note://{id}", name: "note") { _, variables, _ in "note \(variables["id"] ?? "")" }
try server.prompt("greet", "Greets a person.") { (greeting: Greeting, _) in
    [Message("Greet \(greeting.name) in a \(greeting.tone ?? "warm") way."), Message("Hello.", role: .assistant)]
}

if CommandLine.arguments.contains("--http") {
    let listening = try await server.listen()
    print(listening.url)
    fflush(nil)
    Thread.detachNewThread {
        while readLine() != nil {}
        exit(0)
    }
    try await listening.wait()
} else {
    try await server.serveStdio()
}
