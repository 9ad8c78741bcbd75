@file:JvmName("OfficialServer")

package dev.oxmcp.bench

import io.modelcontextprotocol.kotlin.sdk.server.Server
import io.modelcontextprotocol.kotlin.sdk.server.ServerOptions
import io.modelcontextprotocol.kotlin.sdk.server.StdioServerTransport
import io.modelcontextprotocol.kotlin.sdk.types.CallToolResult
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import io.modelcontextprotocol.kotlin.sdk.types.ServerCapabilities
import io.modelcontextprotocol.kotlin.sdk.types.TextContent
import io.modelcontextprotocol.kotlin.sdk.types.ToolSchema
import kotlinx.coroutines.Job
import kotlinx.coroutines.runBlocking
import kotlinx.io.asSink
import kotlinx.io.asSource
import kotlinx.io.buffered
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.put

/** The official SDK, as its documentation shows it. */
fun main(): Unit = runBlocking {
    // Its logging library says on standard output that it starts.
    val output = System.out
    System.setOut(System.err)
    val capabilities = ServerCapabilities(tools = ServerCapabilities.Tools(listChanged = true))
    val server = Server(Implementation("bench", "1.0.0"), ServerOptions(capabilities))
    val properties = buildJsonObject { put("text", buildJsonObject { put("type", "string") }) }
    server.addTool("echo", "Answers with the text it was given.", ToolSchema(properties = properties, required = listOf("text"))) { request ->
        CallToolResult(listOf(TextContent(request.arguments?.get("text")?.jsonPrimitive?.content.orEmpty())))
    }
    val ended = Job()
    val session = server.createSession(
        StdioServerTransport(System.`in`.asSource().buffered(), output.asSink().buffered()),
    )
    session.onClose { ended.complete() }
    ended.join()
}
