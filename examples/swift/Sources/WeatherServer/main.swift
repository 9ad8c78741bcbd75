// Serves the client that starts it, or with `--http PORT` any number of them.

import Foundation
import Weather

let server = try weatherServer()
let arguments = CommandLine.arguments.dropFirst()
if arguments.first == "--http" {
    let listening = try await server.listen(port: arguments.dropFirst().first.flatMap { Int($0) } ?? 8000)
    FileHandle.standardError.write(Data("serving at \(listening.url)\n".utf8))
    try await listening.wait()
} else {
    try await server.serveStdio()
}
