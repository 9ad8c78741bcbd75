package dev.oxmcp

import kotlinx.coroutines.CoroutineDispatcher
import kotlinx.coroutines.Dispatchers
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import kotlin.time.Duration

/** What is said of a [Server]. All of it is optional. */
public class ServerOptions internal constructor() {
    public var title: String? = null
    public var description: String? = null
    public var websiteUrl: String? = null
    public var icons: List<Icon> = emptyList()

    /** How to use the server, for a model. */
    public var instructions: String? = null

    /**
     * What to declare beyond what is registered, or otherwise: `{"tools":{"listChanged":false}}` tells of no changes,
     * `{"extensions":{…}}` offers an extension. What is registered is declared by itself.
     */
    public var capabilities: JsonObject? = null

    /** Whether log messages are sent to clients. */
    public var logging: Boolean = true

    /** Whether clients may subscribe to resources: then say [Server.resourceUpdated]. */
    public var subscriptions: Boolean = false

    /** The revisions of the protocol to speak; all that are known by default. */
    public var protocolVersions: List<String>? = null

    /** Refuse a client that asks for a revision we lack, and offer it no other. */
    public var strict: Boolean = false

    /** How long a question to a client may go without an answer; 60 s by default. */
    public var timeout: Duration? = null

    /** How many entries a page of a list has; all of them by default. */
    public var pageSize: Int? = null

    /** For how long clients may keep a list (2026-07-28); not at all by default. */
    public var cacheTtl: Duration? = null

    /** Whether a list is the same for all users, so that shared caches may keep it. */
    public var cachePublic: Boolean = false

    /**
     * Secrets that `requestState` is sealed with (2026-07-28), each a text of at least 32 bytes; the first seals, all open.
     * Random by default: give the same to several processes that are one server.
     */
    public var stateKeys: List<String>? = null

    /** How long a client may take to come back with answers (2026-07-28); one hour by default. */
    public var stateTtl: Duration? = null

    public var limits: Limits = Limits()

    /** Where handlers run. Handlers that block a thread want `Dispatchers.IO`. */
    public var dispatcher: CoroutineDispatcher = Dispatchers.Default

    internal var problem: ((Problem) -> Unit)? = null
    internal var trace: ((Boolean, String) -> Unit)? = null
    internal var error: ((Throwable) -> Unit)? = null
    internal val notifications = HashMap<String, suspend (Notification) -> Unit>()
    internal var connect: (suspend (ServerSession) -> Unit)? = null
    internal var disconnect: (suspend (ServerSession) -> Unit)? = null

    /**
     * Called when a client has made its handshake and said that it is initialized, in revisions with one. Hooks are called one
     * after the other, and handlers of notifications with them.
     */
    public fun onConnect(handler: suspend (ServerSession) -> Unit) {
        connect = handler
    }

    /** Called when a session has ended, whichever side ended it; and for one that was never initialized, too. */
    public fun onDisconnect(handler: suspend (ServerSession) -> Unit) {
        disconnect = handler
    }

    /** Called for each notification of one method of the clients, one after the other. */
    public fun onNotification(method: String, handler: suspend (Notification) -> Unit) {
        notifications[method] = handler
    }

    /** Called for anything odd that a client sends. Without it, it goes to standard error. */
    public fun onProblem(handler: (Problem) -> Unit) {
        problem = handler
    }

    /** Called with what handlers threw that clients do not see. Without it, it goes to standard error. */
    public fun onError(handler: (Throwable) -> Unit) {
        error = handler
    }

    /** Called with each line on the wire, for a look at the protocol. It costs more than the call itself. */
    public fun onTrace(handler: (sent: Boolean, line: String) -> Unit) {
        trace = handler
    }

    internal fun info(name: String, version: String): Implementation =
        Implementation(name, version, title, description, websiteUrl, icons)

    internal fun settings(): JsonObject = buildJsonObject {
        putIf("instructions", instructions)
        putIf("capabilities", capabilities)
        put("logging", logging)
        put("subscriptions", subscriptions)
        putTexts("revisions", protocolVersions)
        put("strict", strict)
        putIf("timeout", timeout?.toJson())
        cacheTtl?.let { ttl -> put("cache", buildJsonObject { put("ttl", ttl.toJson()); put("public", cachePublic) }) }
        putTexts("stateKeys", stateKeys)
        putIf("stateTtl", stateTtl?.toJson())
        put("limits", limits.toJson())
        put("trace", trace != null)
    }
}

/** How a server is reached over HTTP. What is null has its default. */
public data class HttpOptions(
    /** The address to listen on; 127.0.0.1 by default. */
    val address: String? = null,
    /** The path of the endpoint; `/mcp` by default. */
    val path: String? = null,
    /** Names by which clients may address the server, beside those of this machine; a guard against DNS rebinding. */
    val hosts: List<String> = emptyList(),
    /** Take any name. Only behind something that checks it. */
    val anyHost: Boolean = false,
    /** Origins of web pages that may call. */
    val origins: List<String> = emptyList(),
    /** Keep no sessions: each request stands alone. */
    val stateless: Boolean = false,
    /** Answer by JSON alone, without streams. */
    val jsonOnly: Boolean = false,
    /** How many sessions there may be. */
    val maxSessions: Int? = null,
    /** How long a session may be idle. */
    val sessionIdle: Duration? = null,
    /** Bytes of a request's body; 16 MiB by default. */
    val bodyLimit: Long? = null,
    /** Serve clients that know only the HTTP+SSE transport of 2024-11-05 as well, on the same path. */
    val httpSse: Boolean = false,
    /** Whether streams that broke can be resumed. */
    val resumable: Boolean = true,
    /** How long clients are told to wait before they resume a stream; 1 s by default. */
    val retry: Duration? = null,
    /** After how long a silence a stream gets a comment; 15 s by default. */
    val keepAlive: Duration? = null,
    /** How long the body of a request may take to come; 30 s by default. */
    val bodyTimeout: Duration? = null,
    /** How many TCP connections there may be at once. */
    val maxConnections: Int? = null,
    /** How long the head of a request may take to come, and a connection may be idle between two; 60 s by default. */
    val headTimeout: Duration? = null,
    /** How long a client may take nothing of what is written to it; 60 s by default. */
    val writeTimeout: Duration? = null,
) {
    internal fun toJson(): JsonObject = buildJsonObject {
        putIf("address", address)
        putIf("path", path)
        putTexts("hosts", hosts)
        put("anyHost", anyHost)
        putTexts("origins", origins)
        put("stateless", stateless)
        put("jsonOnly", jsonOnly)
        putIf("maxSessions", maxSessions)
        putIf("sessionIdle", sessionIdle?.inWholeMilliseconds)
        putIf("bodyLimit", bodyLimit)
        put("httpSse", httpSse)
        put("resumable", resumable)
        putIf("retry", retry?.inWholeMilliseconds)
        putIf("keepAlive", keepAlive?.inWholeMilliseconds)
        putIf("bodyTimeout", bodyTimeout?.inWholeMilliseconds)
        putIf("maxConnections", maxConnections)
        putIf("headTimeout", headTimeout?.inWholeMilliseconds)
        putIf("writeTimeout", writeTimeout?.inWholeMilliseconds)
    }
}
