/// An object of the protocol.
///
/// What has no property of its own is in ``json``, which is what came, or what is sent: members that nobody knows, and the
/// digits of numbers, survive.
public protocol MCPObject: Sendable, Hashable, Encodable, CustomDebugStringConvertible {
    var json: JSONObject { get }

    /// Takes an object as it is.
    init(json: JSONObject)
}

extension MCPObject {
    /// Extra data, by agreement between the two sides.
    public var meta: JSONObject? { member("_meta") }

    public var debugDescription: String { json.text }

    public func encode(to encoder: any Encoder) throws {
        try json.encode(to: encoder)
    }

    init(_ members: (String, (any JSONConvertible)?)...) {
        self.init(json: JSONObject(members.compactMap { name, value in value.map { (name, $0.asJSON) } }))
    }

    func text(_ name: String) -> String? { json[name]?.stringValue }
    func flag(_ name: String) -> Bool? { json[name]?.boolValue }
    func integer(_ name: String) -> Int? { json[name]?.intValue }
    func member(_ name: String) -> JSONObject? { json[name]?.objectValue }
    func objects(_ name: String) -> [JSONObject] { json[name]?.arrayValue?.compactMap(\.objectValue) ?? [] }
    func texts(_ name: String) -> [String] { json[name]?.arrayValue?.compactMap(\.stringValue) ?? [] }
}

/// Any object, for a look at its members.
struct AnyObjectOfProtocol: MCPObject {
    let json: JSONObject
}

extension Duration {
    /// No limit, where a call may take a time.
    public static var unlimited: Duration { .seconds(Int64.max) }

    var milliseconds: Double {
        if self >= .unlimited { return .infinity }
        let (seconds, attoseconds) = components
        return Double(seconds) * 1e3 + Double(attoseconds) / 1e15
    }

    /// JSON has no infinity; the greatest number is longer than any program runs.
    var asJSON: JSON { JSON(min(milliseconds, .greatestFiniteMagnitude)) }
}
