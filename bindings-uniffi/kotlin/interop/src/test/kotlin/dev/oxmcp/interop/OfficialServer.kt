package dev.oxmcp.interop

import io.modelcontextprotocol.kotlin.sdk.server.Server
import io.modelcontextprotocol.kotlin.sdk.server.ServerOptions
import io.modelcontextprotocol.kotlin.sdk.server.StdioServerTransport
import io.modelcontextprotocol.kotlin.sdk.types.CallToolResult
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import io.modelcontextprotocol.kotlin.sdk.types.ServerCapabilities
import io.modelcontextprotocol.kotlin.sdk.types.TextContent
import io.modelcontextprotocol.kotlin.sdk.types.ToolSchema
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Job
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.runBlocking
import kotlinx.io.asSink
import kotlinx.io.asSource
import kotlinx.io.buffered
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.int
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.put

/** A server on the official SDK, for our client to start. */
object OfficialServer {
    private fun text(text: String, isError: Boolean? = null) = CallToolResult(listOf(TextContent(text)), isError)

    @JvmStatic
    fun main(args: Array<String>): Unit = runBlocking {
        val tools = ServerCapabilities.Tools(listChanged = true)
        val server = Server(
            Implementation("interop", "1.0"),
            ServerOptions(ServerCapabilities(tools = tools)),
            "For tests.",
        ) {}
        val number = buildJsonObject { put("type", "integer") }
        val numbers = ToolSchema(properties = buildJsonObject { put("a", number); put("b", number) }, required = listOf("a", "b"))
        server.addTool("add", "Adds.", numbers) { request ->
            val given = request.arguments!!
            text("${given.getValue("a").jsonPrimitive.int + given.getValue("b").jsonPrimitive.int}")
        }
        server.addTool("fail", "Fails.", ToolSchema()) {
            text("on purpose", isError = true)
        }
        server.addTool("wait", "Waits.", ToolSchema()) {
            System.err.println("waiting")
            try {
                awaitCancellation()
            } catch (error: CancellationException) {
                System.err.println("cancelled")
                throw error
            }
        }
        val ended = Job()
        server.onClose { ended.complete() }
        server.createSession(StdioServerTransport(System.`in`.asSource().buffered(), System.out.asSink().buffered()))
        ended.join()
    }
}
