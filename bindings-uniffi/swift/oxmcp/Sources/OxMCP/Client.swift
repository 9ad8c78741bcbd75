import Foundation
internal import OxMCPNative

/// A connection to one server.
///
/// ```swift
/// let client = try await Client.connect(to: ServerCommand("python3", "server.py"))
/// print(try await client.callTool("greet", ["name": "Ada"]).text)
/// await client.close()
/// ```
///
/// Every call ends: by its answer, by its timeout (60 s without an answer unless set), with its connection, or with its task.
/// A call whose task is cancelled throws a `CancellationError` and is cancelled at the server too; a late answer is dropped.
/// All functions may be called from any task, and from handlers.
public final class Client: Sendable {
    private let link: Link
    private let host: ClientHost

    /// Who the server says it is.
    public let serverInfo: Implementation

    /// What the server offers.
    public let serverCapabilities: JSONObject

    /// How to use the server, for a model; `nil` when it does not say.
    public let instructions: String?

    /// The revision of the protocol that both sides speak, such as `2025-11-25`.
    public let protocolVersion: String

    // MARK: Connecting

    /// Starts a server and connects to it.
    ///
    /// - Throws: `MCPError` of the kind `closed` when it can not be started, or ends before it answers; `timeout` when it does
    ///   not answer in time; `protocol` when it speaks no revision that this client speaks; `unsupported` on systems without
    ///   child processes, such as iOS
    public static func connect(to server: ServerCommand, options: ClientOptions = ClientOptions()) async throws -> Client {
        #if os(iOS) || os(tvOS) || os(watchOS) || os(visionOS)
        throw MCPError.unsupported("this system starts no child processes; connect to a URL, or in memory")
        #else
        let host = ClientHost(options)
        if case .lines(let each) = server.stderr { host.stderrLines = each }
        return try await open(["command": .object(server.json)], host)
        #endif
    }

    /// Connects to a server over HTTP. Whichever revision it speaks, and be it the older HTTP+SSE transport.
    ///
    /// - Parameter url: `http` or `https`, such as `https://example.com/mcp`
    /// - Throws: `MCPError` of the kind `closed` when it can not be reached, or refuses; the message says how
    public static func connect(
        to url: String, http: HTTPClientOptions = HTTPClientOptions(), options: ClientOptions = ClientOptions()
    ) async throws -> Client {
        let host = ClientHost(options)
        host.onUnauthorized = http.onUnauthorized
        let server: JSON = [
            "url": .string(url), "settings": .object(http.json), "renews": .bool(http.onUnauthorized != nil),
        ]
        return try await open(["http": server], host)
    }

    /// The same, by a `URL`.
    public static func connect(
        to url: URL, http: HTTPClientOptions = HTTPClientOptions(), options: ClientOptions = ClientOptions()
    ) async throws -> Client {
        try await connect(to: url.absoluteString, http: http, options: options)
    }

    /// Connects to a server of this program, in memory.
    public static func connect(to server: Server, options: ClientOptions = ClientOptions()) async throws -> Client {
        let far = try server.core.open("memory")
        do {
            return try await open("memory", ClientHost(options), peer: far)
        } catch {
            far.shutDown("the client did not connect")
            throw error
        }
    }

    private static func open(_ server: JSON, _ host: ClientHost, peer: Link? = nil) async throws -> Client {
        try host.options.limits.check()
        let registry = Registry()
        for name in host.options.requestHandlers.keys {
            let command: JSONObject = ["addMethod": ["name": .string(name)]]
            _ = try verb { try registry.command(text: command.text) }
        }
        let link = try Link(host.options.spec(server), registry, host, peer: peer)
        do {
            let peer = try await host.connected.get()
            return try Client(link, host, peer)
        } catch {
            link.shutDown("connecting was given up")
            // The end of a server that did not come up is not the program's business.
            if !(error is CancellationError) { try? await link.ended.get() }
            throw error
        }
    }

    private init(_ link: Link, _ host: ClientHost, _ peer: Peer) throws {
        self.link = link
        self.host = host
        serverInfo = Implementation(json: try JSONObject(parsing: peer.info))
        serverCapabilities = try JSONObject(parsing: peer.capabilities)
        instructions = peer.instructions
        protocolVersion = peer.protocolVersion
    }

    deinit {
        link.shutDown("the client was let go of")
    }

    /// Whether the connection is open.
    public var isConnected: Bool { link.isOpen }

    /// Waits until the connection has ended, whichever side ended it, or the task is cancelled.
    public func wait() async throws {
        try await link.ended.get()
    }

    /// Ends the connection: calls that wait fail with an `MCPError` of the kind `closed`. Safe to call at any time, more than
    /// once, and from a handler.
    public func close() async {
        await link.close("the client was closed")
    }

    // MARK: Tools

    /// Calls a tool. One that fails in its own work gives a result with ``CallToolResult/isError``.
    ///
    /// - Parameter meta: the `_meta` of the request, for what your server knows of it
    /// - Throws: `MCPError`: `response` when the server refuses, `timeout`, `closed`, `notNegotiated` when it has no tools
    public func callTool(
        _ name: String, _ arguments: JSONObject? = nil, timeout: Duration? = nil, maxTotalTimeout: Duration? = nil,
        resetTimeoutOnProgress: Bool = false, logLevel: LogLevel? = nil, meta: JSONObject? = nil,
        onProgress: ProgressHandler? = nil
    ) async throws -> CallToolResult {
        let options = RequestOptions(
            timeout: timeout, maxTotalTimeout: maxTotalTimeout, resetTimeoutOnProgress: resetTimeoutOnProgress,
            logLevel: logLevel, onProgress: onProgress
        )
        if let meta {
            let params = JSONObject(members: ("name", name), ("arguments", arguments), ("_meta", meta))
            return CallToolResult(json: try await request("tools/call", params, options: options))
        }
        return try await callTool(name, arguments, options: options)
    }

    /// The same, with the options of the call in one value.
    public func callTool(_ name: String, _ arguments: JSONObject?, options: RequestOptions) async throws -> CallToolResult {
        let text = try await link.call(.tool(name: name, arguments: arguments?.text), options)
        return CallToolResult(json: try JSONObject(parsing: text))
    }

    /// Calls a tool with a value of a type as its arguments.
    public func callTool(
        _ name: String, with arguments: some Encodable & Sendable, options: RequestOptions = RequestOptions()
    ) async throws -> CallToolResult {
        let encoded = try encode(arguments)
        guard let object = encoded.objectValue else {
            throw MCPError.usage("the arguments of a tool must be an object; they are \(encoded)")
        }
        return try await callTool(name, object, options: options)
    }

    // MARK: Lists

    /// Lists the server's tools: all pages of them.
    public func listTools(options: RequestOptions = RequestOptions()) async throws -> [Tool] {
        try await list("tools/list", "tools", options)
    }

    /// Lists the server's resources: all pages of them.
    public func listResources(options: RequestOptions = RequestOptions()) async throws -> [Resource] {
        try await list("resources/list", "resources", options)
    }

    /// Lists the templates of the server's resources: all pages of them.
    public func listResourceTemplates(options: RequestOptions = RequestOptions()) async throws -> [ResourceTemplate] {
        try await list("resources/templates/list", "resourceTemplates", options)
    }

    /// Lists the server's prompts: all pages of them.
    public func listPrompts(options: RequestOptions = RequestOptions()) async throws -> [Prompt] {
        try await list("prompts/list", "prompts", options)
    }

    /// One page of the server's tools: the first, or the one that a ``Page/nextCursor`` names.
    public func listToolsPage(
        after cursor: String? = nil, options: RequestOptions = RequestOptions()
    ) async throws -> Page<Tool> {
        try await page("tools/list", "tools", cursor, options)
    }

    /// One page of the server's resources, as in ``listToolsPage(after:options:)``.
    public func listResourcesPage(
        after cursor: String? = nil, options: RequestOptions = RequestOptions()
    ) async throws -> Page<Resource> {
        try await page("resources/list", "resources", cursor, options)
    }

    /// One page of the templates of the server's resources, as in ``listToolsPage(after:options:)``.
    public func listResourceTemplatesPage(
        after cursor: String? = nil, options: RequestOptions = RequestOptions()
    ) async throws -> Page<ResourceTemplate> {
        try await page("resources/templates/list", "resourceTemplates", cursor, options)
    }

    /// One page of the server's prompts, as in ``listToolsPage(after:options:)``.
    public func listPromptsPage(
        after cursor: String? = nil, options: RequestOptions = RequestOptions()
    ) async throws -> Page<Prompt> {
        try await page("prompts/list", "prompts", cursor, options)
    }

    private func page<Entry: MCPObject>(
        _ method: String, _ member: String, _ cursor: String?, _ options: RequestOptions
    ) async throws -> Page<Entry> {
        let params: JSONObject? = cursor.map { ["cursor": .string($0)] }
        let result = AnyObjectOfProtocol(json: try await request(method, params, options: options))
        return Page(entries: result.objects(member).map(Entry.init(json:)), nextCursor: result.text("nextCursor"))
    }

    private func list<Entry: MCPObject>(
        _ method: String, _ member: String, _ options: RequestOptions
    ) async throws -> [Entry] {
        let text = try await link.call(.list(method: method), options)
        return AnyObjectOfProtocol(json: try JSONObject(parsing: text)).objects(member).map(Entry.init(json:))
    }

    // MARK: Resources and prompts

    /// Reads a resource.
    public func readResource(_ uri: String, options: RequestOptions = RequestOptions()) async throws -> ReadResourceResult {
        ReadResourceResult(json: try await request("resources/read", ["uri": .string(uri)], options: options))
    }

    /// Fills in a prompt.
    public func getPrompt(
        _ name: String, _ arguments: [String: String] = [:], options: RequestOptions = RequestOptions()
    ) async throws -> GetPromptResult {
        let params = JSONObject(members: ("name", name), ("arguments", arguments.isEmpty ? nil : arguments))
        return GetPromptResult(json: try await request("prompts/get", params, options: options))
    }

    /// Asks how an argument of a prompt may go on. `known` are the arguments that were filled in before.
    public func completePrompt(
        _ prompt: String, _ argument: String, _ value: String, known: [String: String] = [:],
        options: RequestOptions = RequestOptions()
    ) async throws -> Completion {
        try await complete(["type": "ref/prompt", "name": .string(prompt)], argument, value, known, options)
    }

    /// Asks how a variable of a resource template may go on.
    public func completeTemplate(
        _ uriTemplate: String, _ variable: String, _ value: String, known: [String: String] = [:],
        options: RequestOptions = RequestOptions()
    ) async throws -> Completion {
        try await complete(["type": "ref/resource", "uri": .string(uriTemplate)], variable, value, known, options)
    }

    private func complete(
        _ reference: JSONObject, _ argument: String, _ value: String, _ known: [String: String], _ options: RequestOptions
    ) async throws -> Completion {
        let params = JSONObject(
            members: ("ref", reference), ("argument", ["name": argument, "value": value]),
            ("context", known.isEmpty ? nil : ["arguments": known])
        )
        let result = try await request("completion/complete", params, options: options)
        return Completion(json: result["completion"]?.objectValue ?? [:])
    }

    // MARK: What is told

    /// All notifications of the server from here on. Who takes them too slowly loses the oldest of 1024. The sequence ends
    /// with the connection; ``ClientOptions/notificationHandlers`` see them from the start.
    public var notifications: AsyncStream<MCPNotification> { host.notifications.stream() }

    /// Asks to be told of updates of a resource, in revisions with a handshake; later ones have ``listen(_:onOpen:)``.
    public func subscribeResource(_ uri: String, options: RequestOptions = RequestOptions()) async throws {
        _ = try await request("resources/subscribe", ["uri": .string(uri)], options: options)
    }

    /// Takes ``subscribeResource(_:options:)`` back.
    public func unsubscribeResource(_ uri: String, options: RequestOptions = RequestOptions()) async throws {
        _ = try await request("resources/unsubscribe", ["uri": .string(uri)], options: options)
    }

    /// The changes that a server tells of on a stream of its own (2026-07-28). The stream is open from here on, until nobody
    /// iterates over the sequence any more, or the server ends it. Who iterates too slowly loses the oldest of 1024.
    ///
    /// Iterating throws an `MCPError` of the kind `notNegotiated` in revisions with a handshake, which send what they have
    /// without being asked.
    ///
    /// - Parameter onOpen: called once with the part of the filter that the server honours
    public func listen(
        _ filter: SubscriptionFilter, onOpen: @escaping @Sendable (SubscriptionFilter) -> Void = { _ in }
    ) -> AsyncThrowingStream<MCPNotification, any Error> {
        AsyncThrowingStream(bufferingPolicy: .bufferingNewest(1024)) { [link] feed in
            let task = Task.detached {
                do {
                    try await link.listen(["notifications": .object(filter.json)]) { notification in
                        guard notification.method == Self.acknowledged else { return _ = feed.yield(notification) }
                        onOpen(SubscriptionFilter(json: notification.params?["notifications"]?.objectValue ?? [:]))
                    }
                    feed.finish()
                } catch {
                    feed.finish(throwing: error)
                }
            }
            feed.onTermination = { _ in task.cancel() }
        }
    }

    private static let acknowledged = "notifications/subscriptions/acknowledged"

    // MARK: The rest

    /// Sets the mildest log messages that the server is to send, in revisions with a handshake. In 2026-07-28 each call says
    /// so: ``RequestOptions/logLevel``.
    public func setLogLevel(_ level: LogLevel, options: RequestOptions = RequestOptions()) async throws {
        _ = try await request("logging/setLevel", ["level": .string(level.rawValue)], options: options)
    }

    /// Tells the server that the roots are others now.
    public func rootsChanged() throws {
        try notify("notifications/roots/list_changed")
    }

    /// Asks the server for a sign of life.
    public func ping(options: RequestOptions = RequestOptions()) async throws {
        _ = try await link.call(.ping, options)
    }

    /// Makes any call; gives the result as the server sent it.
    public func request(
        _ method: String, _ params: JSONObject? = nil, options: RequestOptions = RequestOptions()
    ) async throws -> JSONObject {
        try JSONObject(parsing: try await link.call(.method(method: method, params: params?.text), options))
    }

    /// Sends any notification.
    ///
    /// - Throws: `MCPError` of the kind `notNegotiated` when the server can not be told this, `closed` when it has gone
    public func notify(_ method: String, _ params: JSONObject? = nil) throws {
        try link.notify(.method(method: method, params: params?.text), on: link.connection)
    }

    /// What waits at the moment, here and in the core; zero when no call is under way. For tests of leaks.
    var waiting: Int { link.waiting + (link.held.map { Int($0.inbound + $0.outbound) } ?? 0) }
}

/// What a client does for its connection.
final class ClientHost: Host, @unchecked Sendable {
    let options: ClientOptions
    let connected = Promise<Peer>()
    let notifications = Notifications()
    /// Set before the connection is opened.
    var stderrLines: (@Sendable (String) -> Void)?
    /// Likewise.
    var onUnauthorized: (@Sendable (Unauthorized) async throws -> [String: String]?)?

    init(_ options: ClientOptions) {
        self.options = options
    }

    func answer(_ call: Incoming) async throws -> Reply {
        let method = call.method ?? ""
        guard let result = try await options.answer(method, JSONObject(parsing: call.params ?? "{}")) else {
            return .error(code: MCPError.Code.methodNotFound, message: "Method not found: \(method)", data: nil)
        }
        return .result(result: result.text)
    }

    func failure(_ call: Incoming, _ error: any Error) -> Reply {
        errorReply(error, hidden: thrown)
    }

    func ready(_ peer: Peer, _ link: Link, _ connection: UInt64) {
        connected.give(.success(peer))
    }

    func connectFailed(_ error: MCPError) {
        connected.give(.failure(error))
    }

    func renew(_ refused: Unauthorized) async throws -> [String: String]? {
        try await onUnauthorized?(refused)
    }

    func notified(_ notification: MCPNotification, _ connection: UInt64) -> Told {
        { [self] in
            notifications.tell(notification)
            try await options.notified(notification)
        }
    }

    func closed(_ connection: UInt64) -> Told? { nil }

    func problem(_ problem: Problem) {
        if let hook = options.onProblem { hook(problem) } else { complain("\(problem.kind): \(problem.message)") }
    }

    func trace(sent: Bool, _ line: String) {
        options.onTrace?(sent, line)
    }

    func stderr(_ line: String) {
        stderrLines?(line)
    }

    func ended() {
        notifications.end()
    }

    func thrown(_ error: any Error) {
        if let hook = options.onError { hook(error) } else { complain("\(error)") }
    }
}

/// All who want to know of notifications.
final class Notifications: Sendable {
    private typealias Feed = AsyncStream<MCPNotification>.Continuation

    private struct State {
        var feeds: [UInt64: Feed] = [:]
        var next: UInt64 = 0
        var hasEnded = false
    }

    private let state = Locked(State())

    func stream() -> AsyncStream<MCPNotification> {
        let (stream, feed) = AsyncStream.makeStream(of: MCPNotification.self, bufferingPolicy: .bufferingNewest(1024))
        let number = state.withLock { state -> UInt64? in
            guard !state.hasEnded else { return nil }
            state.next += 1
            state.feeds[state.next] = feed
            return state.next
        }
        guard let number else {
            feed.finish()
            return stream
        }
        feed.onTermination = { [weak self] _ in _ = self?.state.withLock { $0.feeds.removeValue(forKey: number) } }
        return stream
    }

    func tell(_ notification: MCPNotification) {
        let feeds = state.withLock { Array($0.feeds.values) }
        feeds.forEach { $0.yield(notification) }
    }

    func end() {
        let feeds = state.withLock { state -> [Feed] in
            state.hasEnded = true
            defer { state.feeds = [:] }
            return Array(state.feeds.values)
        }
        feeds.forEach { $0.finish() }
    }
}
