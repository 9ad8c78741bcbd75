import Foundation
import XCTest

@testable import OxMCP

/// Schemas from types.
final class SchemaTests: XCTestCase {
    enum Color: String, Codable, CaseIterable {
        case red, green = "GREEN"
    }

    struct Id: RawRepresentable, Codable {
        let rawValue: String
    }

    struct Kinds: Codable, Described {
        let text: String
        let count: Int64
        let share: Double
        let yes: Bool
        let color: Color
        let maybe: String?
        let tags: [String]
        let scores: [String: Int]
        let any: JSON
        let open: JSONObject
        let id: Id
        let digit: UInt8
        let other: Color?
        let when: Date
        let nested: Numbers
        let shape: Shape

        static let descriptions = ["text": "Some text.", "other": "Or none."]
        static let constraints: [String: JSONObject] = ["digit": ["minimum": 0, "maximum": 9]]
    }

    /// With values that belong to its cases, which no example can show.
    enum Shape: Codable, JSONSchemaProviding {
        case circle(radius: Double)
        case point

        static let jsonSchema: JSONObject = ["oneOf": [["required": ["circle"]], ["required": ["point"]]]]
        static let schemaExample: Shape? = .point
    }

    struct Tree: Codable {
        let name: String
        let branches: [Tree]
    }

    struct Pair: Codable {
        let left: Tree
        let right: Tree
    }

    func testATypeGivesTheSchemaOfWhatItDecodes() throws {
        let cases: [(any Decodable.Type, String)] = [
            (
                Kinds.self,
                """
                {"type":"object","properties":{
                  "text":{"type":"string","description":"Some text."},"count":{"type":"integer"},"share":{"type":"number"},
                  "yes":{"type":"boolean"},"color":{"type":"string","enum":["red","GREEN"]},"maybe":{"type":["string","null"]},
                  "tags":{"type":"array","items":{"type":"string"}},
                  "scores":{"type":"object","additionalProperties":{"type":"integer"}},
                  "any":{},"open":{"type":"object"},"id":{"type":"string"},
                  "digit":{"type":"integer","minimum":0,"maximum":9},
                  "other":{"description":"Or none.","anyOf":[{"type":"string","enum":["red","GREEN"]},{"type":"null"}]},
                  "when":{"type":"string","format":"date-time"},
                  "nested":{"type":"object","properties":{"a":{"type":"integer","description":"The first."},
                    "b":{"type":["integer","null"]}},"required":["a"]},
                  "shape":{"oneOf":[{"required":["circle"]},{"required":["point"]}]}},
                 "required":["text","count","share","yes","color","tags","scores","any","open","id","digit","when","nested","shape"]}
                """
            ),
            (NoArguments.self, #"{"type":"object","properties":{}}"#),
            ([Int?].self, #"{"type":"array","items":{"type":["integer","null"]}}"#),
            (Set<Color>.self, #"{"type":"array","items":{"type":"string","enum":["red","GREEN"]}}"#),
            (
                Tree.self,
                """
                {"type":"object","properties":{"name":{"type":"string"},
                  "branches":{"type":"array","items":{"$ref":"#/$defs/OxMCPTests.SchemaTests.Tree"}}},
                 "required":["name","branches"],"$defs":{"OxMCPTests.SchemaTests.Tree":{"type":"object","properties":{
                  "name":{"type":"string"},
                  "branches":{"type":"array","items":{"$ref":"#/$defs/OxMCPTests.SchemaTests.Tree"}}},
                  "required":["name","branches"]}}}
                """
            ),
        ]
        for (type, schema) in cases {
            XCTAssertEqual(.object(SchemaWriter.asObjectIfEmpty(try jsonSchema(of: type))), try json(schema), "\(type)")
        }
    }

    func testATypeThatIsMetTwiceIsDefinedOnce() throws {
        let schema = try jsonSchema(of: Pair.self)
        XCTAssertEqual(schema["$defs"]?.objectValue?.keys, ["OxMCPTests.SchemaTests.Tree"])
    }

    func testWhatHasNoSchemaIsNamed() async {
        enum Silent: String, Codable { case one }
        enum Loaded: Codable { case one(Int) }
        struct Around: Codable { let inner: Loaded }
        struct Misspelt: Codable, Described {
            let a: Int
            static let descriptions = ["b": "There is none."]
        }
        let cases: [(any Decodable.Type, String)] = [
            ([Int: String].self, "Int"), (Silent.self, "CaseIterable"), (Loaded.self, "JSONSchemaProviding"),
            (Around.self, "Loaded"), (Misspelt.self, "a member b"),
        ]
        for (type, part) in cases {
            let error = await failure(.usage) { try jsonSchema(of: type) }
            XCTAssert(error.message.contains(part), error.message)
        }
    }

    func testAFormIsFlatAndWhatMayBeNullNeedNotBeFilledIn() async throws {
        struct Form: Codable {
            let name: String
            let age: Int?
            let color: Color?
            let colors: [Color]
        }
        XCTAssertEqual(
            .object(try formSchema(of: Form.self)),
            try json(
                """
                {"type":"object","properties":{"name":{"type":"string"},"age":{"type":"integer"},
                  "color":{"type":"string","enum":["red","GREEN"]},
                  "colors":{"type":"array","items":{"type":"string","enum":["red","GREEN"]}}},"required":["name","colors"]}
                """
            )
        )
        let error = await failure(.usage) { try formSchema(of: Pair.self) }
        XCTAssert(error.message.contains("left"), error.message)
    }
}

extension SchemaWriter {
    /// Of a type without members.
    fileprivate static func asObjectIfEmpty(_ schema: JSONObject) -> JSONObject {
        schema["type"] == "object" ? asObject(schema) : schema
    }
}
