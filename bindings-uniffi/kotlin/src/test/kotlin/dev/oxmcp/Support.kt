package dev.oxmcp

import dev.oxmcp.internal.live
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.awaitCancellation
import kotlinx.coroutines.runBlocking
import kotlinx.coroutines.withTimeout
import kotlinx.serialization.Serializable
import org.junit.jupiter.api.Assertions.assertEquals
import java.io.File
import kotlin.time.Duration.Companion.seconds

/** Runs a test, which must end in a minute. */
internal fun test(block: suspend CoroutineScope.() -> Unit): Unit = runBlocking { withTimeout(60.seconds) { block() } }

/** Revisions with a handshake and without one. */
internal val ERAS = listOf("2024-11-05", "2025-11-25", "2026-07-28")

/** Runs a test in every era: a client of this revision and a server, in memory. Nothing may be left afterwards. */
internal fun inEveryEra(
    server: () -> Server,
    configure: ClientOptions.() -> Unit = {},
    block: suspend CoroutineScope.(Client, Server) -> Unit,
) {
    for (era in ERAS) test {
        val near = server()
        val client = Client.connect(near) {
            protocolVersions = listOf(era)
            configure()
        }
        try {
            assertEquals(era, client.protocolVersion)
            block(client, near)
            assertEquals(0, client.waiting(), "calls that wait in $era")
        } finally {
            client.close()
            near.close()
        }
        assertEquals(0, near.waiting(), "handlers that are left in $era")
    }
}

/** Never returns. */
internal suspend fun forever(): String = awaitCancellation()

/** What the native library holds. */
internal fun held(): Pair<ULong, ULong> = live().let { it.endpoints to it.connections }

/** The command that runs a class of the tests with a `main`. */
internal fun program(main: String, vararg args: String): ServerCommand {
    val java = File(System.getProperty("java.home"), "bin/java").path
    val path = System.getProperty("java.class.path")
    return ServerCommand(java, listOf("-Xmx128m", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-cp", path, main) + args)
}

@Serializable
internal data class Numbers(@Description("The first.") val a: Int, val b: Int = 1)

@Serializable
internal data class Sum(val sum: Int)

@Serializable
internal data class City(@Description("The name of a city.") val city: String)
