package dev.oxmcp.interop

import dev.oxmcp.CallContext
import dev.oxmcp.Description
import dev.oxmcp.Elicited
import dev.oxmcp.HttpOptions
import dev.oxmcp.LogLevel
import dev.oxmcp.Message
import dev.oxmcp.Role
import dev.oxmcp.SamplingRequest
import dev.oxmcp.Server
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.delay
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withContext
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlin.time.Duration.Companion.milliseconds

/**
 * The servers that clients in every language are tried on, for others to start: `tools` or `surface`, over stdio unless `http`
 * follows. Over HTTP it prints its address, and ends when its standard input does.
 */
object OurServer {
    @Serializable
    data class Numbers(val a: Int, val b: Int)

    @Serializable
    data class Until(val to: Int)

    @Serializable
    data class Greeting(@Description("Whom.") val name: String, val tone: String = "warm")

    @Serializable
    data class Person(val name: String, val age: Int = 30)

    private fun tools(): Server = Server("interop", "1.0") { instructions = "For tests." }.apply {
        tool("add", "Adds two numbers.") { (a, b): Numbers -> "${a + b}" }
        tool("count", "Counts.") { (to): Until ->
            for (step in 1..to) {
                progress(step, to, "step $step")
                // The official TypeScript client loses reports that arrive in one piece with the result.
                delay(20)
            }
            "counted"
        }
        tool("wait", "Waits to be cancelled.") { _: Unit -> waiting() }
        tool("fail", "Fails.") { _: Unit -> failing() }
    }

    private suspend fun CallContext.waiting(): String {
        System.err.println("waiting")
        progress(1, message = "waiting")
        try {
            awaitCancellation()
        } catch (error: CancellationException) {
            System.err.println("cancelled")
            throw error
        }
    }

    private fun failing(): String = throw IllegalStateException("on purpose")

    private fun surface(): Server = Server("surface", "1.0") { subscriptions = true }.apply {
        resource("config://app", "config", "The settings.", mimeType = "text/plain") { "on" }
        resource("bytes://all", "bytes", mimeType = "application/octet-stream") { ByteArray(256) { it.toByte() } }
        resourceTemplate("note://{id}", "note") { _, variables -> "note ${variables["id"]}" }
        prompt(
            "greet",
            "Greets a person.",
            complete = mapOf("name" to { value, _ -> listOf("Ada", "Alan", "Grace").filter { it.startsWith(value) } }),
        ) { (name, tone): Greeting -> listOf(Message("Greet $name in a $tone way."), Message("Hello.", Role.ASSISTANT)) }
        tool("ask", "Asks the person.") { _: Unit ->
            when (val answer = elicit<Person>("Who are you?")) {
                is Elicited.Accepted -> "accept ${answer.value.name} ${answer.value.age}"
                Elicited.Declined -> "decline"
                Elicited.Cancelled -> "cancel"
            }
        }
        tool("think", "Asks the model.") { _: Unit -> sample(SamplingRequest(listOf(Message("Think.")), 10)).text }
        tool("folders", "Names the folders it may work on.") { _: Unit -> listRoots().joinToString(" ") { it.uri } }
        tool("logs", "Logs.") { _: Unit -> logs() }
        tool("rejoin", "Answers a client that comes back.") { _: Unit -> endStream(); "rejoined" }
        tool("grow", "Offers one more tool.") { _: Unit ->
            tool("grown", "Logs.") { _: Unit -> logs() }
            resourceUpdated("config://app")
            "grown"
        }
    }

    private fun CallContext.logs(): String {
        log(LogLevel.WARNING, buildJsonObject { put("n", 1) }, "part")
        return "logged"
    }

    @JvmStatic
    fun main(args: Array<String>): Unit = runBlocking {
        val server = if (args.first() == "tools") tools() else surface()
        if (args.getOrNull(1) != "http") return@runBlocking server.serveStdio()
        val listening = server.listen(0, HttpOptions(retry = 20.milliseconds))
        println(listening.url)
        withContext(Dispatchers.IO) { System.`in`.readBytes() }
        server.close()
    }
}
