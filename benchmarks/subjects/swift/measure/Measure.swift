import Foundation
import OxMCP

/// What the arguments ask for: `WARMUP CALLS PIPELINED WINDOW COMMAND [ARGUMENT...]`.
public struct Plan: Sendable {
    public let warmup, calls, pipelined, window: Int
    public let command: [String]

    public init(_ arguments: [String]) {
        let numbers = arguments.prefix(4).compactMap { Int($0) }
        guard numbers.count == 4, arguments.count > 4 else {
            fatalError("usage: WARMUP CALLS PIPELINED WINDOW COMMAND [ARGUMENT...]")
        }
        (warmup, calls, pipelined, window) = (numbers[0], numbers[1], numbers[2], numbers[3])
        command = Array(arguments.dropFirst(4))
    }
}

/// What every client program in Swift does with its SDK: the same phases, clocks and checks, and one JSON line. The clocks are
/// `CLOCK_MONOTONIC` and the processor time of this process, all its threads.
public actor Measure {
    /// Sends one text; gives the text of the answer.
    public typealias Call = @Sendable (String) async throws -> String

    private let plan: Plan
    private let connectSeconds: Double
    private let call: Call
    private var checked = 0
    private var left = 0

    public init(_ plan: Plan, connectSeconds: Double, call: @escaping Call) {
        self.plan = plan
        self.connectSeconds = connectSeconds
        self.call = call
    }

    public func run() async throws {
        for _ in 0..<plan.warmup / 2 { try await one() }
        try await inFlight(plan.warmup - plan.warmup / 2)
        var times: [Double] = []
        for _ in 0..<plan.calls {
            let begin = now(CLOCK_MONOTONIC)
            try await one()
            times.append(now(CLOCK_MONOTONIC) - begin)
        }
        let (begin, cpu) = (now(CLOCK_MONOTONIC), now(CLOCK_PROCESS_CPUTIME_ID))
        try await inFlight(plan.pipelined)
        report(times.sorted(), now(CLOCK_MONOTONIC) - begin, now(CLOCK_PROCESS_CPUTIME_ID) - cpu)
    }

    private func one() async throws {
        checked += 1
        let number = String(checked)
        let text = "message \(String(repeating: "0", count: 8 - number.count))\(number) of the benchmark"
        let answered = try await call(text)
        precondition(answered == text, "sent \(text), got \(answered)")
    }

    private func inFlight(_ total: Int) async throws {
        left = total
        try await withThrowingTaskGroup(of: Void.self) { group in
            for _ in 0..<plan.window { group.addTask { try await self.work() } }
            try await group.waitForAll()
        }
    }

    private func work() async throws {
        while left > 0 {
            left -= 1
            try await one()
        }
    }

    private func report(_ times: [Double], _ seconds: Double, _ cpuSeconds: Double) {
        let percentile = { (percent: Int) in JSON(times[max(1, (times.count * percent + 99) / 100) - 1] * 1e6) }
        let line: JSONObject = [
            "connect_ms": JSON(connectSeconds * 1e3), "p50_us": percentile(50), "p99_us": percentile(99),
            "calls_per_s": JSON(Double(plan.pipelined) / seconds),
            "cpu_s_per_10k": JSON(cpuSeconds / Double(plan.pipelined) * 1e4), "peak_kb": JSON(peakKB),
            "checked": JSON(checked),
        ]
        print(line.text)
    }

    private var peakKB: Int {
        let status = (try? String(contentsOfFile: "/proc/self/status", encoding: .utf8)) ?? ""
        let line = status.split(separator: "\n").first { $0.hasPrefix("VmHWM:") } ?? ""
        return Int(line.filter(\.isNumber)) ?? 0
    }
}

/// Seconds on a clock.
public func now(_ clock: clockid_t) -> Double {
    var time = timespec()
    clock_gettime(clock, &time)
    return Double(time.tv_sec) + Double(time.tv_nsec) / 1e9
}
