// The servers that clients in every language are tried on: `OurServer tools` or `OurServer surface`, over stdio unless `http`
// follows. Over HTTP it prints its address as its first line, and ends when its standard input does.

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

struct Person: Codable {
    let name: String
    let age: Int?
}

struct OnPurpose: Error, CustomStringConvertible {
    var description: String { "on purpose" }
}

@Sendable func say(_ what: String) {
    FileHandle.standardError.write(Data("\(what)\n".utf8))
}

func tools() throws -> Server {
    let server = Server("interop", version: "1.0", options: ServerOptions { $0.instructions = "For tests." })
    try server.tool("add", "Adds two numbers.") { (numbers: Numbers, _) in "\(numbers.a + numbers.b)" }
    try server.tool("count", "Counts, and reports progress.") { (until: Until, call) in
        for step in 1...until.to {
            call.progress(Double(step), of: Double(until.to), "step \(step)")
            // The official TypeScript client loses reports that arrive in one piece with the result.
            try await Task.sleep(for: .milliseconds(20))
        }
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
    return server
}

func surface() throws -> Server {
    let server = Server("surface", version: "1.0", options: ServerOptions { $0.subscriptions = true })
    try server.resource("config://app", name: "config", mimeType: "text/plain") { _ in "on" }
    try server.resource("bytes://all", name: "bytes") { _ in Data((0...255).map { UInt8($0) }) }
    try server.resourceTemplate("note://{id}", name: "note") { _, variables, _ in "note \(variables["id"] ?? "")" }
    let names: Completer = { value, _ in ["Ada", "Alan", "Grace"].filter { $0.hasPrefix(value) } }
    try server.prompt("greet", "Greets a person.", complete: ["name": names]) { (greeting: Greeting, _) in
        [Message("Greet \(greeting.name) in a \(greeting.tone ?? "warm") way."), Message("Hello.", role: .assistant)]
    }
    try server.tool("ask", "Asks the person.") { call in
        switch try await call.elicit("Who are you?", as: Person.self) {
        case .accepted(let person): "accept \(person.name) \(person.age ?? 30)"
        case .declined: "decline"
        case .cancelled: "cancel"
        }
    }
    try server.tool("think", "Asks the model.") { call in
        try await call.sample(SamplingRequest([Message("Think.")], maxTokens: 10)).text
    }
    try server.tool("folders", "Names the folders it may work on.") { call in
        try await call.listRoots().map(\.uri).joined(separator: " ")
    }
    try server.tool("logs", "Logs.", function: logs)
    try server.tool("rejoin", "Answers a client that comes back.") { call in
        call.endStream()
        return "rejoined"
    }
    try server.tool("grow", "Offers one more tool.") { _ in
        try server.tool("grown", "Logs.", function: logs)
        try server.resourceUpdated("config://app")
        return "grown"
    }
    return server
}

@Sendable func logs(_ call: CallContext) async throws -> String {
    try call.log(.warning, ["n": 1], logger: "part")
    return "logged"
}

let words = CommandLine.arguments.dropFirst()
let server = try words.first == "surface" ? surface() : tools()
if words.dropFirst().first == "http" {
    let listening = try await server.listen(http: HTTPOptions { $0.retry = .milliseconds(20) })
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
