import Foundation

extension JSON: Codable {
    /// As a part of other types. A decoder has no place for the digits of a number, so `1.0` may become `1`.
    public init(from decoder: any Decoder) throws {
        if let container = try? decoder.container(keyedBy: AnyKey.self) {
            let keys = container.allKeys.sorted { $0.stringValue < $1.stringValue }
            self = .object(JSONObject(try keys.map { ($0.stringValue, try container.decode(JSON.self, forKey: $0)) }))
            return
        }
        let container = try decoder.singleValueContainer()
        if container.decodeNil() {
            self = .null
        } else if let value = try? container.decode(Bool.self) {
            self = .bool(value)
        } else if let value = try? container.decode(Int64.self) {
            self.init(value)
        } else if let value = try? container.decode(UInt64.self) {
            self.init(value)
        } else if let value = try? container.decode(Double.self) {
            self.init(value)
        } else if let value = try? container.decode(String.self) {
            self = .string(value)
        } else {
            self = .array(try container.decode([JSON].self))
        }
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.singleValueContainer()
        switch self {
        case .null: try container.encodeNil()
        case .bool(let value): try container.encode(value)
        case .number(let text): try Self.encode(number: text, to: &container)
        case .string(let text): try container.encode(text)
        case .array(let values): try container.encode(values)
        case .object(let object): try object.encode(to: encoder)
        }
    }

    private static func encode(number text: String, to container: inout any SingleValueEncodingContainer) throws {
        if let value = Int64(text) {
            try container.encode(value)
        } else if let value = UInt64(text) {
            try container.encode(value)
        } else {
            try container.encode(Double(text) ?? 0)
        }
    }
}

extension JSONObject: Codable {
    public init(from decoder: any Decoder) throws {
        guard case .object(let object) = try JSON(from: decoder) else {
            let context = DecodingError.Context(codingPath: decoder.codingPath, debugDescription: "an object was expected")
            throw DecodingError.typeMismatch(JSONObject.self, context)
        }
        self = object
    }

    public func encode(to encoder: any Encoder) throws {
        var container = encoder.container(keyedBy: AnyKey.self)
        for (name, value) in self { try container.encode(value, forKey: AnyKey(stringValue: name)) }
    }
}

struct AnyKey: CodingKey {
    let stringValue: String
    var intValue: Int? { nil }

    init(stringValue: String) {
        self.stringValue = stringValue
    }

    init?(intValue: Int) {
        nil
    }
}

/// Reads a value of a type. What asks for JSON gets it as it came.
///
/// - Throws: `DecodingError`
func decode<Value: Decodable>(_ type: Value.Type, from text: String) throws -> Value {
    if type == JSON.self, let value = try JSON(parsing: text) as? Value { return value }
    if type == JSONObject.self, let value = try JSONObject(parsing: text) as? Value { return value }
    let decoder = JSONDecoder()
    decoder.dateDecodingStrategy = .iso8601
    return try decoder.decode(type, from: Data(text.utf8))
}

/// What a value is in JSON.
///
/// - Throws: `MCPError` of the kind `usage` when it is nothing in JSON
func encode(_ value: some Encodable) throws -> JSON {
    if let json = value as? any JSONConvertible & Encodable { return json.asJSON }
    let encoder = JSONEncoder()
    encoder.dateEncodingStrategy = .iso8601
    // The order of members is the same each time.
    encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
    do {
        return try JSON(parsing: String(decoding: encoder.encode(value), as: UTF8.self))
    } catch let error as EncodingError {
        throw MCPError.usage("a value of \(type(of: value)) is nothing in JSON: \(error)")
    }
}

extension DecodingError {
    /// What does not fit, and where, in one line.
    var what: String {
        switch self {
        case .keyNotFound(let key, let context): place(context, key.stringValue) + "is missing"
        case .valueNotFound(_, let context): place(context) + "must not be null"
        case .typeMismatch(let type, let context): place(context) + "is no \(type)"
        // It is valid by then: this is all that Foundation says of numbers.
        case .dataCorrupted(let context) where context.debugDescription == "The given data was not valid JSON.":
            place(context) + "a number does not fit the type that it is read as"
        case .dataCorrupted(let context): place(context) + context.debugDescription
        @unknown default: "\(self)"
        }
    }

    private func place(_ context: Context, _ last: String? = nil) -> String {
        var path = ""
        for key in context.codingPath {
            path += key.intValue.map { "[\($0)]" } ?? (path.isEmpty ? "" : ".") + key.stringValue
        }
        if let last { path += (path.isEmpty ? "" : ".") + last }
        return path.isEmpty ? "" : path + ": "
    }
}
