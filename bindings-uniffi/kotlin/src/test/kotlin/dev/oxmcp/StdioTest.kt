package dev.oxmcp

import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.async
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertFalse
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.assertThrows
import java.io.File
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
    fun `a server that prints what is no message is put up with`() = test {
        val problems = Channel<Problem>(Channel.UNLIMITED)
        val lines = Channel<String>(Channel.UNLIMITED)
        val script = """
            while read -r line; do
                echo "got it"
                case "${'$'}line" in
                    *'"initialize"'*) echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}' ;;
                    *'"ping"'*) echo '{"jsonrpc":"2.0","id":1,"result":{}}' ;;
                esac
                echo "${'$'}line" >&2
            done
        """.trimIndent()
        val shell = ServerCommand("sh", listOf("-c", script), stderr = ServerCommand.Stderr.Lines { lines.trySend(it) })
        val client = Client.connect(shell) {
            probe = false
            onProblem { problems.trySend(it) }
        }
        client.ping()
        client.close()
        val said = generateSequence { lines.tryReceive().getOrNull() }.toList()
        // The handshake and the ping, and no answer to what was printed.
        assertEquals(3, said.size, said.toString())
        val odd = generateSequence { problems.tryReceive().getOrNull() }.toList()
        assertTrue(odd.isNotEmpty() && odd.all { it.kind == "not_json" && "got it" in it.message }, odd.toString())
    }

    @Test
    fun `a server that leaves at the first question is started again for the handshake`() = test {
        val lines = Channel<String>(Channel.UNLIMITED)
        val script = """
            read -r request
            case "${'$'}request" in *'"initialize"'*) ;; *) echo left >&2; exit 1; esac
            id=${'$'}{request#*'"id":'}
            echo '{"jsonrpc":"2.0","id":'"${'$'}{id%%,*}"',"result":{"protocolVersion":"2025-06-18","capabilities":{},"serverInfo":{"name":"strict","version":"1"}}}'
            read -r initialized
            echo initialized >&2
            read -r end
        """.trimIndent()
        val shell = ServerCommand("sh", listOf("-c", script), stderr = ServerCommand.Stderr.Lines { lines.trySend(it) })
        val client = Client.connect(shell)
        assertEquals("strict", client.serverInfo.name)
        assertEquals(listOf("left", "initialized"), listOf(lines.receive(), lines.receive()))
        client.close()
    }

    @Test
    fun `an idle server that is told to end does so without a word`() = test {
        val process = ProcessBuilder(listOf(command.program) + command.args).start()
        val ping = """{"jsonrpc":"2.0","id":1,"method":"ping"}""" + "\n"
        process.outputStream.write(ping.encodeToByteArray())
        process.outputStream.flush()
        assertTrue("\"result\":{}" in process.inputStream.bufferedReader().readLine())
        // This way its streams stay open.
        process.toHandle().destroy()
        process.waitFor()
        assertEquals("", process.errorStream.bufferedReader().readText())
    }

    @Test
    fun `a child that ignores the end of its input is ended`() = test {
        val script = """
            read -r line
            echo '{"jsonrpc":"2.0","id":0,"result":{"protocolVersion":"2025-11-25","capabilities":{},"serverInfo":{"name":"sh","version":"1"}}}'
            exec sleep 1000
        """.trimIndent()
        val client = Client.connect(ServerCommand("sh", listOf("-c", script), grace = 20.milliseconds)) { probe = false }
        val call = async { runCatching { client.ping() } }
        client.close()
        assertTrue(call.await().exceptionOrNull() is ConnectionClosedException)
        assertFalse(client.isConnected)
    }

    @Test
    fun `a server leaves at the end of its input, whatever still runs in it`() {
        val words = listOf(command.program) + command.args + "impatient"
        val process = ProcessBuilder(words).redirectError(ProcessBuilder.Redirect.DISCARD).start()
        process.outputStream.use { input ->
            input.write(
                """
                {"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"t","version":"1"}}}
                {"jsonrpc":"2.0","method":"notifications/initialized"}
                {"jsonrpc":"2.0","id":2,"method":"tools/call","params":{"name":"waits"}}
                """.trimIndent().plus("\n").encodeToByteArray(),
            )
        }
        assertEquals(1, process.inputStream.bufferedReader().readLines().size)
        assertEquals(0, process.waitFor())
    }

    @Test
    fun `a native library that is not there is said, each time`() {
        val java = File(System.getProperty("java.home"), "bin/java").path
        val path = System.getProperty("java.class.path")
        val elsewhere = "-Duniffi.component.oxmcp_uniffi.libraryOverride=oxmcp_elsewhere"
        val process = ProcessBuilder(java, elsewhere, "-cp", path, "dev.oxmcp.WithoutLibrary").start()
        val lines = process.inputStream.bufferedReader().readLines()
        assertEquals(0, process.waitFor(), process.errorStream.bufferedReader().readText())
        assertEquals(2, lines.size)
        assertTrue(lines.all { "oxmcp_elsewhere" in it }, lines.toString())
        lines.forEach { assertTrue("the native library of oxmcp can not be loaded for " in it, it) }
    }

    @Test
    fun `a shrinker is told what JNA finds by name`() {
        val rules = checkNotNull(javaClass.getResource("/META-INF/proguard/oxmcp.pro")).readText().lines()
        for (found in listOf(dev.oxmcp.internal.RustBuffer::class, com.sun.jna.Structure::class)) {
            assertTrue("-keep class ${found.java.`package`.name}.** { *; }" in rules, rules.toString())
        }
        assertTrue("-keepclasseswithmembers class dev.oxmcp.** { native <methods>; }" in rules, rules.toString())
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
