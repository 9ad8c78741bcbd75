package dev.oxmcp

import dev.oxmcp.internal.Happening
import dev.oxmcp.internal.Notice
import dev.oxmcp.internal.Reply
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.SupervisorJob
import kotlinx.coroutines.withContext
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import java.util.concurrent.ConcurrentHashMap

/**
 * A server: what it offers, for any number of clients, in every revision of the protocol.
 *
 * ```
 * @Serializable
 * class Weather(@Description("The name of a city.") val city: String)
 *
 * fun main() = runBlocking {
 *     val server = Server("weather", "1.0")
 *     server.tool("weather", "Tells the weather in a city.") { (city): Weather -> "It is sunny in $city." }
 *     server.serveStdio()
 * }
 * ```
 *
 * A handler is a suspend function on [CallContext]. What it throws is told to the caller: of a tool, its message, in a result
 * with `isError`; of others, and of an [Error], that there was an internal error, while [ServerOptions.onError] gets it. A
 * [McpError] is the answer as it is.
 */
public class Server(name: String, version: String, configure: ServerOptions.() -> Unit = {}) {
    private val options = ServerOptions().apply(configure)
    private val info = options.info(name, version)
    private val registry = newRegistry()
    private val offers = ConcurrentHashMap<Pair<String, ULong>, Offer>()
    private val methods = ConcurrentHashMap<String, suspend CallContext.(JsonObject) -> JsonObject>()
    private val links = ConcurrentHashMap.newKeySet<Link>()

    /** By the numbers of their connections. */
    private val open = ConcurrentHashMap<ULong, ServerSession>()
    private val scope = CoroutineScope(SupervisorJob() + options.dispatcher)

    init {
        options.pageSize?.let { size ->
            if (size < 1) throw UsageException("pageSize must be greater than 0; it is $size")
            command("setPageSize", buildJsonObject { put("size", size) })
        }
        if (options.connect != null || INITIALIZED in options.notifications) {
            command("takeOver", buildJsonObject { put("method", INITIALIZED); put("how", "replace") })
        }
    }

    /**
     * Offers a tool.
     *
     * [A] is a serializable class: its JSON Schema is what callers see, their arguments are checked against it, and the
     * function gets a value of it. `Unit` for no arguments, [JsonObject] for any. What the function gives is a text, a
     * [Content] or a list of them, a [CallToolResult], or a value of a serializable class: that is structured content, with
     * its schema. Nothing (`Unit`) is a result without content; anything else that is serializable is its JSON as text.
     *
     * @throws UsageException when the name is taken, or a class has no schema
     */
    public inline fun <reified A : Any, reified R> tool(
        name: String,
        description: String? = null,
        title: String? = null,
        annotations: ToolAnnotations? = null,
        meta: JsonObject? = null,
        icons: List<Icon> = emptyList(),
        noinline function: suspend CallContext.(A) -> R,
    ): Registered = addTool(About(name, title, description, icons, meta), annotations, typed<A>(), typed<R>(), function)

    /** Offers a tool whose schemas are your own. Arguments are checked against [inputSchema], results against [outputSchema]. */
    public fun rawTool(
        name: String,
        inputSchema: JsonObject,
        description: String? = null,
        title: String? = null,
        annotations: ToolAnnotations? = null,
        outputSchema: JsonObject? = null,
        meta: JsonObject? = null,
        icons: List<Icon> = emptyList(),
        function: suspend CallContext.(JsonObject) -> CallToolResult,
    ): Registered {
        val descriptor = toolDescriptor(About(name, title, description, icons, meta), annotations, inputSchema, outputSchema)
        return add(
            Offer("tool", name, descriptor) { context, text ->
                Reply.Result(context.function(parseObject(text)).json.toString())
            },
            checksOutput = outputSchema != null,
        )
    }

    /**
     * Offers a resource. The function gives a text, a `ByteArray`, [ResourceContents], a list of them, or a
     * [ReadResourceResult].
     *
     * @param annotations whom it is for and how much it matters: `{"audience":["user"],"priority":0.5}`
     * @throws UsageException when the URI is taken or empty
     */
    public fun resource(
        uri: String,
        name: String,
        description: String? = null,
        title: String? = null,
        mimeType: String? = null,
        annotations: JsonObject? = null,
        meta: JsonObject? = null,
        icons: List<Icon> = emptyList(),
        function: suspend CallContext.() -> Any,
    ): Registered {
        val about = About(name, title, description, icons, meta)
        val descriptor = resourceDescriptor("uri", uri, about, mimeType, annotations)
        return add(Offer("resource", uri, descriptor) { context, _ -> resourceReply(context.function(), uri, mimeType) })
    }

    /**
     * Offers the resources that a template (RFC 6570) stands for. The function gets the URI and the variables of the template:
     * a text each, or what a template makes of lists.
     *
     * @param complete functions that complete a variable, by its name
     * @throws UsageException when the template is taken, or is none
     */
    public fun resourceTemplate(
        uriTemplate: String,
        name: String,
        description: String? = null,
        title: String? = null,
        mimeType: String? = null,
        complete: Map<String, Completer> = emptyMap(),
        annotations: JsonObject? = null,
        meta: JsonObject? = null,
        icons: List<Icon> = emptyList(),
        function: suspend CallContext.(uri: String, variables: Map<String, String>) -> Any,
    ): Registered {
        val about = About(name, title, description, icons, meta)
        val descriptor = resourceDescriptor("uriTemplate", uriTemplate, about, mimeType, annotations)
        return add(
            Offer("template", uriTemplate, descriptor, complete) { context, text ->
                val params = UnknownContent(parseObject(text))
                val uri = params.text("uri").orEmpty()
                val variables = strings(params.member("variables") ?: EMPTY)
                resourceReply(context.function(uri, variables), uri, mimeType)
            },
        )
    }

    /**
     * Offers a prompt. [A] is a serializable class whose members are its arguments, `Unit` for none. The function gives a
     * text, a [Message], a list of them, or a [GetPromptResult].
     *
     * @param complete functions that complete an argument, by its name
     * @throws UsageException when the name is taken
     */
    public inline fun <reified A : Any> prompt(
        name: String,
        description: String? = null,
        title: String? = null,
        complete: Map<String, Completer> = emptyMap(),
        meta: JsonObject? = null,
        icons: List<Icon> = emptyList(),
        noinline function: suspend CallContext.(A) -> Any,
    ): Registered = addPrompt(About(name, title, description, icons, meta), complete, typed<A>(), function)

    /** Offers a prompt whose arguments are listed; the function gets them by name. */
    public fun rawPrompt(
        name: String,
        arguments: List<PromptArgument>,
        description: String? = null,
        title: String? = null,
        complete: Map<String, Completer> = emptyMap(),
        meta: JsonObject? = null,
        icons: List<Icon> = emptyList(),
        function: suspend CallContext.(Map<String, String>) -> Any,
    ): Registered {
        val descriptor = promptDescriptor(About(name, title, description, icons, meta), arguments)
        return add(
            Offer("prompt", name, descriptor, complete) { context, text ->
                promptReply(context.function(strings(parseObject(text))), name)
            },
        )
    }

    /**
     * Answers a method of your own.
     *
     * @param extension it is there for clients that declare this extension only
     * @throws UsageException for a method of the protocol
     */
    public fun method(name: String, extension: String? = null, function: suspend CallContext.(JsonObject) -> JsonObject) {
        if (!methods.containsKey(name)) {
            command("addMethod", buildJsonObject { put("name", name); putIf("extension", extension) })
        }
        methods[name] = function
    }

    /**
     * Serves the client that started this program, on its standard streams, until either side ends the connection. While it
     * does, what is printed goes to standard error.
     */
    public suspend fun serveStdio() {
        val link = open(JsonPrimitive("stdio"))
        try {
            link.ended.await()
        } catch (error: CancellationException) {
            withContext(NonCancellable) { link.close("the server was closed") }
            throw error
        }
    }

    /**
     * Serves clients over HTTP, from when this returns until the [Listening] is closed.
     *
     * @param port 0 for any that is free
     * @throws ConnectionClosedException when the port can not be listened on
     * @throws UsageException when an option is wrong
     */
    public suspend fun listen(port: Int = 0, http: HttpOptions = HttpOptions()): Listening {
        if (port !in 0..65535) throw UsageException("a port is a number from 0 to 65535; it is $port")
        if (http.path?.startsWith('/') == false) {
            throw UsageException("the path of the endpoint must begin with \"/\"; it is \"${http.path}\"")
        }
        val where = buildJsonObject {
            put("http", buildJsonObject { put("port", port); put("settings", http.toJson()) })
        }
        return Listening(withContext(Dispatchers.IO) { open(where) }, http)
    }

    /**
     * Tells those who subscribed to a resource that it has other contents now. False when nobody did.
     *
     * @throws CapabilityException unless [ServerOptions.subscriptions] is set
     */
    public fun resourceUpdated(uri: String): Boolean {
        if (!options.subscriptions) {
            throw CapabilityException(
                "the update of $uri was not sent: this server does not declare the capability \"resources.subscribe\"; " +
                    "set `subscriptions` in its options",
                ErrorCode.METHOD_NOT_FOUND,
            )
        }
        return tell(Notice.ResourceUpdated(uri))
    }

    /** Sends a log message that belongs to no call, to clients whose level it reaches. See [CallContext.log]. */
    public fun log(level: LogLevel, data: JsonElement, logger: String? = null) {
        tell(Notice.Log(null, level.wire, logger, data.toString()))
    }

    /** Sends a notification to all clients that are connected. */
    public fun notify(method: String, params: JsonObject? = null) {
        tell(Notice.Method(method, params?.toString()))
    }

    /** Sessions that are open, in revisions with a handshake. */
    public val sessions: List<ServerSession> get() = open.values.toList()

    /** Ends all connections. Handlers that run are cancelled. */
    public suspend fun close() {
        // A copy that does not mind those that end meanwhile.
        val all = links.toTypedArray()
        withContext(NonCancellable) { all.forEach { it.close("the server was closed") } }
    }

    /** What waits at the moment in all connections. For tests of leaks. */
    internal fun waiting(): Int = links.sumOf { it.waiting }

    internal fun openMemory(): Link = open(JsonPrimitive("memory"))

    @PublishedApi
    internal fun <A, R> addTool(
        about: About,
        annotations: ToolAnnotations?,
        input: Typed<A>,
        output: Typed<R>,
        function: suspend CallContext.(A) -> R,
    ): Registered {
        val what = "the tool \"${about.name}\""
        val arguments = Input(input, what)
        val result = Output(output, what)
        val descriptor = toolDescriptor(about, annotations, arguments.schema, result.schema)
        return add(
            Offer("tool", about.name, descriptor) { context, text -> result.reply(context.function(arguments.read(text))) },
        )
    }

    @PublishedApi
    internal fun <A> addPrompt(
        about: About,
        complete: Map<String, Completer>,
        input: Typed<A>,
        function: suspend CallContext.(A) -> Any,
    ): Registered {
        val arguments = Input(input, "the prompt \"${about.name}\"")
        val descriptor = promptDescriptor(about, promptArguments(arguments.schema))
        return add(
            Offer("prompt", about.name, descriptor, complete) { context, text ->
                promptReply(context.function(arguments.read(text)), about.name)
            },
        )
    }

    internal fun setEnabled(registered: Registered, enabled: Boolean) {
        command("setEnabled", buildJsonObject { name(registered); put("enabled", enabled) })
    }

    internal fun remove(registered: Registered) {
        command("remove", buildJsonObject { name(registered) })
        offers.remove(registered.kind to registered.entry)
    }

    private fun kotlinx.serialization.json.JsonObjectBuilder.name(registered: Registered) {
        put("kind", registered.kind)
        put("entry", registered.entry.toLong())
    }

    private fun add(offer: Offer, checksOutput: Boolean = false): Registered {
        val members = buildJsonObject {
            put("kind", offer.kind)
            put("key", offer.key)
            put("descriptor", offer.descriptor)
            put("completes", offer.completers.isNotEmpty())
            if (offer.kind == "tool") {
                put("checks", buildJsonObject { put("input", true); put("output", checksOutput) })
            }
        }
        // A call can come before this returns: it waits for the lock.
        synchronized(offers) {
            val entry = (command("add", members)["entry"] as JsonPrimitive).content.toULong()
            offers[offer.kind to entry] = offer
            return Registered(this, offer.kind, entry, offer.key)
        }
    }

    private fun command(name: String, members: JsonObject): JsonObject {
        val command = JsonObject(mapOf<String, JsonElement>(name to members))
        return parseObject(verb { registry.command(crossing(command.toString())) })
    }

    /** False when nobody was told. */
    private fun tell(notice: Notice): Boolean = links.map { link ->
        try {
            link.notify(notice, null)
        } catch (closed: ConnectionClosedException) {
            // It left meanwhile.
            false
        }
    }.any { it }

    private fun open(where: JsonElement): Link {
        val spec = buildJsonObject {
            put("info", info.json)
            put("settings", options.settings())
            put("server", where)
        }
        val host = ServerHost()
        val link = Link.open(spec, registry, host)
        host.link = link
        links += link
        link.ended.invokeOnCompletion { links -= link }
        link.start()
        return link
    }

    private inner class ServerHost : Host {
        override val scope get() = this@Server.scope

        /** Set before it says anything. */
        lateinit var link: Link

        override fun ready(connection: ULong, peer: Happening.Ready) {
            val name = link.sessionId(connection)
            // Over HTTP and without a name, each request stands alone.
            if (link.address != null && name == null) return
            open[connection] = ServerSession(link, connection, peer, name)
        }

        override fun closed(connection: ULong): (suspend () -> Unit)? {
            val session = open.remove(connection) ?: return null
            return options.disconnect?.let { tell -> suspend { tell(session) } }
        }

        override suspend fun answer(incoming: Incoming, call: Happening.Call): Reply {
            val context = CallContext(incoming)
            val method = call.method
            if (method != null) {
                val function = methods[method] ?: return unknown(method)
                return Reply.Result(context.function(parseObject(call.params)).toString())
            }
            val offer = offer(call) ?: return unknown(call.kind)
            if (call.kind.endsWith("Completion")) return complete(offer, parseObject(call.params))
            return offer.run(context, call.params)
        }

        private fun offer(call: Happening.Call): Offer? {
            val key = call.kind.removeSuffix("Completion") to (call.entry ?: return null)
            return offers[key] ?: synchronized(offers) { offers[key] }
        }

        private fun unknown(what: String) = Reply.Error(ErrorCode.METHOD_NOT_FOUND, "Method not found: $what", null)

        override fun failure(call: Happening.Call, error: Throwable): Reply = when {
            error is InputRequired -> Reply.InputRequired(error.requests.toString(), error.state)
            error is Misfit && call.kind == "tool" -> Reply.InvalidArguments(error.what)
            error is Misfit -> Reply.Error(ErrorCode.INVALID_PARAMS, "Invalid arguments: ${error.what}", null)
            call.kind != "tool" -> errorReply(error, ::thrown)
            error is McpError || error is UrlElicitationRequiredException || isTelling(error) -> errorReply(error, ::thrown)
            error is Exception -> Reply.ToolError(error.told())
            else -> errorReply(error, ::thrown)
        }

        /** What the caller must see as it is, for it can act on it. */
        private fun isTelling(error: Throwable) = error is McpException &&
            (error.code == ErrorCode.MISSING_REQUIRED_CLIENT_CAPABILITY || error.code == ErrorCode.URL_ELICITATION_REQUIRED)

        override fun notified(connection: ULong, notification: Notification): suspend () -> Unit {
            // It may have ended when this is told.
            val begun = open[connection].takeIf { notification.method == INITIALIZED }
            return {
                if (begun != null) options.connect?.invoke(begun)
                options.notifications[notification.method]?.invoke(notification)
            }
        }

        override fun problem(problem: Problem) {
            options.problem?.invoke(problem) ?: complain("${problem.kind}: ${problem.message}")
        }

        override fun trace(direction: String, line: String) {
            options.trace?.invoke(direction == "sent", line)
        }

        override fun thrown(error: Throwable): Unit = report(options.error, error)
    }

    private companion object {
        const val INITIALIZED = "notifications/initialized"
    }
}

/** A server that listens over HTTP. */
public class Listening internal constructor(private val link: Link, http: HttpOptions) {
    /** Where: `127.0.0.1:8000`. */
    public val address: String = link.address.orEmpty()

    public val port: Int get() = address.substringAfterLast(':').toInt()

    /** What clients connect to. */
    public val url: String = "http://$address${http.path ?: "/mcp"}"

    /** Waits until it is closed. */
    public suspend fun await(): Unit = link.ended.await()

    /** Takes no more requests, lets those under way finish for a while, and ends the rest. */
    public suspend fun close() {
        withContext(NonCancellable) { link.close("the server was closed") }
    }
}
