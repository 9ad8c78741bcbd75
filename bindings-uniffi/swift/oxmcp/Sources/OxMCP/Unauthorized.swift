import Foundation

/// A server refused a request for want of authorization (`basic/authorization` of the specification), see
/// ``HTTPClientOptions/onUnauthorized``.
public struct Unauthorized: Sendable, Hashable {
    /// 401, or 403 with a challenge: the credentials do not allow enough.
    public var status: Int

    /// The values of the header field `WWW-Authenticate`, joined with commas; `nil` when there is none.
    public var wwwAuthenticate: String?

    public init(status: Int, wwwAuthenticate: String? = nil) {
        self.status = status
        self.wwwAuthenticate = wwwAuthenticate
    }
}

/// Asks the program for other header fields.
///
/// The core has one request at a time that waits for them. It may give up, and another may wait in its place: that one has what
/// the function gives which runs already.
final class Credentials: Sendable {
    /// Takes header fields, or why there are none.
    typealias Give = @Sendable (_ fields: [String: String], _ whyNot: String?) -> Void

    private struct State {
        var asking: Task<Void, Never>?
        var isOver = false
    }

    private let state = Locked(State())

    var isAsking: Bool { state.withLock { $0.asking != nil } }

    /// Runs `renew` in a task of its own, unless it runs.
    func ask(_ renew: @escaping @Sendable () async throws -> [String: String]?, _ give: @escaping Give) {
        let isOver = state.withLock { state in
            if !state.isOver, state.asking == nil {
                state.asking = Task.detached {
                    do {
                        self.answer(try await renew() ?? [:], nil, give)
                    } catch {
                        self.answer([:], told(error), give)
                    }
                }
            }
            return state.isOver
        }
        if isOver { give([:], nil) }
    }

    /// Under the lock: whoever waits before has this answer, and for whoever waits after it the function runs again.
    private func answer(_ fields: [String: String], _ whyNot: String?, _ give: Give) {
        state.withLock { state in
            state.asking = nil
            give(fields, whyNot)
        }
    }

    /// Cancels the function, and runs it no more.
    func close() {
        let asking = state.withLock { state in
            state.isOver = true
            return state.asking
        }
        asking?.cancel()
    }
}

/// What is told of a failure to those who did not cause it.
func told(_ error: any Error) -> String {
    if error is CancellationError { return "it was cancelled" }
    if let told = (error as? any LocalizedError)?.errorDescription { return told }
    // What a Swift error becomes as an NSError says less than the error itself.
    let old = (error as Any) as? NSError
    return old?.userInfo[NSLocalizedDescriptionKey] as? String ?? "\(error)"
}
