@testable import OxMCP

/// What a transcript does not say, or says otherwise.
struct Mismatch: Error, CustomStringConvertible {
    let description: String

    init(_ description: String) {
        self.description = description
    }
}

/// The members of an object, taken one by one so that a misspelt one is found.
final class Fields {
    private var members: JSONObject

    init(_ value: JSON) throws {
        guard case .object(let object) = value else { throw Mismatch("a step is a JSON object, not \(value)") }
        members = object
    }

    /// The first member: it names the step.
    func verb() throws -> (String, JSON) {
        guard let name = members.keys.first, let value = take(name) else { throw Mismatch("a step needs a member") }
        return (name, value)
    }

    func has(_ name: String) -> Bool { members[name] != nil }

    func take(_ name: String) -> JSON? {
        defer { members[name] = nil }
        return members[name]
    }

    func need(_ name: String) throws -> JSON {
        guard let value = take(name) else { throw Mismatch("a member \(name) is missing") }
        return value
    }

    func text(_ name: String) throws -> String? { try take(name).map(textOf) }

    func number(_ name: String) -> Double? { take(name)?.doubleValue }

    func flag(_ name: String) -> Bool { take(name) == true }

    func list(_ name: String) -> [JSON] { take(name)?.arrayValue ?? [] }

    /// A payload is JSON, or a string that holds its text.
    func payload(_ name: String) throws -> String? { try text("\(name)_text") ?? take(name)?.text }

    /// Compares what a verb gave; true where the transcript does not say.
    func flag(_ name: String, is found: Bool) throws {
        try same(take(name) ?? true, .bool(found))
    }

    func rest() -> JSONObject {
        defer { members = [:] }
        return members
    }

    func finish() throws {
        if !members.isEmpty { throw Mismatch("the members \(members.keys) are not known here") }
    }
}

func textOf(_ value: JSON) throws -> String {
    guard case .string(let text) = value else { throw Mismatch("expected a string, got \(value)") }
    return text
}

func same(_ wanted: JSON, _ found: JSON?) throws {
    guard matches(wanted, found) else { throw Mismatch("expected \(wanted), got \(found?.text ?? "nothing")") }
}

/// Compares the members that `wanted` names; of `message`, a part is enough.
func sameMembers(_ wanted: JSON, _ found: JSONObject) throws {
    for (name, value) in wanted.objectValue ?? [:] {
        let isPart = name == "message" && value.stringValue != nil
        let wants: JSON = isPart ? ["$contains": value] : value
        guard matches(wants, found[name] ?? .null) else { throw Mismatch("expected \(wanted), got \(found)") }
    }
}

/// Numbers by their text, objects whatever the order of their keys; `{"$contains": part}` stands for a string with that part.
func matches(_ wanted: JSON, _ found: JSON?) -> Bool {
    switch (wanted, found) {
    case (.object(let wants), .string(let text)):
        guard wants.keys == ["$contains"], let part = wants["$contains"]?.stringValue else { return false }
        return part.isEmpty || text.contains(part)
    case (.object(let wants), .object(let has)):
        return Set(wants.keys) == Set(has.keys) && wants.allSatisfy { matches($0.1, has[$0.0]) }
    case (.array(let wants), .array(let has)):
        return wants.count == has.count && zip(wants, has).allSatisfy { matches($0, $1) }
    default: return wanted == found
    }
}
