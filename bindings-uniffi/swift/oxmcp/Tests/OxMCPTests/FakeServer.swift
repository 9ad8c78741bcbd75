import Foundation

@testable import OxMCP

#if canImport(Darwin)
import Darwin

private let stream = SOCK_STREAM
#else
import Glibc

private let stream = Int32(SOCK_STREAM.rawValue)
#endif

/// A request as it came over the wire; names of header fields in lower case.
struct Wire: Sendable {
    let method: String
    let headers: [String: String]
    let body: String

    /// The method of the JSON-RPC message, and its id.
    var call: String? { message["method"]?.stringValue }
    var id: JSON { message["id"] ?? .null }

    private var message: JSONObject { (try? JSONObject(parsing: body)) ?? [:] }

    /// The result of the call, whole.
    func result(_ json: String, _ headers: String...) -> [String] {
        respond(200, #"{"jsonrpc":"2.0","id":\#(id.text),"result":\#(json)}"#, ["Content-Type: application/json"] + headers)
    }

    /// A text as the result of a tool.
    func text(_ text: String) -> [String] { result(#"{"content":[{"type":"text","text":"\#(text)"}]}"#) }

    /// What `initialize` gives in 2025-11-25, in a session.
    func handshake() -> [String] {
        let result = #"{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"fake","version":"1"}}"#
        return self.result(result, "Mcp-Session-Id: s1")
    }
}

func respond(_ status: Int, _ body: String = "", _ headers: [String] = []) -> [String] {
    let fields = headers.map { "\($0)\r\n" }.joined()
    return ["HTTP/1.1 \(status) Odd\r\n\(fields)Content-Length: \(body.utf8.count)\r\n\r\n\(body)"]
}

/// An event stream whose body is these pieces, each written by itself; then the connection ends.
func eventStream(_ pieces: [String]) -> [String] {
    ["HTTP/1.1 200 OK\r\nContent-Type: text/event-stream\r\nConnection: close\r\n\r\n"] + pieces
}

/// A socket that is closed with its last reference.
private final class Socket: Sendable {
    let number: Int32

    init(_ number: Int32) {
        self.number = number
    }

    deinit {
        close(number)
    }

    func write(_ text: String) {
        var rest = ArraySlice(text.utf8)
        while !rest.isEmpty {
            let count = rest.withContiguousStorageIfAvailable { send(number, $0.baseAddress, $0.count, 0) } ?? -1
            if count <= 0 { return }
            rest = rest.dropFirst(count)
        }
    }

    /// What comes next; `nil` at the end.
    func read(_ most: Int) -> [UInt8]? {
        var bytes = [UInt8](repeating: 0, count: most)
        let count = recv(number, &bytes, most, 0)
        return count > 0 ? Array(bytes.prefix(count)) : nil
    }

    func read(exactly count: Int) -> [UInt8]? {
        var bytes: [UInt8] = []
        while bytes.count < count {
            guard let more = read(count - bytes.count) else { return nil }
            bytes += more
        }
        return bytes
    }
}

private func openSocket() -> Int32 { socket(AF_INET, stream, 0) }

private func loopback<Result>(_ port: UInt16, _ body: (UnsafePointer<sockaddr>, socklen_t) -> Result) -> Result {
    var address = sockaddr_in()
    address.sin_family = sa_family_t(AF_INET)
    address.sin_port = port.bigEndian
    address.sin_addr.s_addr = UInt32(0x7F00_0001).bigEndian
    return withUnsafePointer(to: &address) {
        $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { body($0, socklen_t(MemoryLayout<sockaddr_in>.size)) }
    }
}

/// A server over HTTP that answers as a test wants: with pieces of text, or not at all. It ends with its last reference.
final class FakeServer: Sendable {
    private struct State {
        var requests: [Wire] = []
        var connections = 0
    }

    let url: String
    private let listener: Socket
    private let state: Locked<State>

    init(_ answer: @escaping @Sendable (Wire) -> [String]?) {
        signal(SIGPIPE, SIG_IGN)
        let listener = Socket(openSocket()), state = Locked(State())
        let bound = loopback(0) { bind(listener.number, $0, $1) }
        precondition(bound == 0 && listen(listener.number, 50) == 0, "no port to listen on")
        var address = sockaddr_in()
        var size = socklen_t(MemoryLayout<sockaddr_in>.size)
        _ = withUnsafeMutablePointer(to: &address) {
            $0.withMemoryRebound(to: sockaddr.self, capacity: 1) { getsockname(listener.number, $0, &size) }
        }
        url = "http://127.0.0.1:\(UInt16(bigEndian: address.sin_port))/mcp"
        (self.listener, self.state) = (listener, state)
        Thread.detachNewThread {
            while case let number = accept(listener.number, nil, nil), number >= 0 {
                state.withLock { $0.connections += 1 }
                let socket = Socket(number)
                Thread.detachNewThread { Self.serve(socket, state, answer) }
            }
        }
    }

    deinit {
        shutdown(listener.number, Int32(SHUT_RDWR))
    }

    /// What was asked so far.
    var requests: [Wire] { state.withLock { $0.requests } }

    /// How many connections there were.
    var connections: Int { state.withLock { $0.connections } }

    private static func serve(_ socket: Socket, _ state: Locked<State>, _ answer: (Wire) -> [String]?) {
        while let request = read(socket) {
            state.withLock { $0.requests.append(request) }
            guard let pieces = answer(request) else {
                // It stays open and says nothing.
                _ = socket.read(1)
                return
            }
            pieces.forEach(socket.write)
            if pieces.first?.contains("Connection: close") != false { return }
        }
    }

    private static func read(_ socket: Socket) -> Wire? {
        var head: [UInt8] = []
        while !head.suffix(4).elementsEqual("\r\n\r\n".utf8) {
            guard let byte = socket.read(1) else { return nil }
            head += byte
        }
        let lines = String(decoding: head, as: UTF8.self).components(separatedBy: "\r\n").filter { !$0.isEmpty }
        var headers: [String: String] = [:]
        for line in lines.dropFirst() {
            let parts = line.split(separator: ":", maxSplits: 1)
            headers[parts[0].lowercased()] = parts.last?.trimmingCharacters(in: .whitespaces)
        }
        guard let body = socket.read(exactly: headers["content-length"].flatMap { Int($0) } ?? 0) else { return nil }
        let method = lines[0].split(separator: " ").first.map { String($0) } ?? ""
        return Wire(method: method, headers: headers, body: String(decoding: body, as: UTF8.self))
    }
}

/// A request written by hand, to a server of ours on this port. It leaves with its last reference.
struct Asked: Sendable {
    private let socket = Socket(openSocket())

    init(_ port: Int, _ body: String, _ headers: [String] = []) {
        signal(SIGPIPE, SIG_IGN)
        let connected = loopback(UInt16(port)) { connect(socket.number, $0, $1) }
        precondition(connected == 0, "nobody listens on \(port)")
        let usual = [
            "Host: 127.0.0.1:\(port)", "Accept: application/json, text/event-stream", "Content-Type: application/json",
        ]
        let name = { (header: String) in header.prefix { $0 != ":" } }
        let fields = usual.filter { header in !headers.contains { name($0) == name(header) } } + headers
        let rest = ["Connection: close", "Content-Length: \(body.utf8.count)", "", body]
        socket.write((["POST /mcp HTTP/1.1"] + fields + rest).joined(separator: "\r\n"))
    }

    /// All of the response.
    func response() -> String {
        var all: [UInt8] = []
        while let more = socket.read(4096) { all += more }
        return String(decoding: all, as: UTF8.self)
    }
}

/// The status of the response, and all of it.
func ask(_ port: Int, _ body: String, _ headers: [String] = []) -> (status: Int, text: String) {
    let text = Asked(port, body, headers).response()
    return (Int(text.split(separator: " ").dropFirst().first ?? "") ?? 0, text)
}
