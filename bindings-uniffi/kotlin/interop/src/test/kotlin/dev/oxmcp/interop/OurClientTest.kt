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

    /** A server of others: its commands over stdio and over HTTP, and how it differs from ours. */
    private class Peer(
        val stdio: List<String>?,
        val http: List<String>?,
        val eras: List<String>,
        /** It reports no progress, and goes on with a call that was cancelled. */
        val isPlain: Boolean = false,
        /** The tool that is not there is a result, and no error. */
        val resultForUnknownTools: Boolean = false,
        /** Over HTTP and in revisions with a handshake it knows nothing of the call that it is to cancel. */
        val isStateless: Boolean = false,
        val isHttpOnly: Boolean = false,
    )

    private fun servers(kind: String): Map<String, Peer> = mapOf(
        "our Kotlin server" to Peer(java("OurServer", kind), java("OurServer", kind, "http"), eras),
        "our Rust server" to
            Peer(compiled("OXMCP_HTTP_SERVER", kind, "stdio"), compiled("OXMCP_HTTP_SERVER", kind), eras),
        "our Swift server" to
            Peer(compiled("OXMCP_SWIFT_SERVER", kind), compiled("OXMCP_SWIFT_SERVER", kind, "http"), eras),
        "our Python server" to Peer(
            script("OXMCP_PYTHON", if (kind == "tools") "our_server.py" else "surface.py"),
            script("OXMCP_PYTHON", "our_http_server.py", kind),
            eras,
        ),
        "our Node server" to Peer(
            script("OXMCP_NODE", if (kind == "tools") "our_server.mjs" else "surface.mjs"),
            script("OXMCP_NODE", "our_http_server.mjs", kind),
            eras,
        ),
    )

    private val official: Map<String, Peer> = mapOf(
        "the official Kotlin server" to
            Peer(java("OfficialServer"), java("OfficialServer", "http"), eras.take(1), isPlain = true),
        "the official Python server" to Peer(
            script("OXMCP_PEER_PYTHON", "official_server.py"),
            script("OXMCP_PEER_PYTHON", "official_http_server.py", "tools"),
            eras,
            resultForUnknownTools = true,
        ),
        "the official TypeScript server" to Peer(
            script("OXMCP_NODE", "official_server.mjs"),
            script("OXMCP_NODE", "official_http_server.mjs", "v2"),
            eras,
            isStateless = true,
        ),
        "the official TypeScript server, v1" to Peer(
            null,
            script("OXMCP_NODE", "official_http_server.mjs", "v1"),
            eras.take(1),
            resultForUnknownTools = true,
            isHttpOnly = true,
        ),
    )

    /** What a test gets: the client, its server, what the server says on its standard error, and whether it cancels. */
    private class Scene(val client: Client, val peer: Peer, val said: Channel<String>, val cancels: Boolean)

    /** A test for each server, transport and era. */
    private fun onEach(
        servers: Map<String, Peer>,
        configure: ClientOptions.() -> Unit,
        block: suspend CoroutineScope.(Scene) -> Unit,
    ): List<DynamicTest> = servers.flatMap { (name, peer) ->
        peer.eras.flatMap { era ->
            val options: ClientOptions.() -> Unit = {
                protocolVersions = listOf(era)
                configure()
            }
            listOfNotNull(
                dynamicTest("$name over stdio, $era") {
                    val command = peer.stdio
                    assumeTrue(command != null, "no variable names what $name needs")
                    val said = Channel<String>(Channel.UNLIMITED)
                    val lines = ServerCommand.Stderr.Lines { said.trySend(it) }
                    test {
                        Client.connect(ServerCommand(command!!.first(), command.drop(1), stderr = lines), options).use {
                            assertEquals(era, it.protocolVersion)
                            block(Scene(it, peer, said, cancels = !peer.isPlain))
                        }
                    }
                }.takeUnless { peer.isHttpOnly },
                dynamicTest("$name over HTTP, $era") {
                    assumeTrue(peer.http != null, "no variable names what $name needs")
                    Served(peer.http!!).use { served ->
                        test {
                            Client.connect(served.url, configure = options).use {
                                assertEquals(era, it.protocolVersion)
                                val cancels = !peer.isPlain && !(peer.isStateless && era == eras.first())
                                block(Scene(it, peer, served.said(), cancels))
                            }
                        }
                    }
                },
            )
        }
    }

    @TestFactory
    fun `it lists, calls, follows, fails and cancels`(): List<DynamicTest> =
        onEach(servers("tools") + official, {}) { scene ->
            val (client, said) = scene.client to scene.said
            assertEquals("interop", client.serverInfo.name)
            assertEquals("For tests.", client.instructions)
            val tools = client.listTools().map { it.name }
            assertTrue(tools.containsAll(listOf("add", "wait", "fail")), tools.toString())
            assertEquals("5", client.add(2, 3))
            if (!scene.peer.isPlain) followAndMiss(client, scene.peer)
            val failed = client.callTool("fail")
            assertTrue(failed.isError && "on purpose" in failed.text, failed.toString())
            val call = launch { client.callTool("wait") }
            while (said.receive() != "waiting") continue
            call.cancelAndJoin()
            if (scene.cancels) while ("cancelled" !in said.receive()) continue
            assertEquals("2", client.add(1, 1))
        }

    private suspend fun followAndMiss(client: Client, peer: Peer) {
        val seen = ArrayList<Progress>()
        val counted = client.callTool("count", buildJsonObject { put("to", 3) }, onProgress = { seen.add(it) })
        assertEquals("counted", counted.text)
        assertEquals((1..3).map { Progress(it.toDouble(), 3.0, "step $it") }, seen)
        if (peer.resultForUnknownTools) assertTrue(client.callTool("none").isError)
        else assertThrows<ResponseException> { client.callTool("none") }
    }

    private suspend fun Client.add(a: Int, b: Int) = callTool("add", buildJsonObject { put("a", a); put("b", b) }).text

    @TestFactory
    fun `and all that is beside tools`(): List<DynamicTest> = onEach(servers("surface"), {
        onElicitation { ElicitResult.accept("name" to "Ada") }
        onSampling { SamplingResult("thought of ${it.messages.single().text}", "m") }
        onRoots { listOf(Root("file:///work")) }
    }) { scene ->
        val client = scene.client
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
