@file:JvmName("OxmcpClient")

package dev.oxmcp.bench

import dev.oxmcp.Client
import dev.oxmcp.ServerCommand
import kotlinx.coroutines.runBlocking
import kotlinx.serialization.json.buildJsonObject
import kotlinx.serialization.json.put

/** oxmcp from Kotlin. */
fun main(args: Array<String>): Unit = runBlocking {
    val plan = Plan(args)
    val (client, connectMs) = timed { Client.connect(ServerCommand(plan.command.first(), plan.command.drop(1))) }
    Measure(plan, connectMs) { text -> client.callTool("echo", buildJsonObject { put("text", text) }).text }.run()
    client.close()
}
