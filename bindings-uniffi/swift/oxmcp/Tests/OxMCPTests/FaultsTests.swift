import XCTest

@testable import OxMCP

/// What goes wrong in other packages that stand on native code.
final class FaultsTests: XCTestCase {
    private struct Mine: Error {}

    /// A server, and what its handlers did.
    private struct Site: Sendable {
        let server: Server
        let runs = Locked(0)
        let errors = Notes<any Error>()
        let release = Promise<Void>()

        init() throws {
            let (runs, errors, release) = (runs, errors, release)
            server = Server("test", version: "1.0", options: ServerOptions { $0.onError = { errors.add($0) } })
            try server.tool("quick") { (_: JSONObject, _) in
                runs.withLock { $0 += 1 }
                return "done"
            }
            try server.tool("deaf") { _ in
                // A task of its own is not cancelled with this one.
                try await Task.detached { try await release.get() }.value
                return "too late"
            }
            try server.tool("fails") { _ -> String in throw Mine() }
            try server.method("acme/fails") { _, _ in throw Mine() }
            try server.tool("waits") { _ in try await forever() }
        }
    }

    func testTenThousandCancelsRaceWithTheirAnswers() async throws {
        try await within {
            let site = try Site()
            let client = try await Client.connect(to: site.server)
            var cancelled = 0
            for round in 0..<100 {
                let calls = (0..<100).map { _ in Task { try await client.callTool("quick").text } }
                for call in calls.shuffled() {
                    if round.isMultiple(of: 2) { await Task.yield() }
                    call.cancel()
                }
                for call in calls {
                    switch await call.result {
                    case .success(let text): XCTAssertEqual(text, "done")
                    case .failure(let error):
                        XCTAssert(error is CancellationError, "\(error)")
                        cancelled += 1
                    }
                }
            }
            XCTAssertGreaterThan(cancelled, 0, "no cancel came before its answer")
            let last = try await client.callTool("quick")
            XCTAssertEqual(last.text, "done")
            XCTAssertEqual(client.waiting, 0)
            await client.close()
            await site.server.close()
            XCTAssert(site.errors.all.isEmpty, "\(site.errors.all)")
        }
    }

    func testCancelsRaceWithTheEndOfTheConnection() async throws {
        try await within {
            let site = try Site()
            for _ in 0..<100 {
                let client = try await Client.connect(to: site.server)
                let calls = (0..<50).map { _ in Task { try await client.callTool("waits") } }
                async let closing: Void = client.close()
                for call in calls { call.cancel() }
                await closing
                for call in calls {
                    guard case .failure(let error) = await call.result else { return XCTFail("a call gave something") }
                    XCTAssert(error is CancellationError || (error as? MCPError)?.kind == .closed, "\(error)")
                }
            }
            await site.server.close()
        }
    }

    func testReadersThatGiveUpLoseNothingForTheOthers() async throws {
        try await within {
            let site = try Site()
            try site.server.tool("tells") { call in
                try call.notify("acme/told")
                return ""
            }
            let heard = Locked(0)
            let options = ClientOptions {
                $0.protocolVersions = ["2025-11-25"]
                $0.notificationHandlers["acme/told"] = { _ in heard.withLock { $0 += 1 } }
            }
            let client = try await Client.connect(to: site.server, options: options)
            for at in 0..<1000 {
                let reader = Task { for await _ in client.notifications {} }
                if at.isMultiple(of: 2) { await Task.yield() }
                async let call = client.callTool("tells")
                if at.isMultiple(of: 3) { reader.cancel() }
                _ = try await call
                reader.cancel()
            }
            try await until { heard.withLock { $0 } == 1000 }
            await client.close()
            await site.server.close()
        }
    }

    func testACallThatIsCancelledBeforeItStartsIsNotSent() async throws {
        try await within {
            let site = try Site()
            let client = try await Client.connect(to: site.server)
            for options in [RequestOptions(), RequestOptions(onProgress: { _ in })] {
                let call = Task {
                    // Cancelled, whenever it gets to run.
                    withUnsafeCurrentTask { $0?.cancel() }
                    return try await client.callTool("quick", nil, options: options)
                }
                await isCancelled { try await call.value }
            }
            try await client.ping()
            XCTAssertEqual(site.runs.withLock { $0 }, 0)
            XCTAssertEqual(client.waiting, 0)
            await client.close()
            await site.server.close()
        }
    }

    func testAHandlerThatIgnoresItsCancelSaysNothingAnyMore() async throws {
        try await within {
            let site = try Site()
            let lines = Notes<String>()
            let options = ClientOptions { $0.onTrace = { sent, line in if !sent { lines.add(line) } } }
            let client = try await Client.connect(to: site.server, options: options)
            let call = Task { try await client.callTool("deaf") }
            try await until { site.server.waiting > 0 }
            call.cancel()
            await isCancelled { try await call.value }
            try await client.ping()
            let quick = try await client.callTool("quick")
            XCTAssertEqual(quick.text, "done")
            site.release.give(.success(()))
            try await until { site.server.waiting == 0 }
            try await client.ping()
            await client.close()
            await site.server.close()
            XCTAssertFalse(lines.all.isEmpty)
            XCTAssert(lines.all.allSatisfy { !$0.contains("too late") }, "\(lines.all)")
        }
    }

    func testAHandlerThatBlocksItsThreadHoldsUpNoPing() async throws {
        try await within {
            let site = try Site()
            let (entered, release) = (Notes<Void>(), DispatchSemaphore(value: 0))
            @Sendable func block() {
                entered.add(())
                release.wait()
            }
            try site.server.tool("blocks") { _ in
                block()
                return "done"
            }
            let client = try await Client.connect(to: site.server)
            let call = Task { try await client.callTool("blocks").text }
            _ = await entered.next()
            try await client.ping()
            release.signal()
            let text = try await call.value
            XCTAssertEqual(text, "done")
            await client.close()
            await site.server.close()
        }
    }

    func testAHandlerThatThrowsFailsItsCallAlone() async throws {
        try await within {
            let site = try Site()
            let client = try await Client.connect(to: site.server)
            let others = (0..<20).map { _ in Task { try await client.callTool("quick").text } }
            let failed = try await client.callTool("fails")
            XCTAssert(failed.isError)
            let hidden = await failure(.response) { try await client.request("acme/fails") }
            XCTAssertEqual(hidden.code, MCPError.Code.internalError)
            XCTAssertFalse(hidden.message.contains("Mine"), hidden.message)
            for other in others {
                let text = try await other.value
                XCTAssertEqual(text, "done")
            }
            XCTAssertEqual(site.errors.all.count, 1)
            XCTAssert(site.errors.all.first is Mine)
            await client.close()
            await site.server.close()
        }
    }

    func testClosingFromInsideACallback() async throws {
        try await within {
            // From the handler of a notification.
            let site = try Site()
            let server = site.server
            let mine = Promise<Client>(), closed = Promise<Void>()
            let first = try await Client.connect(
                to: server,
                options: ClientOptions {
                    $0.protocolVersions = ["2025-11-25"]
                    $0.notificationHandlers["notifications/tools/list_changed"] = { _ in
                        await (try mine.get()).close()
                        closed.give(.success(()))
                    }
                }
            )
            mine.give(.success(first))
            try server.tool("new") { _ in "" }
            try await closed.get()
            await failure(.closed) { try await first.ping() }
            // From a server's handler, of the server itself.
            try server.tool("ends all") { _ in
                await server.close()
                return ""
            }
            let second = try await Client.connect(to: server)
            await failure(.closed) { try await second.callTool("ends all") }
            await second.close()
            // From a report of progress.
            try server.tool("reports") { context in
                context.progress(1)
                return try await forever()
            }
            let third = try await Client.connect(to: server)
            await failure(.closed) { try await third.callTool("reports", onProgress: { _ in await third.close() }) }
            await server.close()
        }
    }

    func testCallsThatWaitFailWhenTheirConnectionIsClosed() async throws {
        try await within {
            let site = try Site()
            let client = try await Client.connect(to: site.server)
            let calls = (0..<50).map { _ in Task { try await client.callTool("waits") } }
            try await until { site.server.waiting == 50 }
            await client.close()
            for call in calls { await failure(.closed) { try await call.value } }
            await site.server.close()
            try await until { site.server.waiting == 0 }
        }
    }

    func testWhatLivesInNativeCodeGoesWithItsConnection() async throws {
        try await within {
            try await until { held() == 0 }
            for at in 0..<200 {
                let site = try Site()
                let client = try await Client.connect(to: site.server)
                _ = try await client.callTool("quick")
                let call = at.isMultiple(of: 2) ? Task { try await client.callTool("waits") } : nil
                await client.close()
                if let call { await failure(.closed) { try await call.value } }
                await site.server.close()
            }
            // A server's side ends a moment after its client's.
            try await until { held() == 0 }
        }
    }

    func testAClientThatIsLetGoOfEndsItsConnection() async throws {
        try await within {
            try await until { held() == 0 }
            let site = try Site()
            func use() async throws {
                let client = try await Client.connect(to: site.server)
                _ = try await client.callTool("quick")
            }
            try await use()
            try await until { held() == 0 }
        }
    }

    func testNothingIsLeftOfTwentyThousandCallsHalfOfWhichFail() async throws {
        try await within {
            let site = try Site()
            let client = try await Client.connect(to: site.server)
            for _ in 0..<100 {
                await withTaskGroup(of: Void.self) { group in
                    for at in 0..<200 {
                        group.addTask { _ = try? await client.callTool(at.isMultiple(of: 2) ? "quick" : "none") }
                    }
                }
            }
            XCTAssertEqual(site.runs.withLock { $0 }, 10_000)
            XCTAssertEqual(client.waiting, 0)
            try await until { site.server.waiting == 0 }
            await client.close()
            await site.server.close()
        }
    }
}
