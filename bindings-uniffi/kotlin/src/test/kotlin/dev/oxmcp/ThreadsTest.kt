package dev.oxmcp

import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.coroutines.yield
import kotlinx.serialization.json.JsonObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import java.util.concurrent.CountDownLatch
import java.util.concurrent.LinkedBlockingQueue
import kotlin.time.Duration.Companion.milliseconds

/** Threads of the core's and of the program's, and who waits for whom. */
internal class ThreadsTest {
    /** Threads that wait for events of an endpoint. */
    private fun waiting(): List<Thread> = Thread.getAllStackTraces().keys.filter { it.name == "oxmcp events" }

    /** All threads but those that this JVM starts by itself or for coroutines. */
    private fun others(): Set<String> = Thread.getAllStackTraces().keys.map { it.name }.filter { "oxmcp" in it || "tokio" in it }.toSet()

    @Test
    fun `an endpoint has one thread, which ends with it, and the core's own never enter the JVM`() = test {
        while (waiting().isNotEmpty()) yield()
        val server = Server("test", "1.0").apply { tool("quick") { _: JsonObject -> "done" } }
        val client = Client.connect(server)
        repeat(500) { client.callTool("quick") }
        val threads = waiting()
        assertEquals(2, threads.size)
        // Nor do they keep the program running.
        assertTrue(threads.all { it.isDaemon })
        assertEquals(setOf("oxmcp events"), others())
        client.close()
        server.close()
        threads.forEach { it.join() }
    }

    @Test
    fun `handlers that block hold up neither pings nor cancels`() = test {
        val release = CountDownLatch(1)
        val running = LinkedBlockingQueue<Unit>()
        val server = Server("test", "1.0").apply {
            tool("blocks") { _: Unit -> running.put(Unit); release.await(); "done" }
        }
        val client = Client.connect(server)
        val workers = Runtime.getRuntime().availableProcessors().coerceAtLeast(2)
        val calls = List(workers) { async { client.callTool("blocks").text } }
        withContext(Dispatchers.IO) { repeat(workers) { running.take() } }
        client.ping()
        calls.first().cancelAndJoin()
        client.ping()
        release.countDown()
        assertEquals(List(workers - 1) { "done" }, calls.drop(1).awaitAll())
        client.close()
        server.close()
    }

    @Test
    fun `hooks that throw harm nothing`() = test {
        val thrown = LinkedBlockingQueue<Throwable>()
        val server = Server("test", "1.0") {
            onNotification("notifications/roots/list_changed") { throw StackOverflowError("from a hook") }
            onError {
                thrown.put(it)
                throw IllegalStateException("from the hook for errors")
            }
        }.apply { tool("quick") { _: Unit -> "done" } }
        val client = Client.connect(server) {
            protocolVersions = listOf("2025-11-25")
            onRoots { emptyList() }
            onTrace { _, _ -> throw LinkageError("from a hook") }
            onError { thrown.put(it) }
        }
        client.rootsChanged()
        assertEquals("done", client.callTool("quick").text)
        val kinds = HashSet<String>()
        withContext(Dispatchers.IO) {
            while (kinds.size < 2) kinds += thrown.take()::class.simpleName.orEmpty()
        }
        assertEquals(setOf("StackOverflowError", "LinkageError"), kinds)
        assertEquals("done", client.callTool("quick").text)
        client.close()
        server.close()
    }

    @Test
    fun `an answer that comes too late is nobody's business`() = test {
        val release = CountDownLatch(1)
        val odd = LinkedBlockingQueue<Any>()
        val server = Server("test", "1.0") {
            onProblem { odd.put(it) }
            onError { odd.put(it) }
            dispatcher = Dispatchers.IO
        }.apply { tool("blocks") { _: Unit -> release.await(); "late" } }
        val client = Client.connect(server) {
            onProblem { odd.put(it) }
            onError { odd.put(it) }
        }
        assertEquals(null, withTimeoutOrNull(10.milliseconds) { client.callTool("blocks") })
        assertThrows<RequestTimeoutException> { client.callTool("blocks", timeout = 10.milliseconds) }
        release.countDown()
        while (server.waiting() > 0) yield()
        client.ping()
        assertTrue(odd.isEmpty(), odd.toString())
        client.close()
        server.close()
    }
}
