package dev.oxmcp

import dev.oxmcp.internal.Failure
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put

/** Whose fault a failure was. */
public enum class Fault {
    /** This program's. */
    LOCAL,

    /** The other side's. */
    PEER,

    /** The connection's. */
    TRANSPORT,
}

/** The codes of the protocol's errors. */
public object ErrorCode {
    public const val PARSE_ERROR: Long = -32700
    public const val INVALID_REQUEST: Long = -32600
    public const val METHOD_NOT_FOUND: Long = -32601
    public const val INVALID_PARAMS: Long = -32602
    public const val INTERNAL_ERROR: Long = -32603
    public const val CONNECTION_CLOSED: Long = -32000
    public const val REQUEST_TIMEOUT: Long = -32001
    public const val RESOURCE_NOT_FOUND: Long = -32002
    public const val URL_ELICITATION_REQUIRED: Long = -32042
    public const val MISSING_REQUIRED_CLIENT_CAPABILITY: Long = -32021
    public const val UNSUPPORTED_PROTOCOL_VERSION: Long = -32022
}

/**
 * What a call fails with.
 *
 * A coroutine that is cancelled gets a [kotlinx.coroutines.CancellationException] instead, as everywhere.
 *
 * @property code the JSON-RPC code: the other side's for a [ResponseException], this side's otherwise
 * @property data what the other side sent with its error
 * @property fault whose fault it was
 * @property isRetryable whether the same call may succeed if it is made again; it says nothing about whether the first
 *   attempt had an effect
 */
public sealed class McpException(
    message: String,
    public val code: Long?,
    public val data: JsonElement?,
    public val fault: Fault,
    public val isRetryable: Boolean,
    cause: Throwable? = null,
) : Exception(message, cause) {
    /** The status of the HTTP response that it came with. */
    public var httpStatus: Int? = null
        internal set

    /** What the server wants, if it refused the request over HTTP for want of authorization: 401, or 403 with a challenge. */
    public val unauthorized: Unauthorized?
        get() {
            val status = httpStatus.takeIf { it == 401 || it == 403 } ?: return null
            val challenge = (data as? JsonObject)?.let { UnknownContent(it).text("wwwAuthenticate") }
            return if (status == 401 || challenge != null) Unauthorized(status, challenge) else null
        }
}

/**
 * Thrown by a handler, it is the answer: an error with this code, message and data.
 *
 * ```
 * throw McpError(ErrorCode.INVALID_PARAMS, "there is no city of this name")
 * ```
 */
public class McpError(code: Long, message: String, data: JsonElement? = null) :
    McpException(message, code, data, Fault.LOCAL, false)

/** The other side answered with an error; code, message and data are its own. */
public open class ResponseException internal constructor(code: Long?, message: String, data: JsonElement?) :
    McpException(message, code, data, Fault.PEER, false)

/** One of the URLs that a user must visit. */
public class UrlElicitation(json: JsonObject) : McpObject(json) {
    public constructor(message: String, url: String, elicitationId: String) : this(
        buildJsonObject {
            put("mode", "url")
            put("elicitationId", elicitationId)
            put("url", url)
            put("message", message)
        },
    )

    /** Why, for the user. */
    public val message: String get() = text("message").orEmpty()
    public val url: String get() = text("url").orEmpty()

    /** For `notifications/elicitation/complete`, which tells that it was done. */
    public val elicitationId: String? get() = text("elicitationId")
}

/** The user must visit a URL before the call can succeed. A server's handler throws it, and a client catches it. */
public class UrlElicitationRequiredException(
    /** What there is to visit. */
    public val elicitations: List<UrlElicitation>,
    message: String = "This request requires the user to visit a URL first",
) : ResponseException(
    ErrorCode.URL_ELICITATION_REQUIRED,
    message,
    buildJsonObject { put("elicitations", JsonArray(elicitations.map { it.json })) },
)

/** No answer within the time allowed. The other side was told that nobody waits any more. */
public class RequestTimeoutException internal constructor(failure: Failure) :
    McpException(failure.message, failure.code, failure.json(), failure.whose(), true)

/** The call is off, although its coroutine was not cancelled: the question of a handler whose own call has ended. */
public class CallCancelledException internal constructor(message: String) :
    McpException(message, null, null, Fault.LOCAL, false)

/** The connection ended before the answer came, or could not be opened; the message says how. */
public class ConnectionClosedException internal constructor(message: String, cause: Throwable? = null) :
    McpException(message, ErrorCode.CONNECTION_CLOSED, null, Fault.TRANSPORT, true, cause)

/** The other side did not declare the capability that the method rests on; nothing was sent. */
public class CapabilityException internal constructor(message: String, code: Long?, data: JsonElement? = null) :
    McpException(message, code, data, Fault.LOCAL, false)

/** The call could not be made as asked; nothing was sent. */
public class UsageException internal constructor(message: String, cause: Throwable? = null) :
    McpException(message, ErrorCode.INVALID_PARAMS, null, Fault.LOCAL, false, cause)

/** The other side broke the protocol. */
public class ProtocolException internal constructor(message: String, cause: Throwable? = null) :
    McpException(message, ErrorCode.INVALID_REQUEST, null, Fault.PEER, false, cause)

/** A handler of this program failed, on whose answer the call rested (2026-07-28). */
public class HandlerException internal constructor(failure: Failure) :
    McpException(failure.message, failure.code, failure.json(), Fault.LOCAL, false)

/** A fault inside this package. Please report it. */
public class InternalFaultException internal constructor(message: String, cause: Throwable? = null) :
    McpException(message, ErrorCode.INTERNAL_ERROR, null, Fault.LOCAL, false, cause)

internal fun Failure.toException(): McpException = byKind().also { it.httpStatus = httpStatus?.toInt() }

private fun Failure.byKind(): McpException = when (kind) {
    "response" -> urlElicitation() ?: ResponseException(code, message, json())
    "timeout" -> RequestTimeoutException(this)
    "cancelled" -> CallCancelledException(message)
    "closed" -> ConnectionClosedException(message)
    "not_negotiated" -> CapabilityException(message, code, json())
    "protocol" -> ProtocolException(message)
    "handler" -> HandlerException(this)
    "internal" -> InternalFaultException(message)
    else -> UsageException(message)
}

private fun Failure.urlElicitation(): McpException? {
    if (code != ErrorCode.URL_ELICITATION_REQUIRED) return null
    val list = (json() as? JsonObject)?.get("elicitations") as? JsonArray ?: return null
    return UrlElicitationRequiredException(list.filterIsInstance<JsonObject>().map(::UrlElicitation), message)
}

private fun Failure.json(): JsonElement? = data?.let(::parse)

private fun Failure.whose(): Fault = when (fault) {
    "peer" -> Fault.PEER
    "transport" -> Fault.TRANSPORT
    else -> Fault.LOCAL
}
