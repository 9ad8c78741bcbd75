package dev.oxmcp

import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlin.io.encoding.Base64

/** A piece of content: of a tool's result, a prompt's message, a sampling request. */
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
            else -> UnknownContent(json)
        }
    }
}

/** Text. */
public class TextContent internal constructor(json: JsonObject) : Content(json) {
    public constructor(text: String) : this(buildJsonObject { put("type", "text"); put("text", text) })

    public val text: String get() = text("text").orEmpty()
}

/** A picture. */
public class ImageContent internal constructor(json: JsonObject) : Content(json) {
    public constructor(bytes: ByteArray, mimeType: String) : this(binary("image", bytes, mimeType))

    public val bytes: ByteArray get() = decodeBase64("data")
    public val mimeType: String get() = text("mimeType").orEmpty()
}

/** Sound. */
public class AudioContent internal constructor(json: JsonObject) : Content(json) {
    public constructor(bytes: ByteArray, mimeType: String) : this(binary("audio", bytes, mimeType))

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
    ) : this(
        buildJsonObject {
            put("type", "resource_link")
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
    public constructor(resource: ResourceContents) : this(
        buildJsonObject { put("type", "resource"); put("resource", resource.json) },
    )

    public val resource: ResourceContents get() = ResourceContents(member("resource") ?: EMPTY)
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

internal fun blocks(content: kotlinx.serialization.json.JsonElement?): List<Content> = when (content) {
    is JsonObject -> listOf(Content.of(content))
    is kotlinx.serialization.json.JsonArray -> content.filterIsInstance<JsonObject>().map(Content::of)
    else -> emptyList()
}

internal fun textOf(content: List<Content>): String = content.filterIsInstance<TextContent>().joinToString("\n") { it.text }

private fun binary(type: String, bytes: ByteArray, mimeType: String): JsonObject = buildJsonObject {
    put("type", type)
    put("data", Base64.encode(bytes))
    put("mimeType", mimeType)
}

private fun McpObject.decodeBase64(name: String): ByteArray = try {
    Base64.decode(text(name).orEmpty())
} catch (error: IllegalArgumentException) {
    throw ProtocolException("\"$name\" is not base64: ${error.message}", error)
}
