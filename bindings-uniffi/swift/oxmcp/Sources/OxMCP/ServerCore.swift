import Foundation
internal import OxMCPNative

/// What a server offers and whom it serves: shared by its handles and its connections.
final class ServerCore: Sendable {
    typealias Method = @Sendable (JSONObject, CallContext) async throws -> JSONObject

    private struct State {
        var offers: [OfferKey: Offer] = [:]
        var methods: [String: Method] = [:]
        var links: [ObjectIdentifier: Link] = [:]
    }

    static let initialized = "notifications/initialized"

    let options: ServerOptions
    let sessions = ServerSessions()
    private let info: Implementation
    private let registry = Registry()
    private let state = Locked(State())

    init(_ info: Implementation, _ options: ServerOptions) {
        self.info = info
        self.options = options
        if let size = options.pageSize, (try? command("setPageSize", ["size": JSON(size)])) == nil {
            preconditionFailure("pageSize must be greater than 0; it is \(size)")
        }
        if options.onConnect != nil || options.notificationHandlers[Self.initialized] != nil {
            // The registry knows this one.
            _ = try? command("takeOver", ["method": .string(Self.initialized), "how": "replace"])
        }
    }

    var links: [Link] { state.withLock { Array($0.links.values) } }

    func command(_ name: String, _ members: JSONObject) throws -> JSONObject {
        let command = JSONObject(members: (name, members)).text
        return try JSONObject(parsing: verb { try registry.command(text: command) })
    }

    func add(_ offer: Offer, checksOutput: Bool? = nil) throws -> Registered {
        let checks = checksOutput.map { ["input": true, "output": $0] }
        let members = JSONObject(
            members: ("kind", offer.kind), ("key", offer.name), ("descriptor", offer.descriptor),
            ("completes", !offer.completers.isEmpty), ("checks", checks)
        )
        // A call can come before this returns: it waits for the lock.
        return try state.withLock { state in
            let entry = try command("add", members)["entry"]?.intValue ?? 0
            let key = OfferKey(kind: offer.kind, entry: UInt64(entry))
            state.offers[key] = offer
            return Registered(core: self, key: key)
        }
    }

    func forget(_ key: OfferKey) {
        _ = state.withLock { $0.offers.removeValue(forKey: key) }
    }

    func addMethod(_ name: String, _ extension: String?, _ function: @escaping Method) throws {
        try state.withLock { state in
            if state.methods[name] == nil {
                _ = try command("addMethod", JSONObject(members: ("name", name), ("extension", `extension`)))
            }
            state.methods[name] = function
        }
    }

    /// False when nobody was told.
    @discardableResult
    func tell(_ notice: Notice) throws -> Bool {
        var isTold = false
        for link in links where link.isOpen { isTold = try link.notify(notice, on: nil) || isTold }
        return isTold
    }

    func open(_ where: JSON) throws -> Link {
        try options.limits.check()
        let spec = JSONObject(members: ("info", info.json), ("settings", options.settings), ("server", `where`))
        let host = ServerHost(self)
        let link = try Link(spec, registry, host)
        state.withLock { $0.links[ObjectIdentifier(link)] = link }
        Task.detached { [weak self] in
            try? await link.ended.get()
            self?.state.withLock { _ = $0.links.removeValue(forKey: ObjectIdentifier(link)) }
        }
        return link
    }

    func offer(_ key: OfferKey) -> Offer? { state.withLock { $0.offers[key] } }

    func method(_ name: String) -> Method? { state.withLock { $0.methods[name] } }
}

/// What a server does for one of its endpoints.
private struct ServerHost: Host {
    let core: ServerCore

    init(_ core: ServerCore) {
        self.core = core
    }

    func answer(_ call: Incoming) async throws -> Reply {
        let context = CallContext(call: call)
        let params = call.params ?? "{}"
        if let method = call.method {
            guard let function = core.method(method) else { return unknown(method) }
            return .result(result: try await function(try JSONObject(parsing: params), context).text)
        }
        let completion = "Completion"
        let completes = call.kind.hasSuffix(completion)
        let kind = completes ? String(call.kind.dropLast(completion.count)) : call.kind
        guard let entry = call.entry, let offer = core.offer(OfferKey(kind: kind, entry: entry)) else {
            return unknown(call.kind)
        }
        return try await completes ? offer.complete(params) : offer.run(context, params)
    }

    private func unknown(_ what: String) -> Reply {
        .error(code: MCPError.Code.methodNotFound, message: "Method not found: \(what)", data: nil)
    }

    func failure(_ call: Incoming, _ error: any Error) -> Reply {
        switch error {
        case let misfit as Misfit where call.kind == "tool": .invalidArguments(what: misfit.what)
        case let misfit as Misfit:
            .error(code: MCPError.Code.invalidParams, message: "Invalid arguments: \(misfit.what)", data: nil)
        case let input as InputRequired: .inputRequired(requests: input.requests.text, state: input.state)
        case let error as MCPError where call.kind == "tool" && !isTelling(error): .toolError(message: error.message)
        case is MCPError: errorReply(error, hidden: thrown)
        default: call.kind == "tool" ? .toolError(message: Self.message(error)) : errorReply(error, hidden: thrown)
        }
    }

    /// What the caller must see as it is: the answer that a handler throws, and what the caller can act on.
    private func isTelling(_ error: MCPError) -> Bool {
        error.kind == .response && error.fault == .local
            || error.code == MCPError.Code.missingRequiredClientCapability
            || error.code == MCPError.Code.urlElicitationRequired
    }

    private static func message(_ error: any Error) -> String {
        error is CancellationError ? "the tool was cancelled" : told(error)
    }

    func ready(_ peer: Peer, _ link: Link, _ connection: UInt64) {
        core.sessions.begin(peer, link, connection)
    }

    func connectFailed(_ error: MCPError) {}

    func renew(_ refused: Unauthorized) async throws -> [String: String]? { nil }

    func notified(_ notification: MCPNotification, _ connection: UInt64) -> Told {
        // It may have ended when this is told.
        let begun = notification.method == ServerCore.initialized ? core.sessions.find(connection) : nil
        return { [core] in
            if let begun { try await core.options.onConnect?(begun) }
            try await core.options.notificationHandlers[notification.method]?(notification)
        }
    }

    func closed(_ connection: UInt64) -> Told? {
        guard let session = core.sessions.end(connection), let onDisconnect = core.options.onDisconnect else { return nil }
        return { try await onDisconnect(session) }
    }

    func problem(_ problem: Problem) {
        if let hook = core.options.onProblem { hook(problem) } else { complain("\(problem.kind): \(problem.message)") }
    }

    func trace(sent: Bool, _ line: String) {
        core.options.onTrace?(sent, line)
    }

    func stderr(_ line: String) {}

    func ended() {}

    func thrown(_ error: any Error) {
        if let hook = core.options.onError { hook(error) } else { complain("\(error)") }
    }
}
