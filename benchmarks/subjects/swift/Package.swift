// swift-tools-version: 6.0
import PackageDescription

let oxmcp: Target.Dependency = .product(name: "OxMCP", package: "oxmcp")

let package = Package(
    name: "subjects",
    platforms: [.macOS(.v13)],
    products: ["oxmcp-client", "oxmcp-server", "bare-client", "bare-server"].map { .executable(name: $0, targets: [$0]) },
    dependencies: [.package(path: "../../../bindings-uniffi/swift/oxmcp")],
    targets: [
        .target(name: "Measuring", dependencies: [oxmcp], path: "measure"),
        .executableTarget(name: "oxmcp-client", dependencies: [oxmcp, "Measuring"], path: "oxmcp_client"),
        .executableTarget(name: "oxmcp-server", dependencies: [oxmcp], path: "oxmcp_server"),
        .executableTarget(name: "bare-client", dependencies: ["Measuring"], path: "bare_client"),
        .executableTarget(name: "bare-server", path: "bare_server"),
    ],
    swiftLanguageModes: [.v6]
)
