// Tools that ask the client for something while they run (2025-11-25).

import OxMCP

private struct Asked: Codable {
    let prompt: String
}

private struct Told: Codable {
    let message: String
}

/// Asks the person, and tells what came.
private func ask(_ call: CallContext, _ message: String, _ schema: JSONObject, _ told: String) async throws -> String {
    let answer = try await call.elicit(message, schema: schema)
    return "\(told): action=\(answer.action), content=\(answer.content?.text ?? "null")"
}

private let defaults: JSONObject = [
    "type": "object",
    "properties": [
        "name": ["type": "string", "default": "John Doe"],
        "age": ["type": "integer", "default": 30],
        "score": ["type": "number", "default": 95.5],
        "status": ["type": "string", "enum": ["active", "inactive", "pending"], "default": "active"],
        "verified": ["type": "boolean", "default": true],
    ],
    "required": [],
]

private let choices: JSON = ["option1", "option2", "option3"]

private let titled: JSON = [
    ["const": "value1", "title": "First Option"], ["const": "value2", "title": "Second Option"],
    ["const": "value3", "title": "Third Option"],
]

private let enums: JSONObject = [
    "type": "object",
    "properties": [
        "untitledSingle": ["type": "string", "enum": choices],
        "titledSingle": ["type": "string", "oneOf": titled],
        "legacyEnum": [
            "type": "string", "enum": ["opt1", "opt2", "opt3"], "enumNames": ["Option One", "Option Two", "Option Three"],
        ],
        "untitledMulti": ["type": "array", "items": ["type": "string", "enum": choices]],
        "titledMulti": ["type": "array", "items": ["anyOf": titled]],
    ],
    "required": [],
]

func addAsking(to server: Server) throws {
    try server.tool("test_sampling", "Asks the model.") { (asked: Asked, call) in
        let answer = try await call.sample(SamplingRequest([Message(asked.prompt)], maxTokens: 100))
        return "LLM response: \(answer.text)"
    }
    try server.tool("test_elicitation", "Asks the person.") { (told: Told, call) in
        let schema: JSONObject = [
            "type": "object", "properties": ["response": ["type": "string", "description": "Your answer"]],
            "required": ["response"],
        ]
        return try await ask(call, told.message, schema, "User response")
    }
    try server.tool("test_elicitation_sep1034_defaults", "Asks with defaults.") { call in
        try await ask(call, "Please check the defaults.", defaults, "Elicitation completed")
    }
    try server.tool("test_elicitation_sep1330_enums", "Asks for choices.") { call in
        try await ask(call, "Please choose.", enums, "Elicitation completed")
    }
}
