package dev.oxmcp

import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import java.util.concurrent.atomic.AtomicInteger
import kotlin.time.Duration.Companion.milliseconds

/** Servers and clients over HTTP that do what they should not, or what is seldom done. */
internal class HttpPeersTest {
    private val legacy: ClientOptions.() -> Unit = { protocolVersions = listOf("2025-11-25") }

    /** A server of a revision with a handshake, whose tools answer as a test wants. */
    private fun fake(initialized: () -> List<String> = { respond(202, "") }, tool: (Wire) -> List<String>?) = FakeServer {
        when {
            it.call == "initialize" -> it.handshake()
            it.call == "notifications/initialized" -> initialized()
            it.call == "tools/call" || it.method == "GET" && "last-event-id" in it.headers -> tool(it)
            it.method == "GET" -> respond(405, "")
            else -> respond(202, "")
        }
    }

    private fun Wire.text(text: String) = result("""{"content":[{"type":"text","text":"$text"}]}""")

    private fun message(text: String, id: String? = "1") =
        """{"jsonrpc":"2.0","id":$id,"result":{"content":[{"type":"text","text":"$text"}]}}"""

    @Test
    fun `a server that refuses to be asked is not taken for an older one`() = test {
        for (status in listOf(401, 403, 503)) FakeServer { respond(status, "") }.use { server ->
            val error = assertThrows<McpException> { Client.connect(server.url) }
            assertEquals(status, error.httpStatus, error.toString())
            assertTrue(server.requests.none { it.call == "initialize" }, "an older revision was tried after $status")
        }
    }

    @Test
    fun `certificates are given to Android alone`() {
        val error = assertThrows<UsageException> { AndroidCertificates.use("no Context") }
        assertTrue("Android" in error.message.orEmpty(), error.message)
    }

    @Test
    fun `a notification may be answered by any success`() = test {
        for (answer in listOf(respond(202, ""), respond(204, ""), respond(200, ""))) {
            fake({ answer }) { it.text("done") }.use { server ->
                Client.connect(server.url, configure = legacy).use { assertEquals("done", it.callTool("any").text) }
            }
        }
    }

    @Test
    fun `a stream that ends without its answer fails the call at once`() = test {
        val progress = """{"jsonrpc":"2.0","method":"notifications/message","params":{"level":"info","data":1}}"""
        fake { stream("data: $progress\n\n") }.use { server ->
            Client.connect(server.url, configure = legacy).use { client ->
                val error = assertThrows<McpException> { client.callTool("any") }
                assertFalse(error is RequestTimeoutException, error.toString())
                assertEquals(0, client.waiting())
            }
        }
    }

    @Test
    fun `an event stream is read however it is written and cut`() = test {
        for (newline in listOf("\n", "\r\n", "\r")) {
            val odd = fake { call ->
                val text = message("ü", call.id).replaceFirst(",", ",\ndata: ")
                val events = ": a note\n\nevent: ping\ndata: x\n\nid: 5\ndata:\n\ndata: $text\n\n"
                stream(*events.replace("\n", newline).map { it.toString() }.toTypedArray())
            }
            odd.use { server ->
                Client.connect(server.url, configure = legacy).use { assertEquals("ü", it.callTool("any").text) }
            }
        }
    }

    @Test
    fun `a stream is taken up again at the last event that came, as often as it breaks`() = test {
        lateinit var id: String
        val resumed = AtomicInteger()
        val breaking = fake { asked ->
            when {
                asked.method == "POST" -> stream("id: e1\nretry: 1\ndata:\n\n").also { id = asked.id!! }
                resumed.incrementAndGet() < 3 -> stream()
                else -> stream("data: ${message("at last", id)}\n\n")
            }
        }
        breaking.use { server ->
            Client.connect(server.url, configure = legacy).use { assertEquals("at last", it.callTool("any").text) }
            assertEquals(List(3) { "e1" }, server.requests.mapNotNull { it.headers["last-event-id"] })
        }
    }

    @Test
    fun `a session is named by its handshake alone`() = test {
        fake { it.result("""{"content":[]}""", "Mcp-Session-Id: other") }.use { server ->
            repeat(2) {
                Client.connect(server.url, configure = legacy).use { client -> repeat(2) { client.callTool("any") } }
            }
            for (request in server.requests) {
                val named = request.headers["mcp-session-id"]
                assertEquals(if (request.call == "initialize") null else "s1", named, "${request.method} ${request.call}")
            }
        }
    }

    @Test
    fun `calls one after the other share their connections`() = test {
        fake { it.text("done") }.use { server ->
            Client.connect(server.url, configure = legacy).use { client -> repeat(50) { client.callTool("any") } }
            assertTrue(server.connections <= 3, "${server.connections} connections")
        }
    }

    @Test
    fun `a server that does not answer holds up no closing`() = test {
        val silent = FakeServer {
            when {
                it.call == "initialize" -> it.handshake()
                it.method == "DELETE" || it.call == "tools/call" -> null
                it.method == "GET" -> respond(405, "")
                else -> respond(202, "")
            }
        }
        silent.use { server ->
            val client = Client.connect(server.url, HttpClientOptions(closeTimeout = 20.milliseconds), legacy)
            client.close()
            client.close()
            assertTrue(server.requests.any { it.method == "DELETE" })
        }
    }

    @Test
    fun `requests that are not what they say are refused before a handler runs`() = test {
        var runs = 0
        val server = Server("test", "1.0").apply { tool("any") { _: Unit -> runs++; "" } }
        val listening = server.listen()
        val port = listening.port
        val meta = """"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"""
        val call = """{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"any",$meta}}"""
        val named = arrayOf("MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: any")
        val ping = """{"jsonrpc":"2.0","id":1,"method":"ping"}"""
        assertEquals(400, ask(port, call).first)
        assertTrue("-32020" in ask(port, call).second)
        assertEquals(400, ask(port, call, "MCP-Protocol-Version: 2025-11-25").first)
        assertEquals(400, ask(port, ping).first, "a request without a session")
        assertEquals(404, ask(port, ping, "Mcp-Session-Id: invented").first)
        assertEquals(421, ask(port, call, "Host: evil.test", *named).first)
        assertEquals(403, ask(port, call, "Origin: http://evil.test", *named).first)
        assertEquals(415, ask(port, call, "Content-Type: text/plain; a=application/json", *named).first)
        assertEquals(406, ask(port, call, "Accept: text/html", *named).first)
        assertEquals(0, runs)
        for (header in listOf("Accept: */*", "Content-Type: Application/JSON; charset=utf-8", "Host: localhost:9")) {
            assertEquals(200, ask(port, call, header, *named).first, header)
        }
        assertEquals(3, runs)
        listening.close()
        server.close()
    }

    @Test
    fun `a client that leaves cancels its call in revisions without sessions, and in no others`() = test {
        val started = Channel<Unit>(1)
        val cancelled = Channel<Unit>(1)
        val release = CompletableDeferred<Unit>()
        val server = Server("test", "1.0").apply {
            tool("any") { _: Unit ->
                started.send(Unit)
                try {
                    release.await()
                } catch (error: CancellationException) {
                    cancelled.trySend(Unit)
                    throw error
                }
                ""
            }
        }
        val listening = server.listen()
        val hello = """{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}"""
        val session = Regex("(?i)mcp-session-id: (\\S+)").find(ask(listening.port, hello).second)!!.groupValues[1]
        val call = """{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":"any"}}"""
        Asked(listening.port, call, "Mcp-Session-Id: $session").use { started.receive() }
        val meta = """"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientInfo":{"name":"t","version":"1"},"io.modelcontextprotocol/clientCapabilities":{}}"""
        val modern = call.replace("\"any\"", "\"any\",$meta")
        Asked(listening.port, modern, "MCP-Protocol-Version: 2026-07-28", "Mcp-Method: tools/call", "Mcp-Name: any").use { started.receive() }
        cancelled.receive()
        assertEquals(1, server.waiting(), "the call of the session goes on")
        release.complete(Unit)
        while (server.waiting() > 0) yield()
        assertTrue(cancelled.tryReceive().isFailure)
        listening.close()
        server.close()
    }
}
