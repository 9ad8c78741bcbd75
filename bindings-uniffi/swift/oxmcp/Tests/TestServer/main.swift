// A server for tests, which its client starts.

import Foundation
import OxMCP

struct Numbers: Codable {
    let a: Int
    let b: Int?
}

struct Sum: Codable {
    let sum: Int
}

let options = ServerOptions {
    $0.instructions = "be quick"
    if CommandLine.arguments.contains("impatient") { $0.limits.drain = .milliseconds(20) }
}
let server = Server("test server", version: "1.0", options: options)
// It ticks on, whoever has left.
Task.detached {
    while true { try await Task.sleep(for: .milliseconds(5)) }
}
try server.tool("add") { (numbers: Numbers, _) in Sum(sum: numbers.a + (numbers.b ?? 1)) }
try server.tool("prints") { _ in
    print("a stray print")
    fflush(nil)
    return "printed"
}
try server.tool("exits") { _ -> String in exit(3) }
try server.tool("waits") { _ in
    try await Task.sleep(for: .seconds(3600))
    return ""
}
try await server.serveStdio()
FileHandle.standardError.write(Data("the server has ended\n".utf8))
