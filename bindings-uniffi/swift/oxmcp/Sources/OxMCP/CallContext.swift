internal import OxMCPNative

/// What a handler of a server knows of its caller, and may say to it meanwhile.
///
/// A caller that cancels cancels the handler's task; whatever the handler does then, nothing more is written for the call.
public struct CallContext: Sendable {
    let call: Incoming

    // MARK: The caller

    /// Who calls. Ask while the call runs.
    public var caller: Caller {
        let command: JSONObject = ["caller": ["call": JSON(call.key.id)]]
        return Caller(json: (try? call.link.command(command, on: call.key.connection)) ?? [:])
    }

    /// The HTTP request that brought the call: its header fields say who sent it. `nil` over other transports. Ask while the
    /// call runs; over the older HTTP+SSE transport it is the request that opened the stream.
    public var httpRequest: HTTPRequest? { call.link.httpRequest(call.key) }

    /// The `Mcp-Session-Id` of the session that the call is part of, over HTTP and in revisions with sessions.
    public var sessionID: String? { call.link.sessionID(call.key.connection) }

    /// What an ``InputRequired`` asked for in the round before, by its keys; `nil` in the first round and in other revisions.
    public var inputResponses: JSONObject? { caller.member("inputResponses") }

    /// What an ``InputRequired`` kept in the round before.
    public var requestState: String? { caller.text("state") }

    /// Whether the caller asked for progress.
    public var wantsProgress: Bool { call.wantsProgress }

    // MARK: Telling

    /// Reports progress, if the caller asked for it. Each report must be greater than the one before; others are left out.
    /// Those that the caller does not read in time are left out too.
    public func progress(_ progress: Double, of total: Double? = nil, _ message: String? = nil) {
        guard wantsProgress else { return }
        let notice = Notice.progress(call: call.key.id, progress: progress, total: total, message: message)
        // Who has left needs no reports.
        _ = try? call.link.notify(notice, on: call.key.connection)
    }

    /// Sends a log message, if it is severe enough for the caller.
    ///
    /// - Throws: `MCPError` of the kind `notNegotiated` when the server does not log
    public func log(_ level: LogLevel, _ data: JSON, logger: String? = nil) throws {
        let notice = Notice.log(call: call.key.id, level: level.rawValue, logger: logger, data: data.text)
        try call.link.notify(notice, on: call.key.connection)
    }

    /// Sends any notification to the caller.
    public func notify(_ method: String, _ params: JSONObject? = nil) throws {
        try call.link.notify(.method(method: method, params: params?.text), on: call.key.connection)
    }

    /// Gives up the stream of this call over HTTP, so that a long call holds no connection: the caller comes back for what is
    /// said later. In revisions with sessions only; elsewhere it does nothing.
    public func endStream() {
        call.link.endStream(call.key)
    }

    // MARK: Asking

    /// Asks the caller's user to fill in a form, which is made from the members of a type: texts, numbers, booleans and enums.
    ///
    /// One function for both eras. In revisions with a handshake a request goes out, and its answer comes. In 2026-07-28 the
    /// question becomes the answer to this call: the handler's task is cancelled, the client makes the call again with the
    /// answers, and the handler runs again from its start; then each question that it asks in the same order is answered at
    /// once. So what comes before a question must do no harm when it is done twice. To ask for several things in one round,
    /// throw an ``InputRequired``.
    ///
    /// - Parameter key: the question's own name, for handlers that do not always ask in the same order
    /// - Throws: `MCPError` of the kind `notNegotiated` when the caller can not be asked
    public func elicit<Value: Decodable & Sendable>(
        _ message: String, as type: Value.Type = Value.self, key: String? = nil, options: RequestOptions = RequestOptions()
    ) async throws -> Elicited<Value> {
        let result = try await elicit(message, schema: formSchema(of: type), key: key, options: options)
        switch result.action {
        case .accept: return .accepted(try read(type, result.content ?? [:]))
        case .decline: return .declined
        case .cancel: return .cancelled
        }
    }

    /// Asks the caller's user to fill in a form of your own: a JSON Schema of an object with simple members.
    public func elicit(
        _ message: String, schema: JSONObject, key: String? = nil, options: RequestOptions = RequestOptions()
    ) async throws -> ElicitResult {
        let params = formParams(message, schema)
        return ElicitResult(json: try await request("elicitation/create", params, key: key, options: options))
    }

    /// Asks the caller's user to visit a URL.
    public func elicit(
        _ elicitation: URLElicitation, key: String? = nil, options: RequestOptions = RequestOptions()
    ) async throws -> ElicitResult {
        ElicitResult(json: try await request("elicitation/create", elicitation.json, key: key, options: options))
    }

    /// Asks the caller's model; see ``elicit(_:as:key:options:)`` for what that means in each era.
    public func sample(
        _ request: SamplingRequest, key: String? = nil, options: RequestOptions = RequestOptions()
    ) async throws -> SamplingResult {
        SamplingResult(json: try await self.request("sampling/createMessage", request.json, key: key, options: options))
    }

    /// Asks the caller for the folders and files to work on; see ``elicit(_:as:key:options:)`` for what that means in each
    /// era.
    public func listRoots(key: String? = nil, options: RequestOptions = RequestOptions()) async throws -> [Root] {
        let result = try await request("roots/list", nil, key: key, options: options)
        return AnyObjectOfProtocol(json: result).objects("roots").map(Root.init(json:))
    }

    /// Asks the caller for anything, for the sake of this call; see ``elicit(_:as:key:options:)`` for what that means in
    /// each era.
    public func request(
        _ method: String, _ params: JSONObject? = nil, key: String? = nil, options: RequestOptions = RequestOptions()
    ) async throws -> JSONObject {
        let ask = Request.ask(call: call.key.id, method: method, params: params?.text, key: key)
        return try JSONObject(parsing: try await call.link.call(ask, options, on: call.key.connection))
    }

    private func read<Value: Decodable>(_ type: Value.Type, _ content: JSONObject) throws -> Value {
        do {
            return try decode(type, from: content.text)
        } catch let error as DecodingError {
            throw MCPError.protocol("what the user filled in does not fit the form: \(error.what)")
        }
    }
}

/// The params of a question with a form.
private func formParams(_ message: String, _ schema: JSONObject) -> JSONObject {
    JSONObject(members: ("mode", "form"), ("message", message), ("requestedSchema", schema))
}

/// What a handler throws that makes its rounds itself (2026-07-28): what it has to know before it can serve the call.
///
/// ```swift
/// guard let answer = context.inputResponses?["where"] else {
///     throw InputRequired(state: "asked once", ["where": .listRoots])
/// }
/// ```
///
/// The client makes the call again with the answers, which are then in ``CallContext/inputResponses``, and the state in
/// ``CallContext/requestState``. ``CallContext/elicit(_:as:key:options:)`` and its like do all this by themselves, in every
/// revision; a client of another revision gets an error for this.
public struct InputRequired: Error, Sendable {
    /// One thing that is asked for.
    public struct Question: Sendable {
        let method: String
        let params: JSONObject?

        /// What any method of the client gives.
        public init(_ method: String, _ params: JSONObject? = nil) {
            self.method = method
            self.params = params
        }

        /// That the user fills in a form of your own: a JSON Schema of an object with simple members.
        public static func form(_ message: String, schema: JSONObject) -> Question {
            Question("elicitation/create", formParams(message, schema))
        }

        /// That the model says something.
        public static func sample(_ request: SamplingRequest) -> Question {
            Question("sampling/createMessage", request.json)
        }

        /// The folders and files to work on.
        public static var listRoots: Question { Question("roots/list") }
    }

    let state: String?
    let requests: JSONObject

    /// - Parameters:
    ///   - state: what the next round is to know; the client keeps it, sealed
    ///   - questions: by keys of your own; all in one round. None, with a state: the client makes the call again at once
    public init(state: String? = nil, _ questions: [String: Question] = [:]) {
        self.state = state
        let sorted = questions.sorted { $0.key < $1.key }
        requests = JSONObject(
            sorted.map { ($0, .object(JSONObject(members: ("method", $1.method), ("params", $1.params)))) }
        )
    }
}
