package dev.oxmcp

import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.double
import kotlinx.serialization.json.long
import org.junit.jupiter.api.Assertions.assertTrue

/** The members of an object, taken one by one so that a misspelt one is found. */
internal class Fields(value: JsonElement) {
    private val members = LinkedHashMap(value as? JsonObject ?: error("a step is a JSON object, not $value"))

    /** The first member: it names the step. */
    fun verb(): Pair<String, JsonElement> {
        val (name, value) = members.entries.firstOrNull() ?: error("a step needs a member")
        members.remove(name)
        return name to value
    }

    fun has(name: String) = name in members

    fun take(name: String): JsonElement? = members.remove(name)

    fun text(name: String): String? = take(name)?.let(::textOf)

    fun number(name: String): Double? = (take(name) as? JsonPrimitive)?.double

    fun integer(name: String): Long? = (take(name) as? JsonPrimitive)?.long

    fun flag(name: String): Boolean = take(name)?.toString() == "true"

    fun list(name: String): List<JsonElement> = take(name) as? JsonArray ?: emptyList()

    /** A payload is JSON, or a string that holds its text. */
    fun payload(name: String): String? = text("${name}_text") ?: take(name)?.toString()

    /** Compares what a verb gave; true where the transcript does not say. */
    fun flag(name: String, found: Boolean) = same(take(name) ?: JsonPrimitive(true), JsonPrimitive(found))

    fun rest(): JsonObject = JsonObject(LinkedHashMap(members)).also { members.clear() }

    fun finish() = assertTrue(members.isEmpty(), "the members ${members.keys} are not known here")
}

internal fun textOf(value: JsonElement?): String =
    (value as? JsonPrimitive)?.takeIf { it.isString }?.content ?: error("expected a string, got $value")

internal fun same(wanted: JsonElement, found: JsonElement?) {
    if (!matches(wanted, found)) throw AssertionError("expected $wanted, got $found")
}

/** Compares the members that `wanted` names; of `message`, a part is enough. */
internal fun sameMembers(wanted: JsonElement, found: JsonElement) {
    for ((name, value) in wanted as JsonObject) {
        val isPart = name == "message" && value is JsonPrimitive
        val wants = if (isPart) JsonObject(mapOf("\$contains" to value)) else value
        if (!matches(wants, (found as JsonObject)[name] ?: JsonNull)) throw AssertionError("expected $wanted, got $found")
    }
}

/** Numbers by their text, objects whatever the order of their keys; `{"$contains": part}` stands for a string with that part. */
internal fun matches(wanted: JsonElement, found: JsonElement?): Boolean = when (wanted) {
    is JsonPrimitive -> wanted == found
    is JsonArray -> found is JsonArray && wanted.size == found.size && wanted.indices.all { matches(wanted[it], found[it]) }
    is JsonObject -> when {
        wanted.keys == setOf("\$contains") && found is JsonPrimitive -> found.isString && textOf(wanted["\$contains"]) in found.content
        else -> found is JsonObject && wanted.keys == found.keys && wanted.all { (name, value) -> matches(value, found[name]) }
    }
}
