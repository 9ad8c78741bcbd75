package dev.oxmcp

import dev.oxmcp.internal.Reply
import kotlinx.serialization.KSerializer
import kotlinx.serialization.SerializationException
import kotlinx.serialization.descriptors.PolymorphicKind
import kotlinx.serialization.descriptors.StructureKind
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlinx.serialization.serializer
import kotlin.reflect.KClass
import kotlin.reflect.KType

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

/** How what a tool's function gives becomes a result. */
internal class Output<R>(type: KType, private val what: String) {
    private val given = type.classifier as? KClass<*>

    /** For values that are there as structured content as well. */
    private val serializer: KSerializer<Any?>? = if (isPlain(type)) null else serializer(type)

    private val structured = when (serializer?.descriptor?.kind) {
        StructureKind.CLASS, StructureKind.MAP, StructureKind.OBJECT, is PolymorphicKind -> true
        else -> false
    }

    val schema: JsonObject? =
        if (structured && given != JsonObject::class) objectSchema(serializer!!.descriptor, "the result of $what") else null

    fun reply(value: R): Reply = when (value) {
        is String -> Reply.Text(value)
        is Unit -> Reply.Result(CallToolResult(emptyList()).json.toString())
        is CallToolResult -> Reply.Result(value.json.toString())
        is Content -> Reply.Result(CallToolResult(listOf(value)).json.toString())
        is List<*> -> when {
            value.isNotEmpty() && value.all { it is Content } -> {
                Reply.Result(CallToolResult(value.filterIsInstance<Content>()).json.toString())
            }
            else -> other(value)
        }
        else -> other(value)
    }

    private fun other(value: Any?): Reply {
        val element = serializer?.let { mcpJson.encodeToJsonElement(it, value) }
            ?: throw UsageException("$what gave a ${value?.let { it::class }}, which is no content")
        // Clients of any age read text: structured content is there as text as well.
        val text = (element as? JsonPrimitive)?.content ?: element.toString()
        val content = listOf(TextContent(text))
        return Reply.Result(CallToolResult(content, element.takeIf { structured }).json.toString())
    }

    private fun isPlain(type: KType): Boolean {
        val item = type.arguments.singleOrNull()?.type?.classifier as? KClass<*>
        return given in PLAIN || given == List::class && item in PLAIN
    }

    private companion object {
        val PLAIN = setOf(
            String::class, Unit::class, Nothing::class, CallToolResult::class, Content::class, TextContent::class,
            ImageContent::class, AudioContent::class, ResourceLink::class, EmbeddedResource::class, UnknownContent::class,
        )
    }
}

/** Arguments as a value of a class; what does not fit is the caller's fault. */
internal class Input<A>(type: KType, private val what: String) {
    @Suppress("UNCHECKED_CAST")
    private val serializer = serializer(type) as KSerializer<A>

    /** Nothing is decoded for those that want the JSON. */
    private val isJson = type.classifier == JsonObject::class

    val schema: JsonObject =
        if (isJson) buildJsonObject { put("type", "object") } else objectSchema(serializer.descriptor, "the arguments of $what")

    fun read(text: String?): A = try {
        mcpJson.decodeFromString(serializer, text ?: "{}")
    } catch (error: SerializationException) {
        throw Misfit(error.message.orEmpty().lineSequence().first())
    } catch (error: IllegalArgumentException) {
        throw Misfit(error.message.orEmpty())
    }
}

/** The arguments do not fit. */
internal class Misfit(val what: String) : Exception(what)

internal fun toolDescriptor(
    name: String,
    title: String?,
    description: String?,
    annotations: ToolAnnotations?,
    inputSchema: JsonObject,
    outputSchema: JsonObject?,
    meta: JsonObject?,
): JsonObject = buildJsonObject {
    put("name", name)
    putIf("title", title)
    putIf("description", description)
    put("inputSchema", inputSchema)
    putIf("outputSchema", outputSchema)
    putIf("annotations", annotations?.toJson())
    putIf("_meta", meta)
}

internal fun resourceDescriptor(
    member: String,
    uri: String,
    name: String,
    title: String?,
    description: String?,
    mimeType: String?,
): JsonObject = buildJsonObject {
    put(member, uri)
    put("name", name)
    putIf("title", title)
    putIf("description", description)
    putIf("mimeType", mimeType)
}

internal fun promptDescriptor(
    name: String,
    title: String?,
    description: String?,
    arguments: List<PromptArgument>,
): JsonObject = buildJsonObject {
    put("name", name)
    putIf("title", title)
    putIf("description", description)
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
        "ReadResourceResult; it gave ${value?.let { it::class }}",
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
        "${value?.let { it::class }}",
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
