package dev.oxmcp

import kotlinx.coroutines.channels.Channel
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows

/** What programs get wrong is named: what it is, and what would be right. */
internal class MistakesTest {
    private inline fun says(vararg parts: String, work: () -> Unit) {
        val message = assertThrows<UsageException> { work() }.message.orEmpty()
        for (part in parts) assertTrue(part in message, "$part is not in: $message")
    }

    @Test
    fun `options of a server`() = test {
        val server = Server("test", "1.0")
        says("65535", "99999") { server.listen(99_999) }
        says("65535", "-1") { server.listen(-1) }
        says("must begin with \"/\"", "\"nope\"") { server.listen(0, HttpOptions(path = "nope")) }
        says("pageSize", "0") { Server("test", "1.0") { pageSize = 0 } }
        server.close()
    }

    @Test
    fun `limits`() {
        says("\"message\"", "1 or more", "-1") { Limits(message = -1) }
        says("\"depth\"", "0") { Limits(depth = 0) }
        says("\"rounds\"", "0 or more") { Limits(rounds = -1) }
        says("\"list\"") { Limits(list = -1) }
        assertEquals(Limits(rounds = 0), Limits(rounds = 0, subscriptions = null))
    }

    @Test
    fun `an update without subscriptions`() {
        val error = assertThrows<CapabilityException> { Server("test", "1.0").resourceUpdated("file:///a") }
        assertTrue("`subscriptions`" in error.message.orEmpty(), error.message)
        assertEquals(false, Server("test", "1.0") { subscriptions = true }.resourceUpdated("x:y"))
    }

    @Test
    fun `a number that is too large for its type`() = test {
        val server = Server("test", "1.0").apply { tool("takes") { numbers: Numbers -> "${numbers.a}" } }
        Client.connect(server).use { client ->
            val result = client.callTool("takes", mapOf("a" to 3_000_000_000))
            assertTrue(result.isError && "3000000000" in result.text, result.text)
        }
        server.close()
    }

    @Test
    fun `what a function of the server does wrong is told to the server, and not to its clients`() = test {
        val errors = Channel<Throwable>(Channel.UNLIMITED)
        val server = Server("test", "1.0") { onError { errors.trySend(it) } }.apply { resource("bad://r", "bad") { 42 } }
        Client.connect(server).use { client ->
            val error = assertThrows<ResponseException> { client.readResource("bad://r") }
            assertEquals(ErrorCode.INTERNAL_ERROR to "Internal error", error.code to error.message)
        }
        val told = errors.receive()
        assertTrue(told is UsageException && "bad://r" in told.message.orEmpty(), told.toString())
        server.close()
    }
}
