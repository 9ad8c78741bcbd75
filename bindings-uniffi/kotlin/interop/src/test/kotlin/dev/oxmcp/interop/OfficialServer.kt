package dev.oxmcp.interop

import io.ktor.server.cio.CIO
import io.ktor.server.engine.embeddedServer
import io.modelcontextprotocol.kotlin.sdk.server.Server
import io.modelcontextprotocol.kotlin.sdk.server.ServerOptions
import io.modelcontextprotocol.kotlin.sdk.server.StdioServerTransport
import io.modelcontextprotocol.kotlin.sdk.server.mcpStreamableHttp
import io.modelcontextprotocol.kotlin.sdk.types.CallToolResult
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import io.modelcontextprotocol.kotlin.sdk.types.ServerCapabilities
import io.modelcontextprotocol.kotlin.sdk.types.TextContent
import io.modelcontextprotocol.kotlin.sdk.types.ToolSchema
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.io.asSink
import kotlinx.io.asSource
import kotlinx.io.buffered
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.int
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.put

/** A server on the official SDK, for our client to start: over stdio unless `http` is said, as [OurServer] is. */
object OfficialServer {
    private fun text(text: String, isError: Boolean? = null) = CallToolResult(listOf(TextContent(text)), isError)

    private fun server(): Server {
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
        return server
    }

    @JvmStatic
    fun main(args: Array<String>): Unit = runBlocking {
        if (args.firstOrNull() == "http") return@runBlocking serveHttp()
        val ended = Job()
        val server = server()
        server.onClose { ended.complete() }
        server.createSession(StdioServerTransport(System.`in`.asSource().buffered(), System.out.asSink().buffered()))
        ended.join()
    }

    private suspend fun serveHttp() {
        val engine = embeddedServer(CIO, host = "127.0.0.1", port = 0) { mcpStreamableHttp { server() } }
        engine.startSuspend()
        println("http://127.0.0.1:${engine.engine.resolvedConnectors().single().port}/mcp")
        withContext(Dispatchers.IO) { System.`in`.readBytes() }
        engine.stopSuspend(0, 0)
    }
}
