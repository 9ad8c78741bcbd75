package dev.oxmcp

import dev.oxmcp.internal.Endpoint
import dev.oxmcp.internal.Event
import dev.oxmcp.internal.FfiConverterOptionalString
import dev.oxmcp.internal.FfiConverterOptionalTypeRequestOptions
import dev.oxmcp.internal.FfiConverterOptionalULong
import dev.oxmcp.internal.FfiConverterString
import dev.oxmcp.internal.FfiConverterTypeNotice
import dev.oxmcp.internal.FfiConverterTypeReply
import dev.oxmcp.internal.FfiConverterTypeRequest
import dev.oxmcp.internal.FfiConverterULong
import dev.oxmcp.internal.Happening
import dev.oxmcp.internal.HttpField
import dev.oxmcp.internal.Notice
import dev.oxmcp.internal.Refusal
import dev.oxmcp.internal.Registry
import dev.oxmcp.internal.Reply
import dev.oxmcp.internal.Request
import kotlinx.coroutines.CancellableContinuation
import kotlinx.coroutines.CancellationException
import kotlinx.coroutines.CompletableDeferred
import kotlinx.coroutines.CoroutineScope
import kotlinx.coroutines.CoroutineStart
import kotlinx.coroutines.Dispatchers
import kotlinx.coroutines.Job
import kotlinx.coroutines.channels.BufferOverflow
import kotlinx.coroutines.channels.Channel
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.currentCoroutineContext
import kotlinx.coroutines.ensureActive
import kotlinx.coroutines.isActive
import kotlinx.coroutines.job
import kotlinx.coroutines.launch
import kotlinx.coroutines.suspendCancellableCoroutine
import kotlinx.coroutines.withTimeoutOrNull
import kotlinx.serialization.json.JsonObject
import java.util.concurrent.ConcurrentHashMap
import java.util.concurrent.atomic.AtomicInteger
import kotlin.concurrent.thread
import kotlin.coroutines.resume
import kotlin.coroutines.resumeWithException
import kotlin.time.Duration.Companion.seconds

/** A call, of either side, on one of the connections of an endpoint. */
internal data class CallKey(val connection: ULong, val id: ULong)

/** The side of an endpoint that a client or a server plays. What it throws is reported to [thrown]. */
internal interface Host {
    /** Where handlers run. */
    val scope: CoroutineScope

    /** Runs the handler that a call is for. */
    suspend fun answer(incoming: Incoming, call: Happening.Call): Reply

    /** What a handler's failure is to the other side. Never throws. */
    fun failure(call: Happening.Call, error: Throwable): Reply

    fun ready(connection: ULong, peer: Happening.Ready) {}
    fun connectFailed(error: McpException) {}

    /** Other header fields, for a server over HTTP that refused those that it got. */
    suspend fun renew(refused: Unauthorized): Map<String, String>? = null

    /** Gives what is to be told of a notification. */
    fun notified(connection: ULong, notification: Notification): suspend () -> Unit
    fun problem(problem: Problem) {}
    fun trace(direction: String, line: String) {}
    fun stderr(line: String) {}

    /** A connection has ended. Gives what is to be told of that, after all that was told before. */
    fun closed(connection: ULong): (suspend () -> Unit)? = null
    fun thrown(error: Throwable)
}

/** A call of the other side, while a handler works on it. */
internal class Incoming(val link: Link, val key: CallKey, val wantsProgress: Boolean)

/**
 * One endpoint of the core, and what waits on it.
 *
 * One thread takes events, and runs nothing of the program's: handlers are coroutines of their own, and what is told goes
 * to one coroutine in order. So neither can hold up an answer or a cancel. No thread of the core's ever runs code of the JVM.
 */
internal class Link(private val endpoint: Endpoint, private val host: Host) {
    val ended = CompletableDeferred<Unit>()
    private val lane = Lane(endpoint)

    /** Guards [calls] while one begins: its answer may come before its number. */
    private val lock = Any()
    private val calls = HashMap<CallKey, Waiting>()
    private val streams = ConcurrentHashMap<CallKey, Channel<Notification>>()
    private val handlers = ConcurrentHashMap<CallKey, Job>()
    private val credentials = Credentials(::giveHeaders)
    private val lost = AtomicInteger()
    private val told = Channel<suspend () -> Unit>(BACKLOG, BufferOverflow.DROP_OLDEST) { lost.incrementAndGet() }

    /** The one connection; a server over HTTP has none that is the one. */
    val connection: ULong = endpoint.connection() ?: 0uL

    /** Where a server over HTTP listens. */
    val address: String? = endpoint.address()

    private class Waiting(val continuation: CancellableContinuation<String>, val reports: Channel<Progress>?)

    /** Started when there is something to tell: a server that has just come up answers without it. */
    private val teller by lazy { CoroutineScope(Dispatchers.IO).launch { tell() } }

    fun start() {
        thread(name = "oxmcp events", isDaemon = true) { pump() }
    }

    /** Calls of either side that wait, and what is asked of the program, for tests. */
    val waiting: Int
        get() = synchronized(lock) { calls.size } + handlers.size + streams.size + (if (credentials.isAsking) 1 else 0)

    suspend fun call(request: Request, options: RequestOptions, connection: ULong = this.connection): String {
        // A coroutine that was cancelled before sends nothing.
        currentCoroutineContext().ensureActive()
        val onProgress = options.onProgress ?: return await(request, options, connection, null)
        return coroutineScope {
            val reports = Channel<Progress>(BACKLOG, BufferOverflow.DROP_OLDEST)
            val reader = launch { for (report in reports) onProgress(report) }
            val result = await(request, options, connection, reports)
            reports.close()
            reader.join()
            result
        }
    }

    private suspend fun await(
        request: Request,
        options: RequestOptions,
        connection: ULong,
        reports: Channel<Progress>?,
    ): String = suspendCancellableCoroutine { continuation ->
        val key = try {
            begin(request, options, connection, Waiting(continuation, reports))
        } catch (error: Throwable) {
            continuation.resumeWithException(error)
            return@suspendCancellableCoroutine
        }
        continuation.invokeOnCancellation { cause -> abandon(key, cause) }
    }

    private fun begin(request: Request, options: RequestOptions, connection: ULong, waiting: Waiting): CallKey =
        synchronized(lock) {
            val native = options.toNative()
            val size = CONNECTION + FfiConverterTypeRequest.allocationSize(request) + OPTIONS.allocationSize(native)
            val id = verb {
                lane.run(Verb.BEGIN, size) { room ->
                    FfiConverterOptionalULong.write(connection, room)
                    FfiConverterTypeRequest.write(request, room)
                    OPTIONS.write(native, room)
                }
            }
            CallKey(connection, id.toULong()).also { calls[it] = waiting }
        }

    /** Opens a stream of notifications: a call that stays open. Runs [each] until the stream has ended. */
    suspend fun listen(params: String, each: suspend (Notification) -> Unit): Unit = coroutineScope {
        val notifications = Channel<Notification>(BACKLOG, BufferOverflow.DROP_OLDEST)
        var key: CallKey? = null
        val reader = launch { for (notification in notifications) each(notification) }
        try {
            suspendCancellableCoroutine<String> { continuation ->
                try {
                    synchronized(lock) {
                        val request = Request.Method("subscriptions/listen", params)
                        val own = begin(request, RequestOptions.DEFAULT, connection, Waiting(continuation, null))
                        streams[own] = notifications
                        key = own
                    }
                } catch (error: Throwable) {
                    continuation.resumeWithException(error)
                    return@suspendCancellableCoroutine
                }
                continuation.invokeOnCancellation { cause -> key?.let { abandon(it, cause) } }
            }
        } finally {
            key?.let(streams::remove)
            notifications.close()
        }
        reader.join()
    }

    private fun abandon(key: CallKey, cause: Throwable?) {
        synchronized(lock) { calls.remove(key) } ?: return
        val reason = cause?.message ?: "the call was cancelled"
        quietly {
            verb {
                lane.run(Verb.CANCEL, CONNECTION + ID + FfiConverterOptionalString.allocationSize(reason)) { room ->
                    FfiConverterOptionalULong.write(key.connection, room)
                    FfiConverterULong.write(key.id, room)
                    FfiConverterOptionalString.write(reason, room)
                }
            }
        }
    }

    /** False when nobody was told. */
    fun notify(notice: Notice, connection: ULong? = this.connection): Boolean = verb {
        lane.run(Verb.NOTIFY, CONNECTION + FfiConverterTypeNotice.allocationSize(notice)) { room ->
            FfiConverterOptionalULong.write(connection, room)
            FfiConverterTypeNotice.write(notice, room)
        }
    } != 0L

    fun endStream(call: CallKey): Unit = quietly { endpoint.endStream(call.connection, call.id) }

    fun httpRequest(call: CallKey): HttpRequest? = verb { endpoint.httpRequest(call.connection, call.id) }?.let(::HttpRequest)

    fun sessionId(connection: ULong): String? = verb { endpoint.sessionId(connection) }

    fun command(text: String, connection: ULong = this.connection): JsonObject =
        parseObject(verb { endpoint.command(connection, text) })

    /** What the core holds; `null` once it holds nothing. */
    fun stats(): dev.oxmcp.internal.Stats? = try {
        verb { endpoint.stats() }
    } catch (closed: ConnectionClosedException) {
        // An endpoint that ends is gone a moment before [ended] says so.
        null
    }

    /** Ends it all, and waits until nothing more comes, within bounds. Safe to call from a handler. */
    suspend fun close(why: String) {
        shutDown(why)
        withTimeoutOrNull(PATIENCE) { ended.await() }
    }

    fun shutDown(why: String) {
        quietly { endpoint.close(null, why) }
        credentials.close()
    }

    fun closeConnection(connection: ULong, why: String): Unit = quietly { verb { endpoint.close(connection, why) } }

    private fun pump() {
        try {
            while (true) {
                val events = lane.waitForEvents()
                if (events.isEmpty()) break
                events.forEach(::take)
            }
        } catch (error: Throwable) {
            host.thrown(error)
        } finally {
            end()
        }
    }

    private fun end() {
        val left = synchronized(lock) { calls.values.toList().also { calls.clear() } }
        val ended = ConnectionClosedException("the connection has ended")
        left.forEach { it.continuation.resumeWithException(ended) }
        handlers.values.forEach { it.cancel(CancellationException("the connection has ended")) }
        credentials.close()
        host.connectFailed(ended)
        lane.close()
        endpoint.destroy()
        told.close()
        this.ended.complete(Unit)
    }

    private fun take(event: Event) {
        try {
            take(event.connection, event.what)
        } catch (error: Throwable) {
            host.thrown(error)
        }
    }

    private fun take(connection: ULong, what: Happening) {
        when (what) {
            is Happening.Call -> called(CallKey(connection, what.id), what)
            is Happening.Cancelled -> {
                val job = handlers.remove(CallKey(connection, what.id))
                job?.cancel(CancellationException(what.reason ?: "the caller cancelled the call"))
            }
            is Happening.Result -> {
                val call = synchronized(lock) { calls.remove(CallKey(connection, what.id)) }
                call?.continuation?.resume(what.result)
            }
            is Happening.Failed -> {
                val call = synchronized(lock) { calls.remove(CallKey(connection, what.id)) }
                call?.continuation?.resumeWithException(what.failure.toException())
            }
            is Happening.Progress -> {
                val call = synchronized(lock) { calls[CallKey(connection, what.id)] }
                call?.reports?.trySend(progressOf(what.params))
            }
            is Happening.Notification -> notified(connection, what)
            is Happening.Describe -> answer(CallKey(connection, what.id), Reply.Resume)
            is Happening.Ready -> host.ready(connection, what)
            is Happening.ConnectFailed -> host.connectFailed(what.failure.toException())
            is Happening.Unauthorized -> credentials.ask(host.scope) {
                host.renew(Unauthorized(what.status.toInt(), what.challenge))
            }
            is Happening.Problem -> tell { host.problem(Problem(what.kind, what.message)) }
            is Happening.Trace -> tell { host.trace(what.direction, what.line) }
            is Happening.Stderr -> tell { host.stderr(what.line) }
            is Happening.Closed -> host.closed(connection)?.let(::tell)
        }
    }

    private fun giveHeaders(fields: Map<String, String>, whyNot: String?): Unit = quietly {
        try {
            verb {
                val crossing = fields.map { (name, value) -> HttpField(crossing(name), crossing(value)) }
                endpoint.giveHeaders(connection, crossing, whyNot?.let(::crossing))
            }
        } catch (error: Throwable) {
            // What can not cross must not leave the request waiting.
            endpoint.giveHeaders(connection, emptyList(), error.told())
        }
    }

    private fun notified(connection: ULong, what: Happening.Notification) {
        val notification = Notification(what.method, what.params?.let(::parseObject))
        val stream = what.subscription?.let { synchronized(lock) { streams[CallKey(connection, it)] } }
        stream?.trySend(notification)
        if (stream == null || notification.method != ACKNOWLEDGED) tell(host.notified(connection, notification))
    }

    private fun tell(what: suspend () -> Unit) {
        told.trySend(what)
        teller
    }

    /** What the program is told, one thing after the other. */
    private suspend fun tell() {
        for (what in told) {
            try {
                what()
            } catch (error: Throwable) {
                host.thrown(error)
            }
            val dropped = lost.getAndSet(0)
            if (dropped > 0) {
                val message = "$dropped notifications were dropped: the program takes them too slowly"
                runCatching { host.problem(Problem("dropped", message)) }.onFailure(host::thrown)
            }
        }
    }

    private fun called(key: CallKey, call: Happening.Call) {
        val incoming = Incoming(this, key, call.wantsProgress)
        val job = host.scope.launch(start = CoroutineStart.LAZY) {
            val reply = try {
                host.answer(incoming, call)
            } catch (error: CancellationException) {
                // The call is off. One that the handler made itself, such as a timeout, is its failure.
                if (!isActive) throw error
                host.failure(call, error)
            } catch (error: Throwable) {
                host.failure(call, error)
            }
            respond(key, call, reply)
        }
        // Before it starts, so that a cancel finds it.
        handlers[key] = job
        job.invokeOnCompletion { handlers.remove(key, job) }
        if (!job.start() && job.isCancelled) {
            // The scope is closed, and the caller must not wait for ever.
            respond(key, call, Reply.Error(ErrorCode.INTERNAL_ERROR, "the server was closed", null))
        }
    }

    private fun respond(key: CallKey, call: Happening.Call, reply: Reply) {
        try {
            answer(key, reply)
        } catch (error: Throwable) {
            if (ended.isCompleted) return
            // What can not cross, such as half of a surrogate pair, must not leave the caller waiting.
            val failure = runCatching { host.failure(call, error) }.getOrNull()
            quietly { answer(key, failure ?: INTERNAL) }
        }
    }

    private fun answer(key: CallKey, reply: Reply) {
        verb {
            lane.run(Verb.RESPOND, CONNECTION + ID + FfiConverterTypeReply.allocationSize(reply)) { room ->
                FfiConverterOptionalULong.write(key.connection, room)
                FfiConverterULong.write(key.id, room)
                FfiConverterTypeReply.write(reply, room)
            }
        }
    }

    private inline fun quietly(verb: () -> Unit) {
        try {
            verb()
        } catch (error: IllegalStateException) {
            // The endpoint is gone, and all that was on it.
        } catch (error: ConnectionClosedException) {
            // Likewise.
        } catch (error: Throwable) {
            host.thrown(error)
        }
    }

    companion object {
        private const val BACKLOG = 1024

        /** Bytes of an optional connection, and of the number of a call. */
        private const val CONNECTION = 9uL
        private const val ID = 8uL
        private val OPTIONS = FfiConverterOptionalTypeRequestOptions

        /** A child may take four seconds to leave, the calls that a server over HTTP accepted some more. */
        private val PATIENCE = 20.seconds
        private const val ACKNOWLEDGED = "notifications/subscriptions/acknowledged"
        private val INTERNAL = Reply.Error(ErrorCode.INTERNAL_ERROR, "Internal error", null)

        /** Opens an endpoint. @throws McpException when it can not be opened */
        fun open(spec: JsonObject, registry: Registry, host: Host, peer: Link? = null): Link = verb {
            Link(Endpoint.open(spec.toString(), registry, peer?.endpoint), host)
        }
    }
}

/** Runs a verb of the core; what it throws becomes an exception of this package. */
internal inline fun <T> verb(work: () -> T): T = try {
    work()
} catch (refusal: Refusal.Refused) {
    throw refusal.failure.toException()
} catch (error: IllegalStateException) {
    throw ConnectionClosedException("the connection has ended", error)
} catch (error: dev.oxmcp.internal.InternalException) {
    throw InternalFaultException(error.message ?: "a fault inside oxmcp", error)
} catch (error: java.nio.charset.CharacterCodingException) {
    throw UsageException("a text has half of a surrogate pair, which no encoding has a form for", error)
}

/**
 * A text of the program's for a verb that does not go by the [Lane]. What can not cross is found before the verb takes hold of
 * its object, which it would never let go of.
 */
internal fun crossing(text: String): String = text.also(FfiConverterString::toUtf8)

/** An empty registry of the core's. @throws InternalFaultException when the native library can not be loaded */
internal fun newRegistry(): Registry {
    NativeLibrary.ensure()
    return Registry()
}

internal fun progressOf(params: String): Progress = UnknownContent(parseObject(params)).run {
    Progress(number("progress") ?: 0.0, number("total"), text("message"))
}
