package dev.oxmcp

import kotlinx.serialization.descriptors.SerialDescriptor
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlinx.serialization.serializer

/** What a server asks a client's user for. */
public class ElicitRequest internal constructor(json: JsonObject) : McpObject(json) {
    /** The question, for the user. */
    public val message: String get() = text("message").orEmpty()

    /** Whether the user is to visit [url], in place of filling in a form. */
    public val isUrl: Boolean get() = text("mode") == "url"

    /** The form: a JSON Schema of an object with simple members. */
    public val requestedSchema: JsonObject get() = member("requestedSchema") ?: EMPTY

    /** What the user is to visit. Show it, and ask, before opening it. */
    public val url: String? get() = text("url")
    public val elicitationId: String? get() = text("elicitationId")
}

/** What the user made of it. */
public class ElicitResult private constructor(json: JsonObject) : McpObject(json) {
    /** `accept`, `decline` or `cancel`. */
    public val action: String get() = text("action").orEmpty()

    /** What was filled in; `null` unless the user accepted. */
    public val content: JsonObject? get() = if (action == "accept") member("content") else null

    public companion object {
        /** The user agreed, and filled this in. */
        public fun accept(content: JsonObject? = null): ElicitResult =
            ElicitResult(buildJsonObject { put("action", "accept"); putIf("content", content) })

        /** The same, with members by name: texts, numbers, booleans and lists of texts. */
        public fun accept(vararg content: Pair<String, Any>): ElicitResult =
            accept(JsonObject(content.associate { (name, value) -> name to simple(value) }))

        /** The user said no. */
        public fun decline(): ElicitResult = ElicitResult(buildJsonObject { put("action", "decline") })

        /** The user went away without an answer. */
        public fun cancel(): ElicitResult = ElicitResult(buildJsonObject { put("action", "cancel") })

        internal fun of(json: JsonObject): ElicitResult = ElicitResult(json)

        private fun simple(value: Any): JsonElement = when (value) {
            is JsonElement -> value
            is String -> JsonPrimitive(value)
            is Boolean -> JsonPrimitive(value)
            is Number -> JsonPrimitive(value)
            is Iterable<*> -> JsonArray(value.map { JsonPrimitive(it.toString()) })
            else -> throw UsageException(
                "a form has texts, numbers, booleans and lists of texts; a ${value.javaClass.name} is none",
            )
        }
    }
}

/** What a client's user made of a question with a typed answer. */
public sealed class Elicited<out T> {
    /** The user filled it in. */
    public data class Accepted<T>(val value: T) : Elicited<T>()

    /** The user said no. */
    public data object Declined : Elicited<Nothing>()

    /** The user went away without an answer. */
    public data object Cancelled : Elicited<Nothing>()

    /** The value; `null` unless the user accepted. */
    public fun valueOrNull(): T? = (this as? Accepted)?.value
}

/**
 * What a server asks a client's model for.
 *
 * @property tools what the model may wish for, each as in a list of tools; the caller must have declared `sampling.tools`
 */
public class SamplingRequest internal constructor(json: JsonObject) : McpObject(json) {
    public constructor(
        messages: List<Message>,
        maxTokens: Long,
        systemPrompt: String? = null,
        temperature: Double? = null,
        stopSequences: List<String>? = null,
        modelPreferences: JsonObject? = null,
        tools: List<JsonObject>? = null,
        toolChoice: JsonObject? = null,
        includeContext: String? = null,
        metadata: JsonObject? = null,
    ) : this(
        buildJsonObject {
            put("messages", JsonArray(messages.map { it.json }))
            put("maxTokens", maxTokens)
            putIf("systemPrompt", systemPrompt)
            putIf("temperature", temperature)
            putTexts("stopSequences", stopSequences)
            putIf("modelPreferences", modelPreferences)
            putIf("tools", tools?.let(::JsonArray))
            putIf("toolChoice", toolChoice)
            putIf("includeContext", includeContext)
            putIf("metadata", metadata)
        },
    )

    public val messages: List<Message> get() = objects("messages").map(::Message)
    public val maxTokens: Long? get() = integer("maxTokens")
    public val systemPrompt: String? get() = text("systemPrompt")
    public val temperature: Double? get() = number("temperature")
    public val stopSequences: List<String> get() = texts("stopSequences")
    public val modelPreferences: JsonObject? get() = member("modelPreferences")
    public val tools: List<JsonObject> get() = objects("tools")

    /** How the model may use them: `{"mode":"auto"}`, `required` or `none`. */
    public val toolChoice: JsonObject? get() = member("toolChoice")

    /** `none`, `thisServer` or `allServers`. */
    public val includeContext: String? get() = text("includeContext")

    /** For the model's provider. */
    public val metadata: JsonObject? get() = member("metadata")
}

/** What the model said. */
public class SamplingResult internal constructor(json: JsonObject) : McpObject(json) {
    public constructor(content: Content, model: String, stopReason: String? = null, role: Role = Role.ASSISTANT) : this(
        buildJsonObject {
            put("role", role.wire)
            put("content", content.json)
            put("model", model)
            putIf("stopReason", stopReason)
        },
    )

    public constructor(text: String, model: String, stopReason: String? = null) : this(TextContent(text), model, stopReason)

    /** Several blocks, such as a [ToolUseContent] each, with the [stopReason] `toolUse`. */
    public constructor(content: List<Content>, model: String, stopReason: String? = null, role: Role = Role.ASSISTANT) : this(
        buildJsonObject {
            put("role", role.wire)
            put("content", JsonArray(content.map { it.json }))
            put("model", model)
            putIf("stopReason", stopReason)
        },
    )

    public val content: List<Content> get() = blocks(json["content"])
    public val text: String get() = textOf(content)
    public val model: String get() = text("model").orEmpty()
    public val stopReason: String? get() = text("stopReason")
}

/** The params of a question with a form. */
internal fun formParams(message: String, requestedSchema: JsonObject): JsonObject = buildJsonObject {
    put("mode", "form")
    put("message", message)
    put("requestedSchema", requestedSchema)
}

/**
 * What a handler throws that makes its rounds itself (2026-07-28): what it has to know before it can serve the call.
 *
 * ```
 * val answer = inputResponses?.get("where") ?: throw InputRequired("asked once") { listRoots("where") }
 * ```
 *
 * The client makes the call again with the answers, which are then in [CallContext.inputResponses], and the state in
 * [CallContext.requestState]. [CallContext.elicit] and its like do all this by themselves, in every revision; a client of
 * another revision gets an error for this.
 *
 * @param state what the next round is to know; the client keeps it, sealed
 * @param ask names what is asked for; all of it in one round. Nothing, with a state: the client makes the call again at once
 */
public class InputRequired(internal val state: String? = null, ask: InputRequests.() -> Unit = {}) :
    Exception("more input is required") {
    internal val requests: JsonObject = JsonObject(InputRequests().apply(ask).requests)
}

/** What an [InputRequired] asks for, by keys of your own. */
public class InputRequests internal constructor() {
    internal val requests = LinkedHashMap<String, JsonElement>()

    /** Asks the user to fill in a form, which is made from the members of [T]. */
    public inline fun <reified T> elicit(key: String, message: String): Unit =
        elicit(key, message, schemaOfForm(serializer<T>().descriptor))

    /** Asks the user to fill in a form of your own: a JSON Schema of an object with simple members. */
    public fun elicit(key: String, message: String, requestedSchema: JsonObject): Unit =
        request(key, "elicitation/create", formParams(message, requestedSchema))

    /** Asks the model. */
    public fun sample(key: String, request: SamplingRequest): Unit = request(key, "sampling/createMessage", request.json)

    /** Asks for the folders and files to work on. */
    public fun listRoots(key: String): Unit = request(key, "roots/list")

    /** Asks for what any method of the client gives. */
    public fun request(key: String, method: String, params: JsonObject? = null) {
        requests[key] = buildJsonObject { put("method", method); putIf("params", params) }
    }

    @PublishedApi
    internal fun schemaOfForm(descriptor: SerialDescriptor): JsonObject = formOf(descriptor)
}

/** Who makes a call, and what it says of itself. */
public class Caller internal constructor(json: JsonObject) : McpObject(json) {
    /** The revision of the protocol that the call is in, such as `2025-11-25`. */
    public val protocolVersion: String? get() = text("protocolVersion")
    public val info: Implementation? get() = member("info")?.let(::Implementation)
    public val capabilities: JsonObject get() = member("capabilities") ?: EMPTY

    /** The `_meta` of the request. */
    public val requestMeta: JsonObject? get() = member("meta")
}

/** The head of an HTTP request that brought a call. What its body said is the call. */
public class HttpRequest internal constructor(native: dev.oxmcp.internal.HttpRequest) {
    /** Such as `POST`. */
    public val method: String = native.method

    /** Path and query, such as `/mcp?tenant=a`. */
    public val target: String = native.target

    /** The host that the request is for: `example.com`, or with a port `example.com:8080`. */
    public val authority: String?

    /** All header fields in order, as pairs of a name in lower case and a value. A value has a character for each byte. */
    public val headers: List<Pair<String, String>> = native.headers.map { it.name to it.value }

    init {
        authority = native.authority ?: header("host")
    }

    /** The value of a header field, the first if there are several; `null` when there is none. */
    public fun header(name: String): String? = headers.firstOrNull { it.first.equals(name, ignoreCase = true) }?.second

    override fun toString(): String = "$method $target"
}
