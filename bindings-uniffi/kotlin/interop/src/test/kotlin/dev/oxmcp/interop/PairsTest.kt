package dev.oxmcp.interop

import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.TestFactory

/** Our packages among themselves: the client of each language but this one on the servers of all others. */
internal class PairsTest {
    private val languages = listOf("Rust", "Swift", "Python", "Node")

    @TestFactory
    fun `every language calls every other`(): List<DynamicTest> = languages.flatMap { near ->
        languages.flatMap { far ->
            val client = clients.getValue("our $near client")
            val server = ourServers("tools").getValue("our $far server")
            client.modes.flatMap { mode ->
                listOf(
                    dynamicTest("$near to $far over stdio, $mode") { tryOverStdio(client, server, "tools", mode) },
                    dynamicTest("$near to $far over HTTP, $mode") { tryOverHttp(client, server, "tools", mode) },
                )
            }
        }
    }
}
