@file:JvmName("BareServer")

package dev.oxmcp.bench

import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.put

private val INITIALIZE = Json.parseToJsonElement(
    """{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"bare","version":"1.0.0"}}""",
)
private val TOOLS = Json.parseToJsonElement(
    """{"tools":[{"name":"echo","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}]}""",
)

private fun echo(params: JsonObject): JsonElement {
    val text = params.getValue("arguments").jsonObject.getValue("text")
    val content = JsonObject(mapOf("type" to JsonPrimitive("text"), "text" to text))
    return JsonObject(mapOf("content" to kotlinx.serialization.json.JsonArray(listOf(content))))
}

private fun answer(request: JsonObject): JsonObject {
    val result = when (request["method"]?.jsonPrimitive?.content) {
        "tools/call" -> echo(request.getValue("params").jsonObject)
        "initialize" -> INITIALIZE
        "tools/list" -> TOOLS
        "ping" -> JsonObject(emptyMap())
        else -> null
    }
    return buildJsonObject {
        put("jsonrpc", "2.0")
        put("id", request.getValue("id"))
        if (result != null) put("result", result)
        else put("error", buildJsonObject { put("code", -32601); put("message", "Method not found") })
    }
}

/** The least a stdio MCP server in Kotlin can do: read a line, parse it, look at the method and the id, answer. */
fun main() {
    val output = System.out.bufferedWriter()
    for (line in System.`in`.bufferedReader().lineSequence()) {
        val request = Json.parseToJsonElement(line).jsonObject
        if ("id" !in request) continue
        output.write(answer(request).toString())
        output.write("\n")
        output.flush()
    }
}
