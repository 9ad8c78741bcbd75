/// A JSON value.
///
/// The digits of a number, and the order of an object's members, are kept as they came.
///
/// ```swift
/// let arguments: JSONObject = ["city": "Oslo", "days": 3, "units": ["C", "mm"]]
/// let days = arguments["days"]?.intValue
/// ```
public enum JSON: Sendable, Hashable {
    case null
    case bool(Bool)
    /// Its text, such as `1.50` or `9007199254740993`.
    case number(String)
    case string(String)
    case array([JSON])
    case object(JSONObject)

    /// A number; `null` for what JSON has no form for.
    public init(_ value: Double) {
        self = value.isFinite ? .number(Self.text(of: value)) : .null
    }

    public init(_ value: some BinaryInteger) {
        self = .number(String(value))
    }

    public init(_ value: Bool) {
        self = .bool(value)
    }

    public init(_ value: String) {
        self = .string(value)
    }

    public var isNull: Bool { self == .null }

    public var boolValue: Bool? {
        if case .bool(let value) = self { value } else { nil }
    }

    public var stringValue: String? {
        if case .string(let value) = self { value } else { nil }
    }

    /// The number, if it is a whole one that fits.
    public var intValue: Int? {
        guard case .number(let text) = self else { return nil }
        if let value = Int(text) { return value }
        return Double(text).flatMap { Int(exactly: $0) }
    }

    public var doubleValue: Double? {
        if case .number(let text) = self { Double(text) } else { nil }
    }

    public var arrayValue: [JSON]? {
        if case .array(let values) = self { values } else { nil }
    }

    public var objectValue: JSONObject? {
        if case .object(let object) = self { object } else { nil }
    }

    /// A member, if this is an object that has it.
    public subscript(name: String) -> JSON? { objectValue?[name] }

    /// An element, if this is an array that has it.
    public subscript(index: Int) -> JSON? {
        arrayValue.flatMap { $0.indices.contains(index) ? $0[index] : nil }
    }

    private static func text(of value: Double) -> String {
        if let whole = Int64(exactly: value), whole.magnitude < 1 << 53 { return String(whole) }
        return "\(value)"
    }
}

/// The members of a JSON object, in their order. Objects with the same members in another order are equal.
public struct JSONObject: Sendable, Hashable {
    public private(set) var keys: [String] = []
    private var values: [String: JSON] = [:]

    public init() {}

    /// Of members with the same name the last one holds.
    public init(_ members: some Sequence<(String, JSON)>) {
        for (name, value) in members { self[name] = value }
    }

    public var isEmpty: Bool { keys.isEmpty }
    public var count: Int { keys.count }

    /// A member. Setting `nil` takes it out.
    public subscript(name: String) -> JSON? {
        get { values[name] }
        set {
            let old = values[name]
            values[name] = newValue
            if old == nil, newValue != nil { keys.append(name) }
            if old != nil, newValue == nil { keys.removeAll { $0 == name } }
        }
    }

    /// The same with the members of another one, which hold where both have one.
    public func merging(_ other: JSONObject) -> JSONObject {
        var all = self
        for (name, value) in other { all[name] = value }
        return all
    }

    public static func == (one: JSONObject, other: JSONObject) -> Bool { one.values == other.values }

    public func hash(into hasher: inout Hasher) {
        hasher.combine(values)
    }
}

extension JSONObject: Sequence {
    public func makeIterator() -> AnyIterator<(String, JSON)> {
        var at = keys.makeIterator()
        let values = values
        return AnyIterator { at.next().map { ($0, values[$0] ?? .null) } }
    }
}

extension JSONObject: ExpressibleByDictionaryLiteral {
    public init(dictionaryLiteral members: (String, JSON)...) {
        self.init(members)
    }
}

extension JSON: ExpressibleByBooleanLiteral, ExpressibleByIntegerLiteral,
    ExpressibleByFloatLiteral, ExpressibleByStringInterpolation, ExpressibleByArrayLiteral,
    ExpressibleByDictionaryLiteral
{
    public init(booleanLiteral value: Bool) {
        self = .bool(value)
    }

    public init(integerLiteral value: Int64) {
        self.init(value)
    }

    public init(floatLiteral value: Double) {
        self.init(value)
    }

    public init(stringLiteral value: String) {
        self = .string(value)
    }

    public init(arrayLiteral values: JSON...) {
        self = .array(values)
    }

    public init(dictionaryLiteral members: (String, JSON)...) {
        self = .object(JSONObject(members))
    }
}

extension JSON: CustomStringConvertible {
    /// JSON text.
    public var description: String { text }
}

extension JSONObject: CustomStringConvertible {
    /// JSON text.
    public var description: String { text }
}

/// What stands for itself in an object of the protocol.
protocol JSONConvertible {
    var asJSON: JSON { get }
}

extension JSON: JSONConvertible {
    var asJSON: JSON { self }
}

extension JSONObject: JSONConvertible {
    var asJSON: JSON { .object(self) }
}

extension String: JSONConvertible {
    var asJSON: JSON { .string(self) }
}

extension Bool: JSONConvertible {
    var asJSON: JSON { .bool(self) }
}

extension Int: JSONConvertible {
    var asJSON: JSON { JSON(self) }
}

extension Double: JSONConvertible {
    var asJSON: JSON { JSON(self) }
}

extension Array: JSONConvertible where Element: JSONConvertible {
    var asJSON: JSON { .array(map(\.asJSON)) }
}

extension Dictionary: JSONConvertible where Key == String, Value: JSONConvertible {
    var asJSON: JSON { .object(JSONObject(sorted { $0.key < $1.key }.map { ($0.key, $0.value.asJSON) })) }
}

extension JSONObject {
    /// Absent members are left out.
    init(members: (String, (any JSONConvertible)?)...) {
        self.init(members.compactMap { name, value in value.map { (name, $0.asJSON) } })
    }
}
