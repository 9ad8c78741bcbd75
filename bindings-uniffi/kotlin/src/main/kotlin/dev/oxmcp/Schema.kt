package dev.oxmcp

import kotlinx.serialization.SerialInfo
import kotlinx.serialization.descriptors.PolymorphicKind
import kotlinx.serialization.descriptors.PrimitiveKind
import kotlinx.serialization.descriptors.SerialDescriptor
import kotlinx.serialization.descriptors.SerialKind
import kotlinx.serialization.descriptors.StructureKind
import kotlinx.serialization.descriptors.elementDescriptors
import kotlinx.serialization.descriptors.elementNames
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put

/** What a class or a property means, for a model and for people: the `description` of its JSON Schema. */
@SerialInfo
@Target(AnnotationTarget.CLASS, AnnotationTarget.PROPERTY)
public annotation class Description(val text: String)

/**
 * More members of the JSON Schema of a property, as JSON: `@JsonSchema("""{"minimum":0}""")`. Where both say something,
 * this holds.
 */
@SerialInfo
@Target(AnnotationTarget.CLASS, AnnotationTarget.PROPERTY)
public annotation class JsonSchema(val members: String)

/**
 * The JSON Schema (2020-12) of what a serializer reads and writes.
 *
 * | Kotlin | schema |
 * | --- | --- |
 * | a class | an object; a property with a default, or that may be null, is not required |
 * | text, numbers, booleans, an enum | `string`, `integer`, `number`, `boolean`, `enum` |
 * | a list, a map | an array, an object with any members |
 * | a sealed class | one of its classes, told apart by `type` |
 * | `T?` | the same, or null |
 * | a class inside itself | by `$ref` |
 *
 * @throws UsageException for what JSON can not say: maps whose keys are no texts or numbers
 */
public fun schemaOf(descriptor: SerialDescriptor): JsonObject = SchemaWriter().root(descriptor)

private class SchemaWriter {
    private val definitions = LinkedHashMap<String, JsonObject>()

    /** Classes that are being written, from the outermost in. */
    private val open = ArrayList<String>()
    private val referred = HashSet<String>()

    fun root(descriptor: SerialDescriptor): JsonObject {
        val schema = write(descriptor, emptyList())
        // Only classes that stand in themselves are written apart.
        if (definitions.isEmpty()) return schema
        return JsonObject(schema + ("\$defs" to JsonObject(definitions)))
    }

    private fun write(descriptor: SerialDescriptor, annotations: List<Annotation>): JsonObject {
        val bare = when {
            descriptor.isInline -> write(descriptor.getElementDescriptor(0), emptyList())
            else -> plain(descriptor)
        }
        val nullable = if (descriptor.isNullable) orNull(bare) else bare
        return described(nullable, descriptor.annotations + annotations)
    }

    private fun plain(descriptor: SerialDescriptor): JsonObject = when (val kind = descriptor.kind) {
        PrimitiveKind.BOOLEAN -> type("boolean")
        PrimitiveKind.BYTE, PrimitiveKind.SHORT, PrimitiveKind.INT, PrimitiveKind.LONG -> type("integer")
        PrimitiveKind.FLOAT, PrimitiveKind.DOUBLE -> type("number")
        PrimitiveKind.CHAR, PrimitiveKind.STRING -> type("string")
        SerialKind.ENUM -> buildJsonObject { put("type", "string"); putTexts("enum", descriptor.elementNames.toList()) }
        SerialKind.CONTEXTUAL -> EMPTY
        StructureKind.LIST -> buildJsonObject {
            put("type", "array")
            put("items", write(descriptor.getElementDescriptor(0), emptyList()))
        }
        StructureKind.MAP -> map(descriptor)
        StructureKind.CLASS, StructureKind.OBJECT -> named(descriptor) { members(descriptor) }
        is PolymorphicKind -> when {
            isJson(descriptor) -> EMPTY
            kind == PolymorphicKind.SEALED -> named(descriptor) { oneOf(descriptor) }
            else -> EMPTY
        }
    }

    private fun map(descriptor: SerialDescriptor): JsonObject {
        if (isJson(descriptor)) return type("object")
        val key = descriptor.getElementDescriptor(0)
        if (key.kind !is PrimitiveKind && key.kind != SerialKind.ENUM) {
            throw UsageException("a map in JSON has texts for keys; ${key.serialName} is none")
        }
        return buildJsonObject {
            put("type", "object")
            put("additionalProperties", write(descriptor.getElementDescriptor(1), emptyList()))
        }
    }

    /** A class that stands in itself is written once, and referred to from there. */
    private fun named(descriptor: SerialDescriptor, write: () -> JsonObject): JsonObject {
        val name = descriptor.serialName.removeSuffix("?")
        if (name in open) {
            referred += name
            return reference(name)
        }
        open += name
        val schema = write()
        open.removeAt(open.lastIndex)
        if (name !in referred) return schema
        definitions[definitionName(name)] = schema
        // The outermost must say "object" itself.
        return if (open.isEmpty()) schema else reference(name)
    }

    private fun reference(name: String) = buildJsonObject { put("\$ref", "#/\$defs/${definitionName(name)}") }

    private fun definitionName(name: String) = name.replace(Regex("[^A-Za-z0-9_.-]"), "_")

    private fun members(descriptor: SerialDescriptor, tag: String? = null): JsonObject {
        val required = ArrayList<String>()
        val properties = LinkedHashMap<String, JsonElement>()
        if (tag != null) {
            properties[TYPE] = buildJsonObject { put("const", tag) }
            required += TYPE
        }
        for (index in 0 until descriptor.elementsCount) {
            val name = descriptor.getElementName(index)
            val element = descriptor.getElementDescriptor(index)
            properties[name] = write(element, descriptor.getElementAnnotations(index))
            if (!descriptor.isElementOptional(index) && !element.isNullable) required += name
        }
        return buildJsonObject {
            put("type", "object")
            put("properties", JsonObject(properties))
            if (required.isNotEmpty()) putTexts("required", required)
        }
    }

    /** Sealed classes have two elements: the name of the class, and one element for each class. */
    private fun oneOf(descriptor: SerialDescriptor): JsonObject {
        val classes = descriptor.getElementDescriptor(1).elementDescriptors
        return buildJsonObject {
            put("oneOf", JsonArray(classes.map { described(members(it, it.serialName), it.annotations) }))
        }
    }

    private fun isJson(descriptor: SerialDescriptor) = descriptor.serialName.startsWith("kotlinx.serialization.json.Json")

    private fun type(name: String) = buildJsonObject { put("type", name) }

    private fun orNull(schema: JsonObject): JsonObject {
        val type = schema["type"]
        return when {
            schema.isEmpty() -> schema
            type is JsonPrimitive && "enum" !in schema -> {
                JsonObject(schema + ("type" to JsonArray(listOf(type, JsonPrimitive("null")))))
            }
            else -> buildJsonObject { put("anyOf", JsonArray(listOf(schema, type("null")))) }
        }
    }

    private fun described(schema: JsonObject, annotations: List<Annotation>): JsonObject {
        var whole = schema
        for (annotation in annotations) {
            val more = when (annotation) {
                is Description -> buildJsonObject { put("description", annotation.text) }
                is JsonSchema -> members(annotation)
                else -> continue
            }
            whole = JsonObject(whole + more)
        }
        return whole
    }

    private fun members(annotation: JsonSchema): JsonObject = try {
        parse(annotation.members) as JsonObject
    } catch (error: Exception) {
        throw UsageException("@JsonSchema needs a JSON object; it has ${annotation.members}", error)
    }

    private companion object {
        const val TYPE = "type"
    }
}

/** The schema of the arguments of a tool, which must be an object. */
internal fun objectSchema(descriptor: SerialDescriptor, what: String): JsonObject = asObject(schemaOf(descriptor))
    ?: throw UsageException("$what must be a class; ${descriptor.serialName} is none")

/** A schema of objects that says so itself; `null` when there are other values as well. */
internal fun asObject(schema: JsonObject): JsonObject? = when {
    (schema["type"] as? JsonPrimitive)?.content == "object" -> {
        if ("properties" in schema || "additionalProperties" in schema) schema
        else JsonObject(schema + ("properties" to EMPTY))
    }
    "oneOf" in schema -> JsonObject(mapOf<String, JsonElement>("type" to JsonPrimitive("object")) + schema)
    else -> null
}

/**
 * The form of a class: flat, with members that a client can show as fields.
 *
 * @throws UsageException naming the property that is none
 */
internal fun formOf(descriptor: SerialDescriptor): JsonObject {
    val schema = objectSchema(descriptor, "a form")
    val properties = schema["properties"] as? JsonObject ?: EMPTY
    val fields = properties.mapValues { (name, property) -> field(property as JsonObject) ?: throw UsageException(
        "${descriptor.serialName} cannot be a form: $name must be a text, a number, a boolean, an enum or a list of one",
    ) }
    return JsonObject(
        buildMap {
            put("type", JsonPrimitive("object"))
            put("properties", JsonObject(fields))
            schema["required"]?.let { put("required", it) }
        },
    )
}

/** A form has no null: a field that may be null is one that need not be filled in. */
private fun field(property: JsonObject): JsonObject? {
    val anyOf = property["anyOf"] as? JsonArray
    val bare = when (val type = property["type"]) {
        is JsonArray -> JsonObject(property + ("type" to type.first()))
        null -> anyOf?.firstOrNull() as? JsonObject ?: return null
        else -> property
    }
    return when ((bare["type"] as? JsonPrimitive)?.content) {
        "string", "integer", "number", "boolean" -> bare
        "array" -> bare.takeIf { "enum" in (it["items"] as? JsonObject).orEmpty() }
        else -> null
    }
}
