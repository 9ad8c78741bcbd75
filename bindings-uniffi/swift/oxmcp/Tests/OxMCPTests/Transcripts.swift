import Foundation
import OxMCPNative

@testable import OxMCP

/// How bytes arrive: as they come, in chunks of so many, or with the `receive` steps that follow at once.
enum Cut: Equatable {
    case whole, joined
    case chunks(Int)
}

/// One run of one transcript of `tests/vectors`, whose README describes the steps.
final class Transcripts {
    private let name: String
    private let lines: [Substring]
    private let cut: Cut
    private let registry = Registry()
    private var session: Transcript!
    private var now = 0.0
    private var wire: [String] = []
    private var events: [Happening] = []
    private var names: [String: UInt64] = [:]
    /// The keys of entries, by kind and number.
    private var keys: [OfferKey: String] = [:]
    private var waiting = Data()
    private var isClosed = false

    init(_ name: String, _ text: String, _ cut: Cut) {
        self.name = name
        lines = text.split(separator: "\n", omittingEmptySubsequences: false)
        self.cut = cut
    }

    func run() throws {
        for (at, line) in lines.enumerated() where !line.allSatisfy(\.isWhitespace) {
            do {
                let fields = try Fields(JSON(parsing: String(line)))
                if at == 0 { try start(fields) } else { try step(fields) }
                try fields.finish()
            } catch {
                throw Mismatch("\(name):\(at + 1): \(error) [\(cut)]")
            }
        }
        try flush()
        try quiet()
        if isClosed {
            let stats = session.stats()
            guard stats.inbound + stats.outbound + stats.buffered == 0 else { throw Mismatch("\(name): it holds \(stats)") }
        }
    }

    private func start(_ header: Fields) throws {
        for member in ["name", "about"] where try header.text(member)?.isEmpty ?? true {
            throw Mismatch("a header says what it is about")
        }
        let isServer = try header.text("role") == "server"
        let tools = header.list("tools")
        let setup = header.list("setup")
        let connected = try header.text("connected")
        let capabilities = header.take("peer_capabilities")
        let info = (["name": "vectors", "version": "1"] as JSONObject).merging(header.take("info")?.objectValue ?? [:])
        let given = header.take("settings")?.objectValue ?? [:]
        // What is left are the session's own options, which refuse what they do not know.
        let settings = (["probe": false] as JSONObject).merging(given).merging(header.rest())
        session = try Transcript(server: isServer, info: info.text, settings: settings.text, registry: registry)
        for tool in tools { try command(Self.add(tool)) }
        for one in setup { try command(one.objectValue ?? [:]) }
        if let connected { try handshake(isServer, connected, capabilities) }
    }

    /// The command that adds a tool: a whole descriptor, or the name of one that is described later.
    private static func add(_ tool: JSON) -> JSONObject {
        let name = tool["name"] ?? tool
        let descriptor = tool.objectValue.map(JSON.object)
        return ["add": .object(JSONObject(members: ("kind", "tool"), ("key", name), ("descriptor", descriptor)))]
    }

    private func handshake(_ isServer: Bool, _ protocolVersion: String, _ capabilities: JSON?) throws {
        let peer: JSON = ["name": "peer", "version": "1"]
        let has = capabilities ?? (isServer ? [:] : ["tools": [:]])
        let about: JSON = [
            "protocolVersion": .string(protocolVersion), "capabilities": has, isServer ? "clientInfo" : "serverInfo": peer,
        ]
        if isServer {
            try feed(["id": "handshake", "method": "initialize", "params": about])
            try feed(["method": "notifications/initialized"])
        } else {
            try session.connect(timeout: nil, now: now)
            try feed(["id": 0, "result": about])
        }
        try flush()
        guard !events.isEmpty, case .ready(protocolVersion, _, _, _) = events.removeFirst() else {
            throw Mismatch("it is not ready in \(protocolVersion)")
        }
        wire = []
        try quiet()
    }

    private func step(_ step: Fields) throws {
        let (verb, value) = try step.verb()
        switch verb {
        case "receive": return try feed(value)
        case "receive_text": return try feed(Data(textOf(value).utf8))
        case "receive_hex": return try feed(bytes(textOf(value)))
        default: break
        }
        try flush()
        if verb == "turn" {
            for part in value.arrayValue ?? [] { try self.part(Fields(part)) }
            return try drain()
        }
        guard try act(verb, value, step) || check(verb, value) || checkEvent(verb, value, step) else {
            throw Mismatch("there is no step \"\(verb)\"")
        }
        try drain()
    }

    /// A step of a turn, in which nothing is taken out before the last one.
    private func part(_ step: Fields) throws {
        let (verb, value) = try step.verb()
        guard try act(verb, value, step) else { throw Mismatch("a turn has no step \"\(verb)\"") }
        try step.finish()
    }

    private func bytes(_ digits: String) throws -> Data {
        let digits = digits.filter { $0 != " " }.compactMap(\.hexDigitValue)
        return Data(stride(from: 0, to: digits.count - 1, by: 2).map { UInt8(digits[$0] << 4 | digits[$0 + 1]) })
    }

    private func feed(_ message: JSON) throws {
        try feed(Data("\(withVersion(message))\n".utf8))
    }

    private func feed(_ bytes: Data) throws {
        let size: Int
        switch cut {
        case .joined: return waiting.append(bytes)
        case .chunks(let chunk): size = chunk
        case .whole: size = max(bytes.count, 1)
        }
        for start in stride(from: 0, to: bytes.count, by: size) {
            session.receive(bytes: bytes[start..<min(start + size, bytes.count)], now: now)
            try drain()
        }
    }

    private func flush() throws {
        if !waiting.isEmpty { session.receive(bytes: waiting, now: now) }
        waiting = Data()
        try drain()
    }

    private func drain() throws {
        let said = session.poll()
        isClosed = isClosed || said.events.contains(.closed)
        events += said.events
        let lines = said.wire.split(separator: UInt8(ascii: "\n"), omittingEmptySubsequences: false)
        guard lines.last?.isEmpty ?? true else { throw Mismatch("what was written does not end its line") }
        wire += lines.dropLast().map { String(decoding: $0, as: UTF8.self) }
    }

    private func quiet() throws {
        let left = wire + events.map { "\($0)" }
        if !left.isEmpty { throw Mismatch("nobody expected this: \(left.joined(separator: " "))") }
    }

    // MARK: Steps that make the session do something

    private func act(_ verb: String, _ value: JSON, _ step: Fields) throws -> Bool {
        switch verb {
        case "connect":
            let timeout = try Fields(value).number("timeout")
            try attempt(step) {
                try session.connect(timeout: timeout, now: now)
                return nil
            }
        case "begin", "call_tool": try begin(verb, Fields(value), step)
        case "notify":
            let fields = try Fields(value)
            let notice = Notice.method(method: try textOf(fields.need("method")), params: try fields.payload("params"))
            try attempt(step) {
                _ = try session.notify(notice: notice)
                return nil
            }
        case "cancel": try step.flag("sent", is: session.cancel(id: named(value), reason: step.text("reason")))
        case "respond": try step.flag("sent", is: session.respond(id: named(value), reply: reply(step), now: now))
        case "report_progress":
            let notice = Notice.progress(
                call: try named(value), progress: step.number("progress") ?? 0, total: step.number("total"),
                message: try step.text("message")
            )
            try step.flag("sent", is: session.notify(notice: notice))
        case "describe_tool":
            let entry = try entry("tool", textOf(value["name"] ?? .null))
            try command(["describe": ["kind": "tool", "entry": JSON(entry), "descriptor": value]])
        case "command": try run(command: Fields(value), step)
        case "resume": try step.flag("sent", is: session.respond(id: named(value), reply: .resume, now: now))
        case "advance": try advance(by: value.doubleValue ?? 0)
        case "end_input": session.endInput(now: now)
        case "close": session.close(why: try textOf(value))
        default: return false
        }
        return true
    }

    private func begin(_ verb: String, _ call: Fields, _ step: Fields) throws {
        let options = OxMCPNative.RequestOptions(
            timeout: call.number("timeout"), maxTotalTimeout: call.number("max_total_timeout"),
            resetTimeoutOnProgress: call.flag("reset_timeout_on_progress"), progress: call.flag("progress"), fresh: false,
            logLevel: nil
        )
        let request: Request =
            verb == "begin"
            ? .method(method: try textOf(call.need("method")), params: try call.payload("params"))
            : .tool(name: try textOf(call.need("name")), arguments: try call.payload("arguments"))
        try call.finish()
        try attempt(step) { try session.begin(request: request, options: options, now: now) }
    }

    /// Runs a command, with the call in it by its number, and compares what it gives.
    private func run(command: Fields, _ step: Fields) throws {
        let (verb, value) = try command.verb()
        try command.finish()
        let inner = try Fields(value)
        let call = inner.take("call")
        var members = inner.rest()
        if let call { members["call"] = JSON(try named(call)) }
        let gives = step.take("gives")
        try attempt(step) {
            let given = try self.command([verb: .object(members)])
            if let made = given["call"]?.intValue { return UInt64(made) }
            if let gives { try same(gives, .object(given)) }
            return nil
        }
    }

    /// Runs a command; remembers the key of what it adds.
    @discardableResult
    private func command(_ command: JSONObject) throws -> JSONObject {
        let given = try JSONObject(parsing: session.command(text: command.text, now: now))
        if let entry = given["entry"]?.intValue, let added = command["add"] {
            let key = OfferKey(kind: try textOf(added["kind"] ?? .null), entry: UInt64(entry))
            keys[key] = try textOf(added["key"] ?? .null)
        }
        return given
    }

    private func entry(_ kind: String, _ name: String) throws -> UInt64 {
        guard let (key, _) = keys.first(where: { $0.key.kind == kind && $0.value == name }) else {
            throw Mismatch("there is no \(kind) \(name)")
        }
        return key.entry
    }

    private func reply(_ step: Fields) throws -> Reply {
        if let message = try step.text("tool_error") { return .toolError(message: message) }
        if let what = try step.text("invalid_arguments") { return .invalidArguments(what: what) }
        if let error = step.take("error") {
            let fields = try Fields(error)
            let code = Int64(fields.number("code") ?? 0)
            return .error(code: code, message: try textOf(fields.need("message")), data: fields.take("data")?.text)
        }
        guard let result = try step.payload("result") else { throw Mismatch("it responds with nothing") }
        return .result(result: result)
    }

    /// Lets time pass as a driver does: each deadline is handled when it comes.
    private func advance(by time: Double) throws {
        let target = now + time
        while let due = session.pollTimeout(), due <= target {
            now = max(now, due)
            session.handleTimeout(now: now)
            try drain()
            if let next = session.pollTimeout(), next <= now { throw Mismatch("a handled deadline is still due") }
        }
        now = target
        session.handleTimeout(now: target)
    }

    private func attempt(_ step: Fields, _ work: () throws -> UInt64?) throws {
        let refused = step.take("refused")
        let made: UInt64?
        do {
            made = try work()
        } catch Refusal.Refused(let failure) {
            guard let refused else { throw Mismatch("it was refused: \(failure)") }
            return try sameMembers(refused, failure.json)
        }
        if let refused { throw Mismatch("expected it to be refused as \(refused), it was not") }
        if let made { try name(step, made) }
    }

    // MARK: Steps that say what was written, and what the session holds

    private func check(_ verb: String, _ value: JSON) throws -> Bool {
        switch verb {
        case "expect": try same(withVersion(value), JSON(parsing: message()))
        case "expect_text": try same(value, .string(message()))
        case "silence": try quiet()
        case "stats":
            let stats = session.stats()
            let members = ["inbound": stats.inbound, "outbound": stats.outbound, "buffered": stats.buffered]
            try sameMembers(value, JSONObject(members.map { ($0, JSON($1)) }))
        case "timer":
            let due = session.pollTimeout().map { $0 - now }
            guard due == value.doubleValue else { throw Mismatch("the next deadline is in \(String(describing: due))") }
        default: return false
        }
        return true
    }

    private static let verbs: Set = [
        "call", "describe", "cancelled", "ready", "progress", "notification", "problem", "closed", "done", "connect_failed",
    ]

    private func checkEvent(_ verb: String, _ value: JSON, _ step: Fields) throws -> Bool {
        guard Self.verbs.contains(verb) else { return false }
        guard !events.isEmpty else { throw Mismatch("expected an event \"\(verb)\", there is none") }
        let event = events.removeFirst()
        if let part = try step.text("text"), !unescaped("\(event)").contains(part) {
            throw Mismatch("the text \(part) is not in \(event)")
        }
        switch (verb, event) {
        case ("call", .call(let id, let kind, let entry, let method, let params, let wantsProgress)):
            let key = OfferKey(kind: kind.replacingOccurrences(of: "Completion", with: ""), entry: entry ?? 0)
            try compare(value, kind, kind == "method" ? method : keys[key], params, wantsProgress)
            try name(step, id)
        case ("describe", .describe(let id, let kind)):
            try same(step.take("kind") ?? "tool", .string(kind))
            names[try textOf(value)] = id
        case ("cancelled", .cancelled(let id, let reason)):
            try compare(value, id)
            try same(step.take("reason") ?? .null, reason.map(JSON.string) ?? .null)
        case ("progress", .progress(let id, let params)):
            try compare(value, id)
            try same(step.need("params"), JSON(parsing: params))
        case ("done", .result(let id, let result)) where !step.has("error"):
            try compare(value, id)
            try same(step.need("result"), JSON(parsing: result))
        case ("done", .failed(let id, let failure)) where step.has("error"):
            try compare(value, id)
            try sameMembers(step.need("error"), failure.json)
        case ("notification", .notification(let method, let params, let subscription)):
            try compare(step.take("subscription"), subscription)
            try same(value, .string(method))
            try same(step.take("params") ?? .null, params.map { try JSON(parsing: $0) } ?? .null)
        case ("problem", .problem(let kind, let message)):
            try sameMembers(value, ["kind": .string(kind), "message": .string(message)])
        case ("ready", .ready(let protocolVersion, let info, let capabilities, let instructions)):
            let members = try JSONObject(
                members: ("protocolVersion", protocolVersion), ("info", JSON(parsing: info)),
                ("capabilities", JSON(parsing: capabilities)), ("instructions", instructions)
            )
            try sameMembers(value, members)
        case ("connect_failed", .connectFailed(let failure)): try sameMembers(value, failure.json)
        case ("closed", .closed): break
        default: throw Mismatch("expected an event \"\(verb)\", got \(event)")
        }
        return true
    }

    /// The text of an event has its texts as Swift writes them.
    private func unescaped(_ text: String) -> String {
        text.replacingOccurrences(of: #"\""#, with: "\"").replacingOccurrences(of: #"\\"#, with: #"\"#)
    }

    private func compare(_ name: JSON?, _ id: UInt64?) throws {
        let wanted = try name.map(named)
        guard wanted == id else { throw Mismatch("the call is \(String(describing: id)), not \(String(describing: wanted))") }
    }

    /// `{kind: key, params?, progress?}`, and for a tool `arguments`.
    private func compare(_ value: JSON, _ kind: String, _ found: String?, _ params: String?, _ progress: Bool) throws {
        let wanted = try Fields(value)
        let (verb, key) = try wanted.verb()
        guard try verb == kind && textOf(key) == found else { throw Mismatch("a call of \(kind) \(found ?? "")") }
        try same(wanted.take("progress") ?? false, .bool(progress))
        try same(wanted.take("params") ?? wanted.take("arguments") ?? .null, params.map { try JSON(parsing: $0) } ?? .null)
        try wanted.finish()
    }

    private func name(_ step: Fields, _ id: UInt64) throws {
        if let name = try step.text("as") { names[name] = id }
    }

    private func message() throws -> String {
        guard !wire.isEmpty else { throw Mismatch("expected a message, nothing was written") }
        return wire.removeFirst()
    }

    private func named(_ value: JSON) throws -> UInt64 {
        guard let id = names[try textOf(value)] else { throw Mismatch("no earlier step named a call \(value)") }
        return id
    }

    private func withVersion(_ value: JSON) -> JSON {
        guard case .object(let message) = value, message["jsonrpc"] == nil else { return value }
        return .object((["jsonrpc": "2.0"] as JSONObject).merging(message))
    }
}

extension Failure {
    fileprivate var json: JSONObject {
        JSONObject(
            members: ("kind", kind), ("code", code.map { JSON($0) }), ("message", message),
            ("data", data.flatMap { try? JSON(parsing: $0) }), ("fault", fault), ("retryable", retryable)
        )
    }
}
