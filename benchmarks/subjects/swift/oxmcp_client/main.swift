// oxmcp from Swift.

import Foundation
import Measuring
import OxMCP

let plan = Plan(Array(CommandLine.arguments.dropFirst()))
let begin = now(CLOCK_MONOTONIC)
let client = try await Client.connect(to: ServerCommand(plan.command[0], arguments: Array(plan.command.dropFirst())))
let measure = Measure(plan, connectSeconds: now(CLOCK_MONOTONIC) - begin) { [client] text in
    try await client.callTool("echo", ["text": .string(text)]).text
}
try await measure.run()
await client.close()
