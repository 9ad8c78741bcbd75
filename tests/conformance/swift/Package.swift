// swift-tools-version: 6.0
import PackageDescription

let package = Package(
    name: "conformance",
    platforms: [.macOS(.v13)],
    products: [
        .executable(name: "ConformanceServer", targets: ["ConformanceServer"]),
        .executable(name: "ConformanceClient", targets: ["ConformanceClient"]),
    ],
    dependencies: [.package(path: "../../../bindings-uniffi/swift/oxmcp")],
    targets: [
        .executableTarget(
            name: "ConformanceServer", dependencies: [.product(name: "OxMCP", package: "oxmcp")], path: "server"
        ),
        .executableTarget(
            name: "ConformanceClient", dependencies: [.product(name: "OxMCP", package: "oxmcp")], path: "client"
        ),
    ],
    swiftLanguageModes: [.v6]
)
