package dev.oxmcp

import kotlinx.serialization.Serializable
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** What functions of tools may give, and what calls may be given. */
internal class ResultsTest {
    private class Foreign

    @Serializable
    internal enum class Size { SMALL, LARGE }

    @Serializable
    internal data class Wanted(val name: String, val size: Size, val tags: List<String>, val limits: Map<String, Double?>)

    private fun server() = Server("test", "1.0").apply {
        tool("perhaps") { (a): Numbers -> if (a > 0) Sum(a) else null }
        tool("texts") { _: Unit -> listOf("a", "b") }
        tool("set") { _: Unit -> setOf(1) }
        tool("nothing") { _: Unit -> }
        tool("either") { (a): Numbers -> if (a > 0) CallToolResult("a result") else "a text" }
        tool("neither") { (a): Numbers -> if (a > 0) Foreign() else "a text" }
        tool("no content") { _: Unit -> emptyList<Content>() }
        tool("perhaps content") { (a): Numbers -> if (a > 0) TextContent("there") else null }
        tool("json") { (a): Numbers -> (if (a > 0) buildJsonObject { put("a", a) } else JsonPrimitive(a)) as JsonElement }
        tool("echo") { wanted: Wanted -> wanted }
    }

    @Test
    fun `what may be null is structured content when it is there`() = inEveryEra(::server) { client, _ ->
        assertNull(client.listTools().single { it.name == "perhaps" }.outputSchema)
        assertEquals(Sum(3), client.callTool("perhaps", Numbers(3)).structured<Sum>())
        val absent = client.callTool("perhaps", Numbers(0))
        assertNull(absent.structuredContent)
        assertEquals("null", absent.text)
    }

    @Test
    fun `results that are no objects are texts`() = inEveryEra(::server) { client, _ ->
        assertEquals("""["a","b"]""", client.callTool("texts").text)
        assertEquals("[1]", client.callTool("set").text)
        assertEquals(emptyList<Content>(), client.callTool("nothing").content)
        assertEquals(emptyList<Content>(), client.callTool("no content").content)
        assertEquals("there", client.callTool("perhaps content", Numbers(1)).text)
        assertEquals(emptyList<Content>(), client.callTool("perhaps content", Numbers(0)).content)
        assertEquals("0", client.callTool("json", Numbers(0)).text)
        assertEquals(buildJsonObject { put("a", 1) }, client.callTool("json", Numbers(1)).structuredContent)
        val withSchema = client.listTools().filter { it.outputSchema != null }.map { it.name }
        assertEquals(listOf("echo"), withSchema)
    }

    @Test
    fun `one of several kinds may be given`() = inEveryEra(::server) { client, _ ->
        assertEquals("a result", client.callTool("either", Numbers(1)).text)
        assertEquals("a text", client.callTool("either", Numbers(0)).text)
        val wrong = client.callTool("neither", Numbers(1))
        assertTrue(wrong.isError)
        assertTrue("ResultsTest\$Foreign, which is no content" in wrong.text, wrong.text)
    }

    @Test
    fun `a class without a serializer is told at once`() {
        val server = Server("test", "1.0")
        val result = assertThrows<UsageException> { server.tool("a") { _: Unit -> Foreign() } }
        assertTrue("the result of the tool \"a\"" in result.message.orEmpty(), result.message)
        val arguments = assertThrows<UsageException> { server.tool("a") { _: Foreign -> "" } }
        assertTrue("the arguments of the tool \"a\"" in arguments.message.orEmpty(), arguments.message)
        val prompt = assertThrows<UsageException> { server.prompt("a") { _: Foreign -> "" } }
        assertTrue("the prompt \"a\"" in prompt.message.orEmpty(), prompt.message)
    }

    @Test
    fun `arguments are given by name`() = inEveryEra(::server) { client, _ ->
        val arguments = mapOf(
            "name" to "x",
            "size" to Size.LARGE,
            "tags" to arrayOf("a", "b"),
            "limits" to mapOf("low" to 1.5, "high" to null),
        )
        val wanted = Wanted("x", Size.LARGE, listOf("a", "b"), mapOf("low" to 1.5, "high" to null))
        assertEquals(wanted, client.callTool("echo", arguments).structured<Wanted>())
        val wrong = assertThrows<UsageException> { client.callTool("echo", mapOf("name" to Foreign())) }
        assertTrue("ResultsTest\$Foreign is no text" in wrong.message.orEmpty(), wrong.message)
        assertThrows<UsageException> { client.callTool("echo", mapOf("name" to Double.NaN)) }
    }

    @Test
    fun `an integer may be written with a fraction of nothing`() = inEveryEra(::server) { client, _ ->
        assertEquals(Sum(3), client.callTool("perhaps", mapOf("a" to 3.0)).structured<Sum>())
        // Whether that is a result or an error, the revision says.
        val told = client.runCatching { callTool("perhaps", mapOf("a" to 1.5)) }
        val text = told.fold({ assertTrue(it.isError); it.text }, { it.message.orEmpty() })
        assertTrue("/a" in text, text)
    }

    @Test
    fun `an integer that is too great is told with its place`() = inEveryEra(::server) { client, _ ->
        val told = client.runCatching { callTool("perhaps", mapOf("a" to 3_000_000_000L)) }
        val text = told.fold({ assertTrue(it.isError); it.text }, { it.message.orEmpty() })
        assertTrue("$.a" in text, text)
    }
}
