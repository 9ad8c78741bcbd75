package dev.oxmcp

import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlin.time.Duration

/**
 * Options of one call.
 *
 * @property timeout how long it may go without an answer; the client's own by default, [Duration.INFINITE] for no limit
 * @property maxTotalTimeout a bound on the whole call, which progress does not move
 * @property resetTimeoutOnProgress each report of progress starts [timeout] anew; asks for progress by itself
 * @property fresh ask the server even when a result is at hand that it called fresh (2026-07-28)
 * @property logLevel the mildest log messages to send for this call (2026-07-28)
 * @property onProgress asks for progress, and is called for each report, one after the other, in the coroutine of the call.
 *   When it throws, the call is cancelled and fails with that
 */
public data class RequestOptions(
    val timeout: Duration? = null,
    val maxTotalTimeout: Duration? = null,
    val resetTimeoutOnProgress: Boolean = false,
    val fresh: Boolean = false,
    val logLevel: LogLevel? = null,
    val onProgress: (suspend (Progress) -> Unit)? = null,
) {
    internal fun toNative(): dev.oxmcp.internal.RequestOptions? {
        if (this === DEFAULT) return null
        return dev.oxmcp.internal.RequestOptions(
            timeout?.toMillis(),
            maxTotalTimeout?.toMillis(),
            resetTimeoutOnProgress,
            onProgress != null,
            fresh,
            logLevel?.wire,
        )
    }

    public companion object {
        public val DEFAULT: RequestOptions = RequestOptions()
    }
}

/**
 * A server to start as a child process and to talk to over its standard streams.
 *
 * No shell is involved: arguments arrive as they are. It inherits few variables, and no secrets, unless [inheritEnv]. When
 * its client is closed it is asked to leave: its input is closed, then `SIGTERM`, then `SIGKILL`, [grace] after one another.
 *
 * @property program looked up in `PATH` unless it is a path
 * @property env what its environment has beside the few variables that each child gets
 * @property cwd the folder to run in
 */
public data class ServerCommand(
    val program: String,
    val args: List<String> = emptyList(),
    val env: Map<String, String> = emptyMap(),
    val inheritEnv: Boolean = false,
    val cwd: String? = null,
    val stderr: Stderr = Stderr.Inherit,
    val grace: Duration? = null,
) {
    public constructor(program: String, vararg args: String) : this(program, args.toList())

    /** Where its standard error goes. */
    public sealed class Stderr {
        /** To that of this program. */
        public data object Inherit : Stderr()

        /** Nowhere. */
        public data object Discard : Stderr()

        /** To [each], line by line. */
        public class Lines(public val each: (String) -> Unit) : Stderr()
    }

    /** Arguments and environment may hold secrets. */
    override fun toString(): String = "ServerCommand($program)"

    internal fun toJson(): JsonObject = buildJsonObject {
        put("program", program)
        putTexts("args", args)
        put("env", buildJsonObject { env.forEach { (name, value) -> put(name, value) } })
        put("inheritEnv", inheritEnv)
        putIf("cwd", cwd)
        put(
            "stderr",
            when (stderr) {
                Stderr.Inherit -> "inherit"
                Stderr.Discard -> "null"
                is Stderr.Lines -> "lines"
            },
        )
        putIf("grace", grace?.toJson())
    }
}

/**
 * How a server is reached over HTTP. What is null has its default.
 *
 * @property headers sent with every request to the server, and never to another origin
 * @property proxy a URL; the system's proxies by default
 * @property rootCertificate PEM text of a certificate to trust beside the system's
 * @property connectTimeout for opening a connection; 30 s by default. There are no other timeouts but those of calls
 * @property closeTimeout how long the end of a connection may take, for what is still to be sent and for the end of a session,
 *   each; 2 s by default
 * @property renewSessions whether a session that the server no longer knows is begun anew; otherwise the connection ends. On by
 *   default
 * @property httpSse whether the transport of 2024-11-05 is used where a server has no other
 * @property maxRequests how many requests may be under way at once; 256 by default. More calls wait
 * @property listen whether a stream is held open for what a server tells unasked, in revisions with a handshake. On by default
 * @property onUnauthorized gives other header fields when the server refuses a request for want of authorization: with status
 *   401, or with 403 and a challenge. The request is made once more with them over [headers], and so are all that follow. With
 *   null, or the same, it fails with a [ResponseException] that tells what the server wants, see [McpException.unauthorized],
 *   and so it does when the function throws: the message says with what. It runs as handlers do, once at a time: requests that
 *   are refused meanwhile have what it gives, too. Their time goes on, and the function is cancelled when the client closes
 */
public data class HttpClientOptions(
    val headers: Map<String, String> = emptyMap(),
    val proxy: String? = null,
    val noProxy: Boolean = false,
    val rootCertificate: String? = null,
    val connectTimeout: Duration? = null,
    val closeTimeout: Duration? = null,
    val renewSessions: Boolean? = null,
    val httpSse: HttpSse? = null,
    val maxRequests: Int? = null,
    val listen: Boolean? = null,
    val redirects: Redirects? = null,
    val backoff: Backoff? = null,
    val onUnauthorized: (suspend (Unauthorized) -> Map<String, String>?)? = null,
) {
    /** Whether the HTTP+SSE transport of revision 2024-11-05 is used. */
    public enum class HttpSse { AUTO, NEVER, ONLY }

    /** Which redirects are followed: how many in a row, 5 by default, and whether to other origins, which get no [headers]. */
    public data class Redirects(val hops: Int? = null, val otherOrigins: Boolean = false)

    /**
     * How a stream that broke is opened again: after 1 s by default, then half as long again each time, at most 30 s, until 8
     * attempts in a row have brought nothing.
     */
    public data class Backoff(
        val initial: Duration? = null,
        val factor: Double? = null,
        val max: Duration? = null,
        val attempts: Int? = null,
    )

    /** Headers may hold secrets. */
    override fun toString(): String = "HttpClientOptions(headers=${headers.keys})"

    internal fun toJson(): JsonObject = buildJsonObject {
        put("headers", buildJsonObject { headers.forEach { (name, value) -> put(name, value) } })
        putIf("proxy", proxy)
        put("noProxy", noProxy)
        putIf("rootCertificate", rootCertificate)
        putIf("connectTimeout", connectTimeout?.toJson())
        putIf("closeTimeout", closeTimeout?.toJson())
        putIf("renewSessions", renewSessions)
        putIf("httpSse", httpSse?.name?.lowercase())
        putIf("maxRequests", maxRequests)
        putIf("listen", listen)
        redirects?.let {
            put("redirects", buildJsonObject { putIf("hops", it.hops); put("otherOrigins", it.otherOrigins) })
        }
        backoff?.let {
            put(
                "backoff",
                buildJsonObject {
                    putIf("initial", it.initial?.toJson())
                    putIf("factor", it.factor)
                    putIf("max", it.max?.toJson())
                    putIf("attempts", it.attempts)
                },
            )
        }
    }
}

/**
 * Bounds on what the other side can make this program hold. Over a bound the one message is refused. What is null has its
 * default.
 */
public data class Limits(
    /** Bytes per message; 16 MiB by default. */
    val message: Long? = null,
    /** How deep the JSON of a message may nest; 128 by default. */
    val depth: Int? = null,
    /** Server: calls that wait for an answer at the same time; 65,536 by default. */
    val inFlight: Int? = null,
    /** Server: how long accepted calls may go on after the client has left; 5 s by default. */
    val drain: Duration? = null,
    /** Server: streams and subscriptions of one client; 1024 by default. */
    val subscriptions: Int? = null,
    /** Client: how often a server may ask for input before it serves a call (2026-07-28); 16 by default. */
    val rounds: Int? = null,
    /** Client: pages of a list; 1000 by default. */
    val pages: Int? = null,
    /** Client: bytes of a list, and of all results that are kept as fresh; 64 MiB by default. */
    val list: Long? = null,
) {
    init {
        atLeast(1, "message" to message, "depth" to depth?.toLong(), "inFlight" to inFlight?.toLong(), "pages" to pages?.toLong())
        atLeast(0, "subscriptions" to subscriptions?.toLong(), "rounds" to rounds?.toLong(), "list" to list)
    }

    private fun atLeast(least: Long, vararg limits: Pair<String, Long?>) {
        val (name, wrong) = limits.firstOrNull { (_, limit) -> limit != null && limit < least } ?: return
        throw UsageException("the limit \"$name\" must be $least or more; it is $wrong")
    }

    internal fun toJson(): JsonObject = buildJsonObject {
        putIf("message", message)
        putIf("depth", depth)
        putIf("inFlight", inFlight)
        putIf("drain", drain?.toJson())
        putIf("subscriptions", subscriptions)
        putIf("rounds", rounds)
        putIf("pages", pages)
        putIf("list", list)
    }
}
