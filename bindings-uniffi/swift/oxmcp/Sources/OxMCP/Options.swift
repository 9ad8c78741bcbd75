internal import OxMCPNative

/// Called for each report of a call's progress, one after the other.
public typealias ProgressHandler = @Sendable (MCPProgress) async throws -> Void

/// Options of one call.
public struct RequestOptions: Sendable {
    /// How long it may go without an answer; the client's own time by default, `.unlimited` for no limit.
    public var timeout: Duration?

    /// A bound on the whole call, which progress does not move.
    public var maxTotalTimeout: Duration?

    /// Each report of progress starts ``timeout`` anew. Asks for progress by itself.
    public var resetTimeoutOnProgress: Bool

    /// Ask the server even when a result is at hand that it called fresh (2026-07-28).
    public var fresh: Bool

    /// The mildest log messages to send for this call (2026-07-28).
    public var logLevel: LogLevel?

    /// Asks for progress. When it throws, the call is cancelled and fails with that.
    public var onProgress: ProgressHandler?

    public init(
        timeout: Duration? = nil, maxTotalTimeout: Duration? = nil, resetTimeoutOnProgress: Bool = false,
        fresh: Bool = false, logLevel: LogLevel? = nil, onProgress: ProgressHandler? = nil
    ) {
        self.timeout = timeout
        self.maxTotalTimeout = maxTotalTimeout
        self.resetTimeoutOnProgress = resetTimeoutOnProgress
        self.fresh = fresh
        self.logLevel = logLevel
        self.onProgress = onProgress
    }

    var native: OxMCPNative.RequestOptions {
        OxMCPNative.RequestOptions(
            timeout: timeout?.milliseconds,
            maxTotalTimeout: maxTotalTimeout?.milliseconds,
            resetTimeoutOnProgress: resetTimeoutOnProgress,
            progress: onProgress != nil,
            fresh: fresh,
            logLevel: logLevel?.rawValue
        )
    }
}

/// A server to start as a child process and to talk to over its standard streams.
///
/// No shell is involved: arguments arrive as they are. It inherits few variables, and no secrets, unless ``inheritEnv``. When
/// its client is closed it is asked to leave: its input is closed, then `SIGTERM`, then `SIGKILL`, ``grace`` after one
/// another.
public struct ServerCommand: Sendable, CustomStringConvertible {
    /// Where its standard error goes.
    public enum Stderr: Sendable {
        /// To that of this program.
        case inherit
        /// Nowhere.
        case discard
        /// To a function, line by line.
        case lines(@Sendable (String) -> Void)
    }

    /// Looked up in `PATH` unless it is a path.
    public var program: String
    public var arguments: [String]

    /// What its environment has beside the few variables that each child gets.
    public var env: [String: String] = [:]

    /// Pass all of this program's environment on.
    public var inheritEnv = false

    /// The folder to run in.
    public var folder: String?
    public var stderr: Stderr = .inherit

    /// How long it may take to leave after each step; 2 s by default.
    public var grace: Duration?

    public init(_ program: String, _ arguments: String...) {
        self.init(program, arguments: arguments)
    }

    public init(_ program: String, arguments: [String]) {
        self.program = program
        self.arguments = arguments
    }

    /// Without the arguments and the environment, which may hold secrets.
    public var description: String { "ServerCommand(\(program))" }

    var json: JSONObject {
        let stderr =
            switch stderr {
            case .inherit: "inherit"
            case .discard: "null"
            case .lines: "lines"
            }
        return JSONObject(
            members: ("program", program), ("args", arguments), ("env", env), ("inheritEnv", inheritEnv), ("cwd", folder),
            ("stderr", stderr), ("grace", grace?.asJSON)
        )
    }
}

/// How a server is reached over HTTP. What is `nil` has its default.
public struct HTTPClientOptions: Sendable, CustomStringConvertible {
    /// Whether the HTTP+SSE transport of revision 2024-11-05 is used.
    public enum HTTPSSE: String, Sendable {
        /// Where a server has no other.
        case auto
        case never, only
    }

    /// Which redirects are followed.
    public struct Redirects: Sendable {
        /// How many in a row; 5 by default.
        public var hops: Int?

        /// Whether to other origins, which get no ``HTTPClientOptions/headers``.
        public var otherOrigins: Bool

        public init(hops: Int? = nil, otherOrigins: Bool = false) {
            self.hops = hops
            self.otherOrigins = otherOrigins
        }
    }

    /// How a stream that broke is opened again: after 1 s by default, then half as long again each time, at most 30 s, until
    /// 8 attempts in a row have brought nothing.
    public struct Backoff: Sendable {
        public var initial: Duration?
        public var factor: Double?
        public var max: Duration?
        public var attempts: Int?

        public init(initial: Duration? = nil, factor: Double? = nil, max: Duration? = nil, attempts: Int? = nil) {
            self.initial = initial
            self.factor = factor
            self.max = max
            self.attempts = attempts
        }
    }

    /// Sent with every request to the server, and never to another origin.
    public var headers: [String: String] = [:]

    /// A URL; the system's proxies by default.
    public var proxy: String?
    public var noProxy = false

    /// PEM text of a certificate to trust beside the system's.
    public var rootCertificate: String?

    /// For opening a connection; 30 s by default. There are no other timeouts but those of calls.
    public var connectTimeout: Duration?

    /// How long the end of a connection may take, for what is still to be sent and for the end of a session, each; 2 s by
    /// default.
    public var closeTimeout: Duration?

    /// Whether a session that the server no longer knows is begun anew; otherwise the connection ends. On by default.
    public var renewSessions: Bool?
    public var httpSSE: HTTPSSE?

    /// How many requests may be under way at once; 256 by default. More calls wait.
    public var maxRequests: Int?

    /// Whether a stream is held open for what a server tells unasked, in revisions with a handshake. On by default.
    public var listen: Bool?
    public var redirects: Redirects?
    public var backoff: Backoff?

    /// Gives other header fields when the server refuses a request for want of authorization: with status 401, or with 403 and a
    /// challenge. The request is made once more with them over ``headers``, and so are all that follow.
    ///
    /// With `nil`, or the same, it fails with an `MCPError` of the kind `response` that tells what the server wants, see
    /// ``MCPError/unauthorized``, and so it does when the function throws: the message says with what. It runs as handlers do,
    /// once at a time: requests that are refused meanwhile have what it gives, too. Their time goes on, and the function is
    /// cancelled when the client closes.
    public var onUnauthorized: (@Sendable (Unauthorized) async throws -> [String: String]?)?

    public init() {}

    public init(configure: (inout HTTPClientOptions) -> Void) {
        configure(&self)
    }

    /// Without the values of headers, which may be secrets.
    public var description: String { "HTTPClientOptions(headers: \(headers.keys.sorted()))" }

    var json: JSONObject {
        JSONObject(
            members: ("headers", headers), ("proxy", proxy), ("noProxy", noProxy), ("rootCertificate", rootCertificate),
            ("connectTimeout", connectTimeout?.asJSON), ("closeTimeout", closeTimeout?.asJSON),
            ("renewSessions", renewSessions), ("httpSse", httpSSE?.rawValue), ("maxRequests", maxRequests),
            ("listen", listen), ("redirects", redirects?.json), ("backoff", backoff?.json)
        )
    }
}

extension HTTPClientOptions.Redirects {
    fileprivate var json: JSONObject { JSONObject(members: ("hops", hops), ("otherOrigins", otherOrigins)) }
}

extension HTTPClientOptions.Backoff {
    fileprivate var json: JSONObject {
        JSONObject(
            members: ("initial", initial?.asJSON), ("factor", factor), ("max", max?.asJSON), ("attempts", attempts)
        )
    }
}

/// Bounds on what the other side can make this program hold. Over a bound the one message is refused. What is `nil` has its
/// default.
public struct Limits: Sendable {
    /// Bytes per message; 16 MiB by default.
    public var message: Int?

    /// How deep the JSON of a message may nest; 128 by default.
    public var depth: Int?

    /// Server: calls that wait for an answer at the same time; 65,536 by default.
    public var inFlight: Int?

    /// Server: how long accepted calls may go on after the client has left; 5 s by default.
    public var drain: Duration?

    /// Server: streams and subscriptions of one client; 1024 by default.
    public var subscriptions: Int?

    /// Client: how often a server may ask for input before it serves a call (2026-07-28); 16 by default.
    public var rounds: Int?

    /// Client: pages of a list; 1000 by default.
    public var pages: Int?

    /// Client: bytes of a list, and of all results that are kept as fresh; 64 MiB by default.
    public var list: Int?

    public init() {}

    public init(configure: (inout Limits) -> Void) {
        configure(&self)
    }

    /// - Throws: `MCPError` of the kind `usage` for what is no limit
    func check() throws {
        let counts = [("message", message, 1), ("depth", depth, 1), ("inFlight", inFlight, 1), ("pages", pages, 1)]
        for (name, limit, least) in counts + [("subscriptions", subscriptions, 0), ("rounds", rounds, 0), ("list", list, 0)] {
            guard let limit, limit < least else { continue }
            throw MCPError.usage("the limit \"\(name)\" must be \(least) or more; it is \(limit)")
        }
    }

    var json: JSONObject {
        JSONObject(
            members: ("message", message), ("depth", depth), ("inFlight", inFlight), ("drain", drain?.asJSON),
            ("subscriptions", subscriptions), ("rounds", rounds), ("pages", pages), ("list", list)
        )
    }
}
