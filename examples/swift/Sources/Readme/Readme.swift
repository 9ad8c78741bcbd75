import OxMCP

struct City: Codable, Described {
    let name: String
    static let descriptions = ["name": "The name of a city."]
}

struct Report: Codable {
    let temperature: Int
    let sky: String
}

func serve() async throws {
    let server = Server("weather", version: "1.0")
    try server.tool("weather", "Tells the weather in a city.") { (city: City, call) in
        call.progress(1, of: 2, "looking out of the window of \(city.name)")
        return Report(temperature: 21, sky: "sunny")
    }
    try await server.serveStdio()
}

func ask() async throws {
    let client = try await Client.connect(
        to: ServerCommand("weather-server"),
        options: ClientOptions { $0.onElicitation = { question in .decline } }
    )
    let result = try await client.callTool(
        "weather", ["name": "Oslo"], timeout: .seconds(10),
        onProgress: { print($0.progress, "of", $0.total ?? 0) }
    )
    print(try result.structured(as: Report.self).sky)
    await client.close()
}

func askOverHTTP(_ freshToken: @escaping @Sendable () async throws -> String) async throws {
    var http = HTTPClientOptions()
    http.headers = ["Authorization": "Bearer \(try await freshToken())"]
    http.onUnauthorized = { refused in
        print("refused with \(refused.status): \(refused.wwwAuthenticate ?? "no challenge")")
        return ["Authorization": "Bearer \(try await freshToken())"]
    }
    let client = try await Client.connect(to: "https://example.com/mcp", http: http)
    print(try await client.listTools())
    await client.close()
}

func giveUp(_ client: Client) async {
    let call = Task { try await client.callTool("weather", ["name": "Oslo"]) }
    call.cancel()
    switch await call.result {
    case .success(let result): print("it was faster:", result.text)
    case .failure(is CancellationError): print("cancelled, and the server was told")
    case .failure(let error as MCPError): print(error.message, error.fault, error.isRetryable)
    case .failure(let error): print(error)
    }
}

func follow(_ client: Client) async throws {
    for try await change in client.listen(SubscriptionFilter(toolsListChanged: true)) {
        print(change.method)
    }
}
