import Foundation
internal import OxMCPNative

/// Gives the values that an argument may have, for what was written so far and the arguments that are known.
public typealias Completer = @Sendable (_ value: String, _ known: [String: String]) async throws -> [String]

/// What the function of a resource may give.
public protocol ResourceOutput: Sendable {
    /// The result of reading the resource with this URI, which was offered with this type.
    func result(uri: String, mimeType: String?) -> ReadResourceResult
}

extension String: ResourceOutput {
    public func result(uri: String, mimeType: String?) -> ReadResourceResult {
        ReadResourceResult([ResourceContents(uri: uri, text: self, mimeType: mimeType)])
    }
}

extension Data: ResourceOutput {
    public func result(uri: String, mimeType: String?) -> ReadResourceResult {
        ReadResourceResult([ResourceContents(uri: uri, bytes: self, mimeType: mimeType)])
    }
}

extension ResourceContents: ResourceOutput {
    public func result(uri: String, mimeType: String?) -> ReadResourceResult { ReadResourceResult([self]) }
}

extension ReadResourceResult: ResourceOutput {
    public func result(uri: String, mimeType: String?) -> ReadResourceResult { self }
}

extension Array: ResourceOutput where Element == ResourceContents {
    public func result(uri: String, mimeType: String?) -> ReadResourceResult { ReadResourceResult(self) }
}

/// What the function of a prompt may give.
public protocol PromptOutput: Sendable {
    var result: GetPromptResult { get }
}

extension String: PromptOutput {
    public var result: GetPromptResult { GetPromptResult([Message(self)]) }
}

extension Message: PromptOutput {
    public var result: GetPromptResult { GetPromptResult([self]) }
}

extension GetPromptResult: PromptOutput {
    public var result: GetPromptResult { self }
}

extension Array: PromptOutput where Element == Message {
    public var result: GetPromptResult { GetPromptResult(self) }
}

/// For tools and prompts without arguments.
public struct NoArguments: Codable, Sendable {
    public init() {}
}

/// What is said of each thing that a server offers.
struct About {
    let name: String
    let title: String?
    let description: String?
    let icons: [Icon]
    let meta: JSONObject?

    private var members: [(String, (any JSONConvertible)?)] {
        [
            ("name", name), ("title", title), ("description", description), ("icons", icons.isEmpty ? nil : icons.map(\.json)),
            ("_meta", meta),
        ]
    }

    func tool(_ annotations: ToolAnnotations?, _ input: JSONObject, _ output: JSONObject?) -> JSONObject {
        with(("inputSchema", input), ("outputSchema", output), ("annotations", annotations?.json))
    }

    func resource(_ member: String, _ uri: String, _ mimeType: String?, _ annotations: JSONObject?) -> JSONObject {
        with((member, uri), ("mimeType", mimeType), ("annotations", annotations))
    }

    func prompt(_ arguments: [PromptArgument]) -> JSONObject {
        with(("arguments", arguments.map(\.json)))
    }

    private func with(_ more: (String, (any JSONConvertible)?)...) -> JSONObject {
        JSONObject((members + more).compactMap { name, value in value.map { (name, $0.asJSON) } })
    }
}

/// What was registered with a server: a handle to take it back, for a time or for good. Clients are told.
public struct Registered: Sendable {
    let core: ServerCore
    let key: OfferKey

    /// Shows it to clients, or hides it.
    public func setEnabled(_ enabled: Bool) throws {
        var members = key.members
        members["enabled"] = .bool(enabled)
        _ = try core.command("setEnabled", members)
    }

    /// Takes it back for good.
    public func remove() throws {
        _ = try core.command("remove", key.members)
        core.forget(key)
    }
}

/// An entry of the registry.
struct OfferKey: Hashable, Sendable {
    let kind: String
    let entry: UInt64

    var members: JSONObject { ["kind": .string(kind), "entry": JSON(entry)] }
}

/// One thing that a server offers, and its function.
struct Offer: Sendable {
    let kind: String
    let name: String
    let descriptor: JSONObject
    var completers: [String: Completer] = [:]
    let run: @Sendable (CallContext, _ params: String) async throws -> Reply

    /// Runs the function that completes an argument.
    func complete(_ params: String) async throws -> Reply {
        let members = try JSONObject(parsing: params)
        let argument = members["argument"]
        let known = strings(members["context"]?["arguments"]?.objectValue ?? [:])
        let completer = completers[argument?["name"]?.stringValue ?? ""]
        let values = try await completer?(argument?["value"]?.stringValue ?? "", known) ?? []
        return .result(result: JSONObject(members: ("completion", JSONObject(members: ("values", values)))).text)
    }
}

/// How what a tool's function gives becomes a result.
struct Output<Value: Encodable & Sendable>: Sendable {
    /// Of the structured content.
    let schema: JSONObject?

    init(_ what: String) throws {
        let isPlain = Value.self is any MCPObject.Type || [ObjectIdentifier(String.self), .init([Content].self)]
            .contains(ObjectIdentifier(Value.self))
        guard !isPlain, let type = Value.self as? any Decodable.Type else {
            schema = nil
            return
        }
        let whole = try SchemaWriter.schema(of: type, "the result of \(what)")
        schema = SchemaWriter.isObject(whole) ? SchemaWriter.asObject(whole) : nil
    }

    func reply(_ value: Value) throws -> Reply {
        switch value {
        case let text as String: return .text(text: text)
        case let result as CallToolResult: return .result(result: result.json.text)
        case let content as Content: return .result(result: CallToolResult([content]).json.text)
        case let content as [Content]: return .result(result: CallToolResult(content).json.text)
        default: break
        }
        let element = try encode(value)
        // Clients of any age read text: structured content is there as text as well.
        let text = element.stringValue ?? element.text
        let isStructured = schema != nil || element.objectValue != nil
        return .result(result: CallToolResult([.text(text)], structured: isStructured ? element : nil).json.text)
    }
}

/// Arguments as a value of a type; what does not fit is the caller's fault.
struct Input<Value: Decodable & Sendable>: Sendable {
    let schema: JSONObject

    init(_ what: String) throws {
        if Value.self == JSONObject.self {
            schema = ["type": "object"]
            return
        }
        let whole = try SchemaWriter.schema(of: Value.self, "the arguments of \(what)")
        guard SchemaWriter.isObject(whole) else {
            throw MCPError.usage("the arguments of \(what) must be a struct; \(Value.self) is none")
        }
        schema = SchemaWriter.asObject(whole)
    }

    func read(_ params: String) throws -> Value {
        do {
            return try decode(Value.self, from: params)
        } catch let error as DecodingError {
            throw Misfit(what: error.what)
        }
    }

    /// The arguments of prompts are texts: they become what the schema says.
    func read(texts params: String) throws -> Value {
        let properties = schema["properties"]
        let members = try JSONObject(parsing: params).map { name, value in
            (name, Self.value(value, as: properties?[name]))
        }
        return try read(JSONObject(members).text)
    }

    private static func value(_ value: JSON, as schema: JSON?) -> JSON {
        guard case .string(let text) = value, let type = schema?["type"] else { return value }
        let types = type.arrayValue?.compactMap(\.stringValue) ?? [type.stringValue ?? "string"]
        if types.contains("string") { return value }
        switch try? JSON(parsing: text) {
        case .number(let number)? where types.contains("number") || types.contains("integer"): return .number(number)
        case .bool(let flag)? where types.contains("boolean"): return .bool(flag)
        default: return value
        }
    }
}

/// The arguments do not fit.
struct Misfit: Error {
    let what: String
}

/// The arguments of a prompt, from the members of a type.
func promptArguments(_ schema: JSONObject) -> [PromptArgument] {
    let required = AnyObjectOfProtocol(json: schema).texts("required")
    return (schema["properties"]?.objectValue ?? [:]).map { name, property in
        PromptArgument(
            name, property["description"]?.stringValue, isRequired: required.contains(name),
            title: property["title"]?.stringValue
        )
    }
}

func strings(_ values: JSONObject) -> [String: String] {
    Dictionary(values.map { ($0, $1.stringValue ?? $1.text) }) { $1 }
}
