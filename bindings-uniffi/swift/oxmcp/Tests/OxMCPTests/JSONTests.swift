import Foundation
import XCTest

@testable import OxMCP

/// JSON text, which keeps what it is given.
final class JSONTests: XCTestCase {
    func testTextComesBackAsItWas() throws {
        let text = #"{"a\"b":[1.0,-2e+5,"3",null,true,{}],"":"\\","big":9007199254740993,"z":0,"é":"😀\u0001\n"}"#
        XCTAssertEqual(try JSON(parsing: text).text, text)
        XCTAssertEqual(try JSON(parsing: " [ 1 , 2 ] \r\n").text, "[1,2]")
        XCTAssertEqual(try JSON(parsing: #""\u00e9\ud83d\ude00\/\b\f""#), "é😀/\u{8}\u{c}")
        // Half of a pair has no place in a text.
        XCTAssertEqual(try JSON(parsing: #""a\ud83dz\udc00""#), "a\u{FFFD}z\u{FFFD}")
    }

    func testWhatIsNoJSONIsSaidToBeNone() {
        for text in [
            "", "{", "[1,]", "{\"a\"}", "{\"a\":1,}", "01", "1.", "-", "+1", "nul", "\"", "\"\\x\"", "\"\n\"", "1 2", "{1:2}", "\"\\u12\"",
            String(repeating: "[", count: 100_000),
        ] {
            XCTAssertThrowsError(try JSON(parsing: text), text) { error in
                XCTAssert((error as? MCPError)?.message.contains("at byte") == true, "\(error)")
            }
        }
        XCTAssertThrowsError(try JSONObject(parsing: "[]"))
    }

    func testNumbersAreComparedAsTextAndMembersInAnyOrder() throws {
        for (one, other) in [("1", "1.0"), ("1", "true"), ("\"1\"", "1"), ("9007199254740993", "9007199254740992"), ("{}", "[]")] {
            XCTAssertNotEqual(try JSON(parsing: one), try JSON(parsing: other))
        }
        XCTAssertEqual(try JSON(parsing: #"{"a":1,"b":2}"#), try JSON(parsing: #"{"b":2,"a":1}"#))
        XCTAssertEqual(JSON(1.5), .number("1.5"))
        XCTAssertEqual(JSON(3.0), .number("3"))
        XCTAssertEqual(JSON(Double.infinity), .null)
        XCTAssertEqual(JSON.number("1e2").intValue, 100)
        XCTAssertNil(JSON.number("1.5").intValue)
    }

    func testValuesOfSwiftBecomeJSON() {
        let (yes, text, number) = (true, "a", 3)
        let values: [JSON] = [JSON(yes), JSON(text), JSON(number), JSON(1.5), JSON(Double.nan)]
        XCTAssertEqual(values, [.bool(true), .string("a"), .number("3"), .number("1.5"), .null])
    }

    func testMembersAreKeptInOrder() {
        var object: JSONObject = ["z": 1, "a": [true, .null]]
        object["m"] = "x"
        object["z"] = nil
        object["b"] = 2.5
        XCTAssertEqual(object.text, #"{"a":[true,null],"m":"x","b":2.5}"#)
        XCTAssertEqual(object.merging(["a": 1]).text, #"{"a":1,"m":"x","b":2.5}"#)
    }

    func testJSONIsAPartOfOtherTypes() throws {
        struct Mixed: Codable, Equatable {
            let any: JSON
            let open: JSONObject
            let when: Date
        }
        let text = #"{"any":[1,"a",null,true,{"x":2.5},18446744073709551615],"open":{"k":[]},"when":"2026-07-28T00:00:00Z"}"#
        let value = try decode(Mixed.self, from: text)
        XCTAssertEqual(value.any[4]?["x"], 2.5)
        XCTAssertEqual(try encode(value), try JSON(parsing: text))
    }

    func testWhatDoesNotFitIsNamed() {
        XCTAssertThrowsError(try decode([Numbers].self, from: #"[{"a":1},{"a":"x"}]"#)) { error in
            XCTAssert((error as? DecodingError)?.what.hasPrefix("[1].a: ") == true, "\(error)")
        }
        XCTAssertThrowsError(try decode(Numbers.self, from: "{}")) { error in
            XCTAssertEqual((error as? DecodingError)?.what, "a: is missing")
        }
    }
}
