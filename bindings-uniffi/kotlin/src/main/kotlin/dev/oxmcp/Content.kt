package dev.oxmcp

import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonObjectBuilder
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlin.io.encoding.Base64

/**
 * A piece of content: of a tool's result, a prompt's message, a sampling request.
 *
 * What is made here takes `annotations`, such as `{"audience":["user"],"priority":0.5}`, and a `_meta`.
 */
public sealed class Content(json: JsonObject) : McpObject(json) {
    public val type: String get() = text("type").orEmpty()

    /** Whom it is for, and how much it matters. */
    public val annotations: JsonObject? get() = member("annotations")

    public companion object {
        /** Reads one. A kind that nobody knows is an [UnknownContent], and can be passed on as it came. */
        public fun of(json: JsonObject): Content = when (UnknownContent(json).type) {
            "text" -> TextContent(json)
            "image" -> ImageContent(json)
            "audio" -> AudioContent(json)
            "resource_link" -> ResourceLink(json)
            "resource" -> EmbeddedResource(json)
            "tool_use" -> ToolUseContent(json)
            "tool_result" -> ToolResultContent(json)
            else -> UnknownContent(json)
        }
    }
}

/** Text. */
public class TextContent internal constructor(json: JsonObject) : Content(json) {
    public constructor(text: String, annotations: JsonObject? = null, meta: JsonObject? = null) : this(
        block("text", annotations, meta) { put("text", text) },
    )

    public val text: String get() = text("text").orEmpty()
}

/** A picture. */
public class ImageContent internal constructor(json: JsonObject) : Content(json) {
    public constructor(
        bytes: ByteArray,
        mimeType: String,
        annotations: JsonObject? = null,
        meta: JsonObject? = null,
    ) : this(block("image", annotations, meta) { put("data", Base64.encode(bytes)); put("mimeType", mimeType) })

    public val bytes: ByteArray get() = decodeBase64("data")
    public val mimeType: String get() = text("mimeType").orEmpty()
}

/** Sound. */
public class AudioContent internal constructor(json: JsonObject) : Content(json) {
    public constructor(
        bytes: ByteArray,
        mimeType: String,
        annotations: JsonObject? = null,
        meta: JsonObject? = null,
    ) : this(block("audio", annotations, meta) { put("data", Base64.encode(bytes)); put("mimeType", mimeType) })

    public val bytes: ByteArray get() = decodeBase64("data")
    public val mimeType: String get() = text("mimeType").orEmpty()
}

/** A resource to be read from the server. */
public class ResourceLink internal constructor(json: JsonObject) : Content(json) {
    public constructor(
        uri: String,
        name: String,
        title: String? = null,
        description: String? = null,
        mimeType: String? = null,
        size: Long? = null,
        annotations: JsonObject? = null,
        meta: JsonObject? = null,
    ) : this(
        block("resource_link", annotations, meta) {
            put("uri", uri)
            put("name", name)
            putIf("title", title)
            putIf("description", description)
            putIf("mimeType", mimeType)
            putIf("size", size)
        },
    )

    public val uri: String get() = text("uri").orEmpty()
    public val name: String get() = text("name").orEmpty()
    public val title: String? get() = text("title")
    public val description: String? get() = text("description")
    public val mimeType: String? get() = text("mimeType")

    /** In bytes. */
    public val size: Long? get() = integer("size")
}

/** A resource, contents and all. */
public class EmbeddedResource internal constructor(json: JsonObject) : Content(json) {
    public constructor(resource: ResourceContents, annotations: JsonObject? = null, meta: JsonObject? = null) : this(
        block("resource", annotations, meta) { put("resource", resource.json) },
    )

    public val resource: ResourceContents get() = ResourceContents(member("resource") ?: EMPTY)
}

/** A model's wish to have a tool called, in what it gives for a sampling request with tools. */
public class ToolUseContent internal constructor(json: JsonObject) : Content(json) {
    public constructor(id: String, name: String, input: JsonObject, meta: JsonObject? = null) : this(
        block("tool_use", null, meta) { put("id", id); put("name", name); put("input", input) },
    )

    /** For the [ToolResultContent] that answers it. */
    public val id: String get() = text("id").orEmpty()
    public val name: String get() = text("name").orEmpty()

    /** The arguments of the tool. */
    public val input: JsonObject get() = member("input") ?: EMPTY
}

/** What a tool gave that a model wished for, in the next sampling request. */
public class ToolResultContent internal constructor(json: JsonObject) : Content(json) {
    public constructor(
        toolUseId: String,
        content: List<Content>,
        structuredContent: JsonElement? = null,
        isError: Boolean = false,
        meta: JsonObject? = null,
    ) : this(
        block("tool_result", null, meta) {
            put("toolUseId", toolUseId)
            put("content", JsonArray(content.map { it.json }))
            putIf("structuredContent", structuredContent)
            if (isError) put("isError", true)
        },
    )

    /** The [ToolUseContent.id] that it answers. */
    public val toolUseId: String get() = text("toolUseId").orEmpty()
    public val content: List<Content> get() = blocks(json["content"])
    public val structuredContent: JsonElement? get() = json["structuredContent"]
    public val isError: Boolean get() = flag("isError") ?: false
}

/** Content of a kind that this version does not know, as it came. */
public class UnknownContent internal constructor(json: JsonObject) : Content(json)

/** What a resource holds: text or bytes. */
public class ResourceContents internal constructor(json: JsonObject) : McpObject(json) {
    public constructor(uri: String, text: String, mimeType: String? = null) : this(
        buildJsonObject { put("uri", uri); putIf("mimeType", mimeType); put("text", text) },
    )

    public constructor(uri: String, bytes: ByteArray, mimeType: String? = null) : this(
        buildJsonObject { put("uri", uri); putIf("mimeType", mimeType); put("blob", Base64.encode(bytes)) },
    )

    public val uri: String get() = text("uri").orEmpty()
    public val mimeType: String? get() = text("mimeType")

    /** Its text; `null` when it is [bytes]. */
    public val text: String? get() = text("text")

    /** Its bytes; `null` when it is [text]. */
    public val bytes: ByteArray? get() = if ("blob" in json) decodeBase64("blob") else null
}

/** A message of a prompt or of a sampling request. */
public class Message internal constructor(json: JsonObject) : McpObject(json) {
    public constructor(content: Content, role: Role = Role.USER) : this(
        buildJsonObject { put("role", role.wire); put("content", content.json) },
    )

    public constructor(text: String, role: Role = Role.USER) : this(TextContent(text), role)

    /** Several blocks: of sampling requests of 2025-11-25 and later alone. */
    public constructor(content: List<Content>, role: Role = Role.USER) : this(
        buildJsonObject { put("role", role.wire); put("content", JsonArray(content.map { it.json })) },
    )

    public val role: Role get() = if (text("role") == Role.ASSISTANT.wire) Role.ASSISTANT else Role.USER

    /** One block, or several in sampling requests of 2025-11-25 and later. */
    public val content: List<Content> get() = blocks(json["content"])

    /** The text of its text blocks, joined by line breaks. */
    public val text: String get() = textOf(content)
}

/** Who says a [Message]. */
public enum class Role(internal val wire: String) {
    USER("user"),
    ASSISTANT("assistant"),
}

internal fun blocks(content: JsonElement?): List<Content> = when (content) {
    is JsonObject -> listOf(Content.of(content))
    is JsonArray -> content.filterIsInstance<JsonObject>().map(Content::of)
    else -> emptyList()
}

internal fun textOf(content: List<Content>): String = content.filterIsInstance<TextContent>().joinToString("\n") { it.text }

private fun block(
    type: String,
    annotations: JsonObject?,
    meta: JsonObject?,
    members: JsonObjectBuilder.() -> Unit,
): JsonObject = buildJsonObject {
    put("type", type)
    members()
    putIf("annotations", annotations)
    putIf("_meta", meta)
}

private fun McpObject.decodeBase64(name: String): ByteArray = try {
    Base64.decode(text(name).orEmpty())
} catch (error: IllegalArgumentException) {
    throw ProtocolException("\"$name\" is not base64: ${error.message}", error)
}
