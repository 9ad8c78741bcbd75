// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "examples",
    platforms: [.macOS(.v13)],
    products: [
        .executable(name: "weather-server", targets: ["weather-server"]),
        .executable(name: "weather-chat", targets: ["weather-chat"]),
    ],
    dependencies: [.package(path: "../../bindings-uniffi/swift/oxmcp")],
    targets: [
        .target(name: "Weather", dependencies: [.product(name: "OxMCP", package: "oxmcp")]),
        .target(name: "Readme", dependencies: [.product(name: "OxMCP", package: "oxmcp")]),
        .executableTarget(name: "weather-server", dependencies: ["Weather"], path: "Sources/WeatherServer"),
        .executableTarget(name: "weather-chat", dependencies: ["Weather"], path: "Sources/WeatherChat"),
        .testTarget(name: "ExamplesTests", dependencies: ["Weather", "Readme", "weather-server", "weather-chat"]),
    ],
    swiftLanguageModes: [.v6]
)
