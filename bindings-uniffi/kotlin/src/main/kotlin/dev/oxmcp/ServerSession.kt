package dev.oxmcp

import dev.oxmcp.internal.Happening
import dev.oxmcp.internal.Notice
import dev.oxmcp.internal.Request
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonObject

/**
 * A client's session with a [Server], in revisions with a handshake: from that to the end of its connection, or over HTTP of
 * the session. What is said here belongs to no call. 2026-07-28 has no sessions, and so have servers over HTTP without state.
 */
public class ServerSession internal constructor(
    private val link: Link,
    private val connection: ULong,
    peer: Happening.Ready,
    /** The `Mcp-Session-Id`, over HTTP. */
    public val sessionId: String?,
) {
    /** The revision of the protocol that both sides speak, such as `2025-11-25`. */
    public val protocolVersion: String = peer.protocolVersion

    /** Who the client says it is. */
    public val clientInfo: Implementation = Implementation(parseObject(peer.info))

    /** What the client can do. */
    public val clientCapabilities: JsonObject = parseObject(peer.capabilities)

    /**
     * Asks the client for anything.
     *
     * @throws CapabilityException when it did not declare that it can do this
     * @throws ConnectionClosedException when the session has ended
     */
    public suspend fun request(
        method: String,
        params: JsonObject? = null,
        options: RequestOptions = RequestOptions.DEFAULT,
    ): JsonObject = parseObject(link.call(Request.Method(method, params?.toString()), options, connection))

    /** Asks the client for the folders and files to work on. */
    public suspend fun listRoots(options: RequestOptions = RequestOptions.DEFAULT): List<Root> =
        UnknownContent(request("roots/list", null, options)).objects("roots").map(::Root)

    /** Asks the client for a sign of life. */
    public suspend fun ping(options: RequestOptions = RequestOptions.DEFAULT) {
        link.call(Request.Ping, options, connection)
    }

    /**
     * Sends any notification.
     *
     * @throws ConnectionClosedException when the session has ended
     */
    public fun notify(method: String, params: JsonObject? = null) {
        if (!link.notify(Notice.Method(method, params?.toString()), connection)) {
            throw ConnectionClosedException("the session has ended")
        }
    }

    /** Sends a log message, if it is severe enough for the client and the session is open. */
    public fun log(level: LogLevel, data: JsonElement, logger: String? = null) {
        try {
            link.notify(Notice.Log(null, level.wire, logger, data.toString()), connection)
        } catch (closed: ConnectionClosedException) {
            // Nobody is there who could read it.
        }
    }

    /** Ends the session; calls that wait are cancelled. Over HTTP the client may begin another. */
    public fun close(): Unit = link.closeConnection(connection, "the server ended the session")

    override fun toString(): String = "ServerSession(${clientInfo.name} ${clientInfo.version}, $protocolVersion)"
}
