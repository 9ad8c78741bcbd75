package dev.oxmcp.bench

import com.sun.management.OperatingSystemMXBean
import kotlinx.coroutines.coroutineScope
import kotlinx.coroutines.launch
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put
import java.io.File
import java.lang.management.ManagementFactory
import java.util.concurrent.atomic.AtomicInteger

/** What the arguments ask for: `WARMUP CALLS PIPELINED WINDOW COMMAND [ARGUMENT...]`. */
class Plan(args: Array<String>) {
    private val numbers: List<Int>
    val command: List<String>

    init {
        require(args.size > 4) { "usage: WARMUP CALLS PIPELINED WINDOW COMMAND [ARGUMENT...]" }
        numbers = args.take(4).map { it.toInt() }
        command = args.drop(4)
    }

    val warmup get() = numbers[0]
    val calls get() = numbers[1]
    val pipelined get() = numbers[2]
    val window get() = numbers[3]
}

/**
 * What every client program in Kotlin does with its SDK: the same phases, clocks and checks, and one JSON line. The clocks are
 * `System.nanoTime` (`CLOCK_MONOTONIC`) and the processor time of this process, all its threads.
 *
 * @param call sends one text; gives the text of the answer
 */
class Measure(private val plan: Plan, private val connectMs: Double, private val call: suspend (String) -> String?) {
    private val checked = AtomicInteger()
    private val system = ManagementFactory.getOperatingSystemMXBean() as OperatingSystemMXBean

    private suspend fun one() {
        val text = "message ${"%08d".format(checked.incrementAndGet())} of the benchmark"
        val answered = call(text)
        check(answered == text) { "sent $text, got $answered" }
    }

    private suspend fun inFlight(total: Int) = coroutineScope {
        val left = AtomicInteger(total)
        repeat(plan.window) { launch { while (left.getAndDecrement() > 0) one() } }
    }

    suspend fun run() {
        repeat(plan.warmup / 2) { one() }
        inFlight(plan.warmup - plan.warmup / 2)
        val times = LongArray(plan.calls) {
            val begin = System.nanoTime()
            one()
            System.nanoTime() - begin
        }
        val cpu = system.processCpuTime
        val begin = System.nanoTime()
        inFlight(plan.pipelined)
        val seconds = (System.nanoTime() - begin) / 1e9
        report(times.apply { sort() }, seconds, (system.processCpuTime - cpu) / 1e9)
    }

    private fun report(times: LongArray, seconds: Double, cpuSeconds: Double) {
        fun percentile(percent: Int) = times[maxOf(1, (times.size * percent + 99) / 100) - 1] / 1e3
        val line = buildJsonObject {
            put("connect_ms", connectMs)
            put("p50_us", percentile(50))
            put("p99_us", percentile(99))
            put("calls_per_s", plan.pipelined / seconds)
            put("cpu_s_per_10k", cpuSeconds / plan.pipelined * 1e4)
            put("peak_kb", peakKb())
            put("checked", checked.get())
        }
        println(line)
    }

    private fun peakKb(): Long {
        val line = File("/proc/self/status").readLines().first { it.startsWith("VmHWM:") }
        return line.filter(Char::isDigit).toLong()
    }
}

/** Milliseconds that something takes, and what it gives. */
inline fun <T> timed(work: () -> T): Pair<T, Double> {
    val begin = System.nanoTime()
    val result = work()
    return result to (System.nanoTime() - begin) / 1e6
}
