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
    /** What a test gets: the client, its server, what the server says on its standard error, and whether it cancels. */
    private class Scene(val client: Client, val peer: ServerPeer, val said: Channel<String>, val cancels: Boolean)

    /** A test for each server, transport and era. */
    private fun onEach(
        servers: Map<String, ServerPeer>,
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
                                val cancels = !peer.isPlain && !(peer.isStateless && era == ERAS.first())
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
        onEach(ourServers("tools") + officialServers, {}) { scene ->
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

    private suspend fun followAndMiss(client: Client, peer: ServerPeer) {
        val seen = ArrayList<Progress>()
        val counted = client.callTool("count", buildJsonObject { put("to", 3) }, onProgress = { seen.add(it) })
        assertEquals("counted", counted.text)
        assertEquals((1..3).map { Progress(it.toDouble(), 3.0, "step $it") }, seen)
        if (peer.resultForUnknownTools) assertTrue(client.callTool("none").isError)
        else assertThrows<ResponseException> { client.callTool("none") }
    }

    private suspend fun Client.add(a: Int, b: Int) = callTool("add", buildJsonObject { put("a", a); put("b", b) }).text

    @TestFactory
    fun `and all that is beside tools`(): List<DynamicTest> = onEach(ourServers("surface"), {
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
