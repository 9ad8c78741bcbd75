/// What is said of a ``Server``. All of it is optional.
public struct ServerOptions: Sendable {
    public var title: String?
    public var description: String?
    public var websiteURL: String?
    public var icons: [Icon] = []

    /// How to use the server, for a model.
    public var instructions: String?

    /// What to declare beyond what is registered, or otherwise: `{"tools":{"listChanged":false}}` tells of no changes,
    /// `{"extensions":{…}}` offers an extension. What is registered is declared by itself.
    public var capabilities: JSONObject?

    /// Whether log messages are sent to clients.
    public var logging = true

    /// Whether clients may subscribe to resources: then say ``Server/resourceUpdated(_:)``.
    public var subscriptions = false

    /// The revisions of the protocol to speak; all that are known by default.
    public var protocolVersions: [String]?

    /// Refuse a client that asks for a revision we lack, and offer it no other.
    public var strict = false

    /// How long a question to a client may go without an answer; 60 s by default.
    public var timeout: Duration?

    /// How many entries a page of a list has; all of them by default.
    public var pageSize: Int?

    /// For how long clients may keep a list (2026-07-28); not at all by default.
    public var cacheTTL: Duration?

    /// Whether a list is the same for all users, so that shared caches may keep it.
    public var cachePublic = false

    /// Secrets that `requestState` is sealed with (2026-07-28), each a text of at least 32 bytes; the first seals, all open.
    /// Random by default: give the same to several processes that are one server.
    public var stateKeys: [String]?

    /// How long a client may take to come back with answers (2026-07-28); one hour by default.
    public var stateTTL: Duration?

    public var limits = Limits()

    /// Called when a client has made its handshake and said that it is initialized, in revisions with one. Hooks are called
    /// one after the other, and handlers of notifications with them.
    public var onConnect: (@Sendable (ServerSession) async throws -> Void)?

    /// Called when a session has ended, whichever side ended it; and for one that was never initialized, too.
    public var onDisconnect: (@Sendable (ServerSession) async throws -> Void)?

    /// Called for each notification of a method of the clients, one after the other.
    public var notificationHandlers: [String: @Sendable (MCPNotification) async throws -> Void] = [:]

    /// Called for anything odd that a client sends. Without it, it goes to standard error.
    public var onProblem: (@Sendable (Problem) -> Void)?

    /// Called with what handlers threw that clients do not see. Without it, it goes to standard error.
    public var onError: (@Sendable (any Error) -> Void)?

    /// Called with each line on the wire, for a look at the protocol. It costs more than the call itself.
    public var onTrace: (@Sendable (_ sent: Bool, _ line: String) -> Void)?

    public init() {}

    public init(configure: (inout ServerOptions) -> Void) {
        configure(&self)
    }

    func info(_ name: String, _ version: String) -> Implementation {
        Implementation(
            name: name, version: version, title: title, description: description, websiteURL: websiteURL, icons: icons
        )
    }

    var settings: JSONObject {
        let cache = cacheTTL.map { JSONObject(members: ("ttl", $0.asJSON), ("public", cachePublic)) }
        return JSONObject(
            members: ("instructions", instructions), ("capabilities", capabilities), ("logging", logging),
            ("subscriptions", subscriptions), ("revisions", protocolVersions), ("strict", strict),
            ("timeout", timeout?.asJSON), ("cache", cache), ("stateKeys", stateKeys), ("stateTtl", stateTTL?.asJSON),
            ("limits", limits.json), ("trace", onTrace != nil)
        )
    }
}

/// How a server is reached over HTTP. What is `nil` has its default.
public struct HTTPOptions: Sendable {
    /// The address to listen on; 127.0.0.1 by default.
    public var address: String?

    /// The path of the endpoint; `/mcp` by default.
    public var path: String?

    /// Names by which clients may address the server, beside those of this machine; a guard against DNS rebinding.
    public var hosts: [String] = []

    /// Take any name. Only behind something that checks it.
    public var anyHost = false

    /// Origins of web pages that may call.
    public var origins: [String] = []

    /// Keep no sessions: each request stands alone.
    public var stateless = false

    /// Answer by JSON alone, without streams.
    public var jsonOnly = false

    /// How many sessions there may be.
    public var maxSessions: Int?

    /// How long a session may be idle.
    public var sessionIdle: Duration?

    /// Bytes of a request's body; 16 MiB by default.
    public var bodyLimit: Int?

    /// Serve clients that know only the HTTP+SSE transport of 2024-11-05 as well, on the same path.
    public var httpSSE = false

    /// Whether streams that broke can be resumed.
    public var resumable = true

    /// How long clients are told to wait before they resume a stream; 1 s by default.
    public var retry: Duration?

    /// After how long a silence a stream gets a comment; 15 s by default.
    public var keepAlive: Duration?

    /// How long the body of a request may take to come; 30 s by default.
    public var bodyTimeout: Duration?

    /// How many TCP connections there may be at once.
    public var maxConnections: Int?

    /// How long the head of a request may take to come, and a connection may be idle between two; 60 s by default.
    public var headTimeout: Duration?

    /// How long a client may take nothing of what is written to it; 60 s by default.
    public var writeTimeout: Duration?

    public init() {}

    public init(configure: (inout HTTPOptions) -> Void) {
        configure(&self)
    }

    var json: JSONObject {
        JSONObject(
            members: ("address", address), ("path", path), ("hosts", hosts), ("anyHost", anyHost), ("origins", origins),
            ("stateless", stateless), ("jsonOnly", jsonOnly), ("maxSessions", maxSessions),
            ("sessionIdle", whole(sessionIdle)), ("bodyLimit", bodyLimit), ("httpSse", httpSSE), ("resumable", resumable),
            ("retry", whole(retry)), ("keepAlive", whole(keepAlive)), ("bodyTimeout", whole(bodyTimeout)),
            ("maxConnections", maxConnections), ("headTimeout", whole(headTimeout)), ("writeTimeout", whole(writeTimeout))
        )
    }

    /// In whole milliseconds.
    private func whole(_ duration: Duration?) -> Int? {
        duration.map { Int(min($0.milliseconds, 1e15)) }
    }
}
