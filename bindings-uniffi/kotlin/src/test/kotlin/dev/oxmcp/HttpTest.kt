package dev.oxmcp

import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.async
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.flow.first
import kotlinx.coroutines.launch
import kotlinx.coroutines.yield
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import kotlin.time.Duration.Companion.milliseconds
import kotlin.time.Duration.Companion.seconds

/** Both sides over HTTP. */
internal class HttpTest {
    private val started = Channel<CompletableDeferred<Unit>>(Channel.UNLIMITED)

    private fun server() = Server("test", "1.0") {
        subscriptions = true
        limits = Limits(drain = 50.milliseconds)
    }.apply {
        tool("add") { (a, b): Numbers -> Sum(a + b) }
        tool("counts") { (a): Numbers -> for (at in 1..a) progress(at, a); "done" }
        tool("asks") { _: Unit -> elicit<City>("Where?").valueOrNull()?.city ?: "nowhere" }
        tool("waits") { _: Unit ->
            val ended = CompletableDeferred<Unit>()
            started.send(ended)
            try {
                forever()
            } catch (error: CancellationException) {
                ended.complete(Unit)
                throw error
            }
        }
        resource("file:///a", "a") { "the text" }
    }

    private fun overHttp(http: HttpOptions = HttpOptions(), block: suspend (Server, Listening, String) -> Unit) {
        for (era in listOf("2025-03-26", "2025-11-25", "2026-07-28")) test {
            val server = server()
            val listening = server.listen(0, http)
            block(server, listening, era)
            server.close()
            listening.await()
            assertEquals(0, server.waiting(), "handlers that are left in $era")
        }
    }

    private suspend fun connect(listening: Listening, era: String, configure: ClientOptions.() -> Unit = {}): Client =
        Client.connect(listening.url) {
            protocolVersions = listOf(era)
            configure()
        }

    @Test
    fun `calls, progress, questions and errors`() = overHttp { _, listening, era ->
        val client = connect(listening, era) { onElicitation { ElicitResult.accept("city" to "Oslo") } }
        assertEquals(era, client.protocolVersion)
        assertEquals(Sum(5), client.callTool("add", Numbers(2, 3)).structured<Sum>())
        val seen = ArrayList<Double>()
        client.callTool("counts", Numbers(3), RequestOptions(onProgress = { seen += it.progress }))
        assertEquals(listOf(1.0, 2.0, 3.0), seen)
        if (era != "2025-03-26") assertEquals("Oslo", client.callTool("asks").text)
        assertEquals("the text", client.readResource("file:///a").text)
        val error = assertThrows<ResponseException> { client.callTool("none") }
        assertEquals(ErrorCode.INVALID_PARAMS, error.code)
        client.close()
    }

    @Test
    fun `every setting is one that the core knows`() = test {
        val time = 20.seconds
        val server = server()
        val listening = server.listen(
            0,
            HttpOptions(
                address = "127.0.0.1", path = "/a", hosts = listOf("a.test"), origins = listOf("https://a.test"),
                maxSessions = 5, sessionIdle = time, bodyLimit = 10_000, httpSse = true, resumable = false, retry = time,
                keepAlive = time, bodyTimeout = time, maxConnections = 10, headTimeout = time, writeTimeout = time,
            ),
        )
        val http = HttpClientOptions(
            headers = mapOf("X-Tenant" to "a"), noProxy = true, connectTimeout = time, closeTimeout = time, renewSessions = false,
            httpSse = HttpClientOptions.HttpSse.AUTO, maxRequests = 3, listen = false,
            redirects = HttpClientOptions.Redirects(1, true),
            backoff = HttpClientOptions.Backoff(20.milliseconds, 2.0, time, 3),
        )
        Client.connect(listening.url, http) { limits = Limits(1000, 20, 10, time, 5, 2, 3, 10_000) }.use { client ->
            assertEquals(Sum(5), client.callTool("add", Numbers(2, 3)).structured<Sum>())
        }
        server.close()
        val wrong = http.copy(backoff = HttpClientOptions.Backoff(initial = -time))
        val error = assertThrows<UsageException> { Client.connect(listening.url, wrong) }
        assertTrue("backoff.initial" in error.message.orEmpty(), error.message)
    }

    @Test
    fun `many calls at once, on many clients`() = overHttp { _, listening, era ->
        val clients = List(4) { connect(listening, era) }
        val sums = clients.flatMapIndexed { at, client ->
            List(25) { nth -> kotlinx.coroutines.CoroutineScope(kotlinx.coroutines.Dispatchers.Default).async {
                client.callTool("add", Numbers(at, nth)).structured<Sum>().sum
            } }
        }
        assertEquals(4 * 300 + 25 * 6, sums.sumOf { it.await() })
        clients.forEach { it.close() }
    }

    @Test
    fun `a cancelled call is cancelled at the server`() = overHttp { _, listening, era ->
        val client = connect(listening, era)
        kotlinx.coroutines.coroutineScope {
            val call = launch { client.callTool("waits") }
            val ended = started.receive()
            call.cancel()
            ended.await()
        }
        assertEquals(0, client.waiting())
        client.close()
    }

    @Test
    fun `a handler sees the request that brought its call, and the session`() = test {
        val seen = Channel<Pair<HttpRequest?, String?>>(1)
        val kept = Channel<CallContext>(1)
        val server = server().apply {
            tool("looks") { _: Unit ->
                seen.send(httpRequest to sessionId)
                ""
            }
            tool("keeps") { _: Unit ->
                kept.send(this)
                ""
            }
        }
        val listening = server.listen()
        for (era in listOf("2025-11-25", "2026-07-28")) {
            val http = HttpClientOptions(headers = mapOf("X-Tenant" to "a b", "Authorization" to "Bearer t"))
            val client = Client.connect(listening.url + "?at=1", http) { protocolVersions = listOf(era) }
            client.callTool("looks")
            val (request, session) = seen.receive()
            checkNotNull(request)
            assertEquals("POST /mcp?at=1", request.toString())
            assertEquals("127.0.0.1:${listening.port}", request.authority)
            assertEquals("a b", request.header("X-TENANT"))
            assertEquals("Bearer t", request.header("authorization"))
            assertEquals(null, request.header("absent"))
            assertTrue("x-tenant" to "a b" in request.headers, request.headers.toString())
            assertEquals(era == "2025-11-25", session != null, "a session in $era")
            assertEquals(session, request.header("mcp-session-id"))
            client.callTool("keeps")
            assertEquals(null, kept.receive().httpRequest, "after the call, in $era")
            client.close()
        }
        Client.connect(server).use { client ->
            client.callTool("looks")
            assertEquals(null to null, seen.receive())
        }
        listening.close()
        server.close()
    }

    @Test
    fun `what is told without being asked`() = test {
        val server = server()
        val listening = server.listen()
        val modern = connect(listening, "2026-07-28")
        val open = CompletableDeferred<Unit>()
        val seen = async { modern.listen(SubscriptionFilter(toolsListChanged = true)) { open.complete(Unit) }.first() }
        open.await()
        server.tool("new") { _: Unit -> "" }
        assertEquals("notifications/tools/list_changed", seen.await().method)
        modern.close()
        listening.close()
        server.close()
    }

    @Test
    fun `a server that closes ends what waits, and its port is free`() = overHttp { server, listening, era ->
        val client = connect(listening, era) { timeout = 30.seconds }
        kotlinx.coroutines.coroutineScope {
            val call = async { runCatching { client.callTool("waits") } }
            started.receive()
            server.close()
            assertTrue(call.await().isFailure)
        }
        client.close()
        val again = server().listen(listening.port)
        again.close()
    }

    @Test
    fun `nobody there, and a setting that is wrong`() = test {
        val listening = server().listen()
        listening.close()
        val error = assertThrows<ConnectionClosedException> { Client.connect(listening.url) }
        assertEquals(Fault.TRANSPORT, error.fault)
        assertThrows<McpException> { Client.connect("nonsense://x") }
        assertThrows<UsageException> { server().listen(0, HttpOptions(address = "here")) }
        val taken = server().listen()
        val second = assertThrows<ConnectionClosedException> { server().listen(taken.port) }
        assertTrue("${taken.port}" in second.message.orEmpty(), second.message)
        taken.close()
    }

    @Test
    fun `stateless and JSON only`() = test {
        val server = server()
        val listening = server.listen(0, HttpOptions(stateless = true, jsonOnly = true, path = "/here"))
        assertTrue(listening.url.endsWith("/here"), listening.url)
        for (era in listOf("2025-11-25", "2026-07-28")) {
            val client = connect(listening, era)
            assertEquals(Sum(5), client.callTool("add", Numbers(2, 3)).structured<Sum>())
            client.close()
        }
        while (server.waiting() > 0) yield()
        listening.close()
        server.close()
    }

    @Test
    fun `a call whose stream is given up is answered to the client that comes back`() = test {
        val given = Channel<CompletableDeferred<Unit>>(Channel.UNLIMITED)
        val server = server().apply {
            tool("long") { _: Unit ->
                endStream()
                CompletableDeferred<Unit>().also { given.send(it) }.await()
                "at last"
            }
        }
        val listening = server.listen(0, HttpOptions(retry = 10.milliseconds))
        for (era in listOf("2025-11-25", "2026-07-28")) {
            val client = connect(listening, era)
            val call = kotlinx.coroutines.CoroutineScope(kotlinx.coroutines.Dispatchers.Default).async { client.callTool("long") }
            given.receive().complete(Unit)
            assertEquals("at last", call.await().text)
            client.close()
        }
        listening.close()
        server.close()
    }

    @Test
    fun `a session that the server does not know any more is begun anew`() = test {
        val server = server()
        val first = server.listen()
        val client = connect(first, "2025-11-25")
        assertEquals(Sum(5), client.callTool("add", Numbers(2, 3)).structured<Sum>())
        first.close()
        val second = server.listen(first.port)
        assertEquals(Sum(6), client.callTool("add", Numbers(3, 3)).structured<Sum>())
        client.close()
        second.close()
        server.close()
    }

    @Test
    fun `nothing is left of many sessions and requests`() = test {
        val before = held()
        val server = server()
        val listening = server.listen()
        for (era in listOf("2025-11-25", "2026-07-28")) repeat(30) {
            connect(listening, era).use { client -> client.callTool("add", Numbers(it)) }
        }
        listening.close()
        server.close()
        while (held() != before) yield()
    }
}
