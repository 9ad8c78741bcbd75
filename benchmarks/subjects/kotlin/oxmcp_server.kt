@file:JvmName("OxmcpServer")

package dev.oxmcp.bench

import dev.oxmcp.Server
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.Serializable

@Serializable
class Echo(val text: String)

/** oxmcp from Kotlin, arguments described by a serializable class. */
fun main(): Unit = runBlocking {
    val server = Server("bench", "1.0.0")
    server.tool("echo", "Answers with the text it was given.") { echo: Echo -> echo.text }
    server.serveStdio()
}
