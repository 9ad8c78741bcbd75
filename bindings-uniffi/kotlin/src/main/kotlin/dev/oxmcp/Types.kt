package dev.oxmcp

import kotlinx.serialization.DeserializationStrategy
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlinx.serialization.serializer

/** The version of this package. */
public val VERSION: String
    get() {
        NativeLibrary.ensure()
        return dev.oxmcp.internal.version()
    }

/** A picture of a program, a tool, a resource or a prompt, for people. */
public class Icon internal constructor(json: JsonObject) : McpObject(json) {
    /**
     * @param src a URL, `https:` or `data:`
     * @param sizes such as `48x48`, or `any`
     * @param theme `light` or `dark`: the background that it is for
     */
    public constructor(
        src: String,
        mimeType: String? = null,
        sizes: List<String>? = null,
        theme: String? = null,
    ) : this(
        buildJsonObject {
            put("src", src)
            putIf("mimeType", mimeType)
            putTexts("sizes", sizes)
            putIf("theme", theme)
        },
    )

    public val src: String get() = text("src").orEmpty()
    public val mimeType: String? get() = text("mimeType")
    public val sizes: List<String> get() = texts("sizes")
    public val theme: String? get() = text("theme")
}

/** A program that speaks the protocol. */
public class Implementation internal constructor(json: JsonObject) : McpObject(json) {
    public constructor(
        name: String,
        version: String,
        title: String? = null,
        description: String? = null,
        websiteUrl: String? = null,
        icons: List<Icon> = emptyList(),
    ) : this(
        buildJsonObject {
            put("name", name)
            put("version", version)
            putIf("title", title)
            putIf("description", description)
            putIf("websiteUrl", websiteUrl)
            if (icons.isNotEmpty()) put("icons", JsonArray(icons.map { it.json }))
        },
    )

    public val name: String get() = text("name").orEmpty()
    public val version: String get() = text("version").orEmpty()
    public val title: String? get() = text("title")
    public val description: String? get() = text("description")
    public val websiteUrl: String? get() = text("websiteUrl")
    public val icons: List<Icon> get() = objects("icons").map(::Icon)
}

/** Hints on what a tool does. Do not base decisions on those of a server that you do not trust. */
public data class ToolAnnotations(
    val title: String? = null,
    val readOnlyHint: Boolean? = null,
    val destructiveHint: Boolean? = null,
    val idempotentHint: Boolean? = null,
    val openWorldHint: Boolean? = null,
) {
    internal fun toJson(): JsonObject = buildJsonObject {
        putIf("title", title)
        putIf("readOnlyHint", readOnlyHint)
        putIf("destructiveHint", destructiveHint)
        putIf("idempotentHint", idempotentHint)
        putIf("openWorldHint", openWorldHint)
    }
}

/** A tool that a server offers. */
public class Tool internal constructor(json: JsonObject) : McpObject(json) {
    public val name: String get() = text("name").orEmpty()
    public val title: String? get() = text("title")
    public val description: String? get() = text("description")
    public val icons: List<Icon> get() = objects("icons").map(::Icon)

    /** The JSON Schema of its arguments. */
    public val inputSchema: JsonObject get() = member("inputSchema") ?: EMPTY

    /** The JSON Schema of its structured content. */
    public val outputSchema: JsonObject? get() = member("outputSchema")

    public val annotations: ToolAnnotations? get() = member("annotations")?.let {
        val hints = UnknownContent(it)
        ToolAnnotations(
            hints.text("title"),
            hints.flag("readOnlyHint"),
            hints.flag("destructiveHint"),
            hints.flag("idempotentHint"),
            hints.flag("openWorldHint"),
        )
    }
}

/** A resource that a server offers. */
public class Resource internal constructor(json: JsonObject) : McpObject(json) {
    public val uri: String get() = text("uri").orEmpty()
    public val name: String get() = text("name").orEmpty()
    public val title: String? get() = text("title")
    public val description: String? get() = text("description")
    public val icons: List<Icon> get() = objects("icons").map(::Icon)
    public val mimeType: String? get() = text("mimeType")

    /** Whom it is for, and how much it matters. */
    public val annotations: JsonObject? get() = member("annotations")

    /** In bytes. */
    public val size: Long? get() = integer("size")
}

/** Resources that a server offers by a template of their URIs (RFC 6570). */
public class ResourceTemplate internal constructor(json: JsonObject) : McpObject(json) {
    public val uriTemplate: String get() = text("uriTemplate").orEmpty()
    public val name: String get() = text("name").orEmpty()
    public val title: String? get() = text("title")
    public val description: String? get() = text("description")
    public val icons: List<Icon> get() = objects("icons").map(::Icon)
    public val mimeType: String? get() = text("mimeType")

    /** Whom it is for, and how much it matters. */
    public val annotations: JsonObject? get() = member("annotations")
}

/** A prompt that a server offers. */
public class Prompt internal constructor(json: JsonObject) : McpObject(json) {
    public val name: String get() = text("name").orEmpty()
    public val title: String? get() = text("title")
    public val description: String? get() = text("description")
    public val icons: List<Icon> get() = objects("icons").map(::Icon)
    public val arguments: List<PromptArgument> get() = objects("arguments").map(::PromptArgument)
}

/** An argument of a prompt. */
public class PromptArgument internal constructor(json: JsonObject) : McpObject(json) {
    public constructor(name: String, description: String? = null, required: Boolean = false, title: String? = null) : this(
        buildJsonObject {
            put("name", name)
            putIf("title", title)
            putIf("description", description)
            put("required", required)
        },
    )

    public val name: String get() = text("name").orEmpty()
    public val title: String? get() = text("title")
    public val description: String? get() = text("description")
    public val required: Boolean get() = flag("required") ?: false
}

/** One page of a list. */
public data class Page<out T>(
    val entries: List<T>,
    /** What the next page is asked for by; `null` at the end. In 2026-07-28 an empty text is a cursor like others. */
    val nextCursor: String?,
)

/** What a tool gave. */
public class CallToolResult internal constructor(json: JsonObject) : McpObject(json) {
    public constructor(
        content: List<Content>,
        structuredContent: JsonElement? = null,
        isError: Boolean = false,
        meta: JsonObject? = null,
    ) : this(
        buildJsonObject {
            put("content", JsonArray(content.map { it.json }))
            putIf("structuredContent", structuredContent)
            if (isError) put("isError", true)
            putIf("_meta", meta)
        },
    )

    public constructor(text: String) : this(listOf(TextContent(text)))

    public val content: List<Content> get() = blocks(json["content"])

    /** The same as JSON, for tools with an output schema. */
    public val structuredContent: JsonElement? get() = json["structuredContent"]

    /** The tool failed; [text] says why. */
    public val isError: Boolean get() = flag("isError") ?: false

    /** The text of its text blocks, joined by line breaks. */
    public val text: String get() = textOf(content)

    /** The structured content as a value of a class. */
    public inline fun <reified T> structured(): T = structured(serializer<T>())

    /** The same by a serializer. @throws ProtocolException when it is none, or does not fit */
    public fun <T> structured(deserializer: DeserializationStrategy<T>): T {
        val element = structuredContent ?: throw ProtocolException("the result has no structured content")
        return try {
            mcpJson.decodeFromJsonElement(deserializer, element)
        } catch (error: IllegalArgumentException) {
            throw ProtocolException("the structured content does not fit: ${error.message}", error)
        }
    }
}

/** What a resource holds. */
public class ReadResourceResult internal constructor(json: JsonObject) : McpObject(json) {
    public constructor(contents: List<ResourceContents>) : this(
        buildJsonObject { put("contents", JsonArray(contents.map { it.json })) },
    )

    public val contents: List<ResourceContents> get() = objects("contents").map(::ResourceContents)

    /** The text of its parts that have some, joined by line breaks. */
    public val text: String get() = contents.mapNotNull { it.text }.joinToString("\n")
}

/** A prompt, filled in. */
public class GetPromptResult internal constructor(json: JsonObject) : McpObject(json) {
    public constructor(messages: List<Message>, description: String? = null) : this(
        buildJsonObject { putIf("description", description); put("messages", JsonArray(messages.map { it.json })) },
    )

    public val description: String? get() = text("description")
    public val messages: List<Message> get() = objects("messages").map(::Message)
}

/** How an argument may go on. */
public class Completion internal constructor(json: JsonObject) : McpObject(json) {
    public val values: List<String> get() = texts("values")

    /** How many there are in all. */
    public val total: Long? get() = integer("total")
    public val hasMore: Boolean get() = flag("hasMore") ?: false
}

/** A folder or file that a client lets a server work on. */
public class Root internal constructor(json: JsonObject) : McpObject(json) {
    public constructor(uri: String, name: String? = null) : this(buildJsonObject { put("uri", uri); putIf("name", name) })

    public val uri: String get() = text("uri").orEmpty()
    public val name: String? get() = text("name")
}

/** How far a call has come. */
public data class Progress(
    /** Grows with each report. */
    val progress: Double,
    /** What [progress] will be at the end, where that is known. */
    val total: Double? = null,
    /** For a person. */
    val message: String? = null,
)

/** A notification. */
public data class Notification(val method: String, val params: JsonObject? = null)

/** How severe a log message is, mildest first. */
public enum class LogLevel {
    DEBUG, INFO, NOTICE, WARNING, ERROR, CRITICAL, ALERT, EMERGENCY;

    internal val wire: String get() = name.lowercase()
}

/** A log message of a server. */
public data class LogMessage(val level: LogLevel, val data: JsonElement, val logger: String? = null)

/** Something odd that the other side sent. It was dealt with, and the connection goes on. */
public data class Problem(
    /** `not_json`, `too_large`, `unknown_response` and so on. */
    val kind: String,
    /** What it was and what was done about it. */
    val message: String,
)

/** Which changes a stream is to tell of (2026-07-28). */
public data class SubscriptionFilter(
    val toolsListChanged: Boolean = false,
    val promptsListChanged: Boolean = false,
    val resourcesListChanged: Boolean = false,
    /** The URIs of the resources whose updates are to be told. */
    val resourceSubscriptions: List<String> = emptyList(),
) {
    internal fun toJson(): JsonObject = buildJsonObject {
        if (toolsListChanged) put("toolsListChanged", true)
        if (promptsListChanged) put("promptsListChanged", true)
        if (resourcesListChanged) put("resourcesListChanged", true)
        if (resourceSubscriptions.isNotEmpty()) putTexts("resourceSubscriptions", resourceSubscriptions)
    }

    internal companion object {
        fun of(json: JsonObject): SubscriptionFilter = UnknownContent(json).run {
            SubscriptionFilter(
                flag("toolsListChanged") ?: false,
                flag("promptsListChanged") ?: false,
                flag("resourcesListChanged") ?: false,
                texts("resourceSubscriptions"),
            )
        }
    }
}
