import Foundation

/// Says more of the members of a type, for its JSON Schema.
///
/// ```swift
/// struct Forecast: Codable, Described {
///     let city: String
///     let days: Int?
///     static let descriptions = ["city": "The name of a city."]
///     static let constraints: [String: JSONObject] = ["days": ["minimum": 1, "maximum": 7]]
/// }
/// ```
public protocol Described {
    /// What a member means, for a model and for people, by the member's name.
    static var descriptions: [String: String] { get }

    /// More members of the schema of a member, by its name. Where both say something, this holds.
    static var constraints: [String: JSONObject] { get }
}

extension Described {
    public static var descriptions: [String: String] { [:] }
    public static var constraints: [String: JSONObject] { [:] }
}

/// A type that knows its own JSON Schema: one that no schema can be derived from, such as an enum with associated values.
public protocol JSONSchemaProviding: Decodable {
    static var jsonSchema: JSONObject { get }

    /// Any value. Needed where the type is that of a member: the type around it is looked at by making one.
    static var schemaExample: Self? { get }
}

extension JSONSchemaProviding {
    public static var schemaExample: Self? { nil }
}

/// The JSON Schema (2020-12) of what a type decodes, found by letting it decode an example.
///
/// | Swift | schema |
/// | --- | --- |
/// | a struct | an object; an optional member is not required |
/// | `String`, numbers, `Bool` | `string`, `integer`, `number`, `boolean` |
/// | an enum of texts or numbers that is `CaseIterable` | `enum` |
/// | an array or a set, a dictionary by texts | an array, an object with any members |
/// | `Date`, `URL`, `UUID`, `Data` | texts with their `format` or encoding |
/// | `JSON`, `JSONObject` | anything, any object |
/// | `T?` | the same, or null |
/// | a struct inside itself | by `$ref` |
///
/// - Throws: `MCPError` of the kind `usage` for a type that makes nothing of an example: see ``JSONSchemaProviding``
public func jsonSchema(of type: any Decodable.Type) throws -> JSONObject {
    try SchemaWriter.schema(of: type, "a schema")
}

final class SchemaWriter {
    private var definitions = JSONObject()
    /// Types that are being written, from the outermost in.
    private var open: [String] = []
    private var referred: Set<String> = []

    static func schema(of type: any Decodable.Type, _ what: String) throws -> JSONObject {
        let writer = SchemaWriter()
        do {
            var schema = try writer.look(at: type).schema
            // Only types that stand in themselves are written apart.
            if !writer.definitions.isEmpty { schema["$defs"] = .object(writer.definitions) }
            return schema
        } catch let error as NoSchema {
            throw MCPError.usage("\(what): there is no schema for \(error.what)")
        } catch let error as MCPError {
            throw error
        } catch {
            throw MCPError.usage("\(what): \(type) has no schema: \(error)")
        }
    }

    static func isObject(_ schema: JSONObject) -> Bool {
        schema["type"]?.stringValue == "object" || schema["oneOf"] != nil || schema["anyOf"] != nil
    }

    /// Arguments are objects with properties, be there none.
    static func asObject(_ schema: JSONObject) -> JSONObject {
        var whole: JSONObject = ["type": "object"]
        whole = whole.merging(schema)
        if whole["properties"] == nil, whole["additionalProperties"] == nil, whole["oneOf"] == nil, whole["anyOf"] == nil {
            whole["properties"] = [:]
        }
        return whole
    }

    /// The schema of a type, and a value of it.
    fileprivate func look<Value: Decodable>(at type: Value.Type) throws -> (schema: JSONObject, value: Value?) {
        if let own = type as? any JSONSchemaProviding.Type {
            return (own.jsonSchema, own.schemaExample as? Value)
        }
        if let (schema, example) = known(type) { return (schema, example as? Value) }
        if let optional = type as? any OptionalType.Type {
            return (orNull(try look(at: optional.wrapped).schema), optional.example as? Value)
        }
        if let list = type as? any ListType.Type {
            let items = try look(at: list.element).schema
            return (["type": "array", "items": .object(items)], list.example as? Value)
        }
        if let map = type as? any MapType.Type { return (try schema(of: map), map.example as? Value) }
        if let cases = type as? any CaseIterable.Type, let found = enumeration(cases) {
            return (found.schema, found.first as? Value)
        }
        return try record(type)
    }

    private func schema(of map: any MapType.Type) throws -> JSONObject {
        guard map.key == String.self else {
            throw NoSchema(what: "a dictionary whose keys are no texts, but \(map.key)")
        }
        return ["type": "object", "additionalProperties": .object(try look(at: map.value).schema)]
    }

    /// The schema of what a type decodes, by letting it decode.
    private func record<Value: Decodable>(_ type: Value.Type) throws -> (JSONObject, Value?) {
        let name = String(reflecting: type)
        if open.contains(name) {
            referred.insert(name)
            return (reference(name), nil)
        }
        open.append(name)
        defer { open.removeLast() }
        let recorder = Recorder(writer: self)
        let value: Value
        do {
            value = try Value(from: recorder)
        } catch is DecodingError {
            throw NoSchema(what: "\(type), which makes nothing of an example: if it is an enum, make it CaseIterable; "
                + "else let it be JSONSchemaProviding")
        }
        let schema = try described(recorder.schema, by: type)
        guard referred.contains(name) else { return (schema, value) }
        definitions[definition(name)] = .object(schema)
        // The outermost must say "object" itself.
        return (open.count == 1 ? schema : reference(name), value)
    }

    private func reference(_ name: String) -> JSONObject { ["$ref": .string("#/$defs/\(definition(name))")] }

    private func definition(_ name: String) -> String {
        String(name.map { $0.isASCII && ($0.isLetter || $0.isNumber || "._-".contains($0)) ? $0 : "_" })
    }

    private func described(_ schema: JSONObject, by type: any Decodable.Type) throws -> JSONObject {
        guard let type = type as? any Described.Type, var properties = schema["properties"]?.objectValue else { return schema }
        let more = type.descriptions.map { ($0, ["description": JSON.string($1)] as JSONObject) } + type.constraints.map { ($0, $1) }
        for (name, members) in more {
            guard let property = properties[name]?.objectValue else {
                throw NoSchema(what: "\(type), which describes a member \(name) that it does not have")
            }
            properties[name] = .object(property.merging(members))
        }
        var whole = schema
        whole["properties"] = .object(properties)
        return whole
    }

    private func orNull(_ schema: JSONObject) -> JSONObject {
        if schema.isEmpty { return schema }
        guard let type = schema["type"]?.stringValue, schema["enum"] == nil else {
            return ["anyOf": [.object(schema), ["type": "null"]]]
        }
        var whole = schema
        whole["type"] = [.string(type), "null"]
        return whole
    }

    private func enumeration(_ type: any CaseIterable.Type) -> (schema: JSONObject, first: Any)? {
        func all<Enum: CaseIterable>(_ type: Enum.Type) -> [Any] { Array(type.allCases) }
        let cases = all(type)
        let values = cases.compactMap { one -> JSON? in
            switch (one as? any RawRepresentable)?.rawValue {
            case let text as String: .string(text)
            case let number as any BinaryInteger: JSON(number)
            default: nil
            }
        }
        guard let first = cases.first, values.count == cases.count else { return nil }
        let kind: JSON = values[0].stringValue == nil ? "integer" : "string"
        return (["type": kind, "enum": .array(values)], first)
    }

    private func known(_ type: any Decodable.Type) -> (JSONObject, Any)? {
        switch type {
        case is String.Type: (["type": "string"], "")
        case is Bool.Type: (["type": "boolean"], false)
        case is Double.Type: (["type": "number"], 0.0)
        case is Float.Type: (["type": "number"], Float(0))
        case is Decimal.Type: (["type": "number"], Decimal(0))
        case let type as any (FixedWidthInteger & Decodable).Type: (["type": "integer"], type.init(0))
        case is Date.Type: (["type": "string", "format": "date-time"], Date(timeIntervalSince1970: 0))
        case is URL.Type: (["type": "string", "format": "uri"], URL(fileURLWithPath: "/"))
        case is UUID.Type: (["type": "string", "format": "uuid"], UUID())
        case is Data.Type: (["type": "string", "contentEncoding": "base64"], Data())
        case is JSON.Type: ([:], JSON.null)
        case is JSONObject.Type: (["type": "object"], JSONObject())
        default: nil
        }
    }
}

/// What has no schema.
struct NoSchema: Error {
    let what: String
}

private protocol OptionalType {
    static var wrapped: any Decodable.Type { get }
    static var example: Any { get }
}

extension Optional: OptionalType where Wrapped: Decodable {
    fileprivate static var wrapped: any Decodable.Type { Wrapped.self }
    fileprivate static var example: Any { Wrapped?.none as Any }
}

private protocol ListType {
    static var element: any Decodable.Type { get }
    static var example: Any { get }
}

extension Array: ListType where Element: Decodable {
    fileprivate static var element: any Decodable.Type { Element.self }
    fileprivate static var example: Any { Self() }
}

extension Set: ListType where Element: Decodable {
    fileprivate static var element: any Decodable.Type { Element.self }
    fileprivate static var example: Any { Self() }
}

private protocol MapType {
    static var key: Any.Type { get }
    static var value: any Decodable.Type { get }
    static var example: Any { get }
}

extension Dictionary: MapType where Key: Decodable, Value: Decodable {
    fileprivate static var key: Any.Type { Key.self }
    fileprivate static var value: any Decodable.Type { Value.self }
    fileprivate static var example: Any { Self() }
}

// MARK: - The decoder that writes down what is asked of it

private final class Recorder: Decoder {
    let writer: SchemaWriter
    let codingPath: [any CodingKey] = []
    let userInfo: [CodingUserInfoKey: Any] = [:]

    /// Of an object.
    private var properties: JSONObject = [:]
    private var required: [String] = []
    /// Of anything else.
    private var other: JSONObject?

    init(writer: SchemaWriter) {
        self.writer = writer
    }

    var schema: JSONObject {
        if let other { return other }
        // A type without members asks for nothing.
        return JSONObject(
            members: ("type", "object"), ("properties", properties), ("required", required.isEmpty ? nil : required)
        )
    }

    func container<Key: CodingKey>(keyedBy type: Key.Type) -> KeyedDecodingContainer<Key> {
        KeyedDecodingContainer(Members<Key>(recorder: self))
    }

    func unkeyedContainer() -> any UnkeyedDecodingContainer { Elements(recorder: self) }

    func singleValueContainer() -> any SingleValueDecodingContainer { Single(recorder: self) }

    func member<Value: Decodable>(_ type: Value.Type, _ key: any CodingKey, isRequired: Bool) throws -> Value? {
        let (schema, value) = try writer.look(at: type)
        properties[key.stringValue] = .object(schema)
        if isRequired, !(type is any OptionalType.Type) { required.append(key.stringValue) }
        return value
    }

    func whole<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let (schema, value) = try writer.look(at: type)
        other = schema
        return try known(value)
    }

    func elements<Value: Decodable>(_ type: Value.Type) throws -> Value {
        let (schema, value) = try writer.look(at: type)
        other = ["type": "array", "items": .object(schema)]
        return try known(value)
    }

    func known<Value>(_ value: Value?) throws -> Value {
        guard let value else {
            throw NoSchema(what: "a type with a member \(Value.self), of which there is no example: see JSONSchemaProviding")
        }
        return value
    }

    func noPart() -> NoSchema { NoSchema(what: "a type that decodes parts of itself: let it be JSONSchemaProviding") }
}

private struct Members<Key: CodingKey>: KeyedDecodingContainerProtocol {
    let recorder: Recorder
    var codingPath: [any CodingKey] { [] }
    var allKeys: [Key] { [] }

    func contains(_ key: Key) -> Bool { true }
    func decodeNil(forKey key: Key) -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value {
        try recorder.known(recorder.member(type, key, isRequired: true))
    }

    func decodeIfPresent<Value: Decodable>(_ type: Value.Type, forKey key: Key) throws -> Value? {
        _ = try recorder.member(Value?.self, key, isRequired: false)
        return nil
    }

    func nestedContainer<Nested>(keyedBy type: Nested.Type, forKey key: Key) throws -> KeyedDecodingContainer<Nested> {
        throw recorder.noPart()
    }

    func nestedUnkeyedContainer(forKey key: Key) throws -> any UnkeyedDecodingContainer { throw recorder.noPart() }
    func superDecoder() throws -> any Decoder { throw recorder.noPart() }
    func superDecoder(forKey key: Key) throws -> any Decoder { throw recorder.noPart() }

    // The compiler calls these for members of the plain types.
    func decode(_ type: Bool.Type, forKey key: Key) throws -> Bool { try plain(type, key) }
    func decode(_ type: String.Type, forKey key: Key) throws -> String { try plain(type, key) }
    func decode(_ type: Double.Type, forKey key: Key) throws -> Double { try plain(type, key) }
    func decode(_ type: Float.Type, forKey key: Key) throws -> Float { try plain(type, key) }
    func decode(_ type: Int.Type, forKey key: Key) throws -> Int { try plain(type, key) }
    func decode(_ type: Int8.Type, forKey key: Key) throws -> Int8 { try plain(type, key) }
    func decode(_ type: Int16.Type, forKey key: Key) throws -> Int16 { try plain(type, key) }
    func decode(_ type: Int32.Type, forKey key: Key) throws -> Int32 { try plain(type, key) }
    func decode(_ type: Int64.Type, forKey key: Key) throws -> Int64 { try plain(type, key) }
    func decode(_ type: UInt.Type, forKey key: Key) throws -> UInt { try plain(type, key) }
    func decode(_ type: UInt8.Type, forKey key: Key) throws -> UInt8 { try plain(type, key) }
    func decode(_ type: UInt16.Type, forKey key: Key) throws -> UInt16 { try plain(type, key) }
    func decode(_ type: UInt32.Type, forKey key: Key) throws -> UInt32 { try plain(type, key) }
    func decode(_ type: UInt64.Type, forKey key: Key) throws -> UInt64 { try plain(type, key) }

    func decodeIfPresent(_ type: Bool.Type, forKey key: Key) throws -> Bool? { try maybe(type, key) }
    func decodeIfPresent(_ type: String.Type, forKey key: Key) throws -> String? { try maybe(type, key) }
    func decodeIfPresent(_ type: Double.Type, forKey key: Key) throws -> Double? { try maybe(type, key) }
    func decodeIfPresent(_ type: Float.Type, forKey key: Key) throws -> Float? { try maybe(type, key) }
    func decodeIfPresent(_ type: Int.Type, forKey key: Key) throws -> Int? { try maybe(type, key) }
    func decodeIfPresent(_ type: Int8.Type, forKey key: Key) throws -> Int8? { try maybe(type, key) }
    func decodeIfPresent(_ type: Int16.Type, forKey key: Key) throws -> Int16? { try maybe(type, key) }
    func decodeIfPresent(_ type: Int32.Type, forKey key: Key) throws -> Int32? { try maybe(type, key) }
    func decodeIfPresent(_ type: Int64.Type, forKey key: Key) throws -> Int64? { try maybe(type, key) }
    func decodeIfPresent(_ type: UInt.Type, forKey key: Key) throws -> UInt? { try maybe(type, key) }
    func decodeIfPresent(_ type: UInt8.Type, forKey key: Key) throws -> UInt8? { try maybe(type, key) }
    func decodeIfPresent(_ type: UInt16.Type, forKey key: Key) throws -> UInt16? { try maybe(type, key) }
    func decodeIfPresent(_ type: UInt32.Type, forKey key: Key) throws -> UInt32? { try maybe(type, key) }
    func decodeIfPresent(_ type: UInt64.Type, forKey key: Key) throws -> UInt64? { try maybe(type, key) }

    private func plain<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value {
        try recorder.known(recorder.member(type, key, isRequired: true))
    }

    private func maybe<Value: Decodable>(_ type: Value.Type, _ key: Key) throws -> Value? {
        _ = try recorder.member(Value?.self, key, isRequired: false)
        return nil
    }
}

/// A list that has one element for the look, and no more.
private struct Elements: UnkeyedDecodingContainer {
    let recorder: Recorder
    var codingPath: [any CodingKey] { [] }
    var count: Int? { 1 }
    var isAtEnd: Bool { currentIndex > 0 }
    var currentIndex = 0

    mutating func decodeNil() -> Bool { false }

    mutating func decode<Value: Decodable>(_ type: Value.Type) throws -> Value {
        currentIndex += 1
        return try recorder.elements(type)
    }

    mutating func nestedContainer<Key>(keyedBy type: Key.Type) throws -> KeyedDecodingContainer<Key> { throw recorder.noPart() }
    mutating func nestedUnkeyedContainer() throws -> any UnkeyedDecodingContainer { throw recorder.noPart() }
    mutating func superDecoder() throws -> any Decoder { throw recorder.noPart() }
}

private struct Single: SingleValueDecodingContainer {
    let recorder: Recorder
    var codingPath: [any CodingKey] { [] }

    func decodeNil() -> Bool { false }

    func decode<Value: Decodable>(_ type: Value.Type) throws -> Value { try recorder.whole(type) }
    func decode(_ type: Bool.Type) throws -> Bool { try recorder.whole(type) }
    func decode(_ type: String.Type) throws -> String { try recorder.whole(type) }
    func decode(_ type: Double.Type) throws -> Double { try recorder.whole(type) }
    func decode(_ type: Float.Type) throws -> Float { try recorder.whole(type) }
    func decode(_ type: Int.Type) throws -> Int { try recorder.whole(type) }
    func decode(_ type: Int8.Type) throws -> Int8 { try recorder.whole(type) }
    func decode(_ type: Int16.Type) throws -> Int16 { try recorder.whole(type) }
    func decode(_ type: Int32.Type) throws -> Int32 { try recorder.whole(type) }
    func decode(_ type: Int64.Type) throws -> Int64 { try recorder.whole(type) }
    func decode(_ type: UInt.Type) throws -> UInt { try recorder.whole(type) }
    func decode(_ type: UInt8.Type) throws -> UInt8 { try recorder.whole(type) }
    func decode(_ type: UInt16.Type) throws -> UInt16 { try recorder.whole(type) }
    func decode(_ type: UInt32.Type) throws -> UInt32 { try recorder.whole(type) }
    func decode(_ type: UInt64.Type) throws -> UInt64 { try recorder.whole(type) }
}

// MARK: - Forms

/// The form of a type: flat, with members that a client can show as fields.
///
/// - Throws: `MCPError` of the kind `usage`, which names the member that is none
func formSchema(of type: any Decodable.Type) throws -> JSONObject {
    let schema = SchemaWriter.asObject(try SchemaWriter.schema(of: type, "a form"))
    var form: JSONObject = ["type": "object"]
    let fields = try (schema["properties"]?.objectValue ?? [:]).map { name, property in
        guard let field = field(property.objectValue ?? [:]) else {
            let allowed = "a text, a number, a boolean, an enum or an array of one"
            throw MCPError.usage("\(type) can not be a form: \(name) must be \(allowed)")
        }
        return (name, JSON.object(field))
    }
    form["properties"] = .object(JSONObject(fields))
    form["required"] = schema["required"]
    return form
}

/// A form has no null: a field that may be null is one that need not be filled in.
private func field(_ property: JSONObject) -> JSONObject? {
    var bare = property
    if let first = property["type"]?.arrayValue?.first {
        bare["type"] = first
    } else if property["type"] == nil {
        guard var one = property["anyOf"]?[0]?.objectValue else { return nil }
        for (name, value) in property where name != "anyOf" { one[name] = value }
        bare = one
    }
    switch bare["type"]?.stringValue {
    case "string", "integer", "number", "boolean": return bare
    case "array": return bare["items"]?["enum"] == nil ? nil : bare
    default: return nil
    }
}
