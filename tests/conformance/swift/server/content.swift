// Tools, resources and prompts that only give something.

import Foundation
import OxMCP

/// A picture of one pixel, and a sound without samples.
private let png = Data(
    [0x89, 0x50, 0x4E, 0x47, 0x0D, 0x0A, 0x1A, 0x0A, 0, 0, 0, 0x0D, 0x49, 0x48, 0x44, 0x52, 0, 0, 0, 1, 0, 0, 0, 1]
        + [8, 6, 0, 0, 0, 0x1F, 0x15, 0xC4, 0x89] as [UInt8]
)
private let wav =
    Data("RIFF".utf8) + Data([0x24, 0, 0, 0]) + Data("WAVEfmt ".utf8) + Data([0x10, 0, 0, 0, 1, 0, 1, 0])
    + Data([0x44, 0xAC, 0, 0, 0x88, 0x58, 1, 0, 2, 0, 0x10, 0]) + Data("data".utf8) + Data([0, 0, 0, 0])

private func embedded(_ uri: String, _ mimeType: String, _ text: String) -> Content {
    .resource(ResourceContents(uri: uri, text: text, mimeType: mimeType))
}

private func addTools(to server: Server) throws {
    try server.tool("test_simple_text", "Gives text.") { _ in "This is a simple text response for testing." }
    try server.tool("test_image_content", "Gives a picture.") { _ in Content.image(png, mimeType: "image/png") }
    try server.tool("test_audio_content", "Gives sound.") { _ in Content.audio(wav, mimeType: "audio/wav") }
    try server.tool("test_embedded_resource", "Gives a resource.") { _ in
        embedded("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    }
    try server.tool("test_multiple_content_types", "Gives several things.") { _ in
        [
            Content.text("Multiple content types test:"), .image(png, mimeType: "image/png"),
            embedded("test://mixed-content-resource", "application/json", #"{"test":"data","value":123}"#),
        ]
    }
    try server.tool("test_error_handling", "Fails.") { _ in
        CallToolResult([.text("This tool intentionally returns an error for testing")], isError: true)
    }
}

private func addResources(to server: Server) throws {
    try server.resource(
        "test://static-text", name: "static text", "Text that never changes.", mimeType: "text/plain"
    ) { _ in "This is the content of the static text resource." }
    try server.resource("test://static-binary", name: "static binary", "A picture.", mimeType: "image/png") { _ in png }
    try server.resource(
        "test://watched-resource", name: "watched", "Can be subscribed to.", mimeType: "text/plain"
    ) { _ in "Watched resource content." }
    try server.resourceTemplate(
        "test://template/{id}/data", name: "template", "Data by its id.", mimeType: "application/json"
    ) { _, variables, _ in
        let id = variables["id"] ?? ""
        let data: JSONObject = ["id": .string(id), "templateTest": true, "data": "Data for ID: \(id)"]
        return data.text
    }
}

private struct Two: Codable {
    let arg1: String
    let arg2: String
}

private struct Embedding: Codable {
    let resourceUri: String
}

private func addPrompts(to server: Server) throws {
    try server.prompt("test_simple_prompt", "Has no arguments.") { (_: NoArguments, _) in
        "This is a simple prompt for testing."
    }
    let words = ["hello", "help", "test"]
    try server.prompt(
        "test_prompt_with_arguments", "Has two arguments.",
        complete: ["arg1": { value, _ in words.filter { $0.hasPrefix(value) } }]
    ) { (two: Two, _) in "Prompt with arguments: arg1='\(two.arg1)', arg2='\(two.arg2)'" }
    try server.prompt("test_prompt_with_embedded_resource", "Embeds a resource.") { (embedding: Embedding, _) in
        [
            Message(embedded(embedding.resourceUri, "text/plain", "Embedded resource content for testing.")),
            Message("Please process the embedded resource above."),
        ]
    }
    try server.prompt("test_prompt_with_image", "Has a picture.") { (_: NoArguments, _) in
        [Message(.image(png, mimeType: "image/png")), Message("Please analyze the image above.")]
    }
}

func addContent(to server: Server) throws {
    try addTools(to: server)
    try addResources(to: server)
    try addPrompts(to: server)
}
