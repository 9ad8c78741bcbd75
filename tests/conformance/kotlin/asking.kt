package dev.oxmcp.conformance

import dev.oxmcp.CallContext
import dev.oxmcp.Description
import dev.oxmcp.Message
import dev.oxmcp.SamplingRequest
import dev.oxmcp.Server
import kotlinx.serialization.Serializable

@Serializable
private class Prompt(@Description("What the model is asked.") val prompt: String)

@Serializable
private class Question(@Description("What the person is asked.") val message: String)

private const val RESPONSE = """{
    "type": "object",
    "properties": {"response": {"type": "string", "description": "Your answer"}},
    "required": ["response"]
}"""

private const val DEFAULTS = """{
    "type": "object",
    "properties": {
        "name": {"type": "string", "default": "John Doe"},
        "age": {"type": "integer", "default": 30},
        "score": {"type": "number", "default": 95.5},
        "status": {"type": "string", "enum": ["active", "inactive", "pending"], "default": "active"},
        "verified": {"type": "boolean", "default": true}
    },
    "required": []
}"""

private const val TITLED = """[
    {"const": "value1", "title": "First Option"},
    {"const": "value2", "title": "Second Option"},
    {"const": "value3", "title": "Third Option"}
]"""

private const val ENUMS = """{
    "type": "object",
    "properties": {
        "untitledSingle": {"type": "string", "enum": ["option1", "option2", "option3"]},
        "titledSingle": {"type": "string", "oneOf": $TITLED},
        "legacyEnum": {
            "type": "string",
            "enum": ["opt1", "opt2", "opt3"],
            "enumNames": ["Option One", "Option Two", "Option Three"]
        },
        "untitledMulti": {"type": "array", "items": {"type": "string", "enum": ["option1", "option2", "option3"]}},
        "titledMulti": {"type": "array", "items": {"anyOf": $TITLED}}
    },
    "required": []
}"""

/** Asks the person, and tells what came. */
private suspend fun CallContext.ask(message: String, schema: String, told: String): String {
    val answer = elicit(message, json(schema))
    return "$told: action=${answer.action}, content=${answer.content}"
}

/** Tools that ask the client for something while they run (2025-11-25). */
internal fun Server.addAsking() {
    tool("test_sampling", "Asks the model.") { asked: Prompt ->
        "LLM response: ${sample(SamplingRequest(listOf(Message(asked.prompt)), 100)).text}"
    }
    tool("test_elicitation", "Asks the person.") { question: Question -> ask(question.message, RESPONSE, "User response") }
    tool("test_elicitation_sep1034_defaults", "Asks with defaults.") { _: Unit ->
        ask("Please check the defaults.", DEFAULTS, "Elicitation completed")
    }
    tool("test_elicitation_sep1330_enums", "Asks for choices.") { _: Unit ->
        ask("Please choose.", ENUMS, "Elicitation completed")
    }
}
