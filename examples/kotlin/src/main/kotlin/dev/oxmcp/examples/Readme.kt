package dev.oxmcp.examples.readme

import dev.oxmcp.*
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.Serializable
import kotlin.time.Duration.Companion.seconds

@Serializable
class City(@Description("The name of a city.") val name: String)

@Serializable
class Report(val temperature: Int, val sky: String)

suspend fun serve() {
    val server = Server("weather", "1.0")
    server.tool("weather", "Tells the weather in a city.") { city: City ->
        progress(1, 2, "looking out of the window of ${city.name}")
        Report(21, "sunny")
    }
    server.serveStdio()
}

fun main() = runBlocking { serve() }

suspend fun ask() {
    val client = Client.connect(ServerCommand("java", "-jar", "weather.jar")) {
        onElicitation { question -> ElicitResult.decline() }
    }
    val result = client.callTool(
        "weather",
        mapOf("name" to "Oslo"),
        timeout = 10.seconds,
        onProgress = { println("${it.progress} of ${it.total}") },
    )
    println(result.structured<Report>().sky)
    client.close()
}

suspend fun askOverHttp(freshToken: suspend () -> String) {
    val http = HttpClientOptions(
        headers = mapOf("Authorization" to "Bearer ${freshToken()}"),
        onUnauthorized = { refused ->
            println("refused with ${refused.status}: ${refused.wwwAuthenticate}")
            mapOf("Authorization" to "Bearer ${freshToken()}")
        },
    )
    Client.connect("https://example.com/mcp", http).use { client -> println(client.listTools()) }
}
