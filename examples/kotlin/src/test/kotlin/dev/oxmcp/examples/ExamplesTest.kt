package dev.oxmcp.examples

import dev.oxmcp.Client
import dev.oxmcp.ServerCommand
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.Test
import java.io.File
import kotlin.time.Duration.Companion.seconds

/** The examples do what they say. */
internal class ExamplesTest {
    private val said = ArrayList<String>()

    /** What is said when these lines are typed. */
    private fun chat(vararg lines: String, connect: suspend (WeatherChat) -> Client): List<String> = runBlocking {
        val typed = ArrayDeque(lines.toList())
        val chat = WeatherChat({ typed.removeFirstOrNull() }, { said.add(it) })
        withTimeout(60.seconds) { connect(chat).use { chat.run(it) } }
        said
    }

    private val weather = listOf(
        "Connected to weather. Ask for the weather in a city.",
        """{"city":"Oslo","ahead":1,"temperature":2,"sky":"SUNNY"}""",
        "For which day do you want the weather in Oslo?",
        """{"city":"Oslo","ahead":0,"temperature":4,"sky":"RAINY"}""",
        "It failed: there is no weather in Atlantis; there is in Cairo, Lima, Oslo, Quito, Tokyo",
    )

    /** The command of the program of an example. */
    private fun program(main: String): ServerCommand {
        val java = File(System.getProperty("java.home"), "bin/java").path
        return ServerCommand(java, "-XX:TieredStopAtLevel=1", "-cp", System.getProperty("java.class.path"), "dev.oxmcp.examples.$main")
    }

    @Test
    fun `a chat with the weather server in Kotlin, in memory, over HTTP and over stdio`() {
        val server = weatherServer()
        val ways: List<suspend (WeatherChat) -> Client> = listOf(
            { Client.connect(server, it.options) },
            { Client.connect(server.listen().url, configure = it.options) },
            { Client.connect(program("WeatherServerKt"), it.options) },
        )
        for (connect in ways) {
            said.clear()
            val typed = arrayOf("weather city=Oslo ahead=1", "Oslo", "0", "weather city=Atlantis ahead=0", "forecast city=Lima", "bye")
            val heard = chat(*typed, connect = connect)
            assertTrue(heard.containsAll(weather), heard.joinToString("\n"))
            assertEquals(7, heard.count { it.startsWith("… day") })
        }
        runBlocking { server.close() }
    }

    @Test
    fun `the chat as a program, at the terminal of a person`() {
        val chat = program("WeatherChatKt")
        val server = program("WeatherServerKt")
        val words = listOf(chat.program) + chat.args + server.program + server.args
        val process = ProcessBuilder(words).redirectErrorStream(true).start()
        process.outputStream.bufferedWriter().use { it.write("weather city=Oslo ahead=1\nbye\n") }
        val heard = process.inputStream.bufferedReader().readLines()
        assertEquals(0, process.waitFor(), heard.joinToString("\n"))
        assertTrue(heard.containsAll(weather.take(2)), heard.joinToString("\n"))
    }

    @Test
    fun `a chat with the example server in Python`() {
        val python = System.getenv("OXMCP_PYTHON")
        assumeTrue(python != null, "OXMCP_PYTHON names no Python with the package oxmcp")
        val program = File(System.getProperty("oxmcp.root"), "examples/python/calculator.py").path
        val heard = chat("add a=2 b=3", "nonsense", "bye") { Client.connect(ServerCommand(python, program), it.options) }
        assertTrue("5.0" in heard, heard.joinToString("\n"))
        assertTrue("there is no tool nonsense" in heard, heard.joinToString("\n"))
    }

    @Test
    fun `what the pages show is compiled`() {
        val root = File(System.getProperty("oxmcp.root"))
        val compiled = File(root, "examples/kotlin/src/main/kotlin/dev/oxmcp/examples/Readme.kt").readText()
        val block = Regex("```kotlin\n(.*?)```", RegexOption.DOT_MATCHES_ALL)
        for (page in listOf("README.md", "bindings-uniffi/kotlin/README.md")) {
            val blocks = block.findAll(File(root, page).readText()).map { it.groupValues[1] }.toList()
            assertTrue(blocks.isNotEmpty(), page)
            blocks.forEach { assertTrue(it in compiled, "$page: $it") }
        }
    }
}
