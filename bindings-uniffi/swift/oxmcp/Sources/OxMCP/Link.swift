import Foundation
internal import OxMCPNative

/// A call, of either side, on one of the connections of an endpoint.
struct CallKey: Hashable, Sendable {
    let connection: UInt64
    let id: UInt64
}

/// A call of the other side, while a handler works on it.
struct Incoming: Sendable {
    let link: Link
    let key: CallKey
    /// `tool`, `promptCompletion`, `method` and so on.
    let kind: String
    let entry: UInt64?
    let method: String?
    let params: String?
    let wantsProgress: Bool
}

/// Who the other side is.
struct Peer: Sendable {
    let protocolVersion: String
    let info: String
    let capabilities: String
    let instructions: String?
}

/// What the program is told, in order.
typealias Told = @Sendable () async throws -> Void

/// The side of an endpoint that a client or a server plays. What it throws is reported to ``thrown(_:)``.
protocol Host: Sendable {
    /// Runs the handler that a call is for.
    func answer(_ call: Incoming) async throws -> Reply
    /// What a handler's failure is to the other side.
    func failure(_ call: Incoming, _ error: any Error) -> Reply
    func ready(_ peer: Peer, _ link: Link, _ connection: UInt64)
    func connectFailed(_ error: MCPError)
    /// Other header fields, for a server over HTTP that refused those that it got.
    func renew(_ refused: Unauthorized) async throws -> [String: String]?
    /// Gives what is to be told of a notification.
    func notified(_ notification: MCPNotification, _ connection: UInt64) -> Told
    /// A connection has ended. Gives what is to be told of that, after all that was told before.
    func closed(_ connection: UInt64) -> Told?
    func problem(_ problem: Problem)
    func trace(sent: Bool, _ line: String)
    func stderr(_ line: String)
    func ended()
    func thrown(_ error: any Error)
}

/// One endpoint of the core, and what waits on it.
///
/// One task takes events, and runs nothing of the program's: handlers are tasks of their own, and what is told goes to one
/// other task in order. So neither can hold up an answer or a cancel. A call leaves the table once: whoever takes it out
/// completes it.
final class Link: Sendable {
    /// A call of ours. The lock of its link guards what may change.
    private final class Waiting: @unchecked Sendable {
        let progress: AsyncStream<MCPProgress>.Continuation?
        let stream: AsyncStream<MCPNotification>.Continuation?
        var answer: CheckedContinuation<String, any Error>?
        var key: CallKey?
        var isCancelled = false

        init(progress: AsyncStream<MCPProgress>.Continuation? = nil, stream: AsyncStream<MCPNotification>.Continuation? = nil) {
            self.progress = progress
            self.stream = stream
        }

        /// For whoever took it out of the table.
        func complete(_ result: Result<String, any Error>) {
            progress?.finish()
            stream?.finish()
            answer?.resume(with: result)
        }
    }

    private struct State {
        /// Until it is over.
        var endpoint: Endpoint?
        var calls: [CallKey: Waiting] = [:]
        var handlers: [CallKey: Task<Void, Never>] = [:]
        /// What could not be told, for the program takes it too slowly.
        var lost = 0
    }

    private static let backlog = 1024
    private static let batch: UInt32 = 256
    /// A child may take four seconds to leave, the calls that a server over HTTP accepted some more.
    private static let patience = Duration.seconds(20)
    private static let acknowledged = "notifications/subscriptions/acknowledged"

    /// The one connection; a server over HTTP has none that is the one.
    let connection: UInt64

    /// Where a server over HTTP listens.
    let address: String?

    let ended = Promise<Void>()

    private let host: any Host
    private let credentials = Credentials()
    private let state: Locked<State>
    private let told: AsyncStream<Told>.Continuation
    private let tales: AsyncStream<Told>

    /// Opens an endpoint, and begins to take its events.
    ///
    /// - Throws: `MCPError` when it can not be opened
    init(_ spec: JSONObject, _ registry: Registry, _ host: any Host, peer: Link? = nil) throws {
        _ = outlivesBrokenPipes
        let far = peer?.state.withLock { $0.endpoint }
        let endpoint = try verb { try Endpoint.open(spec: spec.text, registry: registry, peer: far) }
        connection = endpoint.connection() ?? 0
        address = endpoint.address()
        self.host = host
        state = Locked(State(endpoint: endpoint))
        (tales, told) = AsyncStream.makeStream(of: Told.self, bufferingPolicy: .bufferingNewest(Self.backlog))
        Task.detached { await self.tell() }
        Task.detached { await self.pump(endpoint) }
    }

    /// Calls of either side that wait, and what is asked of the program, for tests.
    var waiting: Int { state.withLock { $0.calls.count + $0.handlers.count } + (credentials.isAsking ? 1 : 0) }

    var isOpen: Bool { state.withLock { $0.endpoint != nil } }

    // MARK: Calls of ours

    /// Makes a call and waits for its result, as JSON text.
    func call(_ request: Request, _ options: RequestOptions, on connection: UInt64? = nil) async throws -> String {
        guard let onProgress = options.onProgress else { return try await answer(Waiting(), request, options, connection) }
        let (reports, feed) = AsyncStream.makeStream(of: MCPProgress.self, bufferingPolicy: .bufferingNewest(Self.backlog))
        return try await beside({ for await report in reports { try await onProgress(report) } }) {
            try await self.answer(Waiting(progress: feed), request, options, connection)
        }
    }

    /// Opens a stream of notifications: a call that stays open. Runs `each` until the stream has ended.
    func listen(_ params: JSONObject, each: @escaping @Sendable (MCPNotification) throws -> Void) async throws {
        let (notifications, feed) = AsyncStream.makeStream(
            of: MCPNotification.self, bufferingPolicy: .bufferingNewest(Self.backlog)
        )
        _ = try await beside({ for await notification in notifications { try each(notification) } }) {
            let request = Request.method(method: "subscriptions/listen", params: params.text)
            return try await self.answer(Waiting(stream: feed), request, RequestOptions(), nil)
        }
    }

    /// What a call gives, once all is read that came before. The first of the two that throws ends the other.
    private func beside(
        _ reading: @escaping @Sendable () async throws -> Void, _ calling: @escaping @Sendable () async throws -> String
    ) async throws -> String {
        try await withThrowingTaskGroup(of: String?.self) { group in
            group.addTask {
                try await reading()
                return nil
            }
            group.addTask { try await calling() }
            var result = ""
            for try await one in group { result = one ?? result }
            return result
        }
    }

    private func answer(
        _ waiting: Waiting, _ request: Request, _ options: RequestOptions, _ connection: UInt64?
    ) async throws -> String {
        try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { answer in
                do {
                    try begin(waiting, answer, request, options, connection ?? self.connection)
                } catch {
                    waiting.progress?.finish()
                    waiting.stream?.finish()
                    answer.resume(throwing: error)
                }
            }
        } onCancel: {
            abandon(waiting)
        }
    }

    /// Under the lock, so that no event of the call comes before it is in the table.
    private func begin(
        _ waiting: Waiting, _ answer: CheckedContinuation<String, any Error>, _ request: Request,
        _ options: RequestOptions, _ connection: UInt64
    ) throws {
        try state.withLock { state in
            guard !waiting.isCancelled else { throw CancellationError() }
            guard let endpoint = state.endpoint else { throw MCPError.ended }
            let id = try verb { try endpoint.begin(connection: connection, request: request, options: options.native) }
            let key = CallKey(connection: connection, id: id)
            waiting.key = key
            waiting.answer = answer
            state.calls[key] = waiting
        }
    }

    private func abandon(_ waiting: Waiting) {
        let taken = state.withLock { state -> (Endpoint?, CallKey)? in
            waiting.isCancelled = true
            guard let key = waiting.key, state.calls.removeValue(forKey: key) != nil else { return nil }
            return (state.endpoint, key)
        }
        guard let (endpoint, key) = taken else { return }
        quietly { try endpoint?.cancel(connection: key.connection, id: key.id, reason: "the call was cancelled") }
        waiting.complete(.failure(CancellationError()))
    }

    private func take(_ key: CallKey) -> Waiting? {
        state.withLock { $0.calls.removeValue(forKey: key) }
    }

    private func find(_ key: CallKey) -> Waiting? {
        state.withLock { $0.calls[key] }
    }

    // MARK: The other verbs

    /// Tells a peer something, or every one where `connection` is none.
    @discardableResult
    func notify(_ notice: Notice, on connection: UInt64?) throws -> Bool {
        try verb { try open().notify(connection: connection, notice: notice) }
    }

    func command(_ command: JSONObject, on connection: UInt64) throws -> JSONObject {
        try JSONObject(parsing: verb { try open().command(connection: connection, text: command.text) })
    }

    func endStream(_ key: CallKey) {
        state.withLock { $0.endpoint }?.endStream(connection: key.connection, id: key.id)
    }

    func httpRequest(_ call: CallKey) -> HTTPRequest? {
        let endpoint = state.withLock { $0.endpoint }
        guard let head = endpoint?.httpRequest(connection: call.connection, id: call.id) else { return nil }
        return HTTPRequest(
            method: head.method, target: head.target, authority: head.authority,
            headers: head.headers.map { HTTPRequest.Header(name: $0.name, value: $0.value) }
        )
    }

    func sessionID(_ connection: UInt64) -> String? {
        state.withLock { $0.endpoint }?.sessionId(connection: connection)
    }

    /// What the core holds; `nil` once it is over.
    var held: Stats? { state.withLock { $0.endpoint }?.stats() }

    /// Ends it all, and waits until nothing more comes, within bounds. Safe to call from a handler, and when cancelled.
    func close(_ why: String) async {
        shutDown(why)
        await Task.detached { [ended] in
            await withTaskGroup(of: Void.self) { group in
                group.addTask { try? await ended.get() }
                group.addTask { try? await Task.sleep(for: Self.patience) }
                await group.next()
                group.cancelAll()
            }
        }.value
    }

    func shutDown(_ why: String) {
        state.withLock { $0.endpoint }?.close(connection: nil, why: why)
        credentials.close()
    }

    func closeConnection(_ connection: UInt64, _ why: String) {
        state.withLock { $0.endpoint }?.close(connection: connection, why: why)
    }

    private func open() throws -> Endpoint {
        guard let endpoint = state.withLock({ $0.endpoint }) else { throw MCPError.ended }
        return endpoint
    }

    // MARK: Events

    /// Never cancelled: events that were given are gone.
    private func pump(_ endpoint: Endpoint) async {
        while true {
            let events = await endpoint.nextEvents(max: Self.batch)
            if events.isEmpty { break }
            events.forEach(take)
        }
        end()
    }

    private func end() {
        let (calls, handlers) = state.withLock { state in
            state.endpoint = nil
            defer { state.calls = [:] }
            return (Array(state.calls.values), Array(state.handlers.values))
        }
        calls.forEach { $0.complete(.failure(MCPError.ended)) }
        handlers.forEach { $0.cancel() }
        credentials.close()
        host.connectFailed(.ended)
        told.finish()
        ended.give(.success(()))
    }

    private func take(_ event: Event) {
        let key = { CallKey(connection: event.connection, id: $0) }
        switch event.what {
        case .call(let id, let kind, let entry, let method, let params, let wantsProgress):
            called(
                Incoming(
                    link: self, key: key(id), kind: kind, entry: entry, method: method, params: params,
                    wantsProgress: wantsProgress
                )
            )
        case .cancelled(let id, _): state.withLock { $0.handlers[key(id)] }?.cancel()
        case .result(let id, let result): take(key(id))?.complete(.success(result))
        case .failed(let id, let failure): take(key(id))?.complete(.failure(MCPError(failure)))
        case .progress(let id, let params): find(key(id))?.progress?.yield(Self.progress(params))
        case .notification(let method, let params, let subscription):
            notified(
                MCPNotification(method, params.flatMap { try? JSONObject(parsing: $0) }), event.connection, subscription.map(key)
            )
        case .describe(let id, _): respond(key(id), .resume) { _ in nil }
        case .ready(let protocolVersion, let info, let capabilities, let instructions):
            let peer = Peer(
                protocolVersion: protocolVersion, info: info, capabilities: capabilities, instructions: instructions
            )
            host.ready(peer, self, event.connection)
        case .connectFailed(let failure): host.connectFailed(MCPError(failure))
        case .unauthorized(let status, let challenge):
            let refused = Unauthorized(status: Int(status), wwwAuthenticate: challenge)
            credentials.ask({ [host] in try await host.renew(refused) }) { self.giveHeaders($0, $1) }
        case .problem(let kind, let message): tell { [host] in host.problem(Problem(kind: kind, message: message)) }
        case .trace(let direction, let line): tell { [host] in host.trace(sent: direction == "sent", line) }
        case .stderr(let line): tell { [host] in host.stderr(line) }
        case .closed: host.closed(event.connection).map(tell)
        }
    }

    private func giveHeaders(_ fields: [String: String], _ whyNot: String?) {
        let fields = fields.map { HttpField(name: $0.key, value: $0.value) }
        _ = state.withLock { $0.endpoint }?.giveHeaders(connection: connection, fields: fields, whyNot: whyNot)
    }

    private func notified(_ notification: MCPNotification, _ connection: UInt64, _ subscription: CallKey?) {
        let stream = subscription.flatMap(find)?.stream
        stream?.yield(notification)
        if stream == nil || notification.method != Self.acknowledged {
            tell(host.notified(notification, connection))
        }
    }

    private func tell(_ what: @escaping Told) {
        if case .dropped = told.yield(what) { state.withLock { $0.lost += 1 } }
    }

    /// What the program is told, one thing after the other.
    private func tell() async {
        for await what in tales {
            do {
                try await what()
            } catch {
                host.thrown(error)
            }
            let lost = state.withLock { state in
                defer { state.lost = 0 }
                return state.lost
            }
            if lost > 0 {
                let message = "\(lost) notifications were dropped: the program takes them too slowly"
                host.problem(Problem(kind: "dropped", message: message))
            }
        }
        host.ended()
    }

    // MARK: Handlers

    private func called(_ call: Incoming) {
        // Under the lock, so that a cancel finds the task, and its end does.
        state.withLock { state in
            state.handlers[call.key] = Task.detached {
                let reply = await self.reply(to: call)
                self.state.withLock { $0.handlers[call.key] = nil }
                if let reply { self.respond(call.key, reply) { self.host.failure(call, $0) } }
            }
        }
    }

    /// Runs the handler. The call may be off by then: nothing more is said for it.
    private func reply(to call: Incoming) async -> Reply? {
        do {
            return try await host.answer(call)
        } catch {
            // A cancel that the handler made itself is its failure.
            return Task.isCancelled ? nil : host.failure(call, error)
        }
    }

    /// A reply that the core does not take must not leave the caller waiting.
    private func respond(_ key: CallKey, _ reply: Reply, otherwise: (any Error) -> Reply?) {
        guard let endpoint = state.withLock({ $0.endpoint }) else { return }
        do {
            _ = try verb { try endpoint.respond(connection: key.connection, id: key.id, reply: reply) }
        } catch {
            guard let failure = otherwise(error) else { return host.thrown(error) }
            quietly { try endpoint.respond(connection: key.connection, id: key.id, reply: failure) }
        }
    }

    private func quietly(_ work: () throws -> Bool?) {
        do {
            _ = try verb(work)
        } catch {
            host.thrown(error)
        }
    }

    private static func progress(_ params: String) -> MCPProgress {
        let members = AnyObjectOfProtocol(json: (try? JSONObject(parsing: params)) ?? [:])
        let number = { members.json[$0]?.doubleValue }
        return MCPProgress(number("progress") ?? 0, of: number("total"), members.text("message"))
    }
}

/// A child process that has gone must not take this program with it: writing to a broken pipe is an error, and no signal. A
/// handler of the program's own stays.
private let outlivesBrokenPipes: Void = {
    if let own = signal(SIGPIPE, SIG_IGN) { signal(SIGPIPE, own) }
}()

/// An error of this package is passed on with its code, message and data, unless it says that this program is wrong: then, and
/// of any other, `hidden` gets it.
func errorReply(_ error: any Error, hidden: (any Error) -> Void) -> Reply {
    guard let error = error as? MCPError, error.kind != .usage, error.kind != .internal else {
        hidden(error)
        return .error(code: MCPError.Code.internalError, message: "Internal error", data: nil)
    }
    let code = error.code ?? MCPError.Code.internalError
    return .error(code: code, message: error.message, data: error.data?.text)
}
