package dev.oxmcp

import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.launch
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertNotEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import kotlin.time.Duration.Companion.milliseconds

/** Servers over HTTP that want other credentials. */
internal class UnauthorizedTest {
    /** A server that takes one token, which may be changed, for all but the tool `open`. Its tools give the token. */
    private class Guarded : AutoCloseable {
        @Volatile
        var token = "first"

        /** One for each request that was refused. */
        val refusals = Channel<Unit>(Channel.UNLIMITED)
        private val opened = CompletableDeferred<Unit>()
        val server = FakeServer(::answer)

        private fun answer(asked: Wire): List<String> {
            val given = asked.headers["authorization"]
            if (given != "Bearer $token" && "\"open\"" !in asked.body) {
                refusals.trySend(Unit)
                return respond(401, "", "WWW-Authenticate: Bearer realm=\"x\"")
            }
            return when {
                asked.call == "initialize" -> asked.handshake()
                asked.call == "server/discover" -> asked.result("""{"supportedVersions":["2026-07-28"],"capabilities":{"tools":{}}}""")
                asked.call == "tools/call" -> asked.result("""{"content":[{"type":"text","text":"$given"}]}""")
                else -> respond(202, "").also { opened.complete(Unit) }
            }
        }

        fun options(renew: (suspend (Unauthorized) -> Map<String, String>?)?) =
            HttpClientOptions(mapOf("Authorization" to "Bearer first"), listen = false, onUnauthorized = renew)

        /** A client whose handshake is over: nothing but what the test asks for is refused. */
        suspend fun connect(renew: suspend (Unauthorized) -> Map<String, String>?): Client {
            val client = Client.connect(server.url, options(renew)) { protocolVersions = listOf("2025-11-25") }
            opened.await()
            return client
        }

        override fun close(): Unit = server.close()
    }

    private val refused = Unauthorized(401, "Bearer realm=\"x\"")

    private fun bearer(token: String) = mapOf("Authorization" to "Bearer $token")

    /** Runs a test, after which nothing may be left. */
    private fun guarded(block: suspend CoroutineScope.(Guarded) -> Unit) = test {
        val before = held()
        Guarded().use { block(it) }
        while (held() != before) yield()
    }

    @Test
    fun `other header fields are asked for when those that were sent are refused`() {
        for (era in listOf("2025-11-25", "2026-07-28")) guarded { guarded ->
            val told = Channel<Unauthorized>(Channel.UNLIMITED)
            val http = guarded.options {
                told.send(it)
                yield()
                bearer(guarded.token)
            }
            guarded.token = "second"
            val client = Client.connect(guarded.server.url, http) { protocolVersions = listOf(era) }
            assertEquals(refused, told.receive(), "at connect in $era")
            assertEquals("Bearer second", client.callTool("any").text)
            guarded.token = "third"
            assertEquals("Bearer third", client.callTool("any").text)
            assertEquals(refused, told.receive(), "in mid-connection in $era")
            assertEquals("Bearer third", client.callTool("any").text)
            assertTrue(told.tryReceive().isFailure, "what was given once is sent from then on")
            assertEquals(0, client.waiting())
            client.close()
        }
    }

    @Test
    fun `calls that are refused together ask once`() = guarded { guarded ->
        var asked = 0
        val client = guarded.connect {
            asked++
            repeat(8) { guarded.refusals.receive() }
            bearer("second")
        }
        guarded.token = "second"
        val texts = List(8) { async { client.callTool("any").text } }.awaitAll()
        assertEquals(List(8) { "Bearer second" }, texts)
        assertEquals(1, asked)
        client.close()
    }

    @Test
    fun `what is no answer to a refusal fails the call alone`() = guarded { guarded ->
        val whys: List<Pair<String, suspend () -> Map<String, String>?>> = listOf(
            "give it credentials" to { null },
            "give it credentials" to { emptyMap() },
            "give it credentials" to { bearer("first") },
            "; there are no others: the keyring is locked" to { error("the keyring is locked") },
            "; there are no others: no such luck" to { throw NotImplementedError("no such luck") },
            "; there are no others: Timed out" to { withTimeout(1.milliseconds) { mapOf("X" to forever()) } },
            "; there are no others: not now" to { throw CancellationException("not now") },
            "; there are no others: the header \"Accept\" cannot be set" to { mapOf("Accept" to "x") },
            "; there are no others: a text has half of a surrogate pair" to { mapOf("X-Name" to "\uD83D") },
        )
        val rest = ArrayDeque(whys.map { it.second })
        val client = guarded.connect { rest.removeFirst()() }
        guarded.token = "second"
        for ((why, _) in whys) {
            val error = assertThrows<ResponseException> { client.callTool("any") }
            assertTrue(why in error.message.orEmpty(), error.message)
            assertEquals(401, error.httpStatus)
            assertEquals(buildJsonObject { put("status", 401); put("wwwAuthenticate", refused.wwwAuthenticate) }, error.data)
            assertEquals(refused, error.unauthorized)
            assertFalse(error.isRetryable)
        }
        guarded.token = "first"
        assertEquals("Bearer first", client.callTool("any").text)
        assertTrue(rest.isEmpty())
        assertEquals(0, client.waiting())
        client.close()
    }

    @Test
    fun `connecting fails with what the function throws`() = guarded { guarded ->
        guarded.token = "second"
        val error = assertThrows<ResponseException> { guarded.connect { error("nobody is signed in") } }
        assertTrue("nobody is signed in" in error.message.orEmpty(), error.message)
        assertEquals(401, error.httpStatus)
    }

    @Test
    fun `a slow function delays nothing else, and is not run twice`() = guarded { guarded ->
        val asked = Channel<String>(Channel.UNLIMITED)
        val gate = CompletableDeferred<Unit>()
        val client = guarded.connect {
            asked.send(Thread.currentThread().name)
            gate.await()
            bearer("second")
        }
        guarded.token = "second"
        val first = launch { client.callTool("any") }
        assertNotEquals("oxmcp events", asked.receive())
        assertEquals("Bearer first", client.callTool("open").text)
        guarded.refusals.receive()
        first.cancelAndJoin()
        // The first waits no more, and this one has what is given.
        val next = async { client.callTool("any").text }
        guarded.refusals.receive()
        assertEquals("Bearer first", client.callTool("open").text)
        gate.complete(Unit)
        assertEquals("Bearer second", next.await())
        assertTrue(asked.tryReceive().isFailure)
        while (client.waiting() > 0) yield()
        client.close()
    }

    @Test
    fun `a client that closes asks no further`() = guarded { guarded ->
        val asked = Channel<Unit>(Channel.UNLIMITED)
        val ended = CompletableDeferred<Unit>()
        val client = guarded.connect {
            asked.send(Unit)
            try {
                mapOf("X" to forever())
            } finally {
                ended.complete(Unit)
            }
        }
        guarded.token = "second"
        val call = async { runCatching { client.callTool("any") } }
        asked.receive()
        client.close()
        ended.await()
        assertTrue(call.await().exceptionOrNull() is ConnectionClosedException, call.await().toString())
        assertTrue(guarded.server.requests.any { it.method == "DELETE" }, "the session was to end")
        assertTrue(asked.tryReceive().isFailure, "the end of the session asks nobody")
    }

    @Test
    fun `a function is cancelled with the coroutine that connects`() = guarded { guarded ->
        guarded.token = "second"
        val asked = CompletableDeferred<Unit>()
        val ended = CompletableDeferred<Unit>()
        val connecting = async {
            guarded.connect {
                asked.complete(Unit)
                try {
                    mapOf("X" to forever())
                } finally {
                    ended.complete(Unit)
                }
            }
        }
        asked.await()
        connecting.cancel()
        ended.await()
    }

    @Test
    fun `credentials are not shown`() {
        val shown = HttpClientOptions(bearer("secret"), onUnauthorized = { null }).toString()
        assertFalse("secret" in shown, shown)
        assertEquals("Unauthorized(status=403, wwwAuthenticate=null)", Unauthorized(403, null).toString())
    }
}
