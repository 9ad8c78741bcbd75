internal import OxMCPNative

/// A server: what it offers, for any number of clients, in every revision of the protocol.
///
/// ```swift
/// struct City: Codable, Described {
///     let name: String
///     static let descriptions = ["name": "The name of a city."]
/// }
///
/// let server = Server("weather", version: "1.0")
/// try server.tool("weather", "Tells the weather in a city.") { (city: City, context) in
///     "It is sunny in \(city.name)."
/// }
/// try await server.serveStdio()
/// ```
///
/// What a handler throws is told to the caller: of a tool, its message, in a result with `isError`; of others, that there was
/// an internal error, while ``ServerOptions/onError`` gets it. An ``MCPError`` is the answer as it is.
public final class Server: Sendable {
    let core: ServerCore

    public init(_ name: String, version: String, options: ServerOptions = ServerOptions()) {
        core = ServerCore(options.info(name, version), options)
    }

    // MARK: Tools

    /// Offers a tool.
    ///
    /// `Arguments` is a `Decodable` struct: its JSON Schema is what callers see, their arguments are checked against it, and
    /// the function gets a value of it; ``JSONObject`` for any arguments. What the function gives is a text, ``Content``, an
    /// array of it, a ``CallToolResult``, or an `Encodable` value: that is structured content, with its schema when the type
    /// is `Decodable` as well. See ``Described`` and ``JSONSchemaProviding`` for more in a schema. A function that has
    /// nothing to say gives `CallToolResult()`.
    ///
    /// - Throws: `MCPError` of the kind `usage` when the name is taken, or a type has no schema
    @discardableResult
    public func tool<Arguments: Decodable & Sendable, Output: Encodable & Sendable>(
        _ name: String, _ description: String? = nil, title: String? = nil, annotations: ToolAnnotations? = nil,
        meta: JSONObject? = nil, icons: [Icon] = [],
        function: @escaping @Sendable (Arguments, CallContext) async throws -> Output
    ) throws -> Registered {
        let what = "the tool \"\(name)\""
        let input = try Input<Arguments>(what)
        let output = try OxMCP.Output<Output>(what)
        let about = About(name: name, title: title, description: description, icons: icons, meta: meta)
        let descriptor = about.tool(annotations, input.schema, output.schema)
        let offer = Offer(kind: "tool", name: name, descriptor: descriptor) { context, params in
            try output.reply(try await function(try input.read(params), context))
        }
        return try core.add(offer, checksOutput: false)
    }

    /// Offers a tool without arguments.
    @discardableResult
    public func tool<Output: Encodable & Sendable>(
        _ name: String, _ description: String? = nil, title: String? = nil, annotations: ToolAnnotations? = nil,
        meta: JSONObject? = nil, icons: [Icon] = [], function: @escaping @Sendable (CallContext) async throws -> Output
    ) throws -> Registered {
        try tool(
            name, description, title: title, annotations: annotations, meta: meta, icons: icons
        ) { (_: NoArguments, context) in
            try await function(context)
        }
    }

    /// Offers a tool whose schemas are your own. Arguments are checked against `inputSchema`, results against
    /// `outputSchema`.
    @discardableResult
    public func tool(
        _ name: String, _ description: String? = nil, title: String? = nil, annotations: ToolAnnotations? = nil,
        meta: JSONObject? = nil, icons: [Icon] = [], inputSchema: JSONObject, outputSchema: JSONObject? = nil,
        function: @escaping @Sendable (JSONObject, CallContext) async throws -> CallToolResult
    ) throws -> Registered {
        let about = About(name: name, title: title, description: description, icons: icons, meta: meta)
        let descriptor = about.tool(annotations, inputSchema, outputSchema)
        let offer = Offer(kind: "tool", name: name, descriptor: descriptor) { context, params in
            .result(result: try await function(try JSONObject(parsing: params), context).json.text)
        }
        return try core.add(offer, checksOutput: outputSchema != nil)
    }

    // MARK: Resources

    /// Offers a resource. The function gives a text, `Data`, ``ResourceContents``, an array of them, or a
    /// ``ReadResourceResult``.
    ///
    /// - Parameter annotations: whom it is for and how much it matters: `["audience": ["user"], "priority": 0.5]`
    /// - Throws: `MCPError` of the kind `usage` when the URI is taken or empty
    @discardableResult
    public func resource(
        _ uri: String, name: String, _ description: String? = nil, title: String? = nil, mimeType: String? = nil,
        annotations: JSONObject? = nil, meta: JSONObject? = nil, icons: [Icon] = [],
        function: @escaping @Sendable (CallContext) async throws -> some ResourceOutput
    ) throws -> Registered {
        let about = About(name: name, title: title, description: description, icons: icons, meta: meta)
        let descriptor = about.resource("uri", uri, mimeType, annotations)
        let offer = Offer(kind: "resource", name: uri, descriptor: descriptor) { context, _ in
            .result(result: try await function(context).result(uri: uri, mimeType: mimeType).json.text)
        }
        return try core.add(offer)
    }

    /// Offers the resources that a template (RFC 6570) stands for. The function gets the URI and the variables of the
    /// template: a text each, or what a template makes of lists.
    ///
    /// - Parameter complete: functions that complete a variable, by its name
    /// - Throws: `MCPError` of the kind `usage` when the template is taken, or is none
    @discardableResult
    public func resourceTemplate(
        _ uriTemplate: String, name: String, _ description: String? = nil, title: String? = nil, mimeType: String? = nil,
        complete: [String: Completer] = [:], annotations: JSONObject? = nil, meta: JSONObject? = nil, icons: [Icon] = [],
        function: @escaping @Sendable (
            _ uri: String, _ variables: [String: String], CallContext
        ) async throws -> some ResourceOutput
    ) throws -> Registered {
        let about = About(name: name, title: title, description: description, icons: icons, meta: meta)
        let descriptor = about.resource("uriTemplate", uriTemplate, mimeType, annotations)
        let offer = Offer(
            kind: "template", name: uriTemplate, descriptor: descriptor, completers: complete
        ) { context, params in
            let members = try JSONObject(parsing: params)
            let uri = members["uri"]?.stringValue ?? ""
            let output = try await function(uri, strings(members["variables"]?.objectValue ?? [:]), context)
            return .result(result: output.result(uri: uri, mimeType: mimeType).json.text)
        }
        return try core.add(offer)
    }

    // MARK: Prompts

    /// Offers a prompt. `Arguments` is a `Decodable` struct whose members are its arguments, ``NoArguments`` for none. The
    /// function gives a text, a ``Message``, an array of them, or a ``GetPromptResult``.
    ///
    /// - Parameter complete: functions that complete an argument, by its name
    /// - Throws: `MCPError` of the kind `usage` when the name is taken
    @discardableResult
    public func prompt<Arguments: Decodable & Sendable>(
        _ name: String, _ description: String? = nil, title: String? = nil, complete: [String: Completer] = [:],
        meta: JSONObject? = nil, icons: [Icon] = [],
        function: @escaping @Sendable (Arguments, CallContext) async throws -> some PromptOutput
    ) throws -> Registered {
        let input = try Input<Arguments>("the prompt \"\(name)\"")
        let about = About(name: name, title: title, description: description, icons: icons, meta: meta)
        let descriptor = about.prompt(promptArguments(input.schema))
        let offer = Offer(kind: "prompt", name: name, descriptor: descriptor, completers: complete) { context, params in
            .result(result: try await function(try input.read(texts: params), context).result.json.text)
        }
        return try core.add(offer)
    }

    /// Offers a prompt whose arguments are listed; the function gets them by name.
    @discardableResult
    public func prompt(
        _ name: String, _ description: String? = nil, title: String? = nil, arguments: [PromptArgument],
        complete: [String: Completer] = [:], meta: JSONObject? = nil, icons: [Icon] = [],
        function: @escaping @Sendable ([String: String], CallContext) async throws -> some PromptOutput
    ) throws -> Registered {
        let about = About(name: name, title: title, description: description, icons: icons, meta: meta)
        let descriptor = about.prompt(arguments)
        let offer = Offer(kind: "prompt", name: name, descriptor: descriptor, completers: complete) { context, params in
            .result(result: try await function(strings(try JSONObject(parsing: params)), context).result.json.text)
        }
        return try core.add(offer)
    }

    // MARK: Methods

    /// Answers a method of your own.
    ///
    /// - Parameter extension: it is there for clients that declare this extension only
    /// - Throws: `MCPError` of the kind `usage` for a method of the protocol
    public func method(
        _ name: String, extension: String? = nil,
        function: @escaping @Sendable (JSONObject, CallContext) async throws -> JSONObject
    ) throws {
        try core.addMethod(name, `extension`, function)
    }

    // MARK: Serving

    /// Serves the client that started this program, on its standard streams, until either side ends the connection, or the
    /// task is cancelled. While it does, what is printed goes to standard error.
    public func serveStdio() async throws {
        let link = try core.open("stdio")
        do {
            try await link.ended.get()
        } catch {
            await link.close("the server was closed")
            throw error
        }
    }

    /// Serves clients over HTTP, from when this returns until the ``Listening`` is closed.
    ///
    /// - Parameter port: 0 for any that is free
    /// - Throws: `MCPError` of the kind `closed` when the port can not be listened on, `usage` when an option is wrong
    public func listen(port: Int = 0, http: HTTPOptions = HTTPOptions()) async throws -> Listening {
        guard 0...65535 ~= port else { throw MCPError.usage("a port is a number from 0 to 65535; it is \(port)") }
        if let path = http.path, !path.hasPrefix("/") {
            throw MCPError.usage("the path of the endpoint must begin with \"/\"; it is \"\(path)\"")
        }
        let link = try core.open(["http": ["port": JSON(port), "settings": .object(http.json)]])
        return Listening(link, http)
    }

    /// Tells those who subscribed to a resource that it has other contents now. False when nobody did.
    ///
    /// - Throws: `MCPError` of the kind `notNegotiated` without ``ServerOptions/subscriptions``
    @discardableResult
    public func resourceUpdated(_ uri: String) throws -> Bool {
        guard core.options.subscriptions else {
            let message = "the update of \(uri) was not sent: this server does not declare the capability "
                + "\"resources.subscribe\"; set `subscriptions` in its options"
            throw MCPError(kind: .notNegotiated, code: MCPError.Code.methodNotFound, message: message, fault: .local)
        }
        return try core.tell(.resourceUpdated(uri: uri))
    }

    /// Sends a log message that belongs to no call, to clients whose level it reaches. See ``CallContext/log(_:_:logger:)``.
    public func log(_ level: LogLevel, _ data: JSON, logger: String? = nil) throws {
        try core.tell(.log(call: nil, level: level.rawValue, logger: logger, data: data.text))
    }

    /// Sends a notification to all clients that are connected.
    public func notify(_ method: String, _ params: JSONObject? = nil) throws {
        try core.tell(.method(method: method, params: params?.text))
    }

    /// Sessions that are open, in revisions with a handshake.
    public var sessions: [ServerSession] { core.sessions.all }

    /// Ends all connections. Handlers that run are cancelled.
    public func close() async {
        for link in core.links { await link.close("the server was closed") }
    }

    /// What waits at the moment in all connections. For tests of leaks.
    var waiting: Int { core.links.reduce(0) { $0 + $1.waiting } }
}

/// A server that listens over HTTP.
public struct Listening: Sendable {
    private let link: Link

    /// Where: `127.0.0.1:8000`.
    public let address: String

    /// What clients connect to.
    public let url: String

    init(_ link: Link, _ http: HTTPOptions) {
        self.link = link
        address = link.address ?? ""
        url = "http://\(address)\(http.path ?? "/mcp")"
    }

    public var port: Int { address.split(separator: ":").last.flatMap { Int($0) } ?? 0 }

    /// Waits until it is closed, or the task is cancelled.
    public func wait() async throws {
        try await link.ended.get()
    }

    /// Takes no more requests, lets those under way finish for a while, and ends the rest.
    public func close() async {
        await link.close("the server was closed")
    }
}
