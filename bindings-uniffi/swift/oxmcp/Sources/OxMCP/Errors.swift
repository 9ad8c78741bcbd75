import Foundation
internal import OxMCPNative

/// What a call fails with.
///
/// A task that is cancelled gets a `CancellationError` instead, as everywhere.
///
/// Thrown by a handler, it is the answer: an error with this code, message and data.
///
/// ```swift
/// throw MCPError(code: MCPError.Code.invalidParams, message: "there is no city of this name")
/// ```
public struct MCPError: Error, Sendable, Hashable {
    /// What went wrong.
    public enum Kind: String, Sendable {
        /// The other side answered with an error; code, message and data are its own.
        case response
        /// No answer came within the time allowed. The other side was told that nobody waits any more.
        case timeout
        /// The call is off, although its task was not cancelled: the question of a handler whose own call has ended.
        case cancelled
        /// The connection ended before the answer came, or could not be opened; the message says how.
        case closed
        /// The other side did not declare the capability that the method rests on; nothing was sent.
        case notNegotiated = "not_negotiated"
        /// The call could not be made as asked; nothing was sent.
        case usage
        /// The other side broke the protocol.
        case `protocol`
        /// A handler of this program failed, on whose answer the call rested (2026-07-28).
        case handler
        /// This system can not do it, such as starting a child process on iOS.
        case unsupported
        /// A fault inside this package. Please report it.
        case `internal`
    }

    /// Whose fault it was.
    public enum Fault: String, Sendable {
        /// This program's.
        case local
        /// The other side's.
        case peer
        /// The connection's.
        case transport
    }

    /// The codes of the protocol's errors.
    public enum Code {
        public static let parseError: Int64 = -32700
        public static let invalidRequest: Int64 = -32600
        public static let methodNotFound: Int64 = -32601
        public static let invalidParams: Int64 = -32602
        public static let internalError: Int64 = -32603
        public static let connectionClosed: Int64 = -32000
        public static let requestTimeout: Int64 = -32001
        public static let resourceNotFound: Int64 = -32002
        public static let missingRequiredClientCapability: Int64 = -32021
        public static let unsupportedProtocolVersion: Int64 = -32022
        public static let urlElicitationRequired: Int64 = -32042
    }

    public let kind: Kind

    /// The JSON-RPC code: the other side's for a `response`, this side's otherwise.
    public let code: Int64?

    /// One sentence for a person.
    public let message: String

    /// What the other side sent with its error.
    public let data: JSON?

    public let fault: Fault

    /// Whether the same call may succeed if it is made again. It says nothing about whether the first attempt had an
    /// effect.
    public let isRetryable: Bool

    /// The status of the HTTP response that it came with.
    public let httpStatus: Int?

    /// What the server wants, if it refused the request over HTTP for want of authorization: 401, or 403 with a challenge.
    public var unauthorized: Unauthorized? {
        guard let httpStatus, httpStatus == 401 || httpStatus == 403 else { return nil }
        let challenge = data?["wwwAuthenticate"]?.stringValue
        return httpStatus == 401 || challenge != nil ? Unauthorized(status: httpStatus, wwwAuthenticate: challenge) : nil
    }

    /// The answer of a handler.
    public init(code: Int64, message: String, data: JSON? = nil) {
        self.init(kind: .response, code: code, message: message, data: data, fault: .local)
    }

    /// The user must visit URLs before the call can succeed: the answer of a server's handler.
    public static func urlElicitationRequired(
        _ elicitations: [URLElicitation], message: String = "This request requires the user to visit a URL first"
    ) -> MCPError {
        let data: JSON = ["elicitations": .array(elicitations.map(\.json.asJSON))]
        return MCPError(code: Code.urlElicitationRequired, message: message, data: data)
    }

    /// The URLs that the user must visit before the call can succeed; empty for other errors.
    public var urlElicitations: [URLElicitation] {
        guard code == Code.urlElicitationRequired else { return [] }
        return data?["elicitations"]?.arrayValue?.compactMap(\.objectValue).map(URLElicitation.init(json:)) ?? []
    }

    init(
        kind: Kind, code: Int64?, message: String, data: JSON? = nil, fault: Fault, isRetryable: Bool = false,
        httpStatus: Int? = nil
    ) {
        self.kind = kind
        self.code = code
        self.message = message
        self.data = data
        self.fault = fault
        self.isRetryable = isRetryable
        self.httpStatus = httpStatus
    }

    static func usage(_ message: String) -> MCPError {
        MCPError(kind: .usage, code: Code.invalidParams, message: message, fault: .local)
    }

    static func `protocol`(_ message: String) -> MCPError {
        MCPError(kind: .protocol, code: Code.invalidRequest, message: message, fault: .peer)
    }

    static func unsupported(_ message: String) -> MCPError {
        MCPError(kind: .unsupported, code: nil, message: message, fault: .local)
    }

    static var ended: MCPError {
        MCPError(
            kind: .closed, code: Code.connectionClosed, message: "the connection has ended", fault: .transport,
            isRetryable: true
        )
    }
}

extension MCPError: LocalizedError, CustomStringConvertible {
    public var errorDescription: String? { message }

    public var description: String { "\(kind.rawValue) error\(code.map { " \($0)" } ?? ""): \(message)" }
}

/// One of the URLs that a user must visit.
public struct URLElicitation: MCPObject {
    public let json: JSONObject

    public init(json: JSONObject) {
        self.json = json
    }

    public init(_ message: String, url: String, elicitationId: String) {
        self.init(("mode", "url"), ("elicitationId", elicitationId), ("url", url), ("message", message))
    }

    /// Why, for the user.
    public var message: String { text("message") ?? "" }
    public var url: String { text("url") ?? "" }

    /// For `notifications/elicitation/complete`, which tells that it was done.
    public var elicitationId: String? { text("elicitationId") }
}

extension MCPError {
    init(_ failure: Failure) {
        self.init(
            kind: Kind(rawValue: failure.kind) ?? .internal,
            code: failure.code,
            message: failure.message,
            data: failure.data.flatMap { try? JSON(parsing: $0) },
            fault: Fault(rawValue: failure.fault) ?? .local,
            isRetryable: failure.retryable,
            httpStatus: failure.httpStatus.map(Int.init)
        )
    }
}

/// Runs a verb of the core; what it throws becomes an error of this package.
func verb<Result>(_ work: () throws -> Result) throws -> Result {
    do {
        return try work()
    } catch Refusal.Refused(let failure) {
        throw MCPError(failure)
    } catch let error as MCPError {
        throw error
    } catch {
        let message = "a fault inside oxmcp: \(error.localizedDescription)"
        throw MCPError(kind: .internal, code: MCPError.Code.internalError, message: message, fault: .local)
    }
}
