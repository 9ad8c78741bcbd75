package dev.oxmcp.interop

import dev.oxmcp.Client
import dev.oxmcp.ElicitResult
import dev.oxmcp.Progress
import dev.oxmcp.ResponseException
import dev.oxmcp.Root
import dev.oxmcp.SamplingResult
import dev.oxmcp.ServerCommand
import io.modelcontextprotocol.kotlin.sdk.client.StdioClientTransport
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import io.modelcontextprotocol.kotlin.sdk.types.ReadResourceRequest
import io.modelcontextprotocol.kotlin.sdk.types.ReadResourceRequestParams
import io.modelcontextprotocol.kotlin.sdk.types.TextContent
import io.modelcontextprotocol.kotlin.sdk.types.TextResourceContents
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.launch
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import kotlinx.io.asSink
import kotlinx.io.asSource
import kotlinx.io.buffered
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory
import org.junit.jupiter.api.assertThrows
import java.io.File
import kotlin.time.Duration.Companion.seconds
import io.modelcontextprotocol.kotlin.sdk.client.Client as OfficialClient

/** Our package with others on the other side, as real processes. */
internal class InteropTest {
    private val root = File(System.getProperty("oxmcp.root"))
    private val programs = File(root, "tests/interop/programs")

    private fun test(block: suspend CoroutineScope.() -> Unit): Unit = runBlocking { withTimeout(90.seconds) { block() } }

    private fun java(main: String): List<String> {
        val java = File(System.getProperty("java.home"), "bin/java").path
        return listOf(java, "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), main)
    }

    /** The command of a server in another language; `null` where its interpreter was not named. */
    private fun ours(variable: String, program: String): ServerCommand? =
        System.getenv(variable)?.let { ServerCommand(it, File(programs, program).path) }

    private val servers: Map<String, () -> ServerCommand?> = mapOf(
        "our Kotlin server" to { java("dev.oxmcp.interop.OurServer").let { ServerCommand(it.first(), it.drop(1)) } },
        "the official Kotlin server" to { java("dev.oxmcp.interop.OfficialServer").let { ServerCommand(it.first(), it.drop(1)) } },
        "our Python server" to { ours("OXMCP_PYTHON", "our_server.py") },
        "our Node server" to { ours("OXMCP_NODE", "our_server.mjs") },
    )

    @TestFactory
    fun `our client lists, calls, follows, fails and cancels`(): List<DynamicTest> = servers.map { (name, command) ->
        dynamicTest(name) {
            val server = command()
            assumeTrue(server != null, "no variable names the interpreter of $name")
            val said = Channel<String>(Channel.UNLIMITED)
            test { exercise(server!!.copy(stderr = ServerCommand.Stderr.Lines { said.trySend(it) }), said, "official" in name) }
        }
    }

    private suspend fun CoroutineScope.exercise(server: ServerCommand, said: Channel<String>, isOfficial: Boolean) {
        val client = Client.connect(server)
        assertEquals("interop", client.serverInfo.name)
        assertEquals("For tests.", client.instructions)
        val tools = client.listTools().map { it.name }
        assertTrue(tools.containsAll(listOf("add", "wait", "fail")), tools.toString())
        assertEquals("5", client.callTool("add", buildJsonObject { put("a", 2); put("b", 3) }).text)
        if (!isOfficial) {
            val seen = ArrayList<Progress>()
            val counted = client.callTool("count", buildJsonObject { put("to", 3) }, onProgress = { seen.add(it) })
            assertEquals("counted", counted.text)
            assertEquals((1..3).map { Progress(it.toDouble(), 3.0, "step $it") }, seen)
            assertThrows<ResponseException> { client.callTool("none") }
        }
        val failed = client.callTool("fail")
        assertTrue(failed.isError && "on purpose" in failed.text, failed.toString())
        val call = launch { client.callTool("wait") }
        while (said.receive() != "waiting") continue
        call.cancelAndJoin()
        // The official server goes on with a call that was cancelled.
        if (!isOfficial) while ("cancelled" !in said.receive()) continue
        assertEquals("2", client.callTool("add", buildJsonObject { put("a", 1); put("b", 1) }).text)
        client.close()
    }

    @TestFactory
    fun `our client and all that is beside tools`(): List<DynamicTest> = listOf(
        "our Python server" to { ours("OXMCP_PYTHON", "surface.py") },
        "our Node server" to { ours("OXMCP_NODE", "surface.mjs") },
    ).flatMap { (name, command) ->
        listOf("2025-11-25", "2026-07-28").map { era ->
            dynamicTest("$name, $era") {
                val server = command()
                assumeTrue(server != null, "no variable names the interpreter of $name")
                test { surface(server!!, era) }
            }
        }
    }

    private suspend fun surface(server: ServerCommand, era: String) {
        val client = Client.connect(server.copy(stderr = ServerCommand.Stderr.Discard)) {
            protocolVersions = listOf(era)
            onElicitation { ElicitResult.accept("name" to "Ada") }
            onSampling { SamplingResult("thought of ${it.messages.single().text}", "m") }
            onRoots { listOf(Root("file:///work")) }
        }
        assertEquals(listOf("config://app", "bytes://all"), client.listResources().map { it.uri })
        assertEquals(listOf("note://{id}"), client.listResourceTemplates().map { it.uriTemplate })
        assertEquals("on", client.readResource("config://app").text)
        val bytes = client.readResource("bytes://all").contents.single().bytes
        assertTrue(ByteArray(256) { it.toByte() }.contentEquals(bytes))
        assertEquals("note 00123", client.readResource("note://00123").text)
        val prompt = client.listPrompts().single()
        assertEquals(listOf("name" to true, "tone" to false), prompt.arguments.map { it.name to it.required })
        val messages = client.getPrompt("greet", mapOf("name" to "Ada")).messages
        assertEquals(listOf("Greet Ada in a warm way.", "Hello."), messages.map { it.text })
        assertEquals(listOf("Ada", "Alan"), client.completePrompt("greet", "name", "A").values)
        assertTrue(client.callTool("ask").text.startsWith("accept Ada"))
        assertEquals("thought of Think.", client.callTool("think").text)
        assertEquals("file:///work", client.callTool("folders").text)
        client.close()
    }

    @Test
    fun `the official client and our server`() = test {
        val process = ProcessBuilder(java("dev.oxmcp.interop.OurServer")).redirectError(ProcessBuilder.Redirect.DISCARD).start()
        val client = OfficialClient(Implementation("official", "1.0"))
        client.connect(
            StdioClientTransport(process.inputStream.asSource().buffered(), process.outputStream.asSink().buffered()),
        )
        assertEquals("interop", client.serverVersion?.name)
        assertEquals(listOf("add", "count", "wait", "fail"), client.listTools().tools.map { it.name })
        val sum = client.callTool("add", mapOf("a" to 2, "b" to 3))
        assertEquals("5", (sum.content.single() as TextContent).text)
        val failed = client.callTool("fail", emptyMap())
        assertEquals(true, failed.isError)
        val read = client.readResource(ReadResourceRequest(ReadResourceRequestParams("note://00123")))
        assertEquals("note 00123", (read.contents.single() as TextResourceContents).text)
        client.close()
        process.outputStream.close()
        assertEquals(0, process.waitFor())
    }

    @Test
    fun `our client and our server in Rust, over HTTP`() {
        val program = System.getenv("OXMCP_HTTP_SERVER")
        assumeTrue(program != null, "OXMCP_HTTP_SERVER names no server")
        val process = ProcessBuilder(program, "tools").redirectError(ProcessBuilder.Redirect.DISCARD).start()
        try {
            val line = process.inputStream.bufferedReader().readLine()
            val url = if (line.startsWith("http")) line else "http://$line/mcp"
            for (era in listOf("2025-11-25", "2026-07-28")) test {
                val client = Client.connect(url) { protocolVersions = listOf(era) }
                assertEquals("5", client.callTool("add", buildJsonObject { put("a", 2); put("b", 3) }).text)
                val seen = ArrayList<Double>()
                client.callTool("count", buildJsonObject { put("to", 3) }, onProgress = { seen.add(it.progress) })
                assertEquals(listOf(1.0, 2.0, 3.0), seen)
                client.close()
            }
        } finally {
            process.destroy()
        }
    }
}
