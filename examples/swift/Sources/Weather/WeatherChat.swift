import OxMCP

/// A chat on a terminal with the tools of a server: `weather city=Oslo ahead=1`, or only `Oslo`.
public struct WeatherChat: Sendable {
    private let read: @Sendable () -> String?
    private let say: @Sendable (String) -> Void

    public init(read: @escaping @Sendable () -> String?, say: @escaping @Sendable (String) -> Void) {
        self.read = read
        self.say = say
    }

    /// What this program can do for its server: it asks the person at the terminal.
    public var options: ClientOptions {
        ClientOptions {
            $0.info = Implementation(name: "weather-chat", version: "1.0")
            $0.timeout = .seconds(30)
            $0.onElicitation = { ask($0) }
            $0.onLog = { say("(\($0.level)) \($0.data)") }
        }
    }

    public func run(_ client: Client) async throws {
        let tools = try await client.listTools()
        say("Connected to \(client.serverInfo.name). \(client.instructions ?? "")")
        for tool in tools {
            let members = tool.members.keys.map { "\($0)=…" }.joined(separator: " ")
            say("  \(tool.name) \(members)  \(tool.description ?? "")")
        }
        while let line = read()?.trimmed, line != "bye" {
            if !line.isEmpty { try await answer(client, tools, line) }
        }
    }

    private func answer(_ client: Client, _ tools: [Tool], _ line: String) async throws {
        let words = line.split(separator: " ").map(String.init)
        // What is no tool's name is taken for a city.
        let named = tools.first { $0.name == words[0] }
        guard let tool = named ?? tools.first(where: { $0.name == "weather" }) else {
            return say("there is no tool \(words[0])")
        }
        let given = named == nil ? [("city", line)] : words.dropFirst().map(pair)
        let arguments = JSONObject(given.map { ($0, value($1, tool.members[$0])) })
        do {
            let result = try await client.callTool(tool.name, arguments, onProgress: { say("… \($0.message ?? "\($0.progress)")") })
            say(result.isError ? "It failed: \(result.text)" : result.text)
        } catch let error as MCPError {
            say("\(error.fault) error: \(error.message)")
        }
    }

    /// A question of the server, field by field; an empty line declines it.
    private func ask(_ request: ElicitRequest) -> ElicitResult {
        say(request.message)
        var filled = JSONObject()
        for (name, field) in request.requestedSchema["properties"]?.objectValue ?? [:] {
            say("  \(name)? \(field["description"]?.stringValue ?? "")")
            guard let text = read()?.trimmed, !text.isEmpty else { return .decline }
            filled[name] = value(text, field)
        }
        return .accept(filled)
    }

    private func pair(_ word: String) -> (String, String) {
        let parts = word.split(separator: "=", maxSplits: 1).map(String.init)
        return (parts[0], parts.count > 1 ? parts[1] : "true")
    }

    /// What was written, as the schema wants it.
    private func value(_ text: String, _ schema: JSON?) -> JSON {
        let wanted = schema?["type"]?.text ?? ""
        if wanted.contains("string") { return .string(text) }
        if wanted.contains("boolean"), let flag = Bool(text) { return .bool(flag) }
        if wanted.contains("integer"), let number = Int(text) { return JSON(number) }
        if wanted.contains("number"), let number = Double(text) { return JSON(number) }
        return .string(text)
    }
}

extension Tool {
    fileprivate var members: JSONObject { inputSchema["properties"]?.objectValue ?? [:] }
}

extension String {
    fileprivate var trimmed: String {
        String(drop { $0.isWhitespace }.reversed().drop { $0.isWhitespace }.reversed())
    }
}
