package dev.oxmcp

import dev.oxmcp.internal.Notice
import dev.oxmcp.internal.Request
import kotlinx.serialization.KSerializer
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlinx.serialization.serializer

/**
 * What a handler of a server knows of its caller, and may say to it meanwhile.
 *
 * A caller that cancels cancels the handler's coroutine; whatever the handler does then, nothing more is written for the
 * call.
 */
public class CallContext internal constructor(private val incoming: Incoming) {
    private val link get() = incoming.link
    private val id get() = incoming.key.id
    private val connection get() = incoming.key.connection

    /** Who calls. Ask while the call runs. */
    public val caller: Caller by lazy { Caller(link.command("""{"caller":{"call":$id}}""", connection)) }

    /**
     * The HTTP request that brought the call: its header fields say who sent it. `null` over other transports. Ask while the
     * call runs; over the older HTTP+SSE transport it is the request that opened the stream.
     */
    public val httpRequest: HttpRequest? by lazy { link.httpRequest(incoming.key) }

    /** The `Mcp-Session-Id` of the session that the call is part of, over HTTP and in revisions with sessions. */
    public val sessionId: String? by lazy { link.sessionId(connection) }

    /** What an [InputRequired] asked for in the round before, by its keys; `null` in the first round and in other revisions. */
    public val inputResponses: JsonObject? get() = caller.member("inputResponses")

    /** What an [InputRequired] kept in the round before. */
    public val requestState: String? get() = caller.text("state")

    /** Whether the caller asked for progress. */
    public val wantsProgress: Boolean get() = incoming.wantsProgress

    /**
     * Reports progress, if the caller asked for it. Each report must be greater than the one before; others are left out.
     * Those that the caller does not read in time are left out too.
     */
    public fun progress(progress: Number, total: Number? = null, message: String? = null) {
        if (!wantsProgress) return
        link.notify(Notice.Progress(id, progress.toDouble(), total?.toDouble(), message), connection)
    }

    /** Sends a log message, if it is severe enough for the caller. */
    public fun log(level: LogLevel, data: JsonElement, logger: String? = null) {
        link.notify(Notice.Log(id, level.wire, logger, data.toString()), connection)
    }

    /** The same, of a text. */
    public fun log(level: LogLevel, text: String, logger: String? = null): Unit = log(level, JsonPrimitive(text), logger)

    /** Sends any notification to the caller. */
    public fun notify(method: String, params: JsonObject? = null) {
        link.notify(Notice.Method(method, params?.toString()), connection)
    }

    /**
     * Asks the caller's user to fill in a form, which is made from the members of [T]: texts, numbers, booleans and enums.
     *
     * One function for both eras. In revisions with a handshake a request goes out, and its answer comes. In 2026-07-28 the
     * question becomes the answer to this call: the handler's coroutine is cancelled, the client makes the call again with
     * the answers, and the handler runs again from its start; then each question that it asks in the same order is answered
     * at once. So what comes before a question must do no harm when it is done twice.
     *
     * @param key the question's own name, for handlers that do not always ask in the same order
     * @throws CapabilityException when the caller can not be asked
     */
    public suspend inline fun <reified T> elicit(
        message: String,
        key: String? = null,
        options: RequestOptions = RequestOptions.DEFAULT,
    ): Elicited<T> = elicit(message, serializer<T>(), key, options)

    /** The same by a serializer. */
    public suspend fun <T> elicit(
        message: String,
        serializer: KSerializer<T>,
        key: String? = null,
        options: RequestOptions = RequestOptions.DEFAULT,
    ): Elicited<T> {
        val result = elicit(message, formOf(serializer.descriptor), key, options)
        return when (result.action) {
            "accept" -> Elicited.Accepted(read(serializer, result.content ?: EMPTY))
            "decline" -> Elicited.Declined
            else -> Elicited.Cancelled
        }
    }

    /** Asks the caller's user to fill in a form of your own: a JSON Schema of an object with simple members. */
    public suspend fun elicit(
        message: String,
        requestedSchema: JsonObject,
        key: String? = null,
        options: RequestOptions = RequestOptions.DEFAULT,
    ): ElicitResult = ElicitResult.of(request("elicitation/create", formParams(message, requestedSchema), key, options))

    /** Asks the caller's user to visit a URL. */
    public suspend fun elicitUrl(
        message: String,
        url: String,
        elicitationId: String,
        key: String? = null,
        options: RequestOptions = RequestOptions.DEFAULT,
    ): ElicitResult {
        val params = UrlElicitation(message, url, elicitationId).json
        return ElicitResult.of(request("elicitation/create", params, key, options))
    }

    /** Asks the caller's model; see [elicit] for what that means in each era. */
    public suspend fun sample(
        request: SamplingRequest,
        key: String? = null,
        options: RequestOptions = RequestOptions.DEFAULT,
    ): SamplingResult = SamplingResult(request("sampling/createMessage", request.json, key, options))

    /** Asks the caller for the folders and files to work on; see [elicit] for what that means in each era. */
    public suspend fun listRoots(key: String? = null, options: RequestOptions = RequestOptions.DEFAULT): List<Root> =
        UnknownContent(request("roots/list", null, key, options)).objects("roots").map(::Root)

    /** Asks the caller for anything, for the sake of this call; see [elicit] for what that means in each era. */
    public suspend fun request(
        method: String,
        params: JsonObject? = null,
        key: String? = null,
        options: RequestOptions = RequestOptions.DEFAULT,
    ): JsonObject {
        val ask = Request.Ask(id, method, params?.toString(), key)
        return parseObject(link.call(ask, options, connection))
    }

    /**
     * Gives up the stream of this call over HTTP, so that a long call holds no connection: the caller comes back for what is
     * said later. In revisions with sessions only; elsewhere it does nothing.
     */
    public fun endStream(): Unit = link.endStream(incoming.key)

    private fun <T> read(serializer: KSerializer<T>, content: JsonObject): T = try {
        mcpJson.decodeFromJsonElement(serializer, content)
    } catch (error: IllegalArgumentException) {
        throw ProtocolException("what the user filled in does not fit the form: ${error.message}", error)
    }
}
