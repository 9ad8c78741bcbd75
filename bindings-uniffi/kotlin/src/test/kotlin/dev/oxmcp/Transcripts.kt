package dev.oxmcp

import dev.oxmcp.internal.Failure
import dev.oxmcp.internal.Happening
import dev.oxmcp.internal.Notice
import dev.oxmcp.internal.Refusal
import dev.oxmcp.internal.Registry
import dev.oxmcp.internal.Reply
import dev.oxmcp.internal.Request
import dev.oxmcp.internal.Transcript
import kotlinx.serialization.json.JsonArray
import kotlinx.serialization.json.JsonElement
import kotlinx.serialization.json.JsonNull
import kotlinx.serialization.json.JsonObject
import kotlinx.serialization.json.JsonPrimitive
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.double
import kotlinx.serialization.json.put
import org.junit.jupiter.api.Assertions.assertEquals
import org.junit.jupiter.api.Assertions.assertTrue
import java.io.File
import java.nio.ByteBuffer
import dev.oxmcp.internal.RequestOptions as NativeOptions

/** How bytes arrive: as they come, in chunks of so many, or with the `receive` steps that follow at once. */
internal sealed class Cut {
    data object Whole : Cut()
    data object Joined : Cut()
    data class Of(val size: Int) : Cut()
}

/** One run of one transcript of `tests/vectors`, whose README describes the steps. */
internal class Runner(private val file: File, private val cut: Cut) : AutoCloseable {
    private val registry = Registry()
    private lateinit var session: Transcript
    private var now = 0.0
    private val wire = ArrayDeque<String>()
    private val events = ArrayDeque<Happening>()
    private val names = HashMap<String, ULong>()

    /** The keys of entries, by kind and number. */
    private val keys = HashMap<Pair<String, ULong>, String>()
    private var joined = ByteArray(0)
    private var closed = false

    fun run() {
        file.readLines().forEachIndexed { at, line ->
            if (line.isBlank()) return@forEachIndexed
            try {
                val fields = Fields(parse(line))
                if (at == 0) start(fields) else step(fields)
                fields.finish()
            } catch (error: Throwable) {
                throw AssertionError("${file.name}:${at + 1}: ${error.message} [cut: $cut]", error)
            }
        }
        flush()
        quiet()
        if (closed) {
            val stats = session.stats()
            assertEquals(listOf(0uL, 0uL, 0uL), listOf(stats.inbound, stats.outbound, stats.buffered))
        }
    }

    override fun close() {
        if (::session.isInitialized) session.destroy()
        registry.destroy()
    }

    private fun start(header: Fields) {
        assertTrue(!header.text("name").isNullOrEmpty() && !header.text("about").isNullOrEmpty(), "a header says what it is about")
        val server = header.text("role") == "server"
        val tools = header.list("tools")
        val setup = header.list("setup")
        val connected = header.text("connected")
        val capabilities = header.take("peer_capabilities")
        val info = buildJsonObject {
            put("name", "vectors")
            put("version", "1")
            (header.take("info") as? JsonObject)?.forEach { (name, value) -> put(name, value) }
        }
        val given = header.take("settings") as? JsonObject ?: EMPTY
        // What is left are the session's own options, which refuse what they do not know.
        val settings = JsonObject(mapOf<String, JsonElement>("probe" to JsonPrimitive(false)) + given + header.rest())
        session = Transcript(server, info.toString(), settings.toString(), registry)
        tools.forEach { command(addTool(it)) }
        setup.forEach { command(it.toString()) }
        if (connected != null) handshake(server, connected, capabilities)
    }

    private fun handshake(server: Boolean, protocolVersion: String, capabilities: JsonElement?) {
        val peer = buildJsonObject { put("name", "peer"); put("version", "1") }
        val has = capabilities ?: if (server) EMPTY else parse("""{"tools":{}}""")
        val about = buildJsonObject {
            put("protocolVersion", protocolVersion)
            put("capabilities", has)
            put(if (server) "clientInfo" else "serverInfo", peer)
        }
        if (server) {
            feedMessage(parse("""{"id":"handshake","method":"initialize","params":$about}"""))
            feedMessage(parse("""{"method":"notifications/initialized"}"""))
        } else {
            session.connect(null, now)
            feedMessage(parse("""{"id":0,"result":$about}"""))
        }
        flush()
        val ready = events.removeFirstOrNull() as? Happening.Ready ?: error("it is not ready")
        assertEquals(protocolVersion, ready.protocolVersion)
        wire.clear()
        quiet()
    }

    private fun step(step: Fields) {
        val (verb, value) = step.verb()
        when (verb) {
            "receive" -> return feedMessage(value)
            "receive_text" -> return feed(textOf(value).encodeToByteArray())
            "receive_hex" -> return feed(textOf(value).replace(" ", "").chunked(2).map { it.toInt(16).toByte() }.toByteArray())
        }
        flush()
        if (verb == "turn") {
            (value as JsonArray).forEach { part(Fields(it)) }
            return drain()
        }
        val known = act(verb, value, step) || check(verb, value) || checkEvent(verb, value, step)
        if (!known) error("there is no step \"$verb\"")
        drain()
    }

    /** A step of a turn, in which nothing is taken out before the last one. */
    private fun part(step: Fields) {
        val (verb, value) = step.verb()
        if (!act(verb, value, step)) error("a turn has no step \"$verb\"")
        step.finish()
    }

    private fun feedMessage(value: JsonElement) = feed("${withVersion(value)}\n".encodeToByteArray())

    private fun feed(bytes: ByteArray) {
        if (cut == Cut.Joined) {
            joined += bytes
            return
        }
        val size = (cut as? Cut.Of)?.size ?: bytes.size.coerceAtLeast(1)
        for (start in bytes.indices step size) {
            session.receive(direct(bytes, start, minOf(start + size, bytes.size)), now)
            drain()
        }
    }

    private fun flush() {
        if (joined.isNotEmpty()) session.receive(direct(joined, 0, joined.size), now)
        joined = ByteArray(0)
        drain()
    }

    private fun drain() {
        val said = session.poll()
        closed = closed || Happening.Closed in said.events
        events += said.events
        val lines = said.wire.decodeToString().split('\n')
        assertEquals("", lines.last(), "what was written does not end its line")
        wire += lines.dropLast(1)
    }

    private fun quiet() {
        val left = wire + events.map { it.toString() }
        if (left.isNotEmpty()) throw AssertionError("nobody expected this: ${left.joinToString(" ")}")
    }

    /** Steps that make the session do something. */
    private fun act(verb: String, value: JsonElement, step: Fields): Boolean {
        when (verb) {
            "connect" -> {
                val timeout = Fields(value).number("timeout")
                attempt(step) { session.connect(timeout, now); null }
            }
            "begin", "call_tool" -> begin(verb, Fields(value), step)
            "notify" -> {
                val fields = Fields(value)
                val notice = Notice.Method(fields.text("method")!!, fields.payload("params"))
                attempt(step) { session.notify(notice); null }
            }
            "cancel" -> step.flag("sent", session.cancel(named(value), step.text("reason")))
            "respond" -> step.flag("sent", session.respond(named(value), reply(step), now))
            "report_progress" -> {
                val notice = Notice.Progress(named(value), step.number("progress")!!, step.number("total"), step.text("message"))
                step.flag("sent", session.notify(notice))
            }
            "describe_tool" -> {
                val entry = entry("tool", textOf((value as JsonObject)["name"]))
                command("""{"describe":{"kind":"tool","entry":$entry,"descriptor":$value}}""")
            }
            "command" -> runCommand(Fields(value), step)
            "resume" -> step.flag("sent", session.respond(named(value), Reply.Resume, now))
            "advance" -> advance((value as JsonPrimitive).double)
            "end_input" -> session.endInput(now)
            "close" -> session.`close`(textOf(value))
            else -> return false
        }
        return true
    }

    private fun begin(verb: String, call: Fields, step: Fields) {
        val options = NativeOptions(
            call.number("timeout"),
            call.number("max_total_timeout"),
            call.flag("reset_timeout_on_progress"),
            call.flag("progress"),
            false,
            null,
        )
        val request = when (verb) {
            "begin" -> Request.Method(call.text("method")!!, call.payload("params"))
            else -> Request.Tool(call.text("name")!!, call.payload("arguments"))
        }
        call.finish()
        attempt(step) { session.begin(request, options, now) }
    }

    /** Runs a command, with the call in it by its number, and compares what it gives. */
    private fun runCommand(command: Fields, step: Fields) {
        val (verb, value) = command.verb()
        command.finish()
        val inner = Fields(value)
        val call = inner.take("call")
        var members: Map<String, JsonElement> = inner.rest()
        if (call != null) members = members + ("call" to JsonPrimitive(named(call).toLong()))
        val gives = step.take("gives")
        attempt(step) {
            val given = command(JsonObject(mapOf<String, JsonElement>(verb to JsonObject(members))).toString())
            val made = (given["call"] as? JsonPrimitive)?.content?.toULong()
            if (made == null && gives != null) same(gives, given)
            made
        }
    }

    /** Runs a command; remembers the key of what it adds. */
    private fun command(text: String): JsonObject {
        val given = parse(session.command(text, now)) as JsonObject
        val entry = given["entry"]
        if (entry != null) {
            val added = (parse(text) as JsonObject)["add"] as JsonObject
            keys[textOf(added["kind"]) to (entry as JsonPrimitive).content.toULong()] = textOf(added["key"])
        }
        return given
    }

    private fun entry(kind: String, key: String): ULong =
        keys.entries.firstOrNull { it.value == key && it.key.first == kind }?.key?.second ?: error("there is no $kind $key")

    private fun reply(step: Fields): Reply {
        step.text("tool_error")?.let { return Reply.ToolError(it) }
        step.text("invalid_arguments")?.let { return Reply.InvalidArguments(it) }
        val error = step.take("error") ?: return Reply.Result(step.payload("result")!!)
        val fields = Fields(error)
        return Reply.Error(fields.integer("code")!!, fields.text("message")!!, fields.take("data")?.toString())
    }

    /** Lets time pass as a driver does: each deadline is handled when it comes. */
    private fun advance(by: Double) {
        val target = now + by
        while (true) {
            val due = session.pollTimeout()?.takeIf { it <= target } ?: break
            now = maxOf(now, due)
            session.handleTimeout(now)
            drain()
            val next = session.pollTimeout()
            assertTrue(next == null || next > now, "a handled deadline is still due")
        }
        now = target
        session.handleTimeout(target)
    }

    private fun attempt(step: Fields, work: () -> ULong?) {
        val refused = step.take("refused")
        val made = try {
            work()
        } catch (error: Refusal.Refused) {
            if (refused == null) throw AssertionError("it was refused: ${error.failure}")
            return sameMembers(refused, error.failure.toJson())
        }
        if (refused != null) throw AssertionError("expected it to be refused as $refused, it was not")
        if (made != null) name(step, made)
    }

    /** Steps that say what was written, and what the session holds. */
    private fun check(verb: String, value: JsonElement): Boolean {
        when (verb) {
            "expect" -> same(withVersion(value), parse(message()))
            "expect_text" -> assertEquals(textOf(value), message())
            "silence" -> quiet()
            "stats" -> sameMembers(value, session.stats().run {
                parse("""{"inbound":$inbound,"outbound":$outbound,"buffered":$buffered}""")
            })
            "timer" -> {
                val due = session.pollTimeout()
                assertEquals((value as? JsonPrimitive)?.takeIf { it != JsonNull }?.double, due?.minus(now), "the next deadline")
            }
            else -> return false
        }
        return true
    }

    private fun checkEvent(verb: String, value: JsonElement, step: Fields): Boolean {
        if (verb !in EVENTS) return false
        val event = events.removeFirstOrNull() ?: error("expected an event \"$verb\", there is none")
        val part = step.text("text")
        if (part != null) assertTrue(part in event.toString(), "the text $part is not in $event")
        when (verb) {
            "call" -> (event as? Happening.Call)?.let { compareCall(it, value); name(step, it.id) }
            "describe" -> (event as? Happening.Describe)?.let {
                same(step.take("kind") ?: JsonPrimitive("tool"), JsonPrimitive(it.kind))
                names[textOf(value)] = it.id
            }
            "cancelled" -> (event as? Happening.Cancelled)?.let {
                assertEquals(named(value), it.id, "the call")
                same(step.take("reason") ?: JsonNull, JsonPrimitive(it.reason))
            }
            "progress" -> (event as? Happening.Progress)?.let {
                assertEquals(named(value), it.id, "the call")
                same(step.take("params")!!, parse(it.params))
            }
            "done" -> if (step.has("error")) compareFailed(event, value, step) else (event as? Happening.Result)?.let {
                assertEquals(named(value), it.id, "the call")
                same(step.take("result")!!, parse(it.result))
            }
            "notification" -> (event as? Happening.Notification)?.let {
                assertEquals(step.take("subscription")?.let(::named), it.subscription, "the stream of the notification")
                same(value, JsonPrimitive(it.method))
                same(step.take("params") ?: JsonNull, it.params?.let(::parse) ?: JsonNull)
            }
            "problem" -> (event as? Happening.Problem)?.let {
                sameMembers(value, buildJsonObject { put("kind", it.kind); put("message", it.message) })
            }
            "ready" -> (event as? Happening.Ready)?.let { sameMembers(value, it.toJson()) }
            "connect_failed" -> (event as? Happening.ConnectFailed)?.let { sameMembers(value, it.failure.toJson()) }
            else -> event as? Happening.Closed
        } ?: error("expected an event \"$verb\", got $event")
        return true
    }

    private fun compareFailed(event: Happening, value: JsonElement, step: Fields): Unit? = (event as? Happening.Failed)?.let {
        assertEquals(named(value), it.id, "the call")
        sameMembers(step.take("error")!!, it.failure.toJson())
    }

    /** `{kind: key, params?, progress?}`, and for a tool `arguments`. */
    private fun compareCall(event: Happening.Call, value: JsonElement) {
        val wanted = Fields(value)
        val (kind, key) = wanted.verb()
        val found = if (event.kind == "method") event.method else keys[event.kind.removeSuffix("Completion") to event.entry!!]
        assertEquals(listOf(kind, textOf(key)), listOf(event.kind, found))
        same(wanted.take("progress") ?: JsonPrimitive(false), JsonPrimitive(event.wantsProgress))
        same(wanted.take("params") ?: wanted.take("arguments") ?: JsonNull, event.params?.let(::parse) ?: JsonNull)
        wanted.finish()
    }

    private fun name(step: Fields, id: ULong) {
        step.text("as")?.let { names[it] = id }
    }

    private fun message(): String = wire.removeFirstOrNull() ?: error("expected a message, nothing was written")

    private fun named(value: JsonElement): ULong = names[textOf(value)] ?: error("no earlier step named a call $value")

    private companion object {
        val EVENTS = setOf(
            "call", "describe", "cancelled", "ready", "progress", "notification", "problem", "closed", "done", "connect_failed",
        )
    }
}

/** Borrowed bytes must lie outside the heap. */
private fun direct(bytes: ByteArray, from: Int, to: Int): ByteBuffer =
    ByteBuffer.allocateDirect(to - from).apply { put(bytes, from, to - from); flip() }

/** The command that adds a tool: a whole descriptor, or the name of one that is described later. */
private fun addTool(tool: JsonElement): String = when (tool) {
    is JsonObject -> """{"add":{"kind":"tool","key":${tool["name"]},"descriptor":$tool}}"""
    else -> """{"add":{"kind":"tool","key":$tool}}"""
}

private fun withVersion(value: JsonElement): JsonElement = when {
    value !is JsonObject || "jsonrpc" in value -> value
    else -> JsonObject(mapOf<String, JsonElement>("jsonrpc" to JsonPrimitive("2.0")) + value)
}

private fun Failure.toJson(): JsonObject = buildJsonObject {
    put("kind", kind)
    code?.let { put("code", it) }
    put("message", message)
    data?.let { put("data", parse(it)) }
    put("fault", fault)
    put("retryable", retryable)
}

private fun Happening.Ready.toJson(): JsonObject = buildJsonObject {
    put("protocolVersion", protocolVersion)
    put("info", parse(info))
    put("capabilities", parse(capabilities))
    instructions?.let { put("instructions", it) }
}
