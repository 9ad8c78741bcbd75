package dev.oxmcp.conformance

import dev.oxmcp.Client
import dev.oxmcp.ElicitRequest
import dev.oxmcp.ElicitResult
import dev.oxmcp.Implementation
import dev.oxmcp.Root
import dev.oxmcp.SamplingResult
import kotlinx.coroutines.async
import kotlinx.coroutines.awaitAll
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive

/** A person who leaves the form as it is shown, with its defaults, and says yes to all else. */
private fun person(request: ElicitRequest): ElicitResult {
    val fields = (request.requestedSchema["properties"] as? JsonObject).orEmpty()
    val filled = LinkedHashMap<String, JsonElement>()
    for ((name, field) in fields) {
        val isQuestion = field.jsonObject["type"] == JsonPrimitive("boolean")
        val value = field.jsonObject["default"] ?: JsonPrimitive(true).takeIf { isQuestion } ?: continue
        filled[name] = value
    }
    return ElicitResult.accept(JsonObject(filled))
}

/** Calls the tools of the list, those with parameters in header fields as well. */
private suspend fun Client.callEach(arguments: String = "{}") {
    for (tool in listTools()) callTool(tool.name, json(arguments))
}

private suspend fun Client.useAll() {
    callEach()
    for (resource in listResources()) readResource(resource.uri)
    for (prompt in listPrompts()) getPrompt(prompt.name)
}

/** Makes the calls that the scenario names. */
private suspend fun Client.callNamed() {
    listTools()
    for (call in json(variable("MCP_CONFORMANCE_CONTEXT")).getValue("toolCalls").jsonArray) {
        val (name, arguments) = listOf("name", "arguments").map { call.jsonObject[it] }
        callTool(name!!.jsonPrimitive.content, arguments!!.jsonObject)
    }
}

/** Calls tools that ask for input, and another one while an answer is being found. */
private suspend fun Client.takeRounds() {
    listTools()
    coroutineScope {
        listOf("test_mrtr_echo_state", "test_mrtr_unrelated").map { async { callTool(it) } }.awaitAll()
    }
    callTool("test_mrtr_no_state")
    callTool("test_mrtr_no_result_type")
}

/** Sends a schema back as it came. */
private suspend fun Client.echoSchema() {
    val tool = listTools().single { it.name == "json_schema_2020_12_tool" }
    callTool("json_schema_echo", JsonObject(mapOf("schema" to tool.inputSchema)))
}

private suspend fun Client.play(scenario: String) {
    when (scenario) {
        // Their servers offer nothing.
        "initialize", "request-metadata" -> {}
        "json-schema-ref-no-deref" -> listTools()
        "tools_call" -> callEach("""{"a":2,"b":3}""")
        "elicitation-sep1034-client-defaults", "sse-retry" -> callEach()
        "http-invalid-tool-headers" -> callEach("""{"region":"us-west1"}""")
        "http-standard-headers" -> useAll()
        "http-custom-headers" -> callNamed()
        "sep-2322-client-request-state" -> takeRounds()
        "json-schema-2020-12-preservation" -> echoSchema()
        else -> error("the scenario \"$scenario\" is not known here")
    }
}

private fun variable(name: String): String = System.getenv(name) ?: error("the variable $name is not set")

/** The client that the public conformance suite runs: it does what the scenario in `MCP_CONFORMANCE_SCENARIO` wants. */
fun main(args: Array<String>): Unit = runBlocking {
    val url = args.lastOrNull() ?: error("the address of a server is missing")
    val client = Client.connect(url) {
        info = Implementation("oxmcp conformance client", dev.oxmcp.VERSION)
        onElicitation { person(it) }
        onSampling { SamplingResult("Nothing comes to mind.", "model-1") }
        onRoots { listOf(Root("file:///work")) }
        onProblem { System.err.println("problem: ${it.message}") }
    }
    client.use { it.play(variable("MCP_CONFORMANCE_SCENARIO")) }
}
