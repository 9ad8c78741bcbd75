internal import OxMCPNative

/// A client's session with a ``Server``, in revisions with a handshake: from that to the end of its connection, or over HTTP
/// of the session. What is said here belongs to no call. 2026-07-28 has no sessions, and so have servers over HTTP without
/// state.
public final class ServerSession: Sendable {
    private let link: Link
    private let connection: UInt64

    /// The `Mcp-Session-Id`, over HTTP.
    public let sessionID: String?

    /// The revision of the protocol that both sides speak, such as `2025-11-25`.
    public let protocolVersion: String

    /// Who the client says it is.
    public let clientInfo: Implementation

    /// What the client can do.
    public let clientCapabilities: JSONObject

    init(_ link: Link, _ connection: UInt64, _ peer: Peer, sessionID: String?) {
        self.link = link
        self.connection = connection
        self.sessionID = sessionID
        protocolVersion = peer.protocolVersion
        clientInfo = Implementation(json: (try? JSONObject(parsing: peer.info)) ?? [:])
        clientCapabilities = (try? JSONObject(parsing: peer.capabilities)) ?? [:]
    }

    /// Asks the client for anything.
    ///
    /// - Throws: `MCPError` of the kind `notNegotiated` when it did not declare that it can do this, `closed` when the session
    ///   has ended
    public func request(
        _ method: String, _ params: JSONObject? = nil, options: RequestOptions = RequestOptions()
    ) async throws -> JSONObject {
        let request = Request.method(method: method, params: params?.text)
        return try JSONObject(parsing: try await link.call(request, options, on: connection))
    }

    /// Asks the client for the folders and files to work on.
    public func listRoots(options: RequestOptions = RequestOptions()) async throws -> [Root] {
        AnyObjectOfProtocol(json: try await request("roots/list", options: options)).objects("roots").map(Root.init(json:))
    }

    /// Asks the client for a sign of life.
    public func ping(options: RequestOptions = RequestOptions()) async throws {
        _ = try await link.call(.ping, options, on: connection)
    }

    /// Sends any notification.
    ///
    /// - Throws: `MCPError` of the kind `closed` when the session has ended
    public func notify(_ method: String, _ params: JSONObject? = nil) throws {
        let isTold = try link.notify(.method(method: method, params: params?.text), on: connection)
        if !isTold { throw MCPError.ended }
    }

    /// Sends a log message, if it is severe enough for the client and the session is open.
    ///
    /// - Throws: `MCPError` of the kind `notNegotiated` when the server does not log
    public func log(_ level: LogLevel, _ data: JSON, logger: String? = nil) throws {
        do {
            try link.notify(.log(call: nil, level: level.rawValue, logger: logger, data: data.text), on: connection)
        } catch let error as MCPError where error.kind == .closed {
            // Nobody is there who could read it.
        }
    }

    /// Ends the session; calls that wait are cancelled. Over HTTP the client may begin another.
    public func close() {
        link.closeConnection(connection, "the server ended the session")
    }
}

/// Sessions that are open, by the numbers of their connections.
final class ServerSessions: Sendable {
    private let open = Locked<[UInt64: ServerSession]>([:])

    var all: [ServerSession] { open.withLock { Array($0.values) } }

    func begin(_ peer: Peer, _ link: Link, _ connection: UInt64) {
        let name = link.sessionID(connection)
        // Over HTTP and without a name, each request stands alone.
        if link.address != nil, name == nil { return }
        let session = ServerSession(link, connection, peer, sessionID: name)
        open.withLock { $0[connection] = session }
    }

    func find(_ connection: UInt64) -> ServerSession? { open.withLock { $0[connection] } }

    func end(_ connection: UInt64) -> ServerSession? { open.withLock { $0.removeValue(forKey: connection) } }
}
