package dev.oxmcp.conformance

import dev.oxmcp.CallContext
import dev.oxmcp.ErrorCode
import dev.oxmcp.InputRequired
import dev.oxmcp.McpError
import dev.oxmcp.Message
import dev.oxmcp.SamplingRequest
import dev.oxmcp.Server
import kotlinx.serialization.Serializable
import kotlinx.serialization.json.JsonPrimitive

@Serializable
private class Name(val name: String)

@Serializable
private class Confirmation(val ok: Boolean)

/** A form with one field. */
private fun form(field: String) = json("""{"type":"object","properties":{"$field":{"type":"string"}},"required":["$field"]}""")

/** Asks the person for one value, under this key. */
private suspend fun CallContext.ask(key: String, field: String): String? {
    val answer = elicit("Please fill this in.", form(field), key)
    return (answer.content?.get(field) as? JsonPrimitive)?.content
}

private fun said(text: String, tokens: Long) = SamplingRequest(listOf(Message(text)), tokens)

/** Keeps something for the next round. */
private fun CallContext.withState(): String {
    val state = requestState
    if (state != null && "confirm" in inputResponses.orEmpty()) return "state-ok: $state"
    throw InputRequired("asked") { elicit<Confirmation>("confirm", "Go on?") }
}

private fun CallContext.multiple(): String {
    val answers = inputResponses.orEmpty()
    if (answers.keys.containsAll(listOf("user_name", "greeting", "client_roots"))) return "all inputs came"
    throw InputRequired("three at once") {
        elicit<Name>("user_name", "Who are you?")
        sample("greeting", said("Write a greeting.", 50))
        listRoots("client_roots")
    }
}

/** Asks for what the client can do. */
private fun CallContext.byCapabilities(): String {
    val answers = inputResponses.orEmpty()
    val asksModel = "sampling" in caller.capabilities && "capital" !in answers
    val asksPerson = "elicitation" in caller.capabilities && "user_name" !in answers
    if (!asksModel && !asksPerson) return "nothing is open"
    throw InputRequired {
        if (asksModel) sample("capital", said("Write a greeting.", 50))
        if (asksPerson) elicit<Name>("user_name", "Who are you?")
    }
}

private fun CallContext.needsSampling(): String {
    if ("sampling" in caller.capabilities) return "The client can sample."
    val needed = json("""{"requiredCapabilities":{"sampling":{}}}""")
    val why = "this tool needs a client that can sample"
    throw McpError(ErrorCode.MISSING_REQUIRED_CLIENT_CAPABILITY, why, needed)
}

/** Tools that need input before they can be served, in rounds (2026-07-28). */
internal fun Server.addRounds() {
    tool("test_missing_capability", "Needs a client that can sample.") { _: Unit -> needsSampling() }
    for (name in listOf("test_streaming_elicitation", "test_input_required_result_elicitation")) {
        tool(name, "Asks for a name.") { _: Unit -> "Hello, ${ask("user_name", "name")}!" }
    }
    tool("test_input_required_result_sampling", "Asks the model.") { _: Unit ->
        sample(said("What is the capital of France?", 100)).text
    }
    tool("test_input_required_result_list_roots", "Asks for the roots.") { _: Unit -> "${listRoots().size} roots" }
    for (name in listOf("request_state", "tampered_state")) {
        tool("test_input_required_result_$name", "Keeps a state.") { _: Unit -> withState() }
    }
    tool("test_input_required_result_multiple_inputs", "Asks for three things.") { _: Unit -> multiple() }
    tool("test_input_required_result_multi_round", "Asks twice.") { _: Unit ->
        "${ask("step1", "name")} likes ${ask("step2", "color")}"
    }
    tool("test_input_required_result_capabilities", "Asks for what the client can do.") { _: Unit -> byCapabilities() }
    prompt("test_input_required_result_prompt", "Asks for context.") { _: Unit ->
        Message("Mind this: ${ask("user_context", "context")}")
    }
}
