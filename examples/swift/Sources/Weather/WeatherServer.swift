import OxMCP

/// Where it is known to be weather, and how far from the equator that is, in degrees.
private let cities = ["Cairo": 30, "Lima": 12, "Oslo": 60, "Quito": 0, "Tokyo": 36]

struct Place: Codable, Described {
    let city: String
    let ahead: Int?

    static let descriptions = [
        "city": "The name of a city.",
        "ahead": "How many days from now; asked for when it is left out.",
    ]
}

struct Weather: Codable, Described {
    enum Sky: String, Codable, CaseIterable {
        case sunny, cloudy, rainy
    }

    let city: String
    let ahead: Int
    let temperature: Int
    let sky: Sky

    static let descriptions = ["temperature": "In degrees Celsius."]

    /// The weather is made up, by arithmetic: the same city has the same weather on the same day.
    init(in city: String, ahead: Int) throws {
        guard let (name, latitude) = cities.first(where: { $0.key.lowercased() == city.lowercased() }) else {
            throw NoWeather(city: city)
        }
        let seed = name.utf8.reduce(0) { $0 + Int($1) } + ahead * 61
        self.city = name
        self.ahead = ahead
        temperature = 30 - latitude / 2 + seed % 9 - 4
        sky = Sky.allCases[seed % Sky.allCases.count]
    }
}

struct NoWeather: Error, CustomStringConvertible {
    let city: String
    var description: String { "there is no weather in \(city); there is in \(cities.keys.sorted().joined(separator: ", "))" }
}

struct Day: Codable, Described {
    let ahead: Int
    static let descriptions = ["ahead": "How many days from now."]
}

struct Journey: Codable, Described {
    let city: String
    static let descriptions = ["city": "The name of a city."]
}

public func weatherServer() throws -> Server {
    let options = ServerOptions { $0.instructions = "Ask for the weather in a city." }
    let server = Server("weather", version: "1.0", options: options)
    try server.tool("weather", "Tells the weather in a city.") { (place: Place, call) in
        var day = place.ahead
        if day == nil {
            let question = "For which day do you want the weather in \(place.city)?"
            day = try await call.elicit(question, as: Day.self).value?.ahead
        }
        return try Weather(in: place.city, ahead: day ?? 0)
    }
    try server.tool("forecast", "Tells the weather of a week, and how far it is.") { (journey: Journey, call) in
        let days = try (0..<7).map { ahead in
            call.progress(Double(ahead + 1), of: 7, "day \(ahead)")
            return try Weather(in: journey.city, ahead: ahead)
        }
        return days.map { "in \($0.ahead) days: \($0.temperature) °C, \($0.sky)" }.joined(separator: "\n")
    }
    try server.resourceTemplate(
        "weather://{city}", name: "today", "The weather of today.", mimeType: "text/plain",
        complete: ["city": { value, _ in cities.keys.sorted().filter { $0.lowercased().hasPrefix(value.lowercased()) } }]
    ) { _, variables, _ in
        let weather = try Weather(in: variables["city"] ?? "", ahead: 0)
        return "\(weather.temperature) °C, \(weather.sky)"
    }
    try server.prompt("pack", "What to pack for a journey.") { (journey: Journey, _) in
        "What should I pack for a week in \(journey.city)?"
    }
    return server
}
