package dev.oxmcp.interop

import dev.oxmcp.Description
import dev.oxmcp.Message
import dev.oxmcp.Role
import dev.oxmcp.Server
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.Serializable

/** The server that clients in every language are tried on, for others to start. */
object OurServer {
    @Serializable
    data class Numbers(val a: Int, val b: Int)

    @Serializable
    data class Until(val to: Int)

    @Serializable
    data class Greeting(@Description("Whom.") val name: String, val tone: String = "warm")

    fun server(): Server = Server("interop", "1.0") { instructions = "For tests." }.apply {
        tool("add", "Adds two numbers.") { (a, b): Numbers -> "${a + b}" }
        tool("count", "Counts.") { (to): Until ->
            for (step in 1..to) progress(step, to, "step $step")
            "counted"
        }
        tool("wait", "Waits to be cancelled.") { _: Unit -> waiting() }
        tool("fail", "Fails.") { _: Unit -> failing() }
        resource("config://app", "config", mimeType = "text/plain") { "on" }
        resource("bytes://all", "bytes") { ByteArray(256) { it.toByte() } }
        resourceTemplate("note://{id}", "note") { _, variables -> "note ${variables["id"]}" }
        prompt("greet", "Greets a person.") { (name, tone): Greeting ->
            listOf(Message("Greet $name in a $tone way."), Message("Hello.", Role.ASSISTANT))
        }
    }

    private suspend fun waiting(): String {
        System.err.println("waiting")
        try {
            awaitCancellation()
        } catch (error: CancellationException) {
            System.err.println("cancelled")
            throw error
        }
    }

    private fun failing(): String = throw IllegalStateException("on purpose")

    @JvmStatic
    fun main(args: Array<String>): Unit = runBlocking { server().serveStdio() }
}
