@file:JvmName("OfficialClient")

package dev.oxmcp.bench

import io.modelcontextprotocol.kotlin.sdk.client.Client
import io.modelcontextprotocol.kotlin.sdk.client.StdioClientTransport
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import io.modelcontextprotocol.kotlin.sdk.types.TextContent
import kotlinx.coroutines.runBlocking
import kotlinx.io.asSink
import kotlinx.io.asSource
import kotlinx.io.buffered

/** The official SDK, as its documentation shows it: a client over the streams of a process that the program starts. */
fun main(args: Array<String>): Unit = runBlocking {
    val plan = Plan(args)
    // Its logging library says on standard output that it starts.
    val output = System.out
    System.setOut(System.err)
    val client = Client(Implementation("bench", "1.0.0"))
    val (process, connectMs) = timed {
        val process = ProcessBuilder(plan.command).redirectError(ProcessBuilder.Redirect.INHERIT).start()
        client.connect(
            StdioClientTransport(process.inputStream.asSource().buffered(), process.outputStream.asSink().buffered()),
        )
        process
    }
    System.setOut(output)
    Measure(plan, connectMs) { text ->
        (client.callTool("echo", mapOf("text" to text)).content.single() as TextContent).text
    }.run()
    client.close()
    process.destroy()
}
