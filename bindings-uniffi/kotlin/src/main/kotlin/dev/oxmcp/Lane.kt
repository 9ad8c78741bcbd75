package dev.oxmcp

import com.sun.jna.Native
import com.sun.jna.Pointer
import dev.oxmcp.internal.Endpoint
import dev.oxmcp.internal.Event
import dev.oxmcp.internal.FfiConverterSequenceTypeEvent
import dev.oxmcp.internal.FfiConverterTypeFailure
import dev.oxmcp.internal.closeLane
import java.nio.Buffer
import java.nio.ByteBuffer

/** Memory of native code's, and its address. */
internal class Room(capacity: Int) {
    val bytes: ByteBuffer = ByteBuffer.allocateDirect(capacity)
    val address: Long = Pointer.nativeValue(Native.getDirectBufferPointer(bytes))

    /** All of it, or what was written, from its beginning. Older Androids have these functions of [Buffer] alone. */
    fun rewound(length: Int = bytes.capacity()): ByteBuffer {
        (bytes as Buffer).clear()
        (bytes as Buffer).limit(length)
        return bytes
    }
}

/** The functions of `bindings-uniffi/src/lane.rs`. Only numbers cross: JNA makes an object with a cleaner of all else. */
private object LaneLibrary {
    init {
        Native.register(LaneLibrary::class.java, NativeLibrary.NAME)
    }

    external fun oxmcp_lane_wait(lane: Long, room: Long, capacity: Long): Long

    external fun oxmcp_lane_verb(lane: Long, verb: Int, room: Long, length: Long, capacity: Long): Long
}

/** What can be said to an endpoint for each call. */
internal enum class Verb { BEGIN, RESPOND, NOTIFY, CANCEL }

/** The way to an endpoint for what happens for each call. */
internal class Lane(endpoint: Endpoint) {
    private val number = endpoint.openLane().toLong()
    private var events = Room(ROOM)

    /** Waits for events, on this thread; none at all: the endpoint is over. For one thread. */
    fun waitForEvents(): List<Event> {
        while (true) {
            val length = LaneLibrary.oxmcp_lane_wait(number, events.address, events.bytes.capacity().toLong())
            if (length == 0L) return emptyList()
            if (length > 0) {
                return FfiConverterSequenceTypeEvent.read(events.rewound(length.toInt())).also { shrink(length) }
            }
            events = Room(Math.toIntExact(-length))
        }
    }

    /** What was needed once does not stay for good. */
    private fun shrink(used: Long) {
        if (events.bytes.capacity() > LARGE && used < LARGE) events = Room(ROOM)
    }

    /**
     * Runs a verb.
     *
     * @param size how many bytes its arguments have at most
     * @throws McpException when it is refused
     */
    inline fun run(verb: Verb, size: ULong, write: (ByteBuffer) -> Unit): Long {
        val room = room(size)
        write(room.rewound())
        val length = room.bytes.position().toLong()
        val outcome = call(verb, room, length)
        if (outcome < 0) throw failure(outcome, room)
        return outcome
    }

    fun call(verb: Verb, room: Room, length: Long): Long =
        LaneLibrary.oxmcp_lane_verb(number, verb.ordinal, room.address, length, room.bytes.capacity().toLong())

    fun failure(outcome: Long, room: Room): McpException {
        if (outcome == Long.MIN_VALUE) return ConnectionClosedException("the connection has ended")
        return FfiConverterTypeFailure.read(room.rewound(Math.toIntExact(-outcome))).toException()
    }

    fun close(): Unit = closeLane(number.toULong())

    companion object {
        private const val ROOM = 1 shl 16
        private const val LARGE = 1 shl 20
        private val rooms = ThreadLocal.withInitial { Room(ROOM) }

        /** Memory of this thread's, for as long as it does not suspend. */
        fun room(size: ULong): Room {
            val own = rooms.get()
            if (size <= own.bytes.capacity().toULong()) return own
            val larger = Room(Math.toIntExact(size.toLong()))
            if (size < LARGE.toULong()) rooms.set(larger)
            return larger
        }
    }
}
