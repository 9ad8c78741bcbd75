package dev.oxmcp

import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.async
import kotlinx.coroutines.channels.Channel
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** Several clients, many changes, and what neither side knows. */
internal class SeveralTest {
    @Serializable
    internal data class Who(val name: String)

    @Serializable
    internal data class Numbered(val id: Long, val text: String? = null)

    @Test
    fun `each client of a server hears of its own calls alone`() = test {
        val release = CompletableDeferred<Unit>()
        val server = Server("test", "1.0").apply {
            tool("slow") { (name): Who ->
                progress(1, message = "for $name")
                release.await()
                progress(2, message = "for $name")
                "for $name"
            }
        }
        val first = Client.connect(server)
        val heard = List(2) { Channel<String?>(Channel.UNLIMITED) }
        val slow = async { first.callTool("slow", Who("a"), RequestOptions(onProgress = { heard[0].send(it.message) })).text }
        assertEquals("for a", heard[0].receive())
        val second = Client.connect(server)
        val other = async { second.callTool("slow", Who("b"), RequestOptions(onProgress = { heard[1].send(it.message) })).text }
        assertEquals("for b", heard[1].receive())
        release.complete(Unit)
        assertEquals(listOf("for a", "for b"), listOf(slow.await(), other.await()))
        assertEquals(listOf<String?>("for a", "for b"), heard.map { it.receive() })
        assertTrue(heard.all { it.tryReceive().isFailure })
        first.close()
        assertEquals("for c", second.callTool("slow", Who("c")).text)
        second.close()
        server.close()
    }

    @Test
    fun `of 200 changes the last is told, and none more than once`() = test {
        val server = Server("test", "1.0").apply { tool("one") { _: Unit -> "" } }
        val told = Channel<Notification>(Channel.UNLIMITED)
        val client = Client.connect(server) {
            protocolVersions = listOf("2025-11-25")
            onNotification("notifications/tools/list_changed") { told.send(it) }
        }
        repeat(200) { at -> server.tool("more $at") { _: Unit -> "" } }
        // What is told after the last change comes before the answer to what is asked then.
        assertEquals(201, client.listTools().size)
        var count = 0
        while (told.tryReceive().isSuccess) count++
        assertTrue(count in 1..200, "$count notifications")
        client.close()
        server.close()
    }

    @Test
    fun `what is not declared is neither told nor sent`() = test {
        val declared = parseObject("""{"tools":{"listChanged":false}}""")
        val server = Server("test", "1.0") { capabilities = declared }.apply { tool("one") { _: Unit -> "" } }
        val told = Channel<Notification>(Channel.UNLIMITED)
        val client = Client.connect(server) {
            protocolVersions = listOf("2025-11-25")
            onNotification("notifications/tools/list_changed") { told.send(it) }
        }
        assertFalse("\"listChanged\":true" in client.serverCapabilities.toString(), client.serverCapabilities.toString())
        server.tool("two") { _: Unit -> "" }
        assertEquals(2, client.listTools().size)
        assertTrue(told.tryReceive().isFailure)
        val refused = assertThrows(CapabilityException::class.java) { server.resourceUpdated("file:///a") }
        assertTrue("resources.subscribe" in refused.message.orEmpty(), refused.message)
        client.close()
        server.close()
    }

    @Test
    fun `content and members that nobody knows survive`() = inEveryEra({
        Server("test", "1.0").apply {
            val content = """[{"type":"text","text":"a","annotations":{"z":1,"a":2.50}},{"type":"hologram","x":[1,{}]}]"""
            val result = parseObject("""{"content":$content,"_meta":{"acme/n":9007199254740993}}""")
            tool("odd") { _: Unit -> CallToolResult(result) }
        }
    }) { client, _ ->
        val result = client.callTool("odd")
        assertEquals("a", result.text)
        val (text, hologram) = result.content
        assertEquals("""{"z":1,"a":2.50}""", text.json["annotations"].toString())
        assertTrue(hologram is UnknownContent)
        assertEquals("""{"type":"hologram","x":[1,{}]}""", hologram.json.toString())
        assertEquals("9007199254740993", result.meta?.get("acme/n").toString())
        val escaped = CallToolResult(parseObject("""{"content":[{"type":"image","data":"\/+8=","mimeType":"image/png"}]}"""))
        assertEquals(listOf<Byte>(-1, -17), (escaped.content.single() as ImageContent).bytes.toList())
    }

    @Test
    fun `numbers keep their digits and texts that look like numbers stay texts`() = inEveryEra({
        Server("test", "1.0").apply {
            tool("id") { numbered: Numbered -> numbered }
            tool("name") { (name): Who -> name }
        }
    }) { client, _ ->
        val numbered = Numbered(9007199254740993, "00123")
        assertEquals(numbered, client.callTool("id", numbered).structured<Numbered>())
        assertEquals("00123", client.callTool("name", Who("00123")).text)
    }

    @Test
    fun `a schema of one's own goes through as it was written`() {
        val schema = parseObject(
            """{"${'$'}schema":"http://json-schema.org/draft-07/schema#","type":"object",
               "properties":{"p":{"type":"array","items":[{"type":"string"}]}}}""",
        )
        inEveryEra({ Server("test", "1.0").apply { rawTool("raw", schema) { CallToolResult("done") } } }) { client, _ ->
            assertEquals(schema.toString(), client.listTools().single().inputSchema.toString())
            assertEquals("done", client.callTool("raw", parseObject("""{"p":["a",1]}""")).text)
            val refused = runCatching { client.callTool("raw", parseObject("""{"p":[1]}""")) }
            assertTrue(refused.exceptionOrNull() is ResponseException || refused.getOrThrow().isError, "the rules of its draft hold")
        }
    }

    @Test
    fun `a form goes through as it was written`() {
        val form = parseObject(
            """{"type":"object","properties":{"z":{"type":"string","enum":["a","b"],"enumNames":["A","B"]},
               "a":{"type":"integer","default":7}},"required":["z"]}""",
        )
        val asked = Channel<JsonObject>(Channel.UNLIMITED)
        for (era in listOf("2025-11-25", "2026-07-28")) test {
            val server = Server("test", "1.0").apply {
                tool("ask") { _: Unit -> elicit("Which?", form).content.toString() }
            }
            val client = Client.connect(server) {
                protocolVersions = listOf(era)
                onElicitation { asked.send(it.requestedSchema); ElicitResult.accept("z" to "a") }
            }
            val given = parseObject(client.callTool("ask").text)
            assertEquals(form.toString(), asked.receive().toString())
            assertEquals(JsonPrimitive("a"), given["z"])
            client.close()
            server.close()
        }
    }
}
