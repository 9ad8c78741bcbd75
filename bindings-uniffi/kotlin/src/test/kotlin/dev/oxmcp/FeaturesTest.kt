package dev.oxmcp

import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.async
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.flow.take
import kotlinx.coroutines.flow.toList
import kotlinx.coroutines.launch
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.JsonPrimitive
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** Resources, prompts, completion, and what is told. */
internal class FeaturesTest {
    @Serializable
    internal data class Guess(@Description("Of the animal.") val name: String, val age: Int = 3)

    private val cities: Completer = { value, known ->
        listOf("Oslo", "Olso").filter { it.startsWith(value) } + known.values
    }

    private fun server(configure: ServerOptions.() -> Unit = {}) = Server("test", "1.0", configure).apply {
        resource("file:///a.txt", "a", mimeType = "text/plain") { "the text" }
        resource("file:///b.bin", "b") { byteArrayOf(0, -1, 127) }
        resourceTemplate("city://{city}/{street}", "street", complete = mapOf("city" to cities)) { uri, variables ->
            ResourceContents(uri, "${variables["street"]} in ${variables["city"]}")
        }
        prompt("describe", "Describes.", complete = mapOf("name" to cities)) { (name, age): Guess ->
            listOf(Message("$name is $age"), Message("I see", Role.ASSISTANT))
        }
        rawPrompt("plain", listOf(PromptArgument("x", required = true))) { arguments -> "x is ${arguments["x"]}" }
        tool("logs") { _: Unit -> log(LogLevel.WARNING, "hot", "thermometer"); "done" }
    }

    @Test
    fun `resources are read`() = inEveryEra(::server) { client, _ ->
        assertEquals(listOf("file:///a.txt", "file:///b.bin"), client.listResources().map { it.uri })
        assertEquals(listOf("city://{city}/{street}"), client.listResourceTemplates().map { it.uriTemplate })
        val text = client.readResource("file:///a.txt").contents.single()
        assertEquals(listOf("file:///a.txt", "the text", "text/plain"), listOf(text.uri, text.text, text.mimeType))
        assertTrue(byteArrayOf(0, -1, 127).contentEquals(client.readResource("file:///b.bin").contents.single().bytes))
        assertEquals("Karl Johan in Oslo", client.readResource("city://Oslo/Karl%20Johan").text)
        assertThrows<ResponseException> { client.readResource("file:///none") }
    }

    @Test
    fun `prompts are filled in`() = inEveryEra(::server) { client, _ ->
        val prompt = client.listPrompts().first { it.name == "describe" }
        assertEquals(listOf("name", "age"), prompt.arguments.map { it.name })
        assertEquals(listOf(true, false), prompt.arguments.map { it.required })
        assertEquals("Of the animal.", prompt.arguments.first().description)
        val messages = client.getPrompt("describe", mapOf("name" to "Rex", "age" to "7")).messages
        assertEquals(listOf("Rex is 7", "I see"), messages.map { it.text })
        assertEquals(listOf(Role.USER, Role.ASSISTANT), messages.map { it.role })
        assertEquals("x is 1", client.getPrompt("plain", mapOf("x" to "1")).messages.single().text)
        assertThrows<ResponseException> { client.getPrompt("describe", mapOf("name" to "Rex", "age" to "old")) }
    }

    @Test
    fun `arguments are completed`() = test {
        val near = server()
        Client.connect(near).use { client ->
            assertEquals(listOf("Oslo"), client.completePrompt("describe", "name", "Os").values)
            val known = client.completeTemplate("city://{city}/{street}", "city", "Ol", mapOf("street" to "A"))
            assertEquals(listOf("Olso", "A"), known.values)
            assertEquals(emptyList<String>(), client.completePrompt("describe", "age", "").values)
        }
        near.close()
    }

    @Test
    fun `a change of what is offered is told`() = test {
        val near = server()
        val client = Client.connect(near) { protocolVersions = listOf("2025-11-25") }
        val told = async(start = CoroutineStart.UNDISPATCHED) { client.notifications.first() }
        val extra = near.tool("extra") { _: Unit -> "" }
        assertEquals("notifications/tools/list_changed", told.await().method)
        assertTrue(client.listTools().any { it.name == "extra" })
        extra.isEnabled = false
        assertTrue(client.listTools().none { it.name == "extra" })
        extra.isEnabled = true
        extra.remove()
        assertThrows<ResponseException> { client.callTool("extra") }
        client.close()
        near.close()
    }

    @Test
    fun `subscribers are told of updates`() = test {
        val updates = Channel<Notification>(Channel.UNLIMITED)
        val near = server { subscriptions = true }
        val client = Client.connect(near) {
            protocolVersions = listOf("2025-11-25")
            onNotification("notifications/resources/updated") { updates.send(it) }
        }
        client.subscribeResource("file:///a.txt")
        near.resourceUpdated("file:///b.bin")
        near.resourceUpdated("file:///a.txt")
        assertEquals(JsonPrimitive("file:///a.txt"), updates.receive().params?.get("uri"))
        client.unsubscribeResource("file:///a.txt")
        client.close()
        near.close()
        assertThrows<CapabilityException> {
            val plain = server()
            Client.connect(plain) { protocolVersions = listOf("2025-11-25") }.use { it.subscribeResource("file:///a.txt") }
        }
    }

    @Test
    fun `who did not subscribe, or has left, is told nothing`() = test {
        val near = server { subscriptions = true }
        val (told, untold) = List(2) { Channel<Notification>(Channel.UNLIMITED) }
        val (first, second) = listOf(told, untold).map { heard ->
            Client.connect(near) {
                protocolVersions = listOf("2025-11-25")
                onNotification("notifications/resources/updated") { heard.send(it) }
            }
        }
        first.subscribeResource("file:///a.txt")
        near.resourceUpdated("file:///a.txt")
        told.receive()
        first.close()
        near.resourceUpdated("file:///a.txt")
        // What had been told would come before this.
        second.ping()
        second.close()
        near.close()
        assertTrue(told.tryReceive().isFailure && untold.tryReceive().isFailure)
    }

    @Test
    fun `a stream is a flow, and ends with its collector or its server`() = test {
        val near = server { subscriptions = true }
        val client = Client.connect(near)
        assertEquals("2026-07-28", client.protocolVersion)
        val open = CompletableDeferred<SubscriptionFilter>()
        val filter = SubscriptionFilter(toolsListChanged = true, resourceSubscriptions = listOf("file:///a.txt"))
        val seen = async { client.listen(filter) { open.complete(it) }.take(2).toList().map { it.method } }
        assertEquals(filter, open.await())
        near.resourceUpdated("file:///a.txt")
        // The second comes after the first was written.
        val extra = near.tool("extra") { _: Unit -> "" }
        assertEquals(setOf("notifications/resources/updated", "notifications/tools/list_changed"), seen.await().toSet())
        assertEquals(0, client.waiting())
        extra.remove()

        val second = CompletableDeferred<Unit>()
        val ended = async { runCatching { client.listen(filter) { second.complete(Unit) }.toList() } }
        second.await()
        near.close()
        ended.await()
        assertEquals(0, client.waiting())
        client.close()
        val legacy = server()
        Client.connect(legacy) { protocolVersions = listOf("2025-11-25") }.use { old ->
            assertThrows<CapabilityException> { old.listen(filter).toList() }
        }
        legacy.close()
    }

    @Test
    fun `log messages reach the client that wants them`() {
        val logged = Channel<LogMessage>(Channel.UNLIMITED)
        inEveryEra(::server, { onLog { logged.send(it) } }) { client, _ ->
            if (client.protocolVersion == "2026-07-28") client.callTool("logs", logLevel = LogLevel.INFO)
            else {
                client.setLogLevel(LogLevel.ERROR)
                client.callTool("logs")
                client.setLogLevel(LogLevel.INFO)
                client.callTool("logs")
            }
            assertEquals(LogMessage(LogLevel.WARNING, JsonPrimitive("hot"), "thermometer"), logged.receive())
            assertTrue(logged.tryReceive().isFailure)
        }
    }

    @Test
    fun `the wire can be looked at`() = test {
        val lines = Channel<Pair<Boolean, String>>(Channel.UNLIMITED)
        val near = server()
        val client = Client.connect(near) {
            protocolVersions = listOf("2025-11-25")
            onTrace { sent, line -> lines.trySend(sent to line) }
        }
        val (sent, line) = lines.receive()
        assertTrue(sent && "initialize" in line, line)
        assertEquals("test", client.serverInfo.name)
        client.close()
        launch { near.close() }.join()
    }
}
