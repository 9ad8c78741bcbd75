package dev.oxmcp

import kotlinx.coroutines.runBlocking
import java.util.Timer
import kotlin.concurrent.schedule
import kotlin.time.Duration.Companion.milliseconds

/** A server for tests, which its client starts. */
internal object TestServer {
    @JvmStatic
    fun main(args: Array<String>): Unit = runBlocking {
        val server = Server("test server", "1.0") {
            instructions = "be quick"
            if ("impatient" in args) limits = Limits(drain = 20.milliseconds)
        }
        Timer("ticks", true).schedule(0, 5) { }
        server.tool("add") { (a, b): Numbers -> Sum(a + b) }
        server.tool("prints") { _: Unit -> println("a stray print"); System.out.flush(); "printed" }
        server.tool("exits") { _: Unit -> Runtime.getRuntime().halt(3); "" }
        server.tool("waits") { _: Unit -> forever() }
        server.serveStdio()
        System.err.println("the server has ended")
    }
}

/** A program that finds no native library. */
internal object WithoutLibrary {
    private fun inOneLine(outcome: Result<*>) = outcome.exceptionOrNull().toString().replace('\n', ' ')

    @JvmStatic
    fun main(args: Array<String>): Unit = runBlocking {
        println(inOneLine(runCatching { Server("test", "1.0") }))
        println(inOneLine(runCatching { Client.connect("http://localhost:1/mcp") }))
    }
}
