package dev.oxmcp.interop

import dev.oxmcp.Client
import dev.oxmcp.ClientOptions
import dev.oxmcp.ElicitResult
import dev.oxmcp.Progress
import dev.oxmcp.ResponseException
import dev.oxmcp.Root
import dev.oxmcp.SamplingResult
import dev.oxmcp.ServerCommand
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.launch
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.TestFactory
import org.junit.jupiter.api.assertThrows

/** Our client with servers of others, as real processes, over both transports and in both eras. */
internal class OurClientTest {
    private val eras = listOf("2025-11-25", "2026-07-28")
    private val official = "the official Kotlin server"

    /** The commands of servers by their names: over stdio, and over HTTP. */
    private fun servers(kind: String): Map<String, Pair<List<String>?, List<String>?>> = mapOf(
        "our Kotlin server" to (java("OurServer", kind) to java("OurServer", kind, "http")),
        "our Rust server" to
            (compiled("OXMCP_HTTP_SERVER", kind, "stdio") to compiled("OXMCP_HTTP_SERVER", kind)),
        "our Python server" to (
            script("OXMCP_PYTHON", if (kind == "tools") "our_server.py" else "surface.py") to
                script("OXMCP_PYTHON", "our_http_server.py", kind)
            ),
        "our Node server" to (
            script("OXMCP_NODE", if (kind == "tools") "our_server.mjs" else "surface.mjs") to
                script("OXMCP_NODE", "our_http_server.mjs", kind)
            ),
    )

    /** A test for each server, transport and era. It gets the client, and what the server says on its standard error. */
    private fun onEach(
        servers: Map<String, Pair<List<String>?, List<String>?>>,
        configure: ClientOptions.() -> Unit,
        block: suspend CoroutineScope.(Client, Channel<String>, String) -> Unit,
    ): List<DynamicTest> = servers.flatMap { (name, commands) ->
        // The official SDK knows no revision without a handshake.
        val known = if (name == official) eras.take(1) else eras
        known.flatMap { era ->
            val options: ClientOptions.() -> Unit = {
                protocolVersions = listOf(era)
                configure()
            }
            listOf(
                dynamicTest("$name over stdio, $era") {
                    val command = commands.first
                    assumeTrue(command != null, "no variable names what $name needs")
                    val said = Channel<String>(Channel.UNLIMITED)
                    val lines = ServerCommand.Stderr.Lines { said.trySend(it) }
                    test {
                        Client.connect(ServerCommand(command!!.first(), command.drop(1), stderr = lines), options).use {
                            assertEquals(era, it.protocolVersion)
                            block(it, said, name)
                        }
                    }
                },
                dynamicTest("$name over HTTP, $era") {
                    val command = commands.second
                    assumeTrue(command != null, "no variable names what $name needs")
                    Served(command!!).use { served ->
                        test {
                            Client.connect(served.url, configure = options).use {
                                assertEquals(era, it.protocolVersion)
                                block(it, served.said(), name)
                            }
                        }
                    }
                },
            )
        }
    }

    @TestFactory
    fun `it lists, calls, follows, fails and cancels`(): List<DynamicTest> {
        val all = servers("tools") + (official to (java("OfficialServer") to java("OfficialServer", "http")))
        return onEach(all, {}) { client, said, name ->
            assertEquals("interop", client.serverInfo.name)
            assertEquals("For tests.", client.instructions)
            val tools = client.listTools().map { it.name }
            assertTrue(tools.containsAll(listOf("add", "wait", "fail")), tools.toString())
            assertEquals("5", client.add(2, 3))
            if (name != official) {
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
            if (name != official) while ("cancelled" !in said.receive()) continue
            assertEquals("2", client.add(1, 1))
        }
    }

    private suspend fun Client.add(a: Int, b: Int) = callTool("add", buildJsonObject { put("a", a); put("b", b) }).text

    @TestFactory
    fun `and all that is beside tools`(): List<DynamicTest> = onEach(servers("surface"), {
        onElicitation { ElicitResult.accept("name" to "Ada") }
        onSampling { SamplingResult("thought of ${it.messages.single().text}", "m") }
        onRoots { listOf(Root("file:///work")) }
    }) { client, _, _ ->
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
        assertEquals("accept Ada 30", client.callTool("ask").text)
        assertEquals("thought of Think.", client.callTool("think").text)
        assertEquals("file:///work", client.callTool("folders").text)
    }
}
