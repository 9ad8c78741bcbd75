package dev.oxmcp

import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.async
import kotlinx.coroutines.launch
import kotlinx.coroutines.withContext
import kotlinx.coroutines.withTimeout
import kotlinx.coroutines.yield
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertThrows
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import java.util.concurrent.ConcurrentLinkedQueue
import java.util.concurrent.LinkedBlockingQueue
import kotlin.time.Duration
import kotlin.time.Duration.Companion.milliseconds

/** Tools, and what calls of them can come to. */
internal class CallsTest {
    private val errors = LinkedBlockingQueue<Throwable>()

    private fun server() = Server("test", "1.0") { onError { errors.add(it) } }.apply {
        tool("add", "Adds.") { (a, b): Numbers -> Sum(a + b) }
        tool("greet") { (city): City -> "Hello $city" }
        tool("nothing") { _: Unit -> }
        tool("picture") { _: Unit -> ImageContent(ByteArray(256) { it.toByte() }, "image/png") }
        tool("echo") { args: JsonObject -> CallToolResult(args.toString()) }
        tool("fails") { _: Unit -> throwing(IllegalStateException("no luck")) }
        tool("refuses") { _: Unit -> throwing(McpError(-32050, "not today", parse("""{"when":"tomorrow"}"""))) }
        tool("breaks") { _: Unit -> throwing(AssertionError("a secret")) }
        tool("gives up") { _: Unit -> withTimeout(1.milliseconds) { forever() } }
        tool("halves") { _: Unit -> "half of a pair: \uD83D" }
        tool("counts") { (a): Numbers -> for (at in 1..a) progress(at, a, "at $at"); "done" }
    }

    private fun throwing(error: Throwable): String = throw error

    @Test
    fun `tools are listed with the schemas of their classes`() = inEveryEra(::server) { client, _ ->
        val tools = client.listTools().associateBy { it.name }
        val add = tools.getValue("add")
        assertEquals("Adds.", add.description)
        same(
            parse(
                """{"type":"object","properties":{"a":{"type":"integer","description":"The first."},"b":{"type":"integer"}},
                   "required":["a"]}""",
            ),
            add.inputSchema,
        )
        same(parse("""{"type":"object","properties":{"sum":{"type":"integer"}},"required":["sum"]}"""), add.outputSchema)
        same(parse("""{"type":"object","properties":{}}"""), tools.getValue("nothing").inputSchema)
    }

    @Test
    fun `what a tool gives arrives`() = inEveryEra(::server) { client, _ ->
        val sum = client.callTool("add", Numbers(2, 3))
        assertEquals(Sum(5), sum.structured<Sum>())
        assertEquals("""{"sum":5}""", sum.text)
        assertEquals("Hello Oslo", client.callTool("greet", City("Oslo")).text)
        assertEquals(emptyList<Content>(), client.callTool("nothing").content)
        val picture = client.callTool("picture").content.single() as ImageContent
        assertTrue(ByteArray(256) { it.toByte() }.contentEquals(picture.bytes))
        val digits = """{"n":9007199254740993,"s":"00123","u":"\u00e9\ud83d\ude00"}"""
        same(parse(digits), parse(client.callTool("echo", parseObject(digits)).text))
    }

    @Test
    fun `what goes wrong in a tool is said, and no more`() = inEveryEra(::server) { client, _ ->
        val failed = client.callTool("fails")
        assertTrue(failed.isError)
        assertEquals("no luck", failed.text)
        val refused = assertThrows<ResponseException> { client.callTool("refuses") }
        assertEquals(listOf(-32050L, "not today", Fault.PEER), listOf(refused.code, refused.message, refused.fault))
        same(parse("""{"when":"tomorrow"}"""), refused.data)
        for (name in listOf("breaks", "halves")) {
            errors.clear()
            val broken = client.runCatching { callTool(name) }.fold({ it.text }, { it.message.orEmpty() })
            assertFalse("secret" in broken, broken)
            if (name == "breaks") assertTrue(errors.poll() is AssertionError)
        }
        assertTrue(client.callTool("gives up").isError)
    }

    @Test
    fun `arguments that do not fit are refused before the tool runs`() = inEveryEra(::server) { client, _ ->
        for (arguments in listOf("{}", """{"a":"1"}""", """{"a":1.5}""")) {
            val what = client.runCatching { callTool("add", parseObject(arguments)) }
                .fold({ assertTrue(it.isError); it.text }, { assertEquals(ErrorCode.INVALID_PARAMS, (it as ResponseException).code); it.message })
            assertTrue("a" in what.orEmpty(), what)
        }
        val unknown = assertThrows<ResponseException> { client.callTool("no such tool") }
        assertEquals(ErrorCode.INVALID_PARAMS, unknown.code)
        val params = assertThrows<ResponseException> { client.request("tools/call", buildJsonObject { put("name", 5) }) }
        assertEquals(ErrorCode.INVALID_PARAMS, params.code)
    }

    @Test
    fun `progress comes in order and before the result`() = inEveryEra(::server) { client, _ ->
        val seen = ArrayList<Progress>()
        val result = client.callTool("counts", buildJsonObject { put("a", 5) }, onProgress = { seen.add(it) })
        assertEquals("done", result.text)
        assertEquals((1..5).map { Progress(it.toDouble(), 5.0, "at $it") }, seen)
        val error = assertThrows<IllegalArgumentException> {
            client.callTool("counts", buildJsonObject { put("a", 5) }, onProgress = { throw IllegalArgumentException("mine") })
        }
        assertEquals("mine", error.message)
    }

    @Test
    fun `a cancelled coroutine cancels the call at the server`() {
        val started = LinkedBlockingQueue<CompletableDeferred<String>>()
        val server = {
            Server("test", "1.0").apply {
                tool("waits") { _: Unit ->
                    val ended = CompletableDeferred<String>().also(started::add)
                    try {
                        forever()
                    } catch (error: CancellationException) {
                        ended.complete(error.message.orEmpty())
                        throw error
                    }
                }
            }
        }
        inEveryEra(server) { client, _ ->
            val call = launch { client.callTool("waits") }
            val ended = withContext(Dispatchers.IO) { started.take() }
            call.cancel(CancellationException("enough"))
            assertEquals("enough", ended.await())
            call.join()
            assertTrue(call.isCancelled)
            client.ping()
        }
    }

    @Test
    fun `calls end in their time`() = inEveryEra({ Server("test", "1.0").apply { tool("waits") { _: Unit -> forever() } } }) {
            client, _ ->
        val late = assertThrows<RequestTimeoutException> { client.callTool("waits", timeout = 20.milliseconds) }
        assertEquals(ErrorCode.REQUEST_TIMEOUT, late.code)
        assertTrue(late.isRetryable)
        val bound = assertThrows<RequestTimeoutException> {
            client.callTool("waits", timeout = Duration.INFINITE, maxTotalTimeout = 20.milliseconds)
        }
        assertTrue("total" in bound.message.orEmpty(), bound.message)
        val usage = assertThrows<UsageException> { client.callTool("waits", timeout = (-1).milliseconds) }
        assertTrue("timeout" in usage.message.orEmpty(), usage.message)
    }

    @Test
    fun `a client's own time bounds its calls, and the server is told`() {
        val sent = ConcurrentLinkedQueue<String>()
        inEveryEra(
            { Server("test", "1.0").apply { tool("waits") { _: Unit -> forever() } } },
            { timeout = 200.milliseconds; onTrace { out, line -> if (out) sent.add(line) } },
        ) { client, server ->
            assertThrows<RequestTimeoutException> { client.callTool("waits") }
            while (server.waiting() > 0 || sent.none { "notifications/cancelled" in it }) yield()
            sent.clear()
        }
    }

    @Test
    fun `asking that progress restarts the clock asks for progress`() {
        val sent = LinkedBlockingQueue<String>()
        inEveryEra(::server, { onTrace { out, line -> if (out && "counts" in line) sent.put(line) } }) { client, _ ->
            client.callTool("counts", Numbers(2), RequestOptions(resetTimeoutOnProgress = true))
            val line = withContext(Dispatchers.IO) { sent.take() }
            assertTrue("progressToken" in line, line)
        }
    }

    @Test
    fun `a method of one's own`() = inEveryEra({ Server("test", "1.0").apply { method("acme/double") { params ->
        buildJsonObject { put("twice", UnknownContent(params).integer("n")!! * 2) }
    } } }) { client, _ ->
        val given = client.request("acme/double", buildJsonObject { put("n", 4) })
        assertEquals(8L, UnknownContent(given).integer("twice"))
        val unknown = assertThrows<ResponseException> { client.request("acme/none") }
        assertEquals(ErrorCode.METHOD_NOT_FOUND, unknown.code)
    }

    @Test
    fun `names that are taken and classes without a schema are refused`() {
        val server = server()
        assertThrows(UsageException::class.java) { server.tool("add") { _: Unit -> "again" } }
        assertThrows(UsageException::class.java) { server.method("tools/call") { it } }
        val error = assertThrows(UsageException::class.java) { server.tool("list") { _: List<Int> -> "" } }
        assertTrue("the tool \"list\"" in error.message.orEmpty(), error.message)
    }

    @Test
    fun `a call on a closed client fails at once, and closing again does no harm`() = test {
        val server = server()
        val client = Client.connect(server)
        client.close()
        client.close()
        assertFalse(client.isConnected)
        assertThrows<ConnectionClosedException> { client.ping() }
        assertThrows<ConnectionClosedException> { client.notify("notifications/x") }
        val call = async { runCatching { client.callTool("nothing") } }
        assertTrue(call.await().exceptionOrNull() is ConnectionClosedException)
    }
}
