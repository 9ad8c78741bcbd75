@file:JvmName("BareClient")

package dev.oxmcp.bench

import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import kotlinx.serialization.json.jsonPrimitive
import kotlinx.serialization.json.long
import kotlinx.serialization.json.put
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicLong
import kotlin.concurrent.thread

private class Connection(private val process: Process) {
    private val pending = ConcurrentHashMap<Long, CompletableDeferred<JsonObject>>()
    private val last = AtomicLong(-1)
    private val output = process.outputStream.bufferedWriter()

    init {
        thread(isDaemon = true) { process.inputStream.bufferedReader().forEachLine(::received) }
    }

    private fun received(line: String) {
        val message = Json.parseToJsonElement(line).jsonObject
        val waiting = pending.remove(message.getValue("id").jsonPrimitive.long) ?: return
        val result = message["result"]?.jsonObject
        if (result != null) waiting.complete(result)
        else waiting.completeExceptionally(IllegalStateException(message["error"].toString()))
    }

    fun send(message: JsonObject) = synchronized(output) {
        output.write(message.toString())
        output.write("\n")
        output.flush()
    }

    suspend fun request(method: String, params: JsonObject): JsonObject {
        val id = last.incrementAndGet()
        val waiting = CompletableDeferred<JsonObject>().also { pending[id] = it }
        send(
            buildJsonObject {
                put("jsonrpc", "2.0")
                put("id", id)
                put("method", method)
                put("params", params)
            },
        )
        return waiting.await()
    }

    fun close() {
        output.close()
        process.waitFor()
    }
}

private const val INITIALIZE =
    """{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"bench","version":"1.0.0"}}"""

/** The least a stdio MCP client in Kotlin can do: a child process, a map of pending ids, one JSON line per request. */
fun main(args: Array<String>): Unit = runBlocking {
    val plan = Plan(args)
    val (connection, connectMs) = timed {
        val process = ProcessBuilder(plan.command).redirectError(ProcessBuilder.Redirect.INHERIT).start()
        val connection = Connection(process)
        connection.request("initialize", Json.parseToJsonElement(INITIALIZE).jsonObject)
        connection.send(buildJsonObject { put("jsonrpc", "2.0"); put("method", "notifications/initialized") })
        connection
    }
    Measure(plan, connectMs) { text ->
        val arguments = buildJsonObject { put("text", text) }
        val result = connection.request("tools/call", buildJsonObject { put("name", "echo"); put("arguments", arguments) })
        result.getValue("content").jsonArray.single().jsonObject["text"]?.jsonPrimitive?.content
    }.run()
    connection.close()
}
