package dev.oxmcp

import kotlinx.serialization.SerialName
import kotlinx.serialization.Serializable
import kotlinx.serialization.descriptors.SerialDescriptor
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.serializer
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory

/** Schemas from serializers. */
internal class SchemaTest {
    @Serializable
    @Description("All kinds.")
    class Kinds(
        val text: String,
        val count: Long,
        val share: Double,
        val yes: Boolean,
        val color: Color = Color.RED,
        val maybe: String?,
        val tags: List<String>,
        val scores: Map<String, Int>,
        val any: JsonElement,
        val open: JsonObject,
        val id: Id,
        @JsonSchema("""{"minimum":0,"maximum":9}""") val digit: Int,
        @Description("Or none.") val other: Color? = null,
    )

    @Serializable
    enum class Color { @SerialName("red") RED, GREEN }

    @JvmInline
    @Serializable
    value class Id(val text: String)

    @Serializable
    class Tree(val name: String, val branches: List<Tree> = emptyList())

    @Serializable
    class Pair(val left: Tree, val right: Tree)

    @Serializable
    sealed class Shape {
        @Serializable
        @SerialName("circle")
        class Circle(val radius: Double) : Shape()

        @Serializable
        @SerialName("point")
        data object Point : Shape()
    }

    @TestFactory
    fun `a serializer gives the schema of what it reads`(): List<DynamicTest> = listOf(
        case<Kinds>(
            """{"type":"object","description":"All kinds.","properties":{
              "text":{"type":"string"},"count":{"type":"integer"},"share":{"type":"number"},"yes":{"type":"boolean"},
              "color":{"type":"string","enum":["red","GREEN"]},"maybe":{"type":["string","null"]},
              "tags":{"type":"array","items":{"type":"string"}},
              "scores":{"type":"object","additionalProperties":{"type":"integer"}},
              "any":{},"open":{"type":"object"},"id":{"type":"string"},
              "digit":{"type":"integer","minimum":0,"maximum":9},
              "other":{"description":"Or none.","anyOf":[{"type":"string","enum":["red","GREEN"]},{"type":"null"}]}},
             "required":["text","count","share","yes","tags","scores","any","open","id","digit"]}""",
        ),
        case<Unit>("""{"type":"object","properties":{}}"""),
        case<List<Int?>>("""{"type":"array","items":{"type":["integer","null"]}}"""),
        case<Tree>(
            """{"type":"object","properties":{"name":{"type":"string"},
                "branches":{"type":"array","items":{"${'$'}ref":"#/${'$'}defs/dev.oxmcp.SchemaTest.Tree"}}},
               "required":["name"],"${'$'}defs":{"dev.oxmcp.SchemaTest.Tree":{"type":"object","properties":{"name":{"type":"string"},
                "branches":{"type":"array","items":{"${'$'}ref":"#/${'$'}defs/dev.oxmcp.SchemaTest.Tree"}}},"required":["name"]}}}""",
        ),
        case<Shape>(
            """{"oneOf":[
                {"type":"object","properties":{"type":{"const":"circle"},"radius":{"type":"number"}},"required":["type","radius"]},
                {"type":"object","properties":{"type":{"const":"point"}},"required":["type"]}]}""",
        ),
    )

    @Test
    fun `a class that is met twice is defined once`() {
        val schema = schemaOf(serializer<Pair>().descriptor)
        assertEquals(setOf("dev.oxmcp.SchemaTest.Tree"), (schema["\$defs"] as JsonObject).keys)
    }

    @Test
    fun `what has no schema is named`() {
        for ((descriptor, part) in listOf<kotlin.Pair<SerialDescriptor, String>>(
            serializer<Map<Numbers, String>>().descriptor to "Numbers",
            serializer<Broken>().descriptor to "nonsense",
        )) {
            val error = assertThrows(UsageException::class.java) { schemaOf(descriptor) }
            assertTrue(part in error.message.orEmpty(), error.message)
        }
    }

    @Serializable
    class Broken(@JsonSchema("nonsense") val a: Int)

    @Test
    fun `a form is flat, and what may be null need not be filled in`() {
        @Serializable
        class Form(val name: String, val age: Int? = null, val color: Color?, val colors: List<Color>)
        val form = formOf(serializer<Form>().descriptor)
        same(
            parse(
                """{"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"},
                   "color":{"type":"string","enum":["red","GREEN"]},
                   "colors":{"type":"array","items":{"type":"string","enum":["red","GREEN"]}}},"required":["name","colors"]}""",
            ),
            form,
        )
        val error = assertThrows(UsageException::class.java) { formOf(serializer<Pair>().descriptor) }
        assertTrue("left" in error.message.orEmpty(), error.message)
    }

    private inline fun <reified T> case(schema: String): DynamicTest = DynamicTest.dynamicTest(T::class.simpleName) {
        same(parse(schema), schemaOf(serializer<T>().descriptor).let {
            if (T::class == Unit::class) objectSchema(serializer<T>().descriptor, "it") else it
        })
    }
}
