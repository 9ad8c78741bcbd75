package dev.oxmcp.conformance

import dev.oxmcp.AudioContent
import dev.oxmcp.CallToolResult
import dev.oxmcp.Description
import dev.oxmcp.EmbeddedResource
import dev.oxmcp.ImageContent
import dev.oxmcp.Message
import dev.oxmcp.ResourceContents
import dev.oxmcp.Server
import dev.oxmcp.TextContent
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put

internal const val SIMPLE_TEXT = "This is a simple text response for testing."
internal const val SIMPLE_PROMPT = "This is a simple prompt for testing."

/** A picture of one pixel. */
private val PNG = bytes("89504e470d0a1a0a0000000d49484452000000010000000108060000001f15c489")

/** A sound without samples. */
private val WAV = bytes("524946462400000057415645666d7420100000000100010044ac000088580100020010006461746100000000")

private fun bytes(hex: String) = ByteArray(hex.length / 2) { hex.substring(2 * it, 2 * it + 2).toInt(16).toByte() }

private fun picture() = ImageContent(PNG, "image/png")

private fun textAt(uri: String, mimeType: String, text: String) = EmbeddedResource(ResourceContents(uri, text, mimeType))

@Serializable
private class Two(
    @Description("The first argument.") val arg1: String,
    @Description("The second argument.") val arg2: String,
)

@Serializable
private class Embedded(@Description("What to embed.") val resourceUri: String)

/** The first tool of the list can be called without arguments. */
internal fun Server.addContent() {
    tool("test_simple_text", "Gives text.") { _: Unit -> SIMPLE_TEXT }
    tool("test_image_content", "Gives a picture.") { _: Unit -> picture() }
    tool("test_audio_content", "Gives sound.") { _: Unit -> AudioContent(WAV, "audio/wav") }
    tool("test_embedded_resource", "Gives a resource.") { _: Unit ->
        textAt("test://embedded-resource", "text/plain", "This is an embedded resource content.")
    }
    tool("test_multiple_content_types", "Gives several things.") { _: Unit ->
        val mixed = textAt("test://mixed-content-resource", "application/json", """{"test":"data","value":123}""")
        listOf(TextContent("Multiple content types test:"), picture(), mixed)
    }
    tool("test_error_handling", "Fails.") { _: Unit ->
        CallToolResult(listOf(TextContent("This tool intentionally returns an error for testing")), isError = true)
    }
    addResources()
    addPrompts()
}

private fun Server.addResources() {
    resource("test://static-text", "static-text", "Text that never changes.", mimeType = "text/plain") {
        "This is the content of the static text resource."
    }
    resource("test://static-binary", "static-binary", "A picture.", mimeType = "image/png") { PNG }
    resource("test://watched-resource", "watched-resource", "Can be subscribed to.", mimeType = "text/plain") {
        "Watched resource content."
    }
    resourceTemplate("test://template/{id}/data", "template", "Data by its id.", mimeType = "application/json") { _, variables ->
        val id = variables.getValue("id")
        buildJsonObject {
            put("id", id)
            put("templateTest", true)
            put("data", "Data for ID: $id")
        }.toString()
    }
}

private fun Server.addPrompts() {
    prompt("test_simple_prompt", "Has no arguments.") { _: Unit -> SIMPLE_PROMPT }
    prompt(
        "test_prompt_with_arguments",
        "Has two arguments.",
        complete = mapOf("arg1" to { value, _ -> listOf("hello", "help", "test").filter { it.startsWith(value) } }),
    ) { two: Two -> "Prompt with arguments: arg1='${two.arg1}', arg2='${two.arg2}'" }
    prompt("test_prompt_with_embedded_resource", "Embeds a resource.") { embedded: Embedded ->
        val resource = textAt(embedded.resourceUri, "text/plain", "Embedded resource content for testing.")
        listOf(Message(resource), Message("Please process the embedded resource above."))
    }
    prompt("test_prompt_with_image", "Has a picture.") { _: Unit ->
        listOf(Message(picture()), Message("Please analyze the image above."))
    }
}
