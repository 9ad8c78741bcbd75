package dev.oxmcp

import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.async
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.yield
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertNull
import org.junit.jupiter.api.Assertions.assertSame
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** What a server knows of its clients, and says to them beside any call. */
internal class SessionsTest {
    private val begun = Channel<ServerSession>(Channel.UNLIMITED)
    private val ended = Channel<ServerSession>(Channel.UNLIMITED)
    private val told = Channel<Notification>(Channel.UNLIMITED)
    private val logged = Channel<LogMessage>(Channel.UNLIMITED)

    private fun server() = Server("test", "1.0") {
        onConnect { begun.send(it) }
        onDisconnect { ended.send(it) }
    }.apply { tool("waits") { _: Unit -> forever() } }

    private val options: ClientOptions.() -> Unit = {
        info = Implementation("tester", "2.0")
        protocolVersions = listOf("2025-11-25")
        onRoots { listOf(Root("file:///work")) }
        onNotification("acme/told") { told.send(it) }
        onLog { logged.send(it) }
    }

    /** From a client's handshake to its end. */
    private suspend fun follow(server: Server, overHttp: Boolean, connect: suspend () -> Client) {
        val client = connect()
        val session = begun.receive()
        assertEquals("tester" to "2.0", session.clientInfo.name to session.clientInfo.version)
        assertEquals("2025-11-25", session.protocolVersion)
        assertTrue("roots" in session.clientCapabilities)
        assertEquals(overHttp, session.sessionId != null)
        assertSame(session, server.sessions.single())
        session.ping()
        assertEquals(listOf("file:///work"), session.listRoots().map { it.uri })
        assertThrows<CapabilityException> { session.request("sampling/createMessage") }
        session.notify("acme/told", buildJsonObject { put("n", 1) })
        assertEquals(buildJsonObject { put("n", 1) }, told.receive().params)
        session.log(LogLevel.ERROR, JsonPrimitive("odd"))
        assertEquals(JsonPrimitive("odd"), logged.receive().data)
        client.close()
        assertSame(session, ended.receive())
        assertEquals(emptyList<ServerSession>(), server.sessions)
        assertThrows<ConnectionClosedException> { session.ping() }
        assertThrows<ConnectionClosedException> { session.notify("acme/told") }
        session.log(LogLevel.ERROR, JsonPrimitive("late"))
        session.close()
    }

    @Test
    fun `a session is told of from its handshake to its end`() = test {
        val server = server()
        repeat(2) { follow(server, false) { Client.connect(server, options) } }
        val listening = server.listen()
        repeat(2) { follow(server, true) { Client.connect(listening.url, configure = options) } }
        server.close()
        assertNull(begun.tryReceive().getOrNull())
        assertNull(ended.tryReceive().getOrNull())
    }

    @Test
    fun `each of several sessions is told of its own`() = test {
        val server = server()
        val listening = server.listen()
        val clients = List(3) { at ->
            Client.connect(listening.url) {
                options()
                info = Implementation("tester $at", "1")
                onRoots { listOf(Root("file:///$at")) }
            }
        }
        val sessions = List(3) { begun.receive() }
        assertEquals(3, sessions.map { it.sessionId }.toSet().size)
        for (session in sessions) {
            val own = session.clientInfo.name.removePrefix("tester ")
            assertEquals("file:///$own", session.listRoots().single().uri)
        }
        clients[1].close()
        assertEquals("tester 1", ended.receive().clientInfo.name)
        assertEquals(2, server.sessions.size)
        server.close()
        assertEquals(setOf("tester 0", "tester 2"), List(2) { ended.receive().clientInfo.name }.toSet())
        clients.forEach { it.close() }
    }

    @Test
    fun `a server ends one session alone`() = test {
        val server = server()
        val clients = List(2) { Client.connect(server, options) }
        val first = begun.receive()
        begun.receive()
        val call = async { runCatching { clients[0].callTool("waits") } }
        while (server.waiting() == 0) yield()
        first.close()
        assertTrue(call.await().exceptionOrNull() is ConnectionClosedException)
        assertSame(first, ended.receive())
        clients[1].ping()
        clients.forEach { it.close() }
        server.close()
    }

    @Test
    fun `hooks that throw, and that close what they are told of`() = test {
        val errors = Channel<Throwable>(Channel.UNLIMITED)
        val gone = CompletableDeferred<Unit>()
        val server = Server("test", "1.0") {
            onConnect { it.close(); error("from a hook") }
            onDisconnect { gone.complete(Unit) }
            onError { errors.trySend(it) }
        }
        val client = Client.connect(server, options)
        client.await()
        gone.await()
        assertEquals("from a hook", errors.receive().message)
        client.close()
        server.close()
    }

    @Test
    fun `without a handshake there are no sessions`() = test {
        val server = server()
        val listening = server.listen()
        Client.connect(server).use { it.ping() }
        Client.connect(listening.url).use { it.ping() }
        val stateless = server.listen(http = HttpOptions(stateless = true))
        Client.connect(stateless.url, configure = options).use { it.ping() }
        server.close()
        assertEquals(emptyList<ServerSession>(), server.sessions)
        assertNull(begun.tryReceive().getOrNull())
        assertNull(ended.tryReceive().getOrNull())
    }

    @Test
    fun `sessions that are refused leave nothing`() = test {
        val server = server()
        val listening = server.listen(http = HttpOptions(maxSessions = 1))
        val first = Client.connect(listening.url, configure = options)
        repeat(200) {
            assertThrows<ResponseException> { Client.connect(listening.url, configure = options) }
        }
        assertTrue(server.sessions.size <= 130, "${server.sessions.size} sessions")
        first.ping()
        first.close()
        server.close()
    }
}
