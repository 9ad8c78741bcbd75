package dev.oxmcp

import dev.oxmcp.internal.uniffiContinuationHandleMap
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.NonCancellable
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import kotlinx.coroutines.yield
import kotlinx.serialization.json.JsonObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import java.util.concurrent.atomic.AtomicInteger
import kotlin.random.Random

/** What goes wrong in other packages that stand on native code. */
internal class FaultsTest {
    private val runs = AtomicInteger()
    private val release = CompletableDeferred<Unit>()
    private val errors = java.util.Collections.synchronizedList(ArrayList<Throwable>())

    private fun server() = Server("test", "1.0") { onError { errors.add(it) } }.apply {
        tool("quick") { _: JsonObject -> runs.incrementAndGet(); "done" }
        tool("deaf") { _: Unit -> withContext(NonCancellable) { release.await() }; "too late" }
        tool("overflows") { _: Unit -> deep(0).toString() }
        tool("waits") { _: Unit -> forever() }
    }

    private fun deep(at: Int): Int = if (at < 0) 0 else 1 + deep(at + 1)

    @Test
    fun `10,000 cancels race with their answers`() = test {
        val server = server()
        val client = Client.connect(server)
        val random = Random(1)
        var cancelled = 0
        repeat(100) {
            coroutineScope {
                val calls = List(100) { async(Dispatchers.Default) { client.callTool("quick") } }
                for (call in calls.shuffled(random)) {
                    if (random.nextBoolean()) yield()
                    call.cancel()
                }
                calls.forEach { call ->
                    call.join()
                    if (call.isCancelled) cancelled++
                }
            }
        }
        assertTrue(cancelled > 0, "no cancel came before its answer")
        assertEquals("done", client.callTool("quick").text)
        client.close()
        server.close()
        assertEquals(emptyList<Throwable>(), errors)
    }

    @Test
    fun `cancels and answers race with the end of the connection`() = test {
        val server = server()
        repeat(100) {
            val client = Client.connect(server)
            val calls = List(50) { at ->
                async(Dispatchers.Default) { runCatching { client.callTool(if (at % 2 == 0) "quick" else "waits") } }
            }
            val closing = launch(Dispatchers.Default) { client.close() }
            calls.filterIndexed { at, _ -> at % 5 == 0 }.forEach { it.cancel() }
            closing.join()
            for (call in calls) {
                call.join()
                if (call.isCancelled) continue
                val error = call.await().exceptionOrNull() ?: continue
                assertTrue(error is ConnectionClosedException || error is CancellationException, error.toString())
            }
            assertEquals(0, client.waiting())
        }
        server.close()
        assertEquals(emptyList<Throwable>(), errors)
    }

    @Test
    fun `collectors that give up lose nothing for the others`() = test {
        val server = server().apply { tool("tells") { _: Unit -> notify("acme/told"); "" } }
        val heard = AtomicInteger()
        val client = Client.connect(server) {
            protocolVersions = listOf("2025-11-25")
            onNotification("acme/told") { heard.incrementAndGet() }
        }
        val random = Random(1)
        repeat(1_000) {
            val collector = launch(Dispatchers.Default) { client.notifications.collect {} }
            if (random.nextBoolean()) yield()
            val call = async(Dispatchers.Default) { client.callTool("tells") }
            if (random.nextBoolean()) collector.cancel()
            call.await()
            collector.cancel()
        }
        while (heard.get() < 1_000) yield()
        client.close()
        server.close()
    }

    @Test
    fun `a call that is cancelled before it starts is not sent`() = test {
        val server = server()
        val client = Client.connect(server)
        val call = async(start = CoroutineStart.LAZY) { client.callTool("quick") }
        call.cancel()
        assertThrows<CancellationException> { call.await() }
        coroutineScope {
            launch {
                coroutineContext[kotlinx.coroutines.Job]!!.cancel()
                assertThrows<CancellationException> { client.callTool("quick") }
            }
        }
        client.ping()
        assertEquals(0, runs.get())
        client.close()
        server.close()
    }

    @Test
    fun `a handler that ignores its cancel says nothing any more`() = test {
        val server = server()
        val lines = java.util.Collections.synchronizedList(ArrayList<String>())
        val client = Client.connect(server) { onTrace { sent, line -> if (!sent) lines.add(line) } }
        val call = async { client.callTool("deaf") }
        while (server.waiting() == 0) yield()
        call.cancel()
        assertThrows<CancellationException> { call.await() }
        client.ping()
        assertEquals("done", client.callTool("quick").text)
        release.complete(Unit)
        while (server.waiting() > 0) yield()
        client.ping()
        client.close()
        server.close()
        assertTrue(lines.none { "too late" in it }, lines.toString())
    }

    @Test
    fun `a handler that throws an Error fails its call alone`() = test {
        val server = server()
        val client = Client.connect(server)
        val others = List(20) { async { client.callTool("quick").text } }
        assertThrows<ResponseException> { client.callTool("overflows") }
        assertEquals(List(20) { "done" }, others.awaitAll())
        assertTrue(errors.single() is StackOverflowError)
        client.close()
        server.close()
    }

    @Test
    fun `closing from inside a callback`() = test {
        // From the handler of a notification.
        val server = server()
        val closed = CompletableDeferred<Unit>()
        lateinit var client: Client
        client = Client.connect(server) {
            protocolVersions = listOf("2025-11-25")
            onNotification("notifications/tools/list_changed") { client.close(); closed.complete(Unit) }
        }
        server.tool("new") { _: Unit -> "" }
        closed.await()
        assertThrows<ConnectionClosedException> { client.ping() }
        // From a server's handler, of the server itself.
        server.tool("ends all") { _: Unit -> server.close(); "" }
        val second = Client.connect(server)
        assertThrows<ConnectionClosedException> { second.callTool("ends all") }
        second.close()
        // From a report of progress.
        server.tool("reports") { _: Unit -> progress(1); forever() }
        val third = Client.connect(server)
        assertThrows<ConnectionClosedException> { third.callTool("reports", onProgress = { third.close() }) }
        server.close()
    }

    @Test
    fun `calls that wait fail when their connection is closed`() = test {
        val server = server()
        val client = Client.connect(server)
        val calls = List(50) { async { runCatching { client.callTool("waits") } } }
        while (server.waiting() < 50) yield()
        client.close()
        calls.awaitAll().forEach { assertTrue(it.exceptionOrNull() is ConnectionClosedException, it.toString()) }
        server.close()
        assertEquals(0, server.waiting())
    }

    @Test
    fun `what lives in native code goes with its connection`() = test {
        val before = held()
        repeat(200) {
            val server = server()
            val client = Client.connect(server)
            client.callTool("quick")
            if (it % 2 == 0) launch { runCatching { client.callTool("waits") } }
            client.close()
            server.close()
        }
        // A server's side ends a moment after its client's.
        while (held() != before) yield()
        assertEquals(0, uniffiContinuationHandleMap.size)
    }

    @Test
    fun `nothing is left of 20,000 calls, half of which fail`() = test {
        val server = server()
        val client = Client.connect(server)
        repeat(100) {
            List(200) { at -> async { runCatching { client.callTool(if (at % 2 == 0) "quick" else "none") } } }.awaitAll()
        }
        assertEquals(10_000, runs.get())
        assertEquals(0, client.waiting())
        assertEquals(0, server.waiting())
        client.close()
        server.close()
    }
}
