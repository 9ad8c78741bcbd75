package dev.oxmcp.conformance

import dev.oxmcp.CallContext
import dev.oxmcp.CallToolResult
import dev.oxmcp.LogLevel
import dev.oxmcp.Server
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject

private suspend fun CallContext.reportProgress(): String {
    for (done in listOf(0, 50, 100)) {
        progress(done, 100)
        delay(50)
    }
    return "done"
}

private suspend fun CallContext.logs(): String {
    for (stage in listOf("Tool execution started", "Tool processing data", "Tool execution completed")) {
        log(LogLevel.INFO, stage)
        delay(50)
    }
    return "logged"
}

private suspend fun CallContext.reconnect(): String {
    endStream()
    delay(100)
    return "The client came back for this."
}

private const val CONTACT = """{
    "${'$'}schema": "https://json-schema.org/draft/2020-12/schema",
    "type": "object",
    "${'$'}defs": {
        "address": {
            "${'$'}anchor": "addressDef",
            "type": "object",
            "properties": {"street": {"type": "string"}, "city": {"type": "string"}}
        }
    },
    "properties": {
        "name": {"type": "string"},
        "address": {"${'$'}ref": "#/${'$'}defs/address"},
        "contactMethod": {"type": "string", "enum": ["phone", "email"]},
        "phone": {"type": "string"},
        "email": {"type": "string"}
    },
    "allOf": [{"anyOf": [{"required": ["phone"]}, {"required": ["email"]}]}],
    "if": {"properties": {"contactMethod": {"const": "phone"}}, "required": ["contactMethod"]},
    "then": {"required": ["phone"]},
    "else": {"required": ["email"]},
    "additionalProperties": false
}"""

private const val REGION = """{
    "type": "object",
    "properties": {"region": {"type": "string", "x-mcp-header": "Region"}},
    "required": ["region"]
}"""

internal fun json(text: String): JsonObject = Json.parseToJsonElement(text) as JsonObject

/** A tool with a schema as it is written here. */
private fun Server.raw(name: String, description: String, schema: String) {
    rawTool(name, json(schema), description) { arguments -> CallToolResult("called with $arguments") }
}

/** Something that comes and goes, so that clients are told. */
private fun Server.addTriggers() {
    tool("test_trigger_tool_change", "Changes the list of tools.") { _: Unit ->
        tool("test_passing", "Comes and goes.") { _: Unit -> SIMPLE_TEXT }.remove()
        "changed"
    }
    tool("test_trigger_prompt_change", "Changes the list of prompts.") { _: Unit ->
        prompt("test_passing", "Comes and goes.") { _: Unit -> SIMPLE_PROMPT }.remove()
        "changed"
    }
}

private fun server() = Server("oxmcp conformance server", dev.oxmcp.VERSION) {
    subscriptions = true
    onProblem { System.err.println("problem: ${it.message}") }
}.apply {
    addContent()
    tool("test_tool_with_progress", "Reports its progress.") { _: Unit -> reportProgress() }
    tool("test_tool_with_logging", "Logs what it does.") { _: Unit -> logs() }
    tool("test_logging_tool", "Logs what it does.") { _: Unit -> logs() }
    tool("test_reconnection", "Ends its stream before it is done.") { _: Unit -> reconnect() }
    raw("json_schema_2020_12_tool", "Has a schema of many keywords.", CONTACT)
    raw("test_x_mcp_header", "Has a parameter in a header.", REGION)
    addAsking()
    addRounds()
    addTriggers()
}

/** The server that the public conformance suite is run against: it offers what the suite's scenarios call. */
fun main(args: Array<String>): Unit = runBlocking {
    val listening = server().listen(args.firstOrNull()?.toInt() ?: 0)
    println("http://localhost:${listening.port}/mcp")
    listening.await()
}
