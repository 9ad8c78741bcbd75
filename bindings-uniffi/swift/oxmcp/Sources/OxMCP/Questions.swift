/// What a server asks a client's user for.
public struct ElicitRequest: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    /// The question, for the user.
    public var message: String { text("message") ?? "" }

    /// Whether the user is to visit ``url``, in place of filling in a form.
    public var isURL: Bool { text("mode") == "url" }

    /// The form: a JSON Schema of an object with simple members.
    public var requestedSchema: JSONObject { member("requestedSchema") ?? [:] }

    /// What the user is to visit. Show it, and ask, before opening it.
    public var url: String? { text("url") }
    public var elicitationId: String? { text("elicitationId") }
}

/// What the user made of it.
public struct ElicitResult: MCPObject {
    public enum Action: String, Sendable {
        case accept, decline, cancel
    }

    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    /// The user agreed, and filled this in.
    public static func accept(_ content: JSONObject? = nil) -> ElicitResult {
        ElicitResult(("action", "accept"), ("content", content))
    }

    /// The user said no.
    public static var decline: ElicitResult { ElicitResult(("action", "decline")) }

    /// The user went away without an answer.
    public static var cancel: ElicitResult { ElicitResult(("action", "cancel")) }

    public var action: Action { text("action").flatMap(Action.init(rawValue:)) ?? .cancel }

    /// What was filled in; `nil` unless the user accepted.
    public var content: JSONObject? { action == .accept ? member("content") : nil }
}

/// What a client's user made of a question with a typed answer.
public enum Elicited<Value: Sendable>: Sendable {
    /// The user filled it in.
    case accepted(Value)

    /// The user said no.
    case declined

    /// The user went away without an answer.
    case cancelled

    /// The value; `nil` unless the user accepted.
    public var value: Value? {
        if case .accepted(let value) = self { value } else { nil }
    }
}

extension Elicited: Equatable where Value: Equatable {}

/// What a server asks a client's model for.
public struct SamplingRequest: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    public init(
        _ messages: [Message], maxTokens: Int, systemPrompt: String? = nil, temperature: Double? = nil,
        stopSequences: [String]? = nil, modelPreferences: JSONObject? = nil, tools: [JSONObject]? = nil,
        toolChoice: JSONObject? = nil, includeContext: String? = nil, metadata: JSONObject? = nil
    ) {
        self.init(
            ("messages", messages.map(\.json)), ("maxTokens", maxTokens), ("systemPrompt", systemPrompt),
            ("temperature", temperature), ("stopSequences", stopSequences), ("modelPreferences", modelPreferences),
            ("tools", tools), ("toolChoice", toolChoice), ("includeContext", includeContext), ("metadata", metadata)
        )
    }

    public var messages: [Message] { objects("messages").map(Message.init(json:)) }
    public var maxTokens: Int? { integer("maxTokens") }
    public var systemPrompt: String? { text("systemPrompt") }
    public var temperature: Double? { json["temperature"]?.doubleValue }
    public var stopSequences: [String] { texts("stopSequences") }
    public var modelPreferences: JSONObject? { member("modelPreferences") }

    /// What the model may wish for, each as in a list of tools; the caller must have declared `sampling.tools`.
    public var tools: [JSONObject] { objects("tools") }

    /// How the model may use them: `{"mode":"auto"}`, `required` or `none`.
    public var toolChoice: JSONObject? { member("toolChoice") }

    /// `none`, `thisServer` or `allServers`.
    public var includeContext: String? { text("includeContext") }

    /// For the model's provider.
    public var metadata: JSONObject? { member("metadata") }
}

/// What the model said.
public struct SamplingResult: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    public init(_ content: Content, model: String, stopReason: String? = nil, role: Role = .assistant) {
        self.init(("role", role.rawValue), ("content", content.json), ("model", model), ("stopReason", stopReason))
    }

    public init(_ text: String, model: String, stopReason: String? = nil) {
        self.init(.text(text), model: model, stopReason: stopReason)
    }

    /// Several blocks, such as ``Content/toolUse(id:name:input:meta:)``, with the ``stopReason`` `toolUse`.
    public init(_ content: [Content], model: String, stopReason: String? = nil, role: Role = .assistant) {
        self.init(
            ("role", role.rawValue), ("content", content.map(\.json)), ("model", model), ("stopReason", stopReason)
        )
    }

    public var content: [Content] { Content.blocks(json["content"]) }
    public var text: String { content.text }
    public var model: String { text("model") ?? "" }
    public var stopReason: String? { text("stopReason") }
}

/// Who makes a call, and what it says of itself.
public struct Caller: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    /// The revision of the protocol that the call is in, such as `2025-11-25`.
    public var protocolVersion: String? { text("protocolVersion") }
    public var info: Implementation? { member("info").map(Implementation.init(json:)) }
    public var capabilities: JSONObject { member("capabilities") ?? [:] }

    /// The `_meta` of the request.
    public var requestMeta: JSONObject? { member("meta") }
}

/// The head of an HTTP request that brought a call. What its body said is the call.
public struct HTTPRequest: Sendable, Hashable {
    /// A header field.
    public struct Header: Sendable, Hashable {
        /// In lower case.
        public let name: String
        /// A character for each byte.
        public let value: String
    }

    /// Such as `POST`.
    public let method: String
    /// Path and query, such as `/mcp?tenant=a`.
    public let target: String
    /// The host that the request is for: `example.com`, or with a port `example.com:8080`.
    public let authority: String?
    /// All header fields, in order.
    public let headers: [Header]

    init(method: String, target: String, authority: String?, headers: [Header]) {
        self.method = method
        self.target = target
        self.headers = headers
        self.authority = authority ?? Self.first("host", headers)
    }

    /// The value of a header field, the first if there are several; `nil` when there is none.
    public func header(_ name: String) -> String? { Self.first(name.lowercased(), headers) }

    private static func first(_ name: String, _ headers: [Header]) -> String? {
        headers.first { $0.name == name }?.value
    }
}
