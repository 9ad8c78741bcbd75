package dev.oxmcp

import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.async
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import kotlin.time.Duration.Companion.milliseconds

/** Servers that are child processes, and servers that are one. */
internal class StdioTest {
    private val command = program("dev.oxmcp.TestServer")

    @Test
    fun `a server in Kotlin is started, called and ended`() = test {
        val lines = Channel<String>(Channel.UNLIMITED)
        val client = Client.connect(command.copy(stderr = ServerCommand.Stderr.Lines { lines.trySend(it) }))
        assertEquals("test server", client.serverInfo.name)
        assertEquals("be quick", client.instructions)
        assertEquals(Sum(5), client.callTool("add", Numbers(2, 3)).structured<Sum>())
        assertEquals("printed", client.callTool("prints").text)
        client.ping()
        client.close()
        // All it said is there once it has ended.
        val said = generateSequence { lines.tryReceive().getOrNull() }.toList()
        assertEquals(listOf("a stray print", "the server has ended"), said)
    }

    @Test
    fun `a server that dies fails the calls that wait, and says how it ended`() = test {
        val client = Client.connect(command.copy(stderr = ServerCommand.Stderr.Discard))
        val waiting = async { runCatching { client.callTool("waits") } }
        val error = assertThrows<ConnectionClosedException> { client.callTool("exits") }
        assertTrue("3" in error.message.orEmpty(), error.message)
        assertEquals(Fault.TRANSPORT, error.fault)
        assertTrue(waiting.await().exceptionOrNull() is ConnectionClosedException)
        client.close()
    }

    @Test
    fun `what can not be started is said at once`() = test {
        for ((wrong, part) in listOf(
            ServerCommand("no-such-command") to "no-such-command",
            ServerCommand("false") to "ended",
            ServerCommand("true", emptyList(), cwd = "/no/such/folder") to "/no/such/folder",
        )) {
            val error = assertThrows<ConnectionClosedException> { Client.connect(wrong) }
            assertTrue(part in error.message.orEmpty(), error.message)
        }
        val late = assertThrows<RequestTimeoutException> {
            Client.connect(ServerCommand("sleep", "100")) { connectTimeout = 50.milliseconds }
        }
        assertTrue(late.isRetryable)
    }

    @Test
    fun `arguments and variables arrive as they are`() = test {
        val given = listOf("a \"b\" c&d", "", "\$HOME", "ü")
        val script = "import json,os,sys; print(json.dumps([sys.argv[1:], os.environ.get('MINE'), os.environ.get('SECRET')]), file=sys.stderr)"
        val said = CompletableDeferred<String>()
        val python = ServerCommand(
            "python3",
            listOf("-c", script) + given,
            env = mapOf("MINE" to "yes"),
            stderr = ServerCommand.Stderr.Lines { said.complete(it) },
        )
        assertThrows<ConnectionClosedException> { Client.connect(python) }
        same(parse("""[["a \"b\" c&d","","${'$'}HOME","ü"],"yes",null]"""), parse(said.await()))
    }

    @Test
    fun `a server answers what it accepted before its input ended, and exits`() = test {
        val process = ProcessBuilder(listOf(command.program) + command.args).redirectError(ProcessBuilder.Redirect.DISCARD).start()
        process.outputStream.use { input ->
            input.write(
                """
                not json
                {"jsonrpc":"2.0","id":"1","method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
                {"jsonrpc":"2.0","method":"notifications/initialized"}
                {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"add","arguments":{"a":1,"b":2}}}
                """.trimIndent().plus("\n").encodeToByteArray(),
            )
        }
        val lines = process.inputStream.bufferedReader().readLines()
        assertEquals(0, process.waitFor())
        assertEquals(3, lines.size, lines.toString())
        assertTrue("-32700" in lines[0] && "\"id\":\"1\"" in lines[1] && "\"sum\":3" in lines[2], lines.toString())
    }
}
