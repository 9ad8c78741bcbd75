package dev.oxmcp

import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlin.time.Duration

/** What is said of a client when it [connects][Client.connect]. All of it is optional. */
public class ClientOptions internal constructor() {
    /** Who this program is; servers see it. */
    public var info: Implementation = Implementation("oxmcp-kotlin", VERSION)

    /** How long each call may go without an answer; 60 s by default, [Duration.INFINITE] for no limit. */
    public var timeout: Duration? = null

    /** How long the server may take to answer the handshake; [timeout] by default. */
    public var connectTimeout: Duration? = null

    /** The revisions of the protocol to speak; all that are known by default. */
    public var protocolVersions: List<String>? = null

    /** Ask a server first whether it speaks a revision without a handshake. On by default. One that leaves at that is started once more. */
    public var probe: Boolean? = null

    /** Keep results that the server calls fresh for as long as it says (2026-07-28). On by default. */
    public var responseCache: Boolean? = null

    /** Check structured content against the output schema of its tool, once it was listed. On by default. */
    public var validateResults: Boolean? = null

    public var limits: Limits = Limits()

    /** What this client can do beside what the handlers here say: `extensions`, `experimental`. */
    public var capabilities: JsonObject = EMPTY

    /** Where handlers run. */
    public var dispatcher: CoroutineDispatcher = Dispatchers.Default

    internal var elicitation: (suspend (ElicitRequest) -> ElicitResult)? = null
    internal var url = false
    internal var samplingTools = false
    internal var sampling: (suspend (SamplingRequest) -> SamplingResult)? = null
    internal var roots: (suspend () -> List<Root>)? = null
    internal var log: (suspend (LogMessage) -> Unit)? = null
    internal var problem: ((Problem) -> Unit)? = null
    internal var trace: ((Boolean, String) -> Unit)? = null
    internal var error: ((Throwable) -> Unit)? = null
    internal val notifications = HashMap<String, suspend (Notification) -> Unit>()
    internal val methods = LinkedHashMap<String, suspend (JsonObject) -> JsonObject>()

    /**
     * Answers what a server asks the user for.
     *
     * @param url whether the user can be shown URLs to visit, beside forms
     */
    public fun onElicitation(url: Boolean = false, handler: suspend (ElicitRequest) -> ElicitResult) {
        this.url = url
        elicitation = handler
    }

    /**
     * Answers what a server asks the model for.
     *
     * @param tools whether the model can be given tools to wish for: see [ToolUseContent]
     */
    public fun onSampling(tools: Boolean = false, handler: suspend (SamplingRequest) -> SamplingResult) {
        samplingTools = tools
        sampling = handler
    }

    /** The folders and files that servers may work on. Say [Client.rootsChanged] when they are others. */
    public fun onRoots(handler: suspend () -> List<Root>) {
        roots = handler
    }

    /** Called for each log message of the server, one after the other. */
    public fun onLog(handler: suspend (LogMessage) -> Unit) {
        log = handler
    }

    /** Called for each notification of one method, one after the other. */
    public fun onNotification(method: String, handler: suspend (Notification) -> Unit) {
        notifications[method] = handler
    }

    /** Answers a method of your own. */
    public fun onRequest(method: String, handler: suspend (JsonObject) -> JsonObject) {
        methods[method] = handler
    }

    /** Called for anything odd that the server sends. Without it, it goes to standard error. */
    public fun onProblem(handler: (Problem) -> Unit) {
        problem = handler
    }

    /** Called with what handlers of this program threw that is nobody's answer. Without it, it goes to standard error. */
    public fun onError(handler: (Throwable) -> Unit) {
        error = handler
    }

    /** Called with each line on the wire, for a look at the protocol. It costs more than the call itself. */
    public fun onTrace(handler: (sent: Boolean, line: String) -> Unit) {
        trace = handler
    }

    internal fun spec(server: JsonElement): JsonObject = buildJsonObject {
        put("info", info.json)
        put("settings", settings())
        putIf("timeout", connectTimeout?.toJson())
        putIf("probe", probe)
        put("client", server)
    }

    private fun settings(): JsonObject = buildJsonObject {
        putIf("timeout", timeout?.toJson())
        putTexts("revisions", protocolVersions)
        putIf("responseCache", responseCache)
        putIf("validateResults", validateResults)
        put("limits", limits.toJson())
        put("capabilities", declared())
        put("trace", trace != null)
    }

    /** What a handler is there for is declared. */
    private fun declared(): JsonObject = buildJsonObject {
        if (elicitation != null) {
            put("elicitation", buildJsonObject { put("form", EMPTY); if (url) put("url", EMPTY) })
        }
        if (sampling != null) put("sampling", buildJsonObject { if (samplingTools) put("tools", EMPTY) })
        if (roots != null) put("roots", buildJsonObject { put("listChanged", true) })
        capabilities.forEach { (name, value) -> put(name, value) }
    }

    /** Runs the handler of a method; `null` when there is none. */
    internal suspend fun answer(method: String, params: JsonObject): JsonObject? = when (method) {
        "elicitation/create" -> elicitation?.invoke(ElicitRequest(params))?.json
        "sampling/createMessage" -> sampling?.invoke(SamplingRequest(params))?.json
        "roots/list" -> roots?.invoke()?.let { list -> JsonObject(mapOf("roots" to JsonArray(list.map { it.json }))) }
        else -> methods[method]?.invoke(params)
    }

    internal suspend fun notified(notification: Notification) {
        notifications[notification.method]?.invoke(notification)
        if (notification.method == "notifications/message") log?.invoke(logMessage(notification.params ?: EMPTY))
    }

    private fun logMessage(params: JsonObject): LogMessage {
        val level = (params["level"] as? JsonPrimitive)?.content
        return LogMessage(
            LogLevel.entries.firstOrNull { it.wire == level } ?: LogLevel.INFO,
            params["data"] ?: JsonPrimitive(null as String?),
            (params["logger"] as? JsonPrimitive)?.content,
        )
    }
}
