// The client that the public conformance suite runs: it does what the scenario in `MCP_CONFORMANCE_SCENARIO` wants of a
// client. `ConformanceClient URL`.

import Foundation
import OxMCP

/// Leaves the form as it is shown, with its defaults, and says yes to all else.
@Sendable func person(_ request: ElicitRequest) -> ElicitResult {
    var content = JSONObject()
    for (name, field) in request.requestedSchema["properties"]?.objectValue ?? [:] {
        if field["type"] == "boolean" { content[name] = true }
        if let value = field["default"] { content[name] = value }
    }
    return .accept(content)
}

struct UnknownScenario: Error {
    let name: String
}

/// Calls the tools of the list, those with parameters in header fields as well.
func callEach(_ client: Client, _ arguments: JSONObject = [:]) async throws {
    for tool in try await client.listTools() { _ = try await client.callTool(tool.name, arguments) }
}

func useAll(_ client: Client) async throws {
    try await callEach(client)
    for resource in try await client.listResources() { _ = try await client.readResource(resource.uri) }
    for prompt in try await client.listPrompts() { _ = try await client.getPrompt(prompt.name) }
}

/// Makes the calls that the scenario names.
func callNamed(_ client: Client, _ context: String) async throws {
    _ = try await client.listTools()
    for call in try JSON(parsing: context)["toolCalls"]?.arrayValue ?? [] {
        _ = try await client.callTool(call["name"]?.stringValue ?? "", call["arguments"]?.objectValue)
    }
}

/// Calls tools that ask for input, and another one while an answer is being found.
func takeRounds(_ client: Client) async throws {
    _ = try await client.listTools()
    async let first = client.callTool("test_mrtr_echo_state")
    async let second = client.callTool("test_mrtr_unrelated")
    _ = try await (first, second)
    _ = try await client.callTool("test_mrtr_no_state")
    _ = try await client.callTool("test_mrtr_no_result_type")
}

/// Sends a schema back as it came.
func echoSchema(_ client: Client) async throws {
    let tool = try await client.listTools().first { $0.name == "json_schema_2020_12_tool" }
    _ = try await client.callTool("json_schema_echo", ["schema": .object(tool?.inputSchema ?? [:])])
}

func run(_ client: Client, _ scenario: String, _ context: String) async throws {
    switch scenario {
    case "initialize", "request-metadata": break  // their servers offer nothing
    case "json-schema-ref-no-deref": _ = try await client.listTools()
    case "tools_call": try await callEach(client, ["a": 2, "b": 3])
    case "elicitation-sep1034-client-defaults", "sse-retry": try await callEach(client)
    case "http-invalid-tool-headers": try await callEach(client, ["region": "us-west1"])
    case "http-standard-headers": try await useAll(client)
    case "http-custom-headers": try await callNamed(client, context)
    case "sep-2322-client-request-state": try await takeRounds(client)
    case "json-schema-2020-12-preservation": try await echoSchema(client)
    default: throw UnknownScenario(name: scenario)
    }
}

let environment = ProcessInfo.processInfo.environment
let client = try await Client.connect(
    to: CommandLine.arguments.last ?? "",
    options: ClientOptions {
        $0.info = Implementation(name: "oxmcp conformance client", version: oxmcpVersion)
        $0.onElicitation = { person($0) }
        $0.onSampling = { _ in SamplingResult("Nothing comes to mind.", model: "none") }
        $0.onRoots = { [Root("file:///work")] }
        $0.onProblem = { FileHandle.standardError.write(Data("problem: \($0.message)\n".utf8)) }
    }
)
try await run(client, environment["MCP_CONFORMANCE_SCENARIO"] ?? "", environment["MCP_CONFORMANCE_CONTEXT"] ?? "{}")
await client.close()
