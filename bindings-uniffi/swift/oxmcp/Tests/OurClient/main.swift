// A client that servers in every language are tried on: `OurClient tools|surface auto|legacy COMMAND…|URL` exercises a server,
// and prints what it saw as one line of JSON. Once it has cancelled a call, it waits for the end of its standard input.

import Foundation
import OxMCP

/// The texts that a tool's progress came with, and whether any came.
actor Reports {
    private(set) var all: [JSON] = []
    private var waiting: CheckedContinuation<Void, Never>?

    func add(_ report: MCPProgress) {
        all.append([JSON(report.progress), report.total.map { JSON($0) } ?? .null, report.message.map { .string($0) } ?? .null])
        waiting?.resume()
        waiting = nil
    }

    func first() async {
        if all.isEmpty { await withCheckedContinuation { waiting = $0 } }
    }
}

func texts(_ texts: [String]) -> JSON { .array(texts.map { .string($0) }) }

func seeTools(_ client: Client) async throws -> JSONObject {
    var seen: JSONObject = [
        "revision": .string(client.protocolVersion), "instructions": .string(client.instructions ?? ""),
        "tools": texts(try await client.listTools().map(\.name)),
        "add": .string(try await client.callTool("add", ["a": 2, "b": 3]).text),
    ]
    let reports = Reports()
    seen["count"] = .string(try await client.callTool("count", ["to": 3], onProgress: { await reports.add($0) }).text)
    seen["progress"] = .array(await reports.all)
    let failed = try await client.callTool("fail")
    seen["fail"] = [JSON(failed.isError), .string(failed.text)]
    do {
        _ = try await client.callTool("nope")
    } catch let error as MCPError {
        seen["unknown"] = JSON(error.code ?? 0)
    }
    seen["cancelled"] = JSON(try await cancelling(client))
    // Not on a thread that tasks run on.
    await withCheckedContinuation { ended in
        Thread.detachNewThread {
            while readLine() != nil {}
            ended.resume()
        }
    }
    seen["after"] = .string(try await client.callTool("add", ["a": 1, "b": 1]).text)
    return seen
}

func cancelling(_ client: Client) async throws -> Bool {
    let started = Reports()
    let call = Task { try await client.callTool("wait", onProgress: { await started.add($0) }) }
    await started.first()
    call.cancel()
    do {
        _ = try await call.value
        return false
    } catch is CancellationError {
        return true
    }
}

func seeSurface(_ client: Client) async throws -> JSONObject {
    let prompt = try await client.listPrompts()[0]
    let greeting = try await client.getPrompt("greet", ["name": "Ada"])
    let bytes = try await client.readResource("bytes://all").contents.map(\.bytes)
    let arguments = prompt.arguments.map { JSON.array([.string($0.name), JSON($0.isRequired)]) }
    var seen: JSONObject = [
        "resources": texts(try await client.listResources().map(\.uri)),
        "templates": texts(try await client.listResourceTemplates().map(\.uriTemplate)),
        "config": .string(try await client.readResource("config://app").text),
        "bytes": JSON(bytes == [Data((0...255).map { UInt8($0) })]),
        "note": .string(try await client.readResource("note://00123").text),
        "prompt": [.string(prompt.name), .array(arguments)],
        "messages": .array(greeting.messages.map { texts([$0.role.rawValue, $0.text]) }),
        "completed": texts(try await client.completePrompt("greet", "name", "A").values),
    ]
    for tool in ["ask", "think", "folders", "rejoin"] { seen[tool] = .string(try await client.callTool(tool).text) }
    return seen
}

let words = Array(CommandLine.arguments.dropFirst())
guard words.count > 2 else { fatalError("usage: OurClient tools|surface auto|legacy COMMAND…|URL") }
let options = ClientOptions {
    if words[1] == "legacy" { $0.protocolVersions = ["2025-11-25"] }
    $0.onElicitation = { _ in .accept(["name": "Ada"]) }
    $0.onSampling = { SamplingResult("thought of \($0.messages[0].text)", model: "m") }
    $0.onRoots = { [Root("file:///work")] }
}
let client =
    words[2].hasPrefix("http:")
    ? try await Client.connect(to: words[2], options: options)
    : try await Client.connect(to: ServerCommand(words[2], arguments: Array(words.dropFirst(3))), options: options)
print(try await (words[0] == "tools" ? seeTools(client) : seeSurface(client)).text)
await client.close()
