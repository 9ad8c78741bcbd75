package dev.oxmcp

import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonObjectBuilder
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.booleanOrNull
import kotlinx.serialization.json.contentOrNull
import kotlinx.serialization.json.doubleOrNull
import kotlinx.serialization.json.longOrNull
import kotlin.time.Duration
import kotlin.time.DurationUnit

/**
 * How typed arguments and results become JSON: unknown members are skipped, as later versions of a caller may send more;
 * an absent member that may be null is null.
 */
internal val mcpJson: Json = Json {
    ignoreUnknownKeys = true
    explicitNulls = false
    encodeDefaults = true
}

/**
 * An object of the protocol. What has no property of its own is in [json], which is what came, or what is sent: members
 * that nobody knows, and the digits of numbers, survive.
 */
public abstract class McpObject internal constructor(public val json: JsonObject) {
    /** Extra data, by agreement between the two sides. */
    public val meta: JsonObject? get() = json["_meta"] as? JsonObject

    override fun equals(other: Any?): Boolean = other is McpObject && other.javaClass == javaClass && other.json == json
    override fun hashCode(): Int = json.hashCode()
    override fun toString(): String = json.toString()

    internal fun text(name: String): String? = (json[name] as? JsonPrimitive)?.takeIf { it.isString }?.content
    internal fun flag(name: String): Boolean? = (json[name] as? JsonPrimitive)?.takeIf { !it.isString }?.booleanOrNull
    internal fun number(name: String): Double? = (json[name] as? JsonPrimitive)?.takeIf { !it.isString }?.doubleOrNull
    internal fun integer(name: String): Long? = (json[name] as? JsonPrimitive)?.takeIf { !it.isString }?.longOrNull
    internal fun member(name: String): JsonObject? = json[name] as? JsonObject
    internal fun objects(name: String): List<JsonObject> = (json[name] as? JsonArray).orEmpty().filterIsInstance<JsonObject>()
    internal fun texts(name: String): List<String> =
        (json[name] as? JsonArray).orEmpty().mapNotNull { (it as? JsonPrimitive)?.contentOrNull }
}

internal fun parse(text: String): JsonElement = mcpJson.parseToJsonElement(text)

internal fun parseObject(text: String?): JsonObject = text?.let { parse(it) as? JsonObject } ?: EMPTY

internal val EMPTY = JsonObject(emptyMap())

/** What programs write down as it is. @throws UsageException for what has no form in JSON */
internal fun jsonOf(value: Any?): JsonElement = when (value) {
    null -> JsonNull
    is JsonElement -> value
    is String -> JsonPrimitive(value)
    is Boolean -> JsonPrimitive(value)
    is Number -> {
        if (!value.toDouble().isFinite()) throw UsageException("JSON has no number for $value")
        JsonPrimitive(value)
    }
    is Enum<*> -> JsonPrimitive(value.name)
    is Map<*, *> -> JsonObject(value.entries.associate { (name, member) -> name.toString() to jsonOf(member) })
    is Iterable<*> -> JsonArray(value.map(::jsonOf))
    is Array<*> -> JsonArray(value.map(::jsonOf))
    else -> throw UsageException(
        "a ${value.javaClass.name} is no text, number, boolean, map or list; of a serializable class, give one value as the " +
            "arguments, or Json.encodeToJsonElement",
    )
}

/** Absent members are left out. */
internal fun JsonObjectBuilder.putIf(name: String, value: String?) {
    if (value != null) put(name, JsonPrimitive(value))
}

internal fun JsonObjectBuilder.putIf(name: String, value: Boolean?) {
    if (value != null) put(name, JsonPrimitive(value))
}

internal fun JsonObjectBuilder.putIf(name: String, value: Number?) {
    if (value != null) put(name, JsonPrimitive(value))
}

internal fun JsonObjectBuilder.putIf(name: String, value: JsonElement?) {
    if (value != null) put(name, value)
}

internal fun JsonObjectBuilder.putTexts(name: String, values: Collection<String>?) {
    if (values != null) put(name, JsonArray(values.map(::JsonPrimitive)))
}

/** JSON has no infinity; the greatest number is longer than any program runs. */
internal fun Duration.toJson(): JsonPrimitive = JsonPrimitive(toMillis().coerceAtMost(Double.MAX_VALUE))

internal fun Duration.toMillis(): Double = toDouble(DurationUnit.MILLISECONDS)
