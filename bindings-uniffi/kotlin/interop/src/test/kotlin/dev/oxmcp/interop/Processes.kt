package dev.oxmcp.interop

import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import java.io.File
import java.lang.ProcessBuilder.Redirect
import java.util.concurrent.TimeUnit
import kotlin.concurrent.thread
import kotlin.time.Duration.Companion.seconds

private val programs = File(System.getProperty("oxmcp.root"), "tests/interop/programs")

internal fun test(block: suspend CoroutineScope.() -> Unit): Unit = runBlocking { withTimeout(90.seconds) { block() } }

/** The command of a class of these tests with a `main`. */
internal fun java(main: String, vararg args: String): List<String> {
    val java = File(System.getProperty("java.home"), "bin/java").path
    val path = System.getProperty("java.class.path")
    return listOf(java, "-Xmx128m", "-XX:TieredStopAtLevel=1", "-cp", path, "dev.oxmcp.interop.$main") + args
}

/** The command of a program in another language; `null` where what it needs was not named. */
internal fun script(interpreter: String, program: String, vararg args: String): List<String>? =
    System.getenv(interpreter)?.let { listOf(it, File(programs, program).path) + args }

internal fun compiled(variable: String, vararg args: String): List<String>? =
    System.getenv(variable)?.let { listOf(it) + args }

/** A server over HTTP that runs meanwhile. It ends with its standard input. */
internal class Served(command: List<String>) : AutoCloseable {
    private val process = ProcessBuilder(command).start()
    val stderr get() = process.errorStream.bufferedReader()

    /** Some print other things before. */
    val url: String = process.inputStream.bufferedReader().lineSequence().firstOrNull { it.startsWith("http") }
        ?: error("$command said no address: ${stderr.readText()}")

    /** The lines of its standard error, as they come. */
    fun said(): Channel<String> {
        val said = Channel<String>(Channel.UNLIMITED)
        thread(isDaemon = true) { stderr.forEachLine { said.trySend(it) } }
        return said
    }

    override fun close() {
        process.outputStream.close()
        process.waitFor()
        process.destroy()
    }
}

/**
 * What a client program prints. What the server says on its standard error goes to the program's standard input, which ends
 * when the server has said that a call was cancelled.
 */
internal fun run(command: List<String>, server: Served?): String {
    val builder = ProcessBuilder(command)
    if (server != null) builder.redirectError(Redirect.INHERIT)
    val client = builder.start()
    // One that waits for what does not come must not hold up all others.
    thread(isDaemon = true) { if (!client.waitFor(60, TimeUnit.SECONDS)) client.destroyForcibly() }
    val heard = StringBuffer()
    val said = server?.stderr ?: client.errorStream.bufferedReader()
    thread(isDaemon = true) {
        val input = client.outputStream.bufferedWriter()
        said.forEachLine { line ->
            heard.append(line).append('\n')
            runCatching {
                input.write("$line\n")
                input.flush()
                if (line == "cancelled") input.close()
            }
        }
    }
    val output = client.inputStream.bufferedReader().readText()
    assertEquals(0, client.waitFor(), "$heard$output")
    assertTrue(output.isNotEmpty(), "it printed nothing: $heard")
    return output
}
