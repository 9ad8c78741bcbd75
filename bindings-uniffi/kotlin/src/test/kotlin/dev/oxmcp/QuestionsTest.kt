package dev.oxmcp

import kotlinx.coroutines.CompletableDeferred
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import kotlin.time.Duration.Companion.milliseconds

/** What a server asks its client while a call runs. */
internal class QuestionsTest {
    @Serializable
    internal data class Day(@Description("How many days from now.") val ahead: Int, val place: String? = null)

    private fun server() = Server("test", "1.0").apply {
        tool("weather") { (city): City ->
            when (val day = elicit<Day>("For which day?")) {
                is Elicited.Accepted -> "In ${day.value.ahead} days it is sunny in $city."
                Elicited.Declined -> "As you like."
                Elicited.Cancelled -> "Gone."
            }
        }
        tool("visit") { _: Unit -> elicitUrl("Log in", "https://example.com/in", "1").action }
        tool("ask a model") { _: Unit -> sample(SamplingRequest(listOf(Message("2+2?")), 10)).text }
        tool("roots") { _: Unit -> listRoots().joinToString { it.uri } }
        tool("who") { _: Unit -> "${caller.info?.name} ${caller.protocolVersion}" }
        tool("named") { _: Unit ->
            val answers = listOf("b", "a").associateWith { elicit<City>(it, key = it).valueOrNull()?.city }
            "${answers["a"]} ${answers["b"]}"
        }
        tool("twice") { _: Unit ->
            val first = elicit<Day>("First?").valueOrNull()?.ahead
            val second = elicit<Day>("Second?").valueOrNull()?.ahead
            "$first and $second"
        }
    }

    @Test
    fun `a user is asked, and the answer is a value`() {
        for ((answer, text) in listOf<Pair<(ElicitRequest) -> ElicitResult, String>>(
            { _: ElicitRequest -> ElicitResult.accept("ahead" to 2) } to "In 2 days it is sunny in Oslo.",
            { _: ElicitRequest -> ElicitResult.decline() } to "As you like.",
            { _: ElicitRequest -> ElicitResult.cancel() } to "Gone.",
        )) {
            askedEras(configure = { onElicitation { answer(it) } }) { client ->
                assertEquals(text, client.callTool("weather", City("Oslo")).text)
            }
        }
    }

    @Test
    fun `the form has the members of the class`() {
        val asked = CompletableDeferred<ElicitRequest>()
        askedEras(configure = { onElicitation { asked.complete(it); ElicitResult.accept("ahead" to 1) } }) { client ->
            client.callTool("weather", City("Oslo"))
            assertEquals("For which day?", asked.await().message)
            same(
                parse(
                    """{"type":"object","properties":{"ahead":{"type":"integer","description":"How many days from now."},
                       "place":{"type":"string"}},"required":["ahead"]}""",
                ),
                asked.await().requestedSchema,
            )
        }
    }

    @Test
    fun `two questions in a row`() {
        askedEras(configure = {
            onElicitation { ElicitResult.accept("ahead" to if (it.message == "First?") 1 else 2) }
        }) { client -> assertEquals("1 and 2", client.callTool("twice").text) }
    }

    @Test
    fun `a URL, a model, roots and a name`() {
        askedEras(configure = {
            info = Implementation("asker", "9")
            onElicitation(url = true) { if (it.isUrl) ElicitResult.accept() else ElicitResult.cancel() }
            onSampling { SamplingResult("${it.messages.single().text} 4", "abacus") }
            onRoots { listOf(Root("file:///home", "home"), Root("file:///work")) }
        }) { client ->
            if (client.protocolVersion != "2025-06-18") assertEquals("accept", client.callTool("visit").text)
            assertEquals("2+2? 4", client.callTool("ask a model").text)
            assertEquals("file:///home, file:///work", client.callTool("roots").text)
            assertEquals("asker ${client.protocolVersion}", client.callTool("who").text)
        }
    }

    @Test
    fun `a model that may wish for tools does`() = test {
        val server = Server("test", "1.0")
        server.tool("think") { _: Unit ->
            val wish = Tool(buildJsonObject { put("name", "add"); put("inputSchema", buildJsonObject { put("type", "object") }) })
            val first = sample(SamplingRequest(listOf(Message("2+2?")), 10, tools = listOf(wish.json)), key = "first")
            val use = first.content.filterIsInstance<ToolUseContent>().single()
            val messages = listOf(
                Message("2+2?"),
                Message(first.content, Role.ASSISTANT),
                Message(listOf(ToolResultContent(use.id, listOf(TextContent("4"))))),
            )
            val second = sample(SamplingRequest(messages, 10, tools = listOf(wish.json)), key = "second")
            "${use.name} ${first.stopReason}: ${second.text}"
        }
        for (era in listOf("2025-11-25", "2026-07-28")) {
            val client = Client.connect(server) {
                protocolVersions = listOf(era)
                onSampling(tools = true) { asked ->
                    val given = asked.messages.last().content.filterIsInstance<ToolResultContent>().singleOrNull()
                    if (given != null) SamplingResult("${given.toolUseId} gave ${textOf(given.content)}", "m")
                    else SamplingResult(listOf(ToolUseContent("u1", "add", buildJsonObject { put("a", 2) })), "m", "toolUse")
                }
            }
            client.use { assertEquals("add toolUse: u1 gave 4", it.callTool("think").text, era) }
        }
        server.close()
    }

    @Test
    fun `a client that cannot be asked is told so to the tool`() = askedEras(configure = {}) { client ->
        val what = client.runCatching { callTool("weather", City("Oslo")) }
            .fold({ assertTrue(it.isError); it.text }, { it.message.orEmpty() })
        assertTrue("elicitation" in what, what)
    }

    @Test
    fun `a handler of the client that throws fails the call, not the connection`() {
        val thrown = CompletableDeferred<Throwable>()
        askedEras(configure = {
            onElicitation { throw IllegalStateException("secret") }
            onError { thrown.complete(it) }
        }) { client ->
            val what = client.runCatching { callTool("weather", City("Oslo")) }.fold({ it.text }, { it.message.orEmpty() })
            assertTrue("secret" !in what, what)
            assertEquals("secret", thrown.await().message)
            client.ping(RequestOptions(timeout = 10_000.milliseconds))
        }
    }

    @Test
    fun `a URL that is required before a call is an error of its own`() {
        val near = {
            Server("test", "1.0").apply {
                tool("locked") { _: Unit ->
                    if (caller.protocolVersion != null) {
                        throw UrlElicitationRequiredException(listOf(UrlElicitation("Log in", "https://example.com", "7")))
                    }
                    ""
                }
            }
        }
        test {
            val server = near()
            Client.connect(server) {
                protocolVersions = listOf("2025-11-25")
                onElicitation(url = true) { ElicitResult.decline() }
            }.use { client ->
                val error = assertThrows<UrlElicitationRequiredException> { client.callTool("locked") }
                assertEquals("https://example.com", error.elicitations.single().url)
                assertEquals(ErrorCode.URL_ELICITATION_REQUIRED, error.code)
                assertTrue(error.data is JsonObject)
            }
            server.close()
        }
    }

    @Test
    fun `a handler that makes its rounds itself`() = test {
        val server = Server("test", "1.0").apply {
            tool("where") { _: Unit ->
                val answers = inputResponses ?: throw InputRequired("asked once") {
                    listRoots("where")
                    elicit<City>("which", "Which city?")
                    sample("why", SamplingRequest(listOf(Message("Why?")), 10))
                }
                "$requestState: ${answers.keys.sorted()}"
            }
            resource("file:///a", "a") { throw InputRequired { listRoots("where") } }
        }
        val handlers: ClientOptions.() -> Unit = {
            onRoots { listOf(Root("file:///home")) }
            onElicitation { ElicitResult.accept("city" to "Oslo") }
            onSampling { SamplingResult("because", "m") }
        }
        Client.connect(server, handlers).use { client ->
            assertEquals("asked once: [where, which, why]", client.callTool("where").text)
        }
        Client.connect(server) { handlers(); protocolVersions = listOf("2025-11-25") }.use { client ->
            assertThrows<ResponseException> { client.callTool("where") }
            assertThrows<ResponseException> { client.readResource("file:///a") }
            client.ping()
        }
        server.close()
    }

    @Test
    fun `questions have names where their order may change`() {
        askedEras(configure = { onElicitation { ElicitResult.accept("city" to it.message) } }) { client ->
            assertEquals("a b", client.callTool("named").text)
        }
    }

    private fun askedEras(configure: ClientOptions.() -> Unit, block: suspend (Client) -> Unit) {
        for (era in listOf("2025-06-18", "2025-11-25", "2026-07-28")) test {
            val server = server()
            val client = Client.connect(server) {
                protocolVersions = listOf(era)
                configure()
            }
            block(client)
            client.close()
            server.close()
            assertEquals(0, server.waiting())
        }
    }
}
