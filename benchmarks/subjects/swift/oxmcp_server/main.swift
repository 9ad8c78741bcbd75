// oxmcp from Swift, arguments described by a Decodable type.

import OxMCP

struct Echo: Decodable {
    let text: String
}

let server = Server("bench", version: "1.0.0")
try server.tool("echo", "Answers with the text it was given.") { (echo: Echo, _) in echo.text }
try await server.serveStdio()
