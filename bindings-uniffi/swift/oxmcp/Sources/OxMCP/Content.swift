import Foundation

/// A piece of content: of a tool's result, a prompt's message, a sampling request.
///
/// What is made here takes `annotations`, such as `["audience": ["user"], "priority": 0.5]`, and a `_meta`.
public struct Content: MCPObject {
    /// What there is. A kind that nobody knows can be passed on as it came.
    public enum Kind: Sendable, Hashable {
        case text(String)
        case image(Data, mimeType: String)
        case audio(Data, mimeType: String)
        /// A resource to be read from the server.
        case resourceLink(Resource)
        /// A resource, contents and all.
        case resource(ResourceContents)
        /// A model's wish to have a tool called, in what it gives for a sampling request with tools.
        case toolUse(id: String, name: String, input: JSONObject)
        /// What a tool gave that a model wished for, in the next sampling request.
        case toolResult(toolUseId: String, CallToolResult)
        case unknown(type: String)
    }

    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    public static func text(_ text: String, annotations: JSONObject? = nil, meta: JSONObject? = nil) -> Content {
        Content(("type", "text"), ("text", text), ("annotations", annotations), ("_meta", meta))
    }

    public static func image(
        _ bytes: Data, mimeType: String, annotations: JSONObject? = nil, meta: JSONObject? = nil
    ) -> Content {
        binary("image", bytes, mimeType, annotations, meta)
    }

    public static func audio(
        _ bytes: Data, mimeType: String, annotations: JSONObject? = nil, meta: JSONObject? = nil
    ) -> Content {
        binary("audio", bytes, mimeType, annotations, meta)
    }

    public static func resourceLink(
        _ resource: Resource, annotations: JSONObject? = nil, meta: JSONObject? = nil
    ) -> Content {
        let more = JSONObject(members: ("annotations", annotations), ("_meta", meta))
        return Content(json: JSONObject(members: ("type", "resource_link")).merging(resource.json).merging(more))
    }

    public static func resource(
        _ contents: ResourceContents, annotations: JSONObject? = nil, meta: JSONObject? = nil
    ) -> Content {
        Content(("type", "resource"), ("resource", contents.json), ("annotations", annotations), ("_meta", meta))
    }

    /// A model's wish to have a tool called.
    public static func toolUse(id: String, name: String, input: JSONObject, meta: JSONObject? = nil) -> Content {
        Content(("type", "tool_use"), ("id", id), ("name", name), ("input", input), ("_meta", meta))
    }

    /// What a tool gave that a model wished for, by the id of the wish.
    public static func toolResult(toolUseId: String, _ result: CallToolResult, meta: JSONObject? = nil) -> Content {
        Content(
            ("type", "tool_result"), ("toolUseId", toolUseId), ("content", result.content.map(\.json)),
            ("structuredContent", result.structuredContent), ("isError", result.isError ? true : nil), ("_meta", meta)
        )
    }

    private static func binary(
        _ type: String, _ bytes: Data, _ mimeType: String, _ annotations: JSONObject?, _ meta: JSONObject?
    ) -> Content {
        Content(
            ("type", type), ("data", bytes.base64EncodedString()), ("mimeType", mimeType), ("annotations", annotations),
            ("_meta", meta)
        )
    }

    public var kind: Kind {
        let type = text("type") ?? ""
        switch type {
        case "text": return .text(text("text") ?? "")
        case "image": return binary.map { .image($0, mimeType: text("mimeType") ?? "") } ?? .unknown(type: type)
        case "audio": return binary.map { .audio($0, mimeType: text("mimeType") ?? "") } ?? .unknown(type: type)
        case "resource_link": return .resourceLink(Resource(json: json))
        case "resource": return .resource(ResourceContents(json: member("resource") ?? [:]))
        case "tool_use": return .toolUse(id: text("id") ?? "", name: text("name") ?? "", input: member("input") ?? [:])
        case "tool_result":
            let result = JSONObject(
                members: ("content", json["content"] ?? .array([])), ("structuredContent", json["structuredContent"]),
                ("isError", json["isError"])
            )
            return .toolResult(toolUseId: text("toolUseId") ?? "", CallToolResult(json: result))
        default: return .unknown(type: type)
        }
    }

    /// Whom it is for, and how much it matters.
    public var annotations: JSONObject? { member("annotations") }

    /// The text, if it is one.
    public var text: String? {
        if case .text(let text) = kind { text } else { nil }
    }

    private var binary: Data? { text("data").flatMap { Data(base64Encoded: $0) } }

    /// One block, or several in sampling requests of 2025-11-25 and later.
    static func blocks(_ value: JSON?) -> [Content] {
        switch value {
        case .object(let one): [Content(json: one)]
        case .array(let several): several.compactMap(\.objectValue).map(Content.init(json:))
        default: []
        }
    }
}

extension [Content] {
    /// The text of the text blocks, joined by line breaks.
    public var text: String { compactMap(\.text).joined(separator: "\n") }
}

/// What a resource holds: text or bytes.
public struct ResourceContents: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    public init(uri: String, text: String, mimeType: String? = nil) {
        self.init(("uri", uri), ("mimeType", mimeType), ("text", text))
    }

    public init(uri: String, bytes: Data, mimeType: String? = nil) {
        self.init(("uri", uri), ("mimeType", mimeType), ("blob", bytes.base64EncodedString()))
    }

    public var uri: String { text("uri") ?? "" }
    public var mimeType: String? { text("mimeType") }

    /// Its text; `nil` when it is ``bytes``.
    public var text: String? { text("text") }

    /// Its bytes; `nil` when it is ``text``, or no base64.
    public var bytes: Data? { text("blob").flatMap { Data(base64Encoded: $0) } }
}

/// Who says a ``Message``.
public enum Role: String, Sendable {
    case user
    case assistant
}

/// A message of a prompt or of a sampling request.
public struct Message: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    public init(_ content: Content, role: Role = .user) {
        self.init(("role", role.rawValue), ("content", content.json))
    }

    public init(_ text: String, role: Role = .user) {
        self.init(.text(text), role: role)
    }

    /// Several blocks: of sampling requests of 2025-11-25 and later alone.
    public init(_ content: [Content], role: Role = .user) {
        self.init(("role", role.rawValue), ("content", content.map(\.json)))
    }

    public var role: Role { text("role").flatMap(Role.init(rawValue:)) ?? .user }

    /// One block, or several in sampling requests of 2025-11-25 and later.
    public var content: [Content] { Content.blocks(json["content"]) }

    /// The text of its text blocks, joined by line breaks.
    public var text: String { content.text }
}
