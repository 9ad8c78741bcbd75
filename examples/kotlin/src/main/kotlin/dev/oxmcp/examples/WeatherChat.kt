package dev.oxmcp.examples

import dev.oxmcp.Client
import dev.oxmcp.ClientOptions
import dev.oxmcp.ElicitRequest
import dev.oxmcp.ElicitResult
import dev.oxmcp.Implementation
import dev.oxmcp.McpException
import dev.oxmcp.ServerCommand
import dev.oxmcp.Tool
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import kotlin.time.Duration.Companion.seconds

/** A chat on a terminal with the tools of a server: `weather city=Oslo ahead=1`, or only `Oslo`. */
class WeatherChat(private val read: () -> String?, private val say: (String) -> Unit) {
    /** What this program can do for its server: it asks the person at the terminal. */
    val options: ClientOptions.() -> Unit = {
        info = Implementation("weather-chat", "1.0")
        timeout = 30.seconds
        onElicitation { request -> ask(request) }
        onLog { say("(${it.level.name.lowercase()}) ${it.data}") }
    }

    suspend fun run(client: Client) {
        val tools = client.listTools()
        say("Connected to ${client.serverInfo.name}. ${client.instructions.orEmpty()}")
        tools.forEach { say("  ${it.name} ${it.members().keys.joinToString(" ") { name -> "$name=…" }}  ${it.description.orEmpty()}") }
        while (true) {
            val line = read()?.trim() ?: return
            if (line == "bye") return
            if (line.isNotEmpty()) answer(client, tools, line)
        }
    }

    private suspend fun answer(client: Client, tools: List<Tool>, line: String) {
        val words = line.split(" ").filter { it.isNotEmpty() }
        // What is no tool's name is taken for a city.
        val tool = tools.firstOrNull { it.name == words.first() }
        val called = tool ?: tools.firstOrNull { it.name == "weather" } ?: return say("there is no tool ${words.first()}")
        val given = if (tool == null) mapOf("city" to line) else pairs(words.drop(1))
        val types = called.members()
        val arguments = JsonObject(given.mapValues { (name, text) -> value(text, types[name] as? JsonObject) })
        try {
            val result = client.callTool(called.name, arguments, onProgress = { say("… ${it.message ?: it.progress}") })
            say(if (result.isError) "It failed: ${result.text}" else result.text)
        } catch (error: McpException) {
            say("${error.fault.name.lowercase()} error: ${error.message}")
        }
    }

    /** A question of the server, field by field; an empty line declines it. */
    private fun ask(request: ElicitRequest): ElicitResult {
        say(request.message)
        val fields = (request.requestedSchema["properties"] as? JsonObject).orEmpty()
        val filled = fields.mapValues { (name, field) ->
            say("  $name? ${(field as? JsonObject)?.get("description")?.jsonPrimitive?.content.orEmpty()}")
            val text = read()?.trim().orEmpty()
            if (text.isEmpty()) return ElicitResult.decline()
            value(text, field as? JsonObject)
        }
        return ElicitResult.accept(JsonObject(filled))
    }

    private fun Tool.members(): JsonObject = inputSchema["properties"]?.jsonObject ?: JsonObject(emptyMap())

    private fun pairs(words: List<String>) = words.associate { it.substringBefore('=') to it.substringAfter('=', "true") }

    /** What was written, as the schema wants it. */
    private fun value(text: String, schema: JsonObject?): JsonElement {
        val wanted = schema?.get("type").toString()
        return when {
            "string" in wanted -> JsonPrimitive(text)
            "boolean" in wanted -> text.toBooleanStrictOrNull()?.let(::JsonPrimitive) ?: JsonPrimitive(text)
            "integer" in wanted -> text.toLongOrNull()?.let(::JsonPrimitive) ?: JsonPrimitive(text)
            "number" in wanted -> text.toDoubleOrNull()?.let(::JsonPrimitive) ?: JsonPrimitive(text)
            else -> JsonPrimitive(text)
        }
    }
}

/** `chat COMMAND ARGUMENT…` starts a server, `chat URL` connects to one. */
fun main(args: Array<String>): Unit = runBlocking {
    val target = args.firstOrNull() ?: return@runBlocking println("say which server: a command with its arguments, or a URL")
    val chat = WeatherChat(::readlnOrNull, ::println)
    val client = when {
        target.startsWith("http") -> Client.connect(target, configure = chat.options)
        else -> Client.connect(ServerCommand(target, args.drop(1)), chat.options)
    }
    client.use { chat.run(it) }
}
