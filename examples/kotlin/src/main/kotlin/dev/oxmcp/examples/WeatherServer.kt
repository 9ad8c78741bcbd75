package dev.oxmcp.examples

import dev.oxmcp.Description
import dev.oxmcp.Elicited
import dev.oxmcp.Server
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.Serializable

/** Where it is known to be weather, and how far from the equator that is, in degrees. */
private val CITIES = mapOf("Cairo" to 30, "Lima" to 12, "Oslo" to 60, "Quito" to 0, "Tokyo" to 36)

@Serializable
data class Place(
    @Description("The name of a city.") val city: String,
    @Description("How many days from now; asked for when it is left out.") val ahead: Int? = null,
)

@Serializable
data class Weather(val city: String, val ahead: Int, @Description("In degrees Celsius.") val temperature: Int, val sky: Sky)

@Serializable
enum class Sky { SUNNY, CLOUDY, RAINY }

@Serializable
data class Day(@Description("How many days from now.") val ahead: Int)

/** The weather is made up, by arithmetic: the same city has the same weather on the same day. */
private fun weatherIn(city: String, ahead: Int): Weather {
    val name = CITIES.keys.firstOrNull { it.equals(city, ignoreCase = true) }
    val latitude = CITIES[name]
    require(name != null && latitude != null) { "there is no weather in $city; there is in ${CITIES.keys.joinToString()}" }
    val seed = name.sumOf { it.code } + ahead * 61
    return Weather(name, ahead, 30 - latitude / 2 + seed % 9 - 4, Sky.entries[seed % Sky.entries.size])
}

fun weatherServer(): Server {
    val server = Server("weather", "1.0") { instructions = "Ask for the weather in a city." }
    server.tool("weather", "Tells the weather in a city.") { (city, ahead): Place ->
        val day = ahead ?: when (val answer = elicit<Day>("For which day do you want the weather in $city?")) {
            is Elicited.Accepted -> answer.value.ahead
            else -> 0
        }
        weatherIn(city, day)
    }
    server.tool("forecast", "Tells the weather of a week, and how far it is.") { (city): Place ->
        (0..6).map { ahead ->
            progress(ahead + 1, 7, "day $ahead")
            weatherIn(city, ahead)
        }.joinToString("\n") { "in ${it.ahead} days: ${it.temperature} °C, ${it.sky.name.lowercase()}" }
    }
    server.resourceTemplate(
        "weather://{city}",
        "today",
        "The weather of today.",
        mimeType = "text/plain",
        complete = mapOf("city" to { value, _ -> CITIES.keys.filter { it.startsWith(value, ignoreCase = true) } }),
    ) { _, variables -> weatherIn(variables.getValue("city"), 0).run { "$temperature °C, ${sky.name.lowercase()}" } }
    server.prompt("pack", "What to pack for a journey.") { (city): Place -> "What should I pack for a week in $city?" }
    return server
}

/** Serves the client that starts it, or with `--http PORT` any number of them. */
fun main(args: Array<String>): Unit = runBlocking {
    val server = weatherServer()
    if (args.firstOrNull() != "--http") return@runBlocking server.serveStdio()
    val listening = server.listen(args.getOrNull(1)?.toInt() ?: 8000)
    System.err.println("serving at ${listening.url}")
    listening.await()
}
