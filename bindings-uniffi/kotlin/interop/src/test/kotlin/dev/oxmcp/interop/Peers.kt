package dev.oxmcp.interop

import kotlinx.serialization.json.Json
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.jsonObject
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assumptions.assumeTrue

/** A revision with a handshake and one without. */
internal val ERAS = listOf("2025-11-25", "2026-07-28")

/** A server of others: its commands over stdio and over HTTP, and how it differs from ours. */
internal class ServerPeer(
    val stdio: List<String>?,
    val http: List<String>?,
    val eras: List<String> = ERAS,
    /** It reports no progress, and goes on with a call that was cancelled. */
    val isPlain: Boolean = false,
    /** The tool that is not there is a result, and no error. */
    val resultForUnknownTools: Boolean = false,
    /** Over HTTP and in revisions with a handshake it knows nothing of the call that it is to cancel. */
    val isStateless: Boolean = false,
    val isHttpOnly: Boolean = false,
)

internal fun ourServers(kind: String): Map<String, ServerPeer> = mapOf(
    "our Kotlin server" to ServerPeer(java("OurServer", kind), java("OurServer", kind, "http")),
    "our Rust server" to ServerPeer(compiled("OXMCP_HTTP_SERVER", kind, "stdio"), compiled("OXMCP_HTTP_SERVER", kind)),
    "our Swift server" to ServerPeer(compiled("OXMCP_SWIFT_SERVER", kind), compiled("OXMCP_SWIFT_SERVER", kind, "http")),
    "our Python server" to ServerPeer(
        script("OXMCP_PYTHON", if (kind == "tools") "our_server.py" else "surface.py"),
        script("OXMCP_PYTHON", "our_http_server.py", kind),
    ),
    "our Node server" to ServerPeer(
        script("OXMCP_NODE", if (kind == "tools") "our_server.mjs" else "surface.mjs"),
        script("OXMCP_NODE", "our_http_server.mjs", kind),
    ),
)

internal val officialServers: Map<String, ServerPeer> = mapOf(
    "the official Kotlin server" to
        ServerPeer(java("OfficialServer"), java("OfficialServer", "http"), ERAS.take(1), isPlain = true),
    "the official Python server" to ServerPeer(
        script("OXMCP_PEER_PYTHON", "official_server.py"),
        script("OXMCP_PEER_PYTHON", "official_http_server.py", "tools"),
        resultForUnknownTools = true,
    ),
    "the official TypeScript server" to ServerPeer(
        script("OXMCP_NODE", "official_server.mjs"),
        script("OXMCP_NODE", "official_http_server.mjs", "v2"),
        isStateless = true,
    ),
    "the official TypeScript server, v1" to ServerPeer(
        null,
        script("OXMCP_NODE", "official_http_server.mjs", "v1"),
        ERAS.take(1),
        resultForUnknownTools = true,
        isHttpOnly = true,
    ),
)

/** The command of a client program for a kind of server, a mode and a target. */
internal class ClientPeer(
    /** How it is told to find the server's era. */
    val modes: List<String> = listOf("auto", "legacy"),
    /** It finds out by itself whether all is as it should be. */
    val looksItself: Boolean = false,
    /** What it does not do. */
    val omits: Set<String> = emptySet(),
    val command: (kind: String, mode: String, target: List<String>) -> List<String>?,
)

internal val clients: Map<String, ClientPeer> = mapOf(
    "our Rust client" to ClientPeer { kind, mode, target -> compiled("OXMCP_HTTP_CLIENT", kind, mode)?.plus(target) },
    "our Swift client" to ClientPeer { kind, mode, target -> compiled("OXMCP_SWIFT_CLIENT", kind, mode)?.plus(target) },
    "our Python client" to
        ClientPeer { kind, mode, target -> script("OXMCP_PYTHON", "our_client.py", kind, mode)?.plus(target) },
    "our Node client" to ClientPeer(looksItself = true) { kind, mode, target ->
        script("OXMCP_NODE", "our_client.mjs", kind, mode)?.plus(target)
    },
    "the official Python client" to ClientPeer(omits = setOf("rejoin")) { kind, mode, target ->
        val name = if (kind == "tools") "official_client.py" else "official_surface_client.py"
        script("OXMCP_PEER_PYTHON", name, mode)?.plus(target)
    },
    "the official TypeScript client" to ClientPeer(listOf("auto", "legacy", "v1"), looksItself = true) { kind, mode, target ->
        script("OXMCP_NODE", "official_client.mjs", kind, mode)?.plus(target)
    },
)

/** Tries a client program on a server that it starts. */
internal fun tryOverStdio(client: ClientPeer, server: ServerPeer, kind: String, mode: String) {
    val command = server.stdio?.let { client.command(kind, mode, it) }
    assumeTrue(command != null, "no variable names what they need")
    check(client, kind, mode, run(command!!, null))
}

/** Tries a client program on a server that runs. */
internal fun tryOverHttp(client: ClientPeer, server: ServerPeer, kind: String, mode: String) {
    assumeTrue(server.http != null && client.command(kind, mode, emptyList()) != null, "no variable names what they need")
    Served(server.http!!).use { served ->
        check(client, kind, mode, run(client.command(kind, mode, listOf(served.url))!!, served))
    }
}

/** That a client program saw what there is to see. */
private fun check(client: ClientPeer, kind: String, mode: String, output: String) {
    val seen = Json.parseToJsonElement(output)
    if (client.looksItself) return assertEquals(JsonPrimitive("as it should be"), seen)
    val wanted = Json.parseToJsonElement(if (kind == "tools") tools(mode) else SURFACE).jsonObject
    for ((what, value) in wanted - client.omits) assertEquals(value, whole(seen.jsonObject[what]), "$what in $output")
}

/** Numbers that are whole, however a language writes them. */
private fun whole(element: JsonElement?): JsonElement? = when (element) {
    is JsonPrimitive -> element.content.takeIf { !element.isString && it.endsWith(".0") }
        ?.let { Json.parseToJsonElement(it.removeSuffix(".0")) } ?: element
    is JsonArray -> JsonArray(element.map { whole(it)!! })
    is JsonObject -> JsonObject(element.mapValues { whole(it.value)!! })
    null -> null
}

private fun tools(mode: String) = """{
    "revision": "${if (mode == "auto") ERAS.last() else ERAS.first()}",
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

private const val SURFACE = """{
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
