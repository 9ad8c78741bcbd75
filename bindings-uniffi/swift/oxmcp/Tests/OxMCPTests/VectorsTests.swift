import Foundation
import XCTest

@testable import OxMCP

/// The shared transcripts, which every language runs.
final class VectorsTests: XCTestCase {
    func testTranscripts() throws {
        let folder = root.appendingPathComponent("tests/vectors")
        let files = try FileManager.default.contentsOfDirectory(at: folder, includingPropertiesForKeys: nil)
            .filter { $0.pathExtension == "jsonl" }
            .sorted { $0.path < $1.path }
        XCTAssertFalse(files.isEmpty, "there are no transcripts")
        for file in files {
            let text = try String(contentsOf: file, encoding: .utf8)
            for cut in [Cut.whole, .chunks(1), .chunks(7), .joined] {
                XCTAssertNoThrow(try Transcripts(file.lastPathComponent, text, cut).run())
            }
        }
    }

    func testATranscriptThatDoesNotHoldFails() {
        let begin = #"{"name":"n","about":"a","role":"server"}"# + "\n" + #"{"receive":{"id":1,"method":"ping"}}"# + "\n"
        let wrong = [
            #"{"expect":{"id":1.0,"result":{}}}"#,
            #"{"expect":{"id":1,"result":{"a":1}}}"#,
            #"{"silence":true}"#,
            #"{"expect":{"id":1,"result":{}}}"# + "\n" + #"{"closed":true}"#,
            #"{"expect":{"id":1,"result":{}},"misspelt":1}"#,
            #"{"misspelt":true}"#,
            "",
        ]
        for steps in wrong {
            XCTAssertThrowsError(try Transcripts("wrong", begin + steps, .whole).run(), steps)
        }
        XCTAssertNoThrow(try Transcripts("right", begin + #"{"expect":{"id":1,"result":{}}}"#, .whole).run())
    }
}
