package dev.oxmcp

import java.io.BufferedInputStream
import java.io.InputStream
import java.net.InetAddress
import java.net.ServerSocket
import java.net.Socket
import java.util.Collections
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread

/** A request as it came over the wire; names of header fields in lower case. */
internal class Wire(val method: String, val target: String, val headers: Map<String, String>, val body: String) {
    /** The method of the JSON-RPC message, and its id as text. */
    val call: String? = Regex(""""method":"([^"]*)"""").find(body)?.groupValues?.get(1)
    val id: String? = Regex(""""id":("[^"]*"|\d+)""").find(body)?.groupValues?.get(1)

    /** The result of the call, whole. */
    fun result(json: String, vararg headers: String): List<String> =
        respond(200, """{"jsonrpc":"2.0","id":$id,"result":$json}""", "Content-Type: application/json", *headers)

    /** What `initialize` gives in 2025-11-25, in a session. */
    fun handshake(): List<String> = result(
        """{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}""",
        "Mcp-Session-Id: s1",
    )
}

internal fun respond(status: Int, body: String, vararg headers: String): List<String> {
    val fields = headers.joinToString("") { "$it\r\n" }
    return listOf("HTTP/1.1 $status Odd\r\n${fields}Content-Length: ${body.encodeToByteArray().size}\r\n\r\n$body")
}

/** An event stream whose body is these pieces, each written by itself; then the connection ends. */
internal fun stream(vararg pieces: String): List<String> =
    listOf("HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n") + pieces

/** A server over HTTP that answers as a test wants: with pieces of text, or not at all. */
internal class FakeServer(private val answer: (Wire) -> List<String>?) : AutoCloseable {
    private val listener = ServerSocket(0, 50, InetAddress.getLoopbackAddress())
    private val open = Collections.synchronizedList(ArrayList<Socket>())
    private val accepted = AtomicInteger()
    private val seen = Collections.synchronizedList(ArrayList<Wire>())

    val url: String = "http://127.0.0.1:${listener.localPort}/mcp"

    /** What was asked so far. */
    val requests: List<Wire> get() = synchronized(seen) { seen.toList() }

    /** How many connections there were. */
    val connections: Int get() = accepted.get()

    init {
        thread(isDaemon = true) {
            runCatching {
                while (true) {
                    val socket = listener.accept()
                    accepted.incrementAndGet()
                    open += socket
                    thread(isDaemon = true) { runCatching { socket.use(::serve) } }
                }
            }
        }
    }

    private fun serve(socket: Socket) {
        socket.tcpNoDelay = true
        val input = BufferedInputStream(socket.inputStream)
        while (true) {
            val request = read(input) ?: return
            seen += request
            val pieces = answer(request)
            // It stays open and says nothing.
            if (pieces == null) input.read()
            for (piece in pieces.orEmpty()) {
                socket.outputStream.write(piece.encodeToByteArray())
                socket.outputStream.flush()
            }
            if (pieces.orEmpty().firstOrNull()?.contains("Connection: close") != false) return
        }
    }

    private fun read(input: InputStream): Wire? {
        val head = StringBuilder()
        while (!head.endsWith("\r\n\r\n")) head.append(input.read().also { if (it < 0) return null }.toChar())
        val lines = head.trim().lines()
        val headers = lines.drop(1).associate { it.substringBefore(':').lowercase() to it.substringAfter(':').trim() }
        val body = input.readNBytes(headers["content-length"]?.toInt() ?: 0).decodeToString()
        val (method, target) = lines.first().split(' ')
        return Wire(method, target, headers, body)
    }

    override fun close() {
        listener.close()
        open.forEach { it.close() }
    }
}

/** A request written by hand, to a server of ours on this port. */
internal class Asked(port: Int, body: String, vararg headers: String) : AutoCloseable {
    private val socket = Socket(InetAddress.getLoopbackAddress(), port)

    init {
        val usual = mapOf(
            "Host" to "127.0.0.1:$port",
            "Accept" to "application/json, text/event-stream",
            "Content-Type" to "application/json",
        )
        val said = headers.map { it.substringBefore(':') }
        val fields = usual.filterKeys { it !in said }.map { "${it.key}: ${it.value}" } + headers.filter { !it.endsWith(":") }
        val bytes = body.encodeToByteArray()
        val head = "POST /mcp HTTP/1.1\r\n${fields.joinToString("") { "$it\r\n" }}Connection: close\r\nContent-Length: ${bytes.size}\r\n\r\n"
        socket.outputStream.write(head.encodeToByteArray() + bytes)
    }

    /** All of the response. */
    fun response(): String = socket.inputStream.readBytes().decodeToString()

    override fun close(): Unit = socket.close()
}

/** The status of the response, and all of it. */
internal fun ask(port: Int, body: String, vararg headers: String): Pair<Int, String> {
    val text = Asked(port, body, *headers).use { it.response() }
    return text.split(' ')[1].toInt() to text
}
