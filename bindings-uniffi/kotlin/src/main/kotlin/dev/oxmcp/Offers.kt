package dev.oxmcp

import dev.oxmcp.internal.Reply
import kotlinx.serialization.KSerializer
import kotlinx.serialization.SerializationException
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonObjectBuilder
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.JsonUnquotedLiteral
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlinx.serialization.serializer

/** Gives the values that an argument may have, for what was written so far and the arguments that are known. */
public typealias Completer = suspend (value: String, known: Map<String, String>) -> List<String>

/** What was registered with a server: a handle to take it back, for a time or for good. Clients are told. */
public class Registered internal constructor(
    private val server: Server,
    internal val kind: String,
    internal val entry: ULong,
    internal val key: String,
) {
    /** Whether clients see it. */
    @Volatile
    public var isEnabled: Boolean = true
        set(value) {
            server.setEnabled(this, value)
            field = value
        }

    /** Takes it back for good. */
    public fun remove(): Unit = server.remove(this)
}

/** One thing that a server offers, and its function. */
internal class Offer(
    val kind: String,
    val key: String,
    val descriptor: JsonObject,
    val completers: Map<String, Completer> = emptyMap(),
    val run: suspend (CallContext, String?) -> Reply,
)

/** What is said of each thing that a server offers. */
@PublishedApi
internal class About(
    val name: String,
    val title: String?,
    val description: String?,
    val icons: List<Icon>,
    val meta: JsonObject?,
) {
    fun putInto(descriptor: JsonObjectBuilder) {
        descriptor.put("name", name)
        descriptor.putIf("title", title)
        descriptor.putIf("description", description)
        if (icons.isNotEmpty()) descriptor.put("icons", JsonArray(icons.map { it.json }))
        descriptor.putIf("_meta", meta)
    }
}

/**
 * A type and its serializer. Not a `KType`: where kotlin-reflect is on the class path, making one loads 900 classes, which takes
 * longer than all else that a server does before it can answer.
 */
@PublishedApi
internal class Typed<T>(val type: Class<*>, val serializer: KSerializer<T>?, val failure: SerializationException?)

@PublishedApi
internal inline fun <reified T> typed(): Typed<T> {
    val type = arrayOfNulls<T>(0).javaClass.componentType
    return try {
        Typed(type, serializer<T>(), null)
    } catch (error: SerializationException) {
        Typed(type, null, error)
    }
}

/** How what a tool's function gives becomes a result. */
internal class Output<R>(private val type: Typed<R>, private val what: String) {
    init {
        if (type.serializer == null && !mayBeContent()) throw noSerializer(type, "the result of $what")
    }

    /** Of those results alone that are always objects with known members. */
    val schema: JsonObject? = when (type.type) {
        Unit::class.java, JsonObject::class.java -> null
        else -> type.serializer?.descriptor?.let(::schemaOf)?.let(::asObject)
    }

    private fun mayBeContent() = McpObject::class.java.isAssignableFrom(type.type) ||
        type.type == Any::class.java || type.type == List::class.java

    fun reply(value: R): Reply = when (value) {
        is String -> Reply.Text(value)
        is Unit -> Reply.Result(CallToolResult(emptyList()).json.toString())
        is CallToolResult -> Reply.Result(value.json.toString())
        is Content -> Reply.Result(CallToolResult(listOf(value)).json.toString())
        is List<*> -> when {
            isContent(value) -> Reply.Result(CallToolResult(value.filterIsInstance<Content>()).json.toString())
            else -> other(value)
        }
        else -> other(value)
    }

    /** Of an empty list, its type says so. */
    private fun isContent(list: List<*>) = if (list.isEmpty()) type.serializer == null else list.all { it is Content }

    private fun other(value: R): Reply {
        val serializer = type.serializer ?: when (value) {
            null -> return Reply.Result(CallToolResult(emptyList()).json.toString())
            else -> throw UsageException("$what gave a ${value.javaClass.name}, which is no content", type.failure)
        }
        val element = mcpJson.encodeToJsonElement(serializer, value)
        // Clients of any age read text: structured content is there as text as well.
        val text = (element as? JsonPrimitive)?.content ?: element.toString()
        val content = listOf(TextContent(text))
        return Reply.Result(CallToolResult(content, element as? JsonObject).json.toString())
    }
}

private fun noSerializer(type: Typed<*>, what: String) = UsageException("$what: ${type.failure?.message}", type.failure)

/** Arguments as a value of a class; what does not fit is the caller's fault. */
internal class Input<A>(type: Typed<A>, what: String) {
    private val serializer = type.serializer ?: throw noSerializer(type, "the arguments of $what")

    val schema: JsonObject = when (type.type) {
        JsonObject::class.java -> buildJsonObject { put("type", "object") }
        else -> objectSchema(serializer.descriptor, "the arguments of $what")
    }

    fun read(text: String?): A = try {
        mcpJson.decodeFromString(serializer, text ?: "{}")
    } catch (error: IllegalArgumentException) {
        readIntegral(text) ?: throw Misfit(error.message.orEmpty().lineSequence().first())
    }

    /** To a schema 1.0 is an integer, to a decoder it is none. `null` when that is not what is wrong. */
    private fun readIntegral(text: String?): A? = try {
        val given = parse(text ?: "{}")
        val whole = integral(given)
        if (whole == given) null else mcpJson.decodeFromJsonElement(serializer, whole)
    } catch (error: IllegalArgumentException) {
        null
    }
}

/** Numbers without a fraction, written without one. */
private fun integral(element: JsonElement): JsonElement = when (element) {
    is JsonObject -> JsonObject(element.mapValues { integral(it.value) })
    is JsonArray -> JsonArray(element.map(::integral))
    is JsonPrimitive -> {
        val whole = if (element.isString) null else WHOLE.matchEntire(element.content)
        whole?.let { JsonUnquotedLiteral(it.groupValues[1]) } ?: element
    }
}

private val WHOLE = Regex("""(-?\d+)\.0+""")

/** The arguments do not fit. */
internal class Misfit(val what: String) : Exception(what)

internal fun toolDescriptor(
    about: About,
    annotations: ToolAnnotations?,
    inputSchema: JsonObject,
    outputSchema: JsonObject?,
): JsonObject = buildJsonObject {
    about.putInto(this)
    put("inputSchema", inputSchema)
    putIf("outputSchema", outputSchema)
    putIf("annotations", annotations?.toJson())
}

internal fun resourceDescriptor(
    member: String,
    uri: String,
    about: About,
    mimeType: String?,
    annotations: JsonObject?,
): JsonObject = buildJsonObject {
    put(member, uri)
    about.putInto(this)
    putIf("mimeType", mimeType)
    putIf("annotations", annotations)
}

internal fun promptDescriptor(about: About, arguments: List<PromptArgument>): JsonObject = buildJsonObject {
    about.putInto(this)
    put("arguments", JsonArray(arguments.map { it.json }))
}

/** The arguments of a prompt, from the members of a class. */
internal fun promptArguments(schema: JsonObject): List<PromptArgument> {
    val members = UnknownContent(schema)
    val required = members.texts("required")
    return members.member("properties").orEmpty().map { (name, property) ->
        val described = UnknownContent(property as? JsonObject ?: EMPTY)
        PromptArgument(name, described.text("description"), name in required, described.text("title"))
    }
}

internal fun resourceReply(value: Any?, uri: String, mimeType: String?): Reply {
    val result = when (value) {
        is ReadResourceResult -> value
        is ResourceContents -> ReadResourceResult(listOf(value))
        is String -> ReadResourceResult(listOf(ResourceContents(uri, value, mimeType)))
        is ByteArray -> ReadResourceResult(listOf(ResourceContents(uri, value, mimeType)))
        is List<*> -> ReadResourceResult(value.map { it as? ResourceContents ?: throw wrongContents(uri, it) })
        else -> throw wrongContents(uri, value)
    }
    return Reply.Result(result.json.toString())
}

private fun wrongContents(uri: String, value: Any?) = UsageException(
    "the function of the resource $uri must give a text, bytes, ResourceContents, a list of them, or a " +
        "ReadResourceResult; it gave ${value?.javaClass?.name}",
)

internal fun promptReply(value: Any?, name: String): Reply {
    val result = when (value) {
        is GetPromptResult -> value
        is String -> GetPromptResult(listOf(Message(value)))
        is Message -> GetPromptResult(listOf(value))
        is List<*> -> GetPromptResult(value.map { it as? Message ?: throw wrongMessages(name, it) })
        else -> throw wrongMessages(name, value)
    }
    return Reply.Result(result.json.toString())
}

private fun wrongMessages(name: String, value: Any?) = UsageException(
    "the function of the prompt $name must give a text, a Message, a list of them, or a GetPromptResult; it gave " +
        "${value?.javaClass?.name}",
)

/** Runs the function that completes an argument. */
internal suspend fun complete(offer: Offer, params: JsonObject): Reply {
    val argument = UnknownContent(params["argument"] as? JsonObject ?: EMPTY)
    val known = (params["context"] as? JsonObject)?.get("arguments") as? JsonObject ?: EMPTY
    val completer = offer.completers[argument.text("name")]
    val values = completer?.invoke(argument.text("value").orEmpty(), strings(known)).orEmpty()
    val completion = buildJsonObject { putTexts("values", values) }
    return Reply.Result(JsonObject(mapOf<String, JsonElement>("completion" to completion)).toString())
}

internal fun strings(values: JsonObject): Map<String, String> =
    values.mapValues { (_, value) -> (value as? JsonPrimitive)?.content ?: value.toString() }
