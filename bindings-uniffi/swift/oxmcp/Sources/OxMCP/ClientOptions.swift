/// What is said of a client when it connects. All of it is optional.
///
/// ```swift
/// let options = ClientOptions {
///     $0.timeout = .seconds(10)
///     $0.onElicitation = { question in .accept(["city": "Oslo"]) }
/// }
/// ```
public struct ClientOptions: Sendable {
    /// Who this program is; servers see it.
    public var info = Implementation(name: "oxmcp-swift", version: oxmcpVersion)

    /// How long each call may go without an answer; 60 s by default, `.unlimited` for no limit.
    public var timeout: Duration?

    /// How long the server may take to answer the handshake; ``timeout`` by default.
    public var connectTimeout: Duration?

    /// The revisions of the protocol to speak; all that are known by default.
    public var protocolVersions: [String]?

    /// Ask a server first whether it speaks a revision without a handshake. On by default. One that leaves at that is
    /// started once more.
    public var probe: Bool?

    /// Keep results that the server calls fresh for as long as it says (2026-07-28). On by default.
    public var responseCache: Bool?

    /// Check structured content against the output schema of its tool, once it was listed. On by default.
    public var validateResults: Bool?

    public var limits = Limits()

    /// What this client can do beside what the handlers here say: `extensions`, `experimental`.
    public var capabilities: JSONObject = [:]

    /// Answers what a server asks the user for.
    public var onElicitation: (@Sendable (ElicitRequest) async throws -> ElicitResult)?

    /// Whether the user can be shown URLs to visit, beside forms.
    public var showsURLs = false

    /// Answers what a server asks the model for.
    public var onSampling: (@Sendable (SamplingRequest) async throws -> SamplingResult)?

    /// Whether the model can be given tools to wish for: see ``Content/toolUse(id:name:input:meta:)``.
    public var samplesWithTools = false

    /// The folders and files that servers may work on. Say ``Client/rootsChanged()`` when they are others.
    public var onRoots: (@Sendable () async throws -> [Root])?

    /// Called for each log message of the server, one after the other.
    public var onLog: (@Sendable (LogMessage) async throws -> Void)?

    /// Called for each notification of a method, one after the other.
    public var notificationHandlers: [String: @Sendable (MCPNotification) async throws -> Void] = [:]

    /// Answer methods of your own.
    public var requestHandlers: [String: @Sendable (JSONObject) async throws -> JSONObject] = [:]

    /// Called for anything odd that the server sends. Without it, it goes to standard error.
    public var onProblem: (@Sendable (Problem) -> Void)?

    /// Called with what handlers of this program threw that is nobody's answer. Without it, it goes to standard error.
    public var onError: (@Sendable (any Error) -> Void)?

    /// Called with each line on the wire, for a look at the protocol. It costs more than the call itself.
    public var onTrace: (@Sendable (_ sent: Bool, _ line: String) -> Void)?

    public init() {}

    public init(configure: (inout ClientOptions) -> Void) {
        configure(&self)
    }

    func spec(_ server: JSON) -> JSONObject {
        JSONObject(
            members: ("info", info.json), ("settings", settings), ("timeout", connectTimeout?.asJSON), ("probe", probe),
            ("client", server)
        )
    }

    private var settings: JSONObject {
        JSONObject(
            members: ("timeout", timeout?.asJSON), ("revisions", protocolVersions), ("responseCache", responseCache),
            ("validateResults", validateResults), ("limits", limits.json), ("capabilities", declared),
            ("trace", onTrace != nil)
        )
    }

    /// What a handler is there for is declared.
    private var declared: JSONObject {
        var all = JSONObject()
        if onElicitation != nil { all["elicitation"] = showsURLs ? ["form": [:], "url": [:]] : ["form": [:]] }
        if onSampling != nil { all["sampling"] = samplesWithTools ? ["tools": [:]] : [:] }
        if onRoots != nil { all["roots"] = ["listChanged": true] }
        return all.merging(capabilities)
    }

    /// Runs the handler of a method; `nil` when there is none.
    func answer(_ method: String, _ params: JSONObject) async throws -> JSONObject? {
        switch method {
        case "elicitation/create": return try await onElicitation?(ElicitRequest(json: params)).json
        case "sampling/createMessage": return try await onSampling?(SamplingRequest(json: params)).json
        case "roots/list":
            guard let roots = try await onRoots?() else { return nil }
            return JSONObject(members: ("roots", roots.map(\.json)))
        default: return try await requestHandlers[method]?(params)
        }
    }

    func notified(_ notification: MCPNotification) async throws {
        try await notificationHandlers[notification.method]?(notification)
        if notification.method == "notifications/message", let onLog {
            let params = AnyObjectOfProtocol(json: notification.params ?? [:])
            let level = params.text("level").flatMap(LogLevel.init(rawValue:)) ?? .info
            try await onLog(LogMessage(level, params.json["data"] ?? .null, logger: params.text("logger")))
        }
    }
}
