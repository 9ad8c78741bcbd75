extension JSON {
    /// Reads JSON text.
    ///
    /// - Throws: `MCPError` of the kind `usage`, which says where it is none.
    public init(parsing text: String) throws {
        var text = text
        self = try text.withUTF8 { bytes in
            var reader = Reader(bytes: bytes)
            return try reader.whole()
        }
    }

    /// JSON text, on one line.
    public var text: String {
        var writer = Writer()
        writer.write(self)
        return String(decoding: writer.bytes, as: UTF8.self)
    }
}

extension JSONObject {
    /// Reads the JSON text of an object.
    ///
    /// - Throws: `MCPError` of the kind `usage`, which says where it is none.
    public init(parsing text: String) throws {
        guard case .object(let object) = try JSON(parsing: text) else {
            throw MCPError.usage("this is JSON, but no object: \(text.prefix(40))")
        }
        self = object
    }

    /// JSON text, on one line.
    public var text: String { JSON.object(self).text }
}

/// How deep values may lie in one another. Each level takes some of the stack.
private let maxDepth = 512

private struct Reader {
    let bytes: UnsafeBufferPointer<UInt8>
    var at = 0
    var depth = 0

    init(bytes: UnsafeBufferPointer<UInt8>) {
        self.bytes = bytes
    }

    mutating func whole() throws -> JSON {
        let value = try value()
        skipSpace()
        guard at == bytes.count else { throw wrong("there is more after the value") }
        return value
    }

    private mutating func value() throws -> JSON {
        skipSpace()
        guard at < bytes.count else { throw wrong("the text ends") }
        switch bytes[at] {
        case UInt8(ascii: "{"): return try nested { try $0.object() }
        case UInt8(ascii: "["): return try nested { try $0.array() }
        case UInt8(ascii: "\""): return .string(try string())
        case UInt8(ascii: "t"): return try word("true", .bool(true))
        case UInt8(ascii: "f"): return try word("false", .bool(false))
        case UInt8(ascii: "n"): return try word("null", .null)
        default: return .number(try number())
        }
    }

    private mutating func nested(_ read: (inout Reader) throws -> JSON) throws -> JSON {
        depth += 1
        defer { depth -= 1 }
        guard depth <= maxDepth else { throw wrong("values lie more than \(maxDepth) deep") }
        at += 1
        return try read(&self)
    }

    private mutating func object() throws -> JSON {
        var members = JSONObject()
        if takeAfterSpace("}") { return .object(members) }
        repeat {
            skipSpace()
            guard at < bytes.count, bytes[at] == UInt8(ascii: "\"") else { throw wrong("a name was expected") }
            let name = try string()
            guard takeAfterSpace(":") else { throw wrong("a colon was expected") }
            members[name] = try value()
        } while takeAfterSpace(",")
        guard takeAfterSpace("}") else { throw wrong("a comma or a brace was expected") }
        return .object(members)
    }

    private mutating func array() throws -> JSON {
        var values: [JSON] = []
        if takeAfterSpace("]") { return .array(values) }
        repeat { values.append(try value()) } while takeAfterSpace(",")
        guard takeAfterSpace("]") else { throw wrong("a comma or a bracket was expected") }
        return .array(values)
    }

    private mutating func string() throws -> String {
        at += 1
        let start = at
        while at < bytes.count {
            switch bytes[at] {
            case UInt8(ascii: "\""):
                defer { at += 1 }
                return String(decoding: bytes[start..<at], as: UTF8.self)
            case UInt8(ascii: "\\"): return try escaped(from: start)
            case ..<0x20: throw wrong("a text has a control character")
            default: at += 1
            }
        }
        throw wrong("a text does not end")
    }

    private mutating func escaped(from start: Int) throws -> String {
        var whole = Array(bytes[start..<at])
        while at < bytes.count {
            let byte = bytes[at]
            at += 1
            switch byte {
            case UInt8(ascii: "\""): return String(decoding: whole, as: UTF8.self)
            case UInt8(ascii: "\\"): try escape(into: &whole)
            case ..<0x20: throw wrong("a text has a control character")
            default: whole.append(byte)
            }
        }
        throw wrong("a text does not end")
    }

    private mutating func escape(into whole: inout [UInt8]) throws {
        guard at < bytes.count else { throw wrong("a text does not end") }
        let byte = bytes[at]
        at += 1
        switch byte {
        case UInt8(ascii: "n"): whole.append(0x0A)
        case UInt8(ascii: "t"): whole.append(0x09)
        case UInt8(ascii: "r"): whole.append(0x0D)
        case UInt8(ascii: "b"): whole.append(0x08)
        case UInt8(ascii: "f"): whole.append(0x0C)
        case UInt8(ascii: "u"): whole.append(contentsOf: String(try scalar()).utf8)
        case UInt8(ascii: "\""), UInt8(ascii: "\\"), UInt8(ascii: "/"): whole.append(byte)
        default: throw wrong("there is no such escape")
        }
    }

    /// Half of a surrogate pair, for which no text has a place, becomes U+FFFD.
    private mutating func scalar() throws -> Character {
        let high = try unit()
        guard (0xD800...0xDBFF).contains(high) else { return Character(Unicode.Scalar(high) ?? "\u{FFFD}") }
        let before = at
        guard at + 1 < bytes.count, bytes[at] == UInt8(ascii: "\\"), bytes[at + 1] == UInt8(ascii: "u") else {
            return "\u{FFFD}"
        }
        at += 2
        let low = try unit()
        guard (0xDC00...0xDFFF).contains(low) else {
            at = before
            return "\u{FFFD}"
        }
        return Character(Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)) ?? "\u{FFFD}")
    }

    private mutating func unit() throws -> UInt32 {
        guard at + 4 <= bytes.count else { throw wrong("a text does not end") }
        var value: UInt32 = 0
        for byte in bytes[at..<at + 4] {
            guard let digit = Character(Unicode.Scalar(byte)).hexDigitValue else { throw wrong("there is no such escape") }
            value = value << 4 | UInt32(digit)
        }
        at += 4
        return value
    }

    private mutating func number() throws -> String {
        let start = at
        _ = take("-")
        let whole = digits()
        let leadingZero = whole > 1 && bytes[at - whole] == UInt8(ascii: "0")
        var isNumber = whole > 0 && !leadingZero
        if take(".") { isNumber = digits() > 0 && isNumber }
        if take("e") || take("E") {
            if !take("+") { _ = take("-") }
            isNumber = digits() > 0 && isNumber
        }
        guard isNumber else {
            at = start
            throw wrong("a value was expected")
        }
        return String(decoding: bytes[start..<at], as: UTF8.self)
    }

    private mutating func digits() -> Int {
        let start = at
        while at < bytes.count, (UInt8(ascii: "0")...UInt8(ascii: "9")).contains(bytes[at]) { at += 1 }
        return at - start
    }

    private mutating func word(_ word: StaticString, _ value: JSON) throws -> JSON {
        let end = at + word.utf8CodeUnitCount
        let expected = UnsafeBufferPointer(start: word.utf8Start, count: word.utf8CodeUnitCount)
        guard end <= bytes.count, bytes[at..<end].elementsEqual(expected) else { throw wrong("a value was expected") }
        at = end
        return value
    }

    private mutating func take(_ character: Unicode.Scalar) -> Bool {
        guard at < bytes.count, bytes[at] == UInt8(ascii: character) else { return false }
        at += 1
        return true
    }

    private mutating func takeAfterSpace(_ character: Unicode.Scalar) -> Bool {
        skipSpace()
        return take(character)
    }

    private mutating func skipSpace() {
        while at < bytes.count, [0x20, 0x09, 0x0A, 0x0D].contains(bytes[at]) { at += 1 }
    }

    private func wrong(_ what: String) -> MCPError {
        .usage("this is no JSON: \(what), at byte \(at)")
    }
}

private struct Writer {
    var bytes: [UInt8] = []

    mutating func write(_ value: JSON) {
        switch value {
        case .null: bytes.append(contentsOf: "null".utf8)
        case .bool(let value): bytes.append(contentsOf: (value ? "true" : "false").utf8)
        case .number(let text): bytes.append(contentsOf: text.utf8)
        case .string(let text): write(text)
        case .array(let values): list("[", values, "]") { $0.write($1) }
        case .object(let members):
            list("{", members, "}") { writer, member in
                writer.write(member.0)
                writer.bytes.append(UInt8(ascii: ":"))
                writer.write(member.1)
            }
        }
    }

    private mutating func list<S: Sequence>(
        _ open: Unicode.Scalar, _ elements: S, _ close: Unicode.Scalar, each: (inout Writer, S.Element) -> Void
    ) {
        bytes.append(UInt8(ascii: open))
        var isFirst = true
        for element in elements {
            if !isFirst { bytes.append(UInt8(ascii: ",")) }
            isFirst = false
            each(&self, element)
        }
        bytes.append(UInt8(ascii: close))
    }

    private mutating func write(_ text: String) {
        bytes.append(UInt8(ascii: "\""))
        for byte in text.utf8 {
            switch byte {
            case UInt8(ascii: "\""): bytes.append(contentsOf: "\\\"".utf8)
            case UInt8(ascii: "\\"): bytes.append(contentsOf: "\\\\".utf8)
            case 0x0A: bytes.append(contentsOf: "\\n".utf8)
            case 0x0D: bytes.append(contentsOf: "\\r".utf8)
            case 0x09: bytes.append(contentsOf: "\\t".utf8)
            case ..<0x20:
                bytes.append(contentsOf: "\\u00".utf8)
                bytes.append(contentsOf: (byte < 0x10 ? "0" : "").utf8)
                bytes.append(contentsOf: String(byte, radix: 16).utf8)
            default: bytes.append(byte)
            }
        }
        bytes.append(UInt8(ascii: "\""))
    }
}
