package dev.oxmcp

import dev.oxmcp.internal.Happening
import dev.oxmcp.internal.Notice
import dev.oxmcp.internal.Reply
import dev.oxmcp.internal.Request
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.cancel
import kotlinx.coroutines.channels.BufferOverflow
import kotlinx.coroutines.flow.Flow
import kotlinx.coroutines.flow.MutableSharedFlow
import kotlinx.coroutines.flow.SharedFlow
import kotlinx.coroutines.flow.asSharedFlow
import kotlinx.coroutines.flow.channelFlow
import kotlinx.coroutines.withContext
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.encodeToJsonElement
import kotlinx.serialization.json.put
import kotlin.time.Duration

/**
 * A connection to one server.
 *
 * ```
 * val client = Client.connect(ServerCommand("python3", "server.py"))
 * println(client.callTool("greet", buildJsonObject { put("name", "Ada") }).text)
 * client.close()
 * ```
 *
 * Every call ends: by its answer, by its timeout (60 s without an answer unless set), with its connection, or with its
 * coroutine. A call whose coroutine is cancelled is cancelled at the server too, and a late answer is dropped. All functions
 * may be called from any thread, and from handlers.
 */
public class Client private constructor(private val options: ClientOptions) {
    private val host = ClientHost(options)
    private lateinit var link: Link

    /** Who the server says it is. */
    public val serverInfo: Implementation get() = Implementation(parseObject(host.peer.info))

    /** What the server offers. */
    public val serverCapabilities: JsonObject get() = parseObject(host.peer.capabilities)

    /** How to use the server, for a model; `null` when it does not say. */
    public val instructions: String? get() = host.peer.instructions

    /** The revision of the protocol that both sides speak, such as `2025-11-25`. */
    public val protocolVersion: String get() = host.peer.protocolVersion

    /** Whether the connection is open. */
    public val isConnected: Boolean get() = !link.ended.isCompleted

    /** Waits until the connection has ended, whichever side ended it. */
    public suspend fun await(): Unit = link.ended.await()

    /**
     * All notifications of the server that come while someone collects. Those who collect too slowly lose the oldest of 1024.
     * [ClientOptions.onNotification] sees them from the start.
     */
    public val notifications: SharedFlow<Notification> get() = host.notifications.asSharedFlow()

    /**
     * Calls a tool. One that fails in its own work gives a result with [CallToolResult.isError].
     *
     * @param meta the `_meta` of the request, for what your server knows of it
     * @throws ResponseException when the server refuses: an unknown tool, wrong arguments
     * @throws RequestTimeoutException when no answer comes in time
     * @throws ConnectionClosedException when the connection ends
     * @throws CapabilityException when the server has no tools
     */
    public suspend fun callTool(
        name: String,
        arguments: JsonObject? = null,
        timeout: Duration? = null,
        maxTotalTimeout: Duration? = null,
        resetTimeoutOnProgress: Boolean = false,
        logLevel: LogLevel? = null,
        meta: JsonObject? = null,
        onProgress: (suspend (Progress) -> Unit)? = null,
    ): CallToolResult {
        val options = RequestOptions(timeout, maxTotalTimeout, resetTimeoutOnProgress, false, logLevel, onProgress)
        if (meta == null) return callTool(name, arguments, options)
        val params = buildJsonObject { put("name", name); putIf("arguments", arguments); put("_meta", meta) }
        return CallToolResult(request("tools/call", params, options))
    }

    /** The same, with the options of the call in one value. */
    public suspend fun callTool(name: String, arguments: JsonObject?, options: RequestOptions): CallToolResult =
        CallToolResult(parseObject(link.call(Request.Tool(name, arguments?.toString()), options)))

    /**
     * Calls a tool with arguments by name: `mapOf("city" to "Oslo", "days" to 3)`. Their values are texts, numbers, booleans,
     * enums, null, maps, lists and arrays of these, and JSON.
     *
     * @throws UsageException for a value of another kind
     */
    public suspend fun callTool(
        name: String,
        arguments: Map<String, Any?>?,
        timeout: Duration? = null,
        maxTotalTimeout: Duration? = null,
        resetTimeoutOnProgress: Boolean = false,
        logLevel: LogLevel? = null,
        meta: JsonObject? = null,
        onProgress: (suspend (Progress) -> Unit)? = null,
    ): CallToolResult {
        val encoded = arguments?.let(::jsonOf) as JsonObject?
        return callTool(name, encoded, timeout, maxTotalTimeout, resetTimeoutOnProgress, logLevel, meta, onProgress)
    }

    /** The same, with the options of the call in one value. */
    public suspend fun callTool(name: String, arguments: Map<String, Any?>?, options: RequestOptions): CallToolResult =
        callTool(name, arguments?.let(::jsonOf) as JsonObject?, options)

    /** Calls a tool with a value of a serializable class as its arguments. */
    public suspend inline fun <reified A> callTool(
        name: String,
        arguments: A,
        options: RequestOptions = RequestOptions.DEFAULT,
    ): CallToolResult = callTool(name, argumentsOf(encoder.encodeToJsonElement(arguments)), options)

    /** Lists the server's tools: all pages of them. */
    public suspend fun listTools(options: RequestOptions = RequestOptions.DEFAULT): List<Tool> =
        list("tools/list", "tools", options).map(::Tool)

    /** Lists the server's resources: all pages of them. */
    public suspend fun listResources(options: RequestOptions = RequestOptions.DEFAULT): List<Resource> =
        list("resources/list", "resources", options).map(::Resource)

    /** Lists the templates of the server's resources: all pages of them. */
    public suspend fun listResourceTemplates(options: RequestOptions = RequestOptions.DEFAULT): List<ResourceTemplate> =
        list("resources/templates/list", "resourceTemplates", options).map(::ResourceTemplate)

    /** Lists the server's prompts: all pages of them. */
    public suspend fun listPrompts(options: RequestOptions = RequestOptions.DEFAULT): List<Prompt> =
        list("prompts/list", "prompts", options).map(::Prompt)

    /** One page of the server's tools: the first, or the one that a [Page.nextCursor] names. */
    public suspend fun listToolsPage(cursor: String? = null, options: RequestOptions = RequestOptions.DEFAULT): Page<Tool> =
        page("tools/list", "tools", cursor, options, ::Tool)

    /** One page of the server's resources, as in [listToolsPage]. */
    public suspend fun listResourcesPage(
        cursor: String? = null,
        options: RequestOptions = RequestOptions.DEFAULT,
    ): Page<Resource> = page("resources/list", "resources", cursor, options, ::Resource)

    /** One page of the templates of the server's resources, as in [listToolsPage]. */
    public suspend fun listResourceTemplatesPage(
        cursor: String? = null,
        options: RequestOptions = RequestOptions.DEFAULT,
    ): Page<ResourceTemplate> = page("resources/templates/list", "resourceTemplates", cursor, options, ::ResourceTemplate)

    /** One page of the server's prompts, as in [listToolsPage]. */
    public suspend fun listPromptsPage(
        cursor: String? = null,
        options: RequestOptions = RequestOptions.DEFAULT,
    ): Page<Prompt> = page("prompts/list", "prompts", cursor, options, ::Prompt)

    /** Reads a resource. */
    public suspend fun readResource(uri: String, options: RequestOptions = RequestOptions.DEFAULT): ReadResourceResult =
        ReadResourceResult(request("resources/read", buildJsonObject { put("uri", uri) }, options))

    /** Fills in a prompt. */
    public suspend fun getPrompt(
        name: String,
        arguments: Map<String, String> = emptyMap(),
        options: RequestOptions = RequestOptions.DEFAULT,
    ): GetPromptResult {
        val params = buildJsonObject {
            put("name", name)
            if (arguments.isNotEmpty()) put("arguments", texts(arguments))
        }
        return GetPromptResult(request("prompts/get", params, options))
    }

    /** Asks how an argument of a prompt may go on. [known] are the arguments that were filled in before. */
    public suspend fun completePrompt(
        prompt: String,
        argument: String,
        value: String,
        known: Map<String, String> = emptyMap(),
        options: RequestOptions = RequestOptions.DEFAULT,
    ): Completion {
        val reference = buildJsonObject { put("type", "ref/prompt"); put("name", prompt) }
        return complete(reference, argument, value, known, options)
    }

    /** Asks how a variable of a resource template may go on. */
    public suspend fun completeTemplate(
        uriTemplate: String,
        variable: String,
        value: String,
        known: Map<String, String> = emptyMap(),
        options: RequestOptions = RequestOptions.DEFAULT,
    ): Completion {
        val reference = buildJsonObject { put("type", "ref/resource"); put("uri", uriTemplate) }
        return complete(reference, variable, value, known, options)
    }

    /** Asks to be told of updates of a resource, in revisions with a handshake; later ones have [listen]. */
    public suspend fun subscribeResource(uri: String, options: RequestOptions = RequestOptions.DEFAULT) {
        request("resources/subscribe", buildJsonObject { put("uri", uri) }, options)
    }

    /** Takes [subscribeResource] back. */
    public suspend fun unsubscribeResource(uri: String, options: RequestOptions = RequestOptions.DEFAULT) {
        request("resources/unsubscribe", buildJsonObject { put("uri", uri) }, options)
    }

    /**
     * The changes that a server tells of on a stream of its own (2026-07-28). Collecting opens the stream, and ends it when
     * it is cancelled; it completes when the server ends it. Who collects too slowly loses the oldest of 1024.
     *
     * @param onOpen called once with the part of the filter that the server honours
     * @throws CapabilityException in revisions with a handshake, which send what they have without being asked
     */
    public fun listen(filter: SubscriptionFilter, onOpen: (SubscriptionFilter) -> Unit = {}): Flow<Notification> =
        channelFlow {
            val params = JsonObject(mapOf<String, JsonElement>("notifications" to filter.toJson()))
            link.listen(params.toString()) { notification ->
                if (notification.method != ACKNOWLEDGED) return@listen send(notification)
                onOpen(SubscriptionFilter.of(notification.params?.get("notifications") as? JsonObject ?: EMPTY))
            }
        }

    /**
     * Sets the mildest log messages that the server is to send, in revisions with a handshake. In 2026-07-28 each call says
     * so: [RequestOptions.logLevel].
     */
    public suspend fun setLogLevel(level: LogLevel, options: RequestOptions = RequestOptions.DEFAULT) {
        request("logging/setLevel", buildJsonObject { put("level", level.wire) }, options)
    }

    /** Tells the server that the roots are others now. */
    public fun rootsChanged(): Unit = notify("notifications/roots/list_changed")

    /** Asks the server for a sign of life. */
    public suspend fun ping(options: RequestOptions = RequestOptions.DEFAULT) {
        link.call(Request.Ping, options)
    }

    /** Makes any call; gives the result as the server sent it. */
    public suspend fun request(
        method: String,
        params: JsonObject? = null,
        options: RequestOptions = RequestOptions.DEFAULT,
    ): JsonObject = parseObject(link.call(Request.Method(method, params?.toString()), options))

    /** Sends any notification. @throws CapabilityException when the server can not be told this */
    public fun notify(method: String, params: JsonObject? = null) {
        link.notify(Notice.Method(method, params?.toString()))
    }

    /**
     * Ends the connection: calls that wait fail with a [ConnectionClosedException]. Safe to call at any time, more than once,
     * and from a handler.
     */
    public suspend fun close() {
        withContext(NonCancellable) { link.close("the client was closed") }
        host.scope.cancel()
    }

    /** Runs [block] and closes the client, whatever comes of it. */
    public suspend inline fun <R> use(block: (Client) -> R): R = try {
        block(this)
    } finally {
        close()
    }

    /** What waits at the moment, here and in the core; zero when no call is under way. For tests of leaks. */
    internal fun waiting(): Int = link.waiting + (link.stats()?.let { (it.inbound + it.outbound).toInt() } ?: 0)

    private suspend fun list(method: String, member: String, options: RequestOptions): List<JsonObject> {
        val text = link.call(Request.List(method), options)
        return UnknownContent(parseObject(text)).objects(member)
    }

    private suspend fun <T> page(
        method: String,
        member: String,
        cursor: String?,
        options: RequestOptions,
        read: (JsonObject) -> T,
    ): Page<T> {
        val params = cursor?.let { buildJsonObject { put("cursor", it) } }
        val result = UnknownContent(request(method, params, options))
        return Page(result.objects(member).map(read), result.text("nextCursor"))
    }

    private suspend fun complete(
        reference: JsonObject,
        argument: String,
        value: String,
        known: Map<String, String>,
        options: RequestOptions,
    ): Completion {
        val params = buildJsonObject {
            put("ref", reference)
            put("argument", buildJsonObject { put("name", argument); put("value", value) })
            if (known.isNotEmpty()) put("context", buildJsonObject { put("arguments", texts(known)) })
        }
        val result = request("completion/complete", params, options)
        return Completion(result["completion"] as? JsonObject ?: EMPTY)
    }

    private suspend fun open(server: JsonElement, peer: Link? = null) {
        link = withContext(Dispatchers.IO) {
            val registry = newRegistry()
            try {
                options.methods.keys.forEach {
                    verb { registry.command(crossing("""{"addMethod":{"name":${JsonPrimitive(it)}}}""")) }
                }
                Link.open(options.spec(server), registry, host, peer)
            } finally {
                registry.destroy()
            }
        }
        link.start()
        try {
            host.connected.await()
        } catch (error: Throwable) {
            link.shutDown("connecting was given up")
            // The end of a server that did not come up is not the program's business.
            if (error !is CancellationException) withContext(NonCancellable) { link.ended.await() }
            host.scope.cancel()
            throw error
        }
    }

    public companion object {
        private const val ACKNOWLEDGED = "notifications/subscriptions/acknowledged"

        @PublishedApi
        internal val encoder: kotlinx.serialization.json.Json get() = mcpJson

        /**
         * Starts a server and connects to it.
         *
         * @throws ConnectionClosedException when it can not be started, or ends before it answers; the message says how
         * @throws RequestTimeoutException when it does not answer in time
         * @throws ProtocolException when it speaks no revision that this client speaks
         */
        public suspend fun connect(server: ServerCommand, configure: ClientOptions.() -> Unit = {}): Client {
            val client = Client(ClientOptions().apply(configure))
            client.host.stderr = (server.stderr as? ServerCommand.Stderr.Lines)?.each
            client.open(buildJsonObject { put("command", server.toJson()) })
            return client
        }

        /**
         * Connects to a server over HTTP. Whichever revision it speaks, and be it the older HTTP+SSE transport.
         *
         * @param url `http` or `https`, such as `https://example.com/mcp`
         * @throws ConnectionClosedException when it can not be reached, or refuses; the message says how
         * @throws RequestTimeoutException when it does not answer in time
         */
        public suspend fun connect(
            url: String,
            http: HttpClientOptions = HttpClientOptions(),
            configure: ClientOptions.() -> Unit = {},
        ): Client {
            val client = Client(ClientOptions().apply(configure))
            client.host.renew = http.onUnauthorized
            val server = buildJsonObject {
                put("url", url)
                put("settings", http.toJson())
                put("renews", http.onUnauthorized != null)
            }
            client.open(JsonObject(mapOf<String, JsonElement>("http" to server)))
            return client
        }

        /** Connects to a server of this program, in memory. */
        public suspend fun connect(server: Server, configure: ClientOptions.() -> Unit = {}): Client {
            val client = Client(ClientOptions().apply(configure))
            val far = withContext(Dispatchers.IO) { server.openMemory() }
            try {
                client.open(JsonPrimitive("memory"), far)
            } catch (error: Throwable) {
                far.shutDown("the client did not connect")
                throw error
            }
            return client
        }

        @PublishedApi
        internal fun argumentsOf(element: JsonElement): JsonObject =
            element as? JsonObject ?: throw UsageException("the arguments of a tool must be an object; they are $element")

        private fun texts(values: Map<String, String>) = JsonObject(values.mapValues { JsonPrimitive(it.value) })
    }
}

/** What a client does for its connection. */
private class ClientHost(private val options: ClientOptions) : Host {
    override val scope = CoroutineScope(SupervisorJob() + options.dispatcher)
    val connected = CompletableDeferred<Happening.Ready>()
    val notifications = MutableSharedFlow<Notification>(0, 1024, BufferOverflow.DROP_OLDEST)
    var stderr: ((String) -> Unit)? = null
    var renew: (suspend (Unauthorized) -> Map<String, String>?)? = null

    @OptIn(kotlinx.coroutines.ExperimentalCoroutinesApi::class)
    val peer: Happening.Ready get() = connected.getCompleted()

    override suspend fun answer(incoming: Incoming, call: Happening.Call): Reply {
        val method = call.method.orEmpty()
        val result = options.answer(method, parseObject(call.params))
            ?: return Reply.Error(ErrorCode.METHOD_NOT_FOUND, "Method not found: $method", null)
        return Reply.Result(result.toString())
    }

    override fun failure(call: Happening.Call, error: Throwable): Reply = errorReply(error, ::thrown)

    override fun ready(connection: ULong, peer: Happening.Ready) {
        connected.complete(peer)
    }

    override fun connectFailed(error: McpException) {
        connected.completeExceptionally(error)
    }

    override suspend fun renew(refused: Unauthorized): Map<String, String>? = renew?.invoke(refused)

    override fun notified(connection: ULong, notification: Notification): suspend () -> Unit = {
        notifications.tryEmit(notification)
        options.notified(notification)
    }

    override fun problem(problem: Problem) {
        options.problem?.invoke(problem) ?: complain("${problem.kind}: ${problem.message}")
    }

    override fun trace(direction: String, line: String) {
        options.trace?.invoke(direction == "sent", line)
    }

    override fun stderr(line: String) {
        stderr?.invoke(line)
    }

    override fun thrown(error: Throwable): Unit = report(options.error, error)
}

/** Without a hook of the program's, what nobody else sees goes to standard error. */
internal fun report(hook: ((Throwable) -> Unit)?, error: Throwable) {
    try {
        if (hook != null) hook(error) else complain(error.stackTraceToString())
    } catch (second: Throwable) {
        complain(second.stackTraceToString())
    }
}

internal fun complain(what: String) {
    System.err.println("oxmcp: $what")
}

/**
 * An exception of this package is passed on with its code, message and data, unless it says that this program is wrong: then, and
 * of any other, [hidden] gets it.
 */
internal fun errorReply(error: Throwable, hidden: (Throwable) -> Unit): Reply {
    val isOwnFault = error is UsageException || error is InternalFaultException
    if (error is McpException && !isOwnFault) {
        return Reply.Error(error.code ?: ErrorCode.INTERNAL_ERROR, error.message.orEmpty(), error.data?.toString())
    }
    hidden(error)
    return Reply.Error(ErrorCode.INTERNAL_ERROR, "Internal error", null)
}
