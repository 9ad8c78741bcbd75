// The least a stdio MCP server in Swift can do: read a line, parse it, look at the method and the id, answer.

import Foundation

let initialize: [String: Any] = [
    "protocolVersion": "2025-06-18", "capabilities": ["tools": [String: Any]()],
    "serverInfo": ["name": "bare", "version": "1.0.0"],
]
let schema: [String: Any] = ["type": "object", "properties": ["text": ["type": "string"]], "required": ["text"]]

@MainActor func answer(_ request: [String: Any]) -> [String: Any]? {
    switch request["method"] as? String {
    case "tools/call":
        let params = request["params"] as? [String: Any]
        let text = (params?["arguments"] as? [String: Any])?["text"] as? String ?? ""
        return ["content": [["type": "text", "text": text]]]
    case "initialize": return initialize
    case "tools/list": return ["tools": [["name": "echo", "inputSchema": schema]]]
    case "ping": return [:]
    default: return nil
    }
}

while let line = readLine() {
    guard let request = try JSONSerialization.jsonObject(with: Data(line.utf8)) as? [String: Any], let id = request["id"] else {
        continue
    }
    var message: [String: Any] = ["jsonrpc": "2.0", "id": id]
    if let result = answer(request) {
        message["result"] = result
    } else {
        message["error"] = ["code": -32601, "message": "Method not found"] as [String: Any]
    }
    FileHandle.standardOutput.write(try JSONSerialization.data(withJSONObject: message) + Data([0x0A]))
}
