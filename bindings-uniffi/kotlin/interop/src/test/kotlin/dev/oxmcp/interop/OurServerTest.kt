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
import kotlinx.coroutines.cancelAndJoin
import kotlinx.coroutines.launch
import kotlinx.io.asSink
import kotlinx.io.asSource
import kotlinx.io.buffered
import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.jsonArray
import kotlinx.serialization.json.jsonObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import org.junit.jupiter.api.Assumptions.assumeTrue
import org.junit.jupiter.api.DynamicTest
import org.junit.jupiter.api.DynamicTest.dynamicTest
import org.junit.jupiter.api.Test
import org.junit.jupiter.api.TestFactory
import java.lang.ProcessBuilder.Redirect
import io.modelcontextprotocol.kotlin.sdk.client.Client as OfficialClient

/** Our server with clients of others, as real processes. */
internal class OurServerTest {
    /** The command of a client program for a kind of server, a mode and a target. */
    private class Peer(
        /** How it is told to find the server's era. */
        val modes: List<String> = listOf("auto", "legacy"),
        /** It finds out by itself whether all is as it should be. */
        val looksItself: Boolean = false,
        /** What it does not do. */
        val omits: Set<String> = emptySet(),
        val command: (kind: String, mode: String, target: List<String>) -> List<String>?,
    )

    private val clients: Map<String, Peer> = mapOf(
        "our Rust client" to Peer { kind, mode, target -> compiled("OXMCP_HTTP_CLIENT", kind, mode)?.plus(target) },
        "our Swift client" to Peer { kind, mode, target -> compiled("OXMCP_SWIFT_CLIENT", kind, mode)?.plus(target) },
        "our Python client" to
            Peer { kind, mode, target -> script("OXMCP_PYTHON", "our_client.py", kind, mode)?.plus(target) },
        "our Node client" to Peer(looksItself = true) { kind, mode, target ->
            script("OXMCP_NODE", "our_client.mjs", kind, mode)?.plus(target)
        },
        "the official Python client" to Peer(omits = setOf("rejoin")) { kind, mode, target ->
            val name = if (kind == "tools") "official_client.py" else "official_surface_client.py"
            script("OXMCP_PEER_PYTHON", name, mode)?.plus(target)
        },
        "the official TypeScript client" to Peer(listOf("auto", "legacy", "v1"), looksItself = true) { kind, mode, target ->
            script("OXMCP_NODE", "official_client.mjs", kind, mode)?.plus(target)
        },
    )

    @TestFactory
    fun `clients in other languages`(): List<DynamicTest> = clients.flatMap { (name, client) ->
        listOf("tools", "surface").flatMap { kind ->
            client.modes.flatMap { mode ->
                val revision = if (mode == "auto") "2026-07-28" else "2025-11-25"
                listOf(
                    dynamicTest("$name, $kind over stdio, $mode") {
                        val command = client.command(kind, mode, java("OurServer", kind))
                        assumeTrue(command != null, "no variable names what $name needs")
                        check(client, kind, revision, run(command!!, null))
                    },
                    dynamicTest("$name, $kind over HTTP, $mode") {
                        assumeTrue(client.command(kind, mode, emptyList()) != null, "no variable names what $name needs")
                        Served(java("OurServer", kind, "http")).use { server ->
                            check(client, kind, revision, run(client.command(kind, mode, listOf(server.url))!!, server))
                        }
                    },
                )
            }
        }
    }

    /** That a client program saw what there is to see. */
    private fun check(client: Peer, kind: String, revision: String, output: String) {
        val seen = Json.parseToJsonElement(output)
        if (client.looksItself) return assertEquals(JsonPrimitive("as it should be"), seen)
        val wanted = Json.parseToJsonElement(if (kind == "tools") tools(revision) else SURFACE).jsonObject
        for ((what, value) in wanted - client.omits) assertEquals(value, whole(seen.jsonObject[what]), "$what in $output")
    }

    /** Numbers that are whole, however a language writes them. */
    private fun whole(element: JsonElement?): JsonElement? = when (element) {
        is JsonPrimitive -> element.content.takeIf { !element.isString && it.endsWith(".0") }
            ?.let { Json.parseToJsonElement(it.removeSuffix(".0")) } ?: element
        is kotlinx.serialization.json.JsonArray -> kotlinx.serialization.json.JsonArray(element.jsonArray.map { whole(it)!! })
        is JsonObject -> JsonObject(element.mapValues { whole(it.value)!! })
        null -> null
    }

    private fun tools(revision: String) = """{
        "revision": "$revision",
        "instructions": "For tests.",
        "tools": ["add", "count", "wait", "fail"],
        "add": "5",
        "count": "counted",
        "progress": [[1, 3, "step 1"], [2, 3, "step 2"], [3, 3, "step 3"]],
        "fail": [true, "on purpose"],
        "unknown": -32602,
        "cancelled": true,
        "after": "2"
    }"""

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

    private companion object {
        const val SURFACE = """{
            "resources": ["config://app", "bytes://all"],
            "templates": ["note://{id}"],
            "config": "on",
            "bytes": true,
            "note": "note 00123",
            "prompt": ["greet", [["name", true], ["tone", false]]],
            "messages": [["user", "Greet Ada in a warm way."], ["assistant", "Hello."]],
            "completed": ["Ada", "Alan"],
            "ask": "accept Ada 30",
            "think": "thought of Think.",
            "folders": "file:///work",
            "rejoin": "rejoined"
        }"""
    }
}
