// The server that the public conformance suite is run against: it offers what the suite's scenarios call.
// `ConformanceServer [PORT]` prints its address.

import Foundation
import OxMCP

let options = ServerOptions {
    $0.subscriptions = true
    $0.onProblem = { FileHandle.standardError.write(Data("problem: \($0.message)\n".utf8)) }
}
let server = Server("oxmcp conformance server", version: oxmcpVersion, options: options)

// The first tool of the list can be called without arguments.
try addContent(to: server)

try server.tool("test_tool_with_progress", "Reports its progress.") { call in
    for done in [0.0, 50, 100] {
        call.progress(done, of: 100)
        try await Task.sleep(for: .milliseconds(50))
    }
    return "done"
}

for name in ["test_tool_with_logging", "test_logging_tool"] {
    try server.tool(name, "Logs what it does.") { call in
        for stage in ["Tool execution started", "Tool processing data", "Tool execution completed"] {
            try call.log(.info, .string(stage))
            try await Task.sleep(for: .milliseconds(50))
        }
        return "logged"
    }
}

try server.tool("test_reconnection", "Ends its stream before it is done.") { call in
    call.endStream()
    try await Task.sleep(for: .milliseconds(100))
    return "The client came back for this."
}

let contact: JSONObject = [
    "$schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "$defs": [
        "address": [
            "$anchor": "addressDef",
            "type": "object",
            "properties": ["street": ["type": "string"], "city": ["type": "string"]],
        ]
    ],
    "properties": [
        "name": ["type": "string"],
        "address": ["$ref": "#/$defs/address"],
        "contactMethod": ["type": "string", "enum": ["phone", "email"]],
        "phone": ["type": "string"],
        "email": ["type": "string"],
    ],
    "allOf": [["anyOf": [["required": ["phone"]], ["required": ["email"]]]]],
    "if": ["properties": ["contactMethod": ["const": "phone"]], "required": ["contactMethod"]],
    "then": ["required": ["phone"]],
    "else": ["required": ["email"]],
    "additionalProperties": false,
]

let region: JSONObject = [
    "type": "object",
    "properties": ["region": ["type": "string", "x-mcp-header": "Region"]],
    "required": ["region"],
]

for (name, description, schema) in [
    ("json_schema_2020_12_tool", "Has a schema of many keywords.", contact),
    ("test_x_mcp_header", "Has a parameter in a header.", region),
] {
    try server.tool(name, description, inputSchema: schema) { arguments, _ in
        CallToolResult("called with \(arguments)")
    }
}

try addAsking(to: server)
try addRounds(to: server)

try server.tool("test_trigger_tool_change", "Changes the list of tools.") { [server] _ in
    try server.tool("test_passing", "Comes and goes.") { _ in "" }.remove()
    return "changed"
}
try server.tool("test_trigger_prompt_change", "Changes the list of prompts.") { [server] _ in
    try server.prompt("test_passing", "Comes and goes.", arguments: []) { _, _ in "" }.remove()
    return "changed"
}

let listening = try await server.listen(port: CommandLine.arguments.dropFirst().first.flatMap { Int($0) } ?? 0)
print("http://localhost:\(listening.port)/mcp")
fflush(nil)
try await listening.wait()
