@file:JvmName("Border")

package dev.oxmcp.bench

import com.sun.jna.Native
import dev.oxmcp.internal.Endpoint
import dev.oxmcp.internal.Registry
import kotlin.math.roundToLong

private const val CALLS = 200_000
private const val ROUNDS = 7

/** The functions through which only numbers cross. */
private object Lane {
    init {
        Native.register(Lane::class.java, "oxmcp_uniffi")
    }

    external fun oxmcp_lane_verb(lane: Long, verb: Int, room: Long, length: Long, capacity: Long): Long
}

/** Nanoseconds of one call: the median of some rounds, after as many that do not count. */
private fun nanoseconds(calls: Int, call: () -> Unit): Long {
    val times = List(2 * ROUNDS) { timed { repeat(calls) { call() } }.second * 1e6 / calls }
    return times.drop(ROUNDS).sorted()[ROUNDS / 2].roundToLong()
}

/** What a crossing costs that does nothing: of the verbs that UniFFI writes, and of those through which only numbers cross. */
fun main() {
    val registry = Registry()
    val server = Endpoint.open("""{"info":{"name":"bench","version":"1"},"settings":{},"server":"memory"}""", registry, null)
    val byUniffi = nanoseconds(CALLS / 20) { server.connection() }
    // There is no lane of this number.
    val byLane = nanoseconds(CALLS) { Lane.oxmcp_lane_verb(0, 0, 0, 0, 0) }
    println("one crossing: $byUniffi ns by UniFFI and JNA with structures, $byLane ns with numbers alone")
    server.destroy()
    registry.destroy()
}
