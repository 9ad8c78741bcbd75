// swift-tools-version: 6.0
import Foundation
import PackageDescription

// The native library: an XCFramework beside this file where there is one (`make-xcframework`), as on Apple's systems,
// else a library that the system's linker finds: in OXMCP_LIBRARY_DIR, beside this file, as in a packed package, or where
// Cargo puts it in a checkout.
let here = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
let framework = "OxMCPNativeFFI.xcframework"
func isThere(_ name: String) -> Bool {
    FileManager.default.fileExists(atPath: here.appendingPathComponent(name).path)
}

let isFramework = isThere(framework)
let built = here.appendingPathComponent(isThere("lib") ? "lib" : "../../../target/release").standardizedFileURL.path
let folder = Context.environment["OXMCP_LIBRARY_DIR"] ?? built

let native: Target = isFramework
    ? .binaryTarget(name: "OxMCPNativeFFI", path: framework)
    : .systemLibrary(name: "OxMCPNativeFFI", path: "Generated/OxMCPNativeFFI")

// What the core asks the system for: certificates and proxies.
let system = ["CoreFoundation", "Security", "SystemConfiguration"]
let linking: [LinkerSetting] = isFramework
    ? system.map { .linkedFramework($0, .when(platforms: [.macOS, .iOS])) }
    : [.linkedLibrary("oxmcp_uniffi"), .unsafeFlags(["-L", folder, "-Xlinker", "-rpath", "-Xlinker", folder])]

// A packed package has no tests.
let tests: [Target] = !isThere("Tests") ? [] : [
    .executableTarget(name: "TestServer", dependencies: ["OxMCP"], path: "Tests/TestServer"),
    .executableTarget(name: "OurServer", dependencies: ["OxMCP"], path: "Tests/OurServer"),
    .executableTarget(name: "OurClient", dependencies: ["OxMCP"], path: "Tests/OurClient"),
    .testTarget(name: "OxMCPTests", dependencies: ["OxMCP", "OxMCPNative", "TestServer", "OurServer", "OurClient"]),
]

let package = Package(
    name: "oxmcp",
    platforms: [.macOS(.v13), .iOS(.v16)],
    products: [.library(name: "OxMCP", targets: ["OxMCP"])],
    targets: [
        native,
        // What UniFFI writes is for Swift 5.
        .target(
            name: "OxMCPNative",
            dependencies: ["OxMCPNativeFFI"],
            path: "Generated/OxMCPNative",
            swiftSettings: [.swiftLanguageMode(.v5)],
            linkerSettings: linking
        ),
        .target(name: "OxMCP", dependencies: ["OxMCPNative"]),
    ] + tests,
    swiftLanguageModes: [.v6]
)
