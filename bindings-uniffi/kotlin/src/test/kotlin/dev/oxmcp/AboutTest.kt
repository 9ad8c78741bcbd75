package dev.oxmcp

import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.async
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test

/** What is said of the things that a server offers, of its content and of calls. */
internal class AboutTest {
    private val icon = Icon("https://example.com/a.png", "image/png", listOf("48x48"), "dark")
    private val meta = buildJsonObject { put("example.com/kind", "b") }
    private val forUsers = JsonObject(mapOf("audience" to JsonArray(listOf(JsonPrimitive("user")))))

    private fun server() = Server("test", "1.0") { icons = listOf(icon); websiteUrl = "https://example.com" }.apply {
        tool("tool", meta = meta, icons = listOf(icon)) { _: Unit -> "${caller.requestMeta?.get("example.com/kind")}" }
        resource("a://b", "resource", annotations = forUsers, meta = meta, icons = listOf(icon)) { "" }
        resourceTemplate("c://{d}", "template", annotations = forUsers, meta = meta, icons = listOf(icon)) { _, _ -> "" }
        prompt("prompt", meta = meta, icons = listOf(icon)) { _: Unit -> Message(TextContent("hi", forUsers, meta)) }
        rawPrompt("raw", emptyList(), meta = meta, icons = listOf(icon)) { "" }
    }

    @Test
    fun `icons, annotations and extra data are shown`() = inEveryEra(::server) { client, _ ->
        assertEquals(listOf(icon), client.serverInfo.icons)
        assertEquals("https://example.com", client.serverInfo.websiteUrl)
        val tool = client.listTools().single()
        val resource = client.listResources().single()
        val template = client.listResourceTemplates().single()
        val prompts = client.listPrompts()
        assertEquals(List(5) { listOf(icon) }, listOf(tool.icons, resource.icons, template.icons) + prompts.map { it.icons })
        assertEquals(List(5) { meta }, (listOf(tool, resource, template) + prompts).map { it.meta })
        assertEquals(listOf(forUsers, forUsers), listOf(resource.annotations, template.annotations))
        assertEquals("48x48", icon.sizes.single())
        val content = client.getPrompt("prompt").messages.first().content.single()
        assertEquals(listOf(forUsers, meta), listOf(content.annotations, content.meta))
    }

    @Test
    fun `a call takes extra data along`() = inEveryEra(::server) { client, _ ->
        assertEquals("\"b\"", client.callTool("tool", meta = meta).text)
        assertEquals("null", client.callTool("tool").text)
    }

    @Test
    fun `the end of a connection is waited for`() = test {
        val near = server()
        val client = Client.connect(near)
        val ended = async(start = CoroutineStart.UNDISPATCHED) { client.await() }
        assertTrue(client.isConnected)
        assertFalse(ended.isCompleted)
        near.close()
        ended.await()
        assertFalse(client.isConnected)
        client.close()
    }
}
