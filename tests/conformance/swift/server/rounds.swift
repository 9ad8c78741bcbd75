// Tools that need input before they can be served, in rounds (2026-07-28).

import OxMCP

private func form(_ field: String, _ type: String = "string") -> JSONObject {
    ["type": "object", "properties": [field: ["type": .string(type)]], "required": [.string(field)]]
}

/// Asks the person for one value, under this key.
private func ask(_ call: CallContext, _ key: String, _ field: String) async throws -> String {
    let answer = try await call.elicit("Please fill this in.", schema: form(field), key: key)
    return answer.content?[field]?.stringValue ?? ""
}

private func hello(_ call: CallContext) async throws -> String {
    "Hello, \(try await ask(call, "user_name", "name"))!"
}

private func state(_ call: CallContext) async throws -> String {
    _ = try await call.elicit("Go on?", schema: form("ok", "boolean"), key: "confirm")
    return "state-ok"
}

private let greeting = SamplingRequest([Message("Write a greeting.")], maxTokens: 50)

func addRounds(to server: Server) throws {
    func rounds(_ kind: String) -> String { "test_input_required_result_\(kind)" }
    try server.tool("test_missing_capability", "Needs a client that can sample.") { call in
        if call.caller.capabilities["sampling"] != nil { return "The client can sample." }
        throw MCPError(
            code: MCPError.Code.missingRequiredClientCapability, message: "this tool needs a client that can sample",
            data: ["requiredCapabilities": ["sampling": [:]]]
        )
    }
    try server.tool("test_streaming_elicitation", "Asks for a name.", function: hello)
    try server.tool(rounds("elicitation"), "Asks for a name.", function: hello)
    try server.tool(rounds("sampling"), "Asks the model.") { call in
        try await call.sample(SamplingRequest([Message("What is the capital of France?")], maxTokens: 100)).text
    }
    try server.tool(rounds("list_roots"), "Asks for the roots.") { call in "\(try await call.listRoots().count) roots" }
    try server.tool(rounds("multiple_inputs"), "Asks for three things.") { call in
        let answers = call.inputResponses ?? [:]
        let questions: [String: InputRequired.Question] = [
            "user_name": .form("Who are you?", schema: form("name")), "greeting": .sample(greeting), "client_roots": .listRoots,
        ]
        guard questions.keys.allSatisfy({ answers[$0] != nil }) else {
            throw InputRequired(state: "three at once", questions)
        }
        return "all inputs came"
    }
    try server.tool(rounds("multi_round"), "Asks twice.") { call in
        let person = try await ask(call, "step1", "name")
        return "\(person) likes \(try await ask(call, "step2", "color"))"
    }
    try server.tool(rounds("capabilities"), "Asks for what the client can do.") { call in
        let (can, answers) = (call.caller.capabilities, call.inputResponses ?? [:])
        var questions: [String: InputRequired.Question] = [:]
        if can["sampling"] != nil { questions["capital"] = .sample(greeting) }
        if can["elicitation"] != nil { questions["user_name"] = .form("Who are you?", schema: form("name")) }
        let open = questions.filter { answers[$0.key] == nil }
        if !open.isEmpty { throw InputRequired(open) }
        return "nothing is open"
    }
    for kind in ["request_state", "tampered_state"] {
        try server.tool(rounds(kind), "Keeps a state.", function: state)
    }
    try server.prompt(rounds("prompt"), "Asks for context.") { (_: NoArguments, call) in
        "Mind this: \(try await ask(call, "user_context", "context"))"
    }
}
