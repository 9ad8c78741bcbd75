package dev.oxmcp.interop

import io.ktor.client.HttpClient
import io.ktor.client.plugins.sse.SSE
import io.modelcontextprotocol.kotlin.sdk.client.StdioClientTransport
import io.modelcontextprotocol.kotlin.sdk.client.StreamableHttpClientTransport
import io.modelcontextprotocol.kotlin.sdk.shared.Transport
import io.modelcontextprotocol.kotlin.sdk.types.Implementation
import io.modelcontextprotocol.kotlin.sdk.types.ReadResourceRequest
import io.modelcontextprotocol.kotlin.sdk.types.ReadResourceRequestParams
import io.modelcontextprotocol.kotlin.sdk.types.TextContent
import io.modelcontextprotocol.kotlin.sdk.types.TextResourceContents
import kotlinx.io.asSink
import kotlinx.io.asSource
import kotlinx.io.buffered
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory
import java.lang.ProcessBuilder.Redirect
import io.modelcontextprotocol.kotlin.sdk.client.Client as OfficialClient

/** Our server with clients of others, as real processes. */
internal class OurServerTest {
    @TestFactory
    fun `clients in other languages`(): List<DynamicTest> = clients.flatMap { (name, client) ->
        listOf("tools", "surface").flatMap { kind ->
            client.modes.flatMap { mode ->
                val server = ourServers(kind).getValue("our Kotlin server")
                listOf(
                    dynamicTest("$name, $kind over stdio, $mode") { tryOverStdio(client, server, kind, mode) },
                    dynamicTest("$name, $kind over HTTP, $mode") { tryOverHttp(client, server, kind, mode) },
                )
            }
        }
    }

    @Test
    fun `the official client over stdio`() = test {
        val process = ProcessBuilder(java("OurServer", "tools")).redirectError(Redirect.DISCARD).start()
        exercise(StdioClientTransport(process.inputStream.asSource().buffered(), process.outputStream.asSink().buffered()))
        process.outputStream.close()
        assertEquals(0, process.waitFor())
    }

    @Test
    fun `the official client over HTTP`() = Served(java("OurServer", "tools", "http")).use { server ->
        test { HttpClient { install(SSE) }.use { http -> exercise(StreamableHttpClientTransport(http, server.url)) } }
    }

    private suspend fun exercise(transport: Transport) {
        val client = OfficialClient(Implementation("official", "1.0"))
        client.connect(transport)
        assertEquals("interop", client.serverVersion?.name)
        assertEquals(listOf("add", "count", "wait", "fail"), client.listTools().tools.map { it.name })
        val sum = client.callTool("add", mapOf("a" to 2, "b" to 3))
        assertEquals("5", (sum.content.single() as TextContent).text)
        assertEquals(true, client.callTool("fail", emptyMap()).isError)
        client.close()
    }

    @Test
    fun `the official client reads and is told`() = Served(java("OurServer", "surface", "http")).use { server ->
        test {
            HttpClient { install(SSE) }.use { http ->
                val client = OfficialClient(Implementation("official", "1.0"))
                client.connect(StreamableHttpClientTransport(http, server.url))
                val read = client.readResource(ReadResourceRequest(ReadResourceRequestParams("note://00123")))
                assertEquals("note 00123", (read.contents.single() as TextResourceContents).text)
                assertEquals(listOf("greet"), client.listPrompts().prompts.map { it.name })
                client.close()
            }
        }
    }
}
