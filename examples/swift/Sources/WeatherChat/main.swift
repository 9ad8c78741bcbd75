// `weather-chat COMMAND ARGUMENT…` starts a server, `weather-chat URL` connects to one.

import OxMCP
import Weather

let words = CommandLine.arguments.dropFirst()
if let target = words.first {
    let chat = WeatherChat(read: { readLine() }, say: { print($0) })
    let client =
        target.hasPrefix("http")
        ? try await Client.connect(to: target, options: chat.options)
        : try await Client.connect(to: ServerCommand(target, arguments: Array(words.dropFirst())), options: chat.options)
    try await chat.run(client)
    await client.close()
} else {
    print("say which server: a command with its arguments, or a URL")
}
