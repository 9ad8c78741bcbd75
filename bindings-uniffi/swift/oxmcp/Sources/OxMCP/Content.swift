import Foundation

/// A piece of content: of a tool's result, a prompt's message, a sampling request.
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
        case unknown(type: String)
    }

    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    public static func text(_ text: String) -> Content {
        Content(("type", "text"), ("text", text))
    }

    public static func image(_ bytes: Data, mimeType: String) -> Content {
        Content(("type", "image"), ("data", bytes.base64EncodedString()), ("mimeType", mimeType))
    }

    public static func audio(_ bytes: Data, mimeType: String) -> Content {
        Content(("type", "audio"), ("data", bytes.base64EncodedString()), ("mimeType", mimeType))
    }

    public static func resourceLink(_ resource: Resource) -> Content {
        Content(json: JSONObject(members: ("type", "resource_link")).merging(resource.json))
    }

    public static func resource(_ contents: ResourceContents) -> Content {
        Content(("type", "resource"), ("resource", contents.json))
    }

    public var kind: Kind {
        let type = text("type") ?? ""
        switch type {
        case "text": return .text(text("text") ?? "")
        case "image": return binary.map { .image($0, mimeType: text("mimeType") ?? "") } ?? .unknown(type: type)
        case "audio": return binary.map { .audio($0, mimeType: text("mimeType") ?? "") } ?? .unknown(type: type)
        case "resource_link": return .resourceLink(Resource(json: json))
        case "resource": return .resource(ResourceContents(json: member("resource") ?? [:]))
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

    public var role: Role { text("role").flatMap(Role.init(rawValue:)) ?? .user }

    /// One block, or several in sampling requests of 2025-11-25 and later.
    public var content: [Content] { Content.blocks(json["content"]) }

    /// The text of its text blocks, joined by line breaks.
    public var text: String { content.text }
}
