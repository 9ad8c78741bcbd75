internal import OxMCPNative

/// The version of this package.
public let oxmcpVersion: String = version()

/// A picture of a program, a tool, a resource or a prompt, for people.
public struct Icon: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    /// - Parameters:
    ///   - src: a URL, `https:` or `data:`
    ///   - sizes: such as `48x48`, or `any`
    ///   - theme: `light` or `dark`: the background that it is for
    public init(_ src: String, mimeType: String? = nil, sizes: [String]? = nil, theme: String? = nil) {
        self.init(("src", src), ("mimeType", mimeType), ("sizes", sizes), ("theme", theme))
    }

    public var src: String { text("src") ?? "" }
    public var mimeType: String? { text("mimeType") }
    public var sizes: [String] { texts("sizes") }
    public var theme: String? { text("theme") }
}

extension MCPObject {
    var iconList: [Icon] { objects("icons").map(Icon.init(json:)) }
}

/// A program that speaks the protocol.
public struct Implementation: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    public init(
        name: String, version: String, title: String? = nil, description: String? = nil, websiteURL: String? = nil,
        icons: [Icon] = []
    ) {
        self.init(
            ("name", name), ("version", version), ("title", title), ("description", description), ("websiteUrl", websiteURL),
            ("icons", icons.isEmpty ? nil : icons.map(\.json))
        )
    }

    public var name: String { text("name") ?? "" }
    public var version: String { text("version") ?? "" }
    public var title: String? { text("title") }

    /// What it is, for people.
    public var description: String? { text("description") }
    public var websiteURL: String? { text("websiteUrl") }
    public var icons: [Icon] { iconList }
}

/// Hints on what a tool does. Do not base decisions on those of a server that you do not trust.
public struct ToolAnnotations: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    public init(
        title: String? = nil, readOnly: Bool? = nil, destructive: Bool? = nil, idempotent: Bool? = nil,
        openWorld: Bool? = nil
    ) {
        self.init(
            ("title", title), ("readOnlyHint", readOnly), ("destructiveHint", destructive), ("idempotentHint", idempotent),
            ("openWorldHint", openWorld)
        )
    }

    public var title: String? { text("title") }
    public var readOnlyHint: Bool? { flag("readOnlyHint") }
    public var destructiveHint: Bool? { flag("destructiveHint") }
    public var idempotentHint: Bool? { flag("idempotentHint") }
    public var openWorldHint: Bool? { flag("openWorldHint") }
}

/// A tool that a server offers.
public struct Tool: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    public var name: String { text("name") ?? "" }
    public var title: String? { text("title") }

    /// What it does, for a model.
    public var description: String? { text("description") }
    public var icons: [Icon] { iconList }

    /// The JSON Schema of its arguments.
    public var inputSchema: JSONObject { member("inputSchema") ?? [:] }

    /// The JSON Schema of its structured content.
    public var outputSchema: JSONObject? { member("outputSchema") }

    public var annotations: ToolAnnotations? { member("annotations").map(ToolAnnotations.init(json:)) }
}

/// A resource that a server offers.
public struct Resource: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    public init(
        uri: String, name: String, title: String? = nil, description: String? = nil, mimeType: String? = nil, size: Int? = nil
    ) {
        self.init(
            ("uri", uri), ("name", name), ("title", title), ("description", description), ("mimeType", mimeType), ("size", size)
        )
    }

    public var uri: String { text("uri") ?? "" }
    public var name: String { text("name") ?? "" }
    public var title: String? { text("title") }

    /// What it holds, for a model.
    public var description: String? { text("description") }
    public var icons: [Icon] { iconList }
    public var mimeType: String? { text("mimeType") }

    /// Whom it is for, and how much it matters.
    public var annotations: JSONObject? { member("annotations") }

    /// In bytes.
    public var size: Int? { integer("size") }
}

/// Resources that a server offers by a template of their URIs (RFC 6570).
public struct ResourceTemplate: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    public var uriTemplate: String { text("uriTemplate") ?? "" }
    public var name: String { text("name") ?? "" }
    public var title: String? { text("title") }

    /// What they hold, for a model.
    public var description: String? { text("description") }
    public var icons: [Icon] { iconList }
    public var mimeType: String? { text("mimeType") }

    /// Whom it is for, and how much it matters.
    public var annotations: JSONObject? { member("annotations") }
}

/// A prompt that a server offers.
public struct Prompt: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    public var name: String { text("name") ?? "" }
    public var title: String? { text("title") }

    /// What it is for.
    public var description: String? { text("description") }
    public var icons: [Icon] { iconList }
    public var arguments: [PromptArgument] { objects("arguments").map(PromptArgument.init(json:)) }
}

/// An argument of a prompt.
public struct PromptArgument: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    public init(_ name: String, _ description: String? = nil, isRequired: Bool = false, title: String? = nil) {
        self.init(("name", name), ("title", title), ("description", description), ("required", isRequired))
    }

    public var name: String { text("name") ?? "" }
    public var title: String? { text("title") }
    public var description: String? { text("description") }
    public var isRequired: Bool { flag("required") ?? false }
}

/// What a tool gave.
public struct CallToolResult: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    public init(_ content: [Content] = [], structured: JSON? = nil, isError: Bool = false, meta: JSONObject? = nil) {
        self.init(
            ("content", content.map(\.json)), ("structuredContent", structured), ("isError", isError ? true : nil),
            ("_meta", meta)
        )
    }

    public init(_ text: String) {
        self.init([.text(text)])
    }

    public var content: [Content] { Content.blocks(json["content"]) }

    /// The same as JSON, for tools with an output schema.
    public var structuredContent: JSON? { json["structuredContent"] }

    /// The tool failed; ``text`` says why.
    public var isError: Bool { flag("isError") ?? false }

    /// The text of its text blocks, joined by line breaks.
    public var text: String { content.text }

    /// The structured content as a value of a type.
    ///
    /// - Throws: `MCPError` of the kind `protocol` when there is none, or it does not fit
    public func structured<Value: Decodable>(as type: Value.Type = Value.self) throws -> Value {
        guard let structuredContent else { throw MCPError.protocol("the result has no structured content") }
        do {
            return try decode(type, from: structuredContent.text)
        } catch let error as DecodingError {
            throw MCPError.protocol("the structured content does not fit: \(error.what)")
        }
    }
}

/// What a resource holds.
public struct ReadResourceResult: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    public init(_ contents: [ResourceContents]) {
        self.init(("contents", contents.map(\.json)))
    }

    public var contents: [ResourceContents] { objects("contents").map(ResourceContents.init(json:)) }

    /// The text of its parts that have some, joined by line breaks.
    public var text: String { contents.compactMap(\.text).joined(separator: "\n") }
}

/// A prompt, filled in.
public struct GetPromptResult: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    public init(_ messages: [Message], description: String? = nil) {
        self.init(("description", description), ("messages", messages.map(\.json)))
    }

    public var description: String? { text("description") }
    public var messages: [Message] { objects("messages").map(Message.init(json:)) }
}

/// How an argument may go on.
public struct Completion: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    public var values: [String] { texts("values") }

    /// How many there are in all.
    public var total: Int? { integer("total") }
    public var hasMore: Bool { flag("hasMore") ?? false }
}

/// A folder or file that a client lets a server work on.
public struct Root: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    public init(_ uri: String, name: String? = nil) {
        self.init(("uri", uri), ("name", name))
    }

    public var uri: String { text("uri") ?? "" }
    public var name: String? { text("name") }
}

/// How far a call has come.
public struct MCPProgress: Sendable, Hashable {
    /// Grows with each report.
    public var progress: Double

    /// What ``progress`` will be at the end, where that is known.
    public var total: Double?

    /// For a person.
    public var message: String?

    public init(_ progress: Double, of total: Double? = nil, _ message: String? = nil) {
        self.progress = progress
        self.total = total
        self.message = message
    }
}

/// A notification.
public struct MCPNotification: Sendable, Hashable {
    public var method: String
    public var params: JSONObject?

    public init(_ method: String, _ params: JSONObject? = nil) {
        self.method = method
        self.params = params
    }
}

/// One page of a list.
public struct Page<Entry: MCPObject>: Sendable {
    public var entries: [Entry]

    /// What the next page is asked for by; `nil` at the end. In 2026-07-28 an empty text is a cursor like others.
    public var nextCursor: String?
}

/// How severe a log message is, mildest first.
public enum LogLevel: String, Sendable, CaseIterable {
    case debug, info, notice, warning, error, critical, alert, emergency
}

/// A log message of a server.
public struct LogMessage: Sendable, Hashable {
    public var level: LogLevel
    public var data: JSON
    public var logger: String?

    public init(_ level: LogLevel, _ data: JSON, logger: String? = nil) {
        self.level = level
        self.data = data
        self.logger = logger
    }
}

/// Something odd that the other side sent. It was dealt with, and the connection goes on.
public struct Problem: Sendable, Hashable {
    /// `not_json`, `too_large`, `unknown_response` and so on.
    public var kind: String

    /// What it was and what was done about it.
    public var message: String
}

/// Which changes a stream is to tell of (2026-07-28).
public struct SubscriptionFilter: Sendable, Hashable {
    public var toolsListChanged: Bool
    public var promptsListChanged: Bool
    public var resourcesListChanged: Bool

    /// The URIs of the resources whose updates are to be told.
    public var resourceSubscriptions: [String]

    public init(
        toolsListChanged: Bool = false, promptsListChanged: Bool = false, resourcesListChanged: Bool = false,
        resourceSubscriptions: [String] = []
    ) {
        self.toolsListChanged = toolsListChanged
        self.promptsListChanged = promptsListChanged
        self.resourcesListChanged = resourcesListChanged
        self.resourceSubscriptions = resourceSubscriptions
    }

    init(json: JSONObject) {
        let members = AnyObjectOfProtocol(json: json)
        self.init(
            toolsListChanged: members.flag("toolsListChanged") ?? false,
            promptsListChanged: members.flag("promptsListChanged") ?? false,
            resourcesListChanged: members.flag("resourcesListChanged") ?? false,
            resourceSubscriptions: members.texts("resourceSubscriptions")
        )
    }

    var json: JSONObject {
        JSONObject(
            members: ("toolsListChanged", toolsListChanged ? true : nil),
            ("promptsListChanged", promptsListChanged ? true : nil),
            ("resourcesListChanged", resourcesListChanged ? true : nil),
            ("resourceSubscriptions", resourceSubscriptions.isEmpty ? nil : resourceSubscriptions)
        )
    }
}
