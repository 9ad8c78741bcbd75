import Foundation

/// A value that one thread at a time sees. Nothing of the program's runs while it is seen.
final class Locked<Value>: @unchecked Sendable {
    private let lock = NSLock()
    private var value: Value

    init(_ value: Value) {
        self.value = value
    }

    func withLock<Result>(_ body: (inout Value) throws -> Result) rethrows -> Result {
        lock.lock()
        defer { lock.unlock() }
        return try body(&value)
    }
}

/// A value that will be there once, for any number that wait for it. The first that is given holds.
final class Promise<Value: Sendable>: Sendable {
    private typealias Waiter = CheckedContinuation<Value, any Error>

    private struct State {
        var given: Result<Value, any Error>?
        var waiters: [UInt64: Waiter] = [:]
        /// Those that were cancelled before they began to wait.
        var cancelled: Set<UInt64> = []
        var next: UInt64 = 0
    }

    private let state = Locked(State())

    /// What was given, unless it is still to come.
    var given: Result<Value, any Error>? { state.withLock { $0.given } }

    func give(_ result: Result<Value, any Error>) {
        let waiters = state.withLock { state -> [Waiter] in
            guard state.given == nil else { return [] }
            state.given = result
            defer { state.waiters = [:] }
            return Array(state.waiters.values)
        }
        waiters.forEach { $0.resume(with: result) }
    }

    /// Waits for it. A task that is cancelled waits no longer.
    func get() async throws -> Value {
        let number = state.withLock { state in
            state.next += 1
            return state.next
        }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { wait($0, number) }
        } onCancel: {
            let waiter = state.withLock { state -> Waiter? in
                if let waiter = state.waiters.removeValue(forKey: number) { return waiter }
                if state.given == nil { state.cancelled.insert(number) }
                return nil
            }
            waiter?.resume(throwing: CancellationError())
        }
    }

    private func wait(_ waiter: Waiter, _ number: UInt64) {
        let result = state.withLock { state -> Result<Value, any Error>? in
            if state.cancelled.remove(number) != nil { return .failure(CancellationError()) }
            if state.given == nil { state.waiters[number] = waiter }
            return state.given
        }
        if let result { waiter.resume(with: result) }
    }
}
