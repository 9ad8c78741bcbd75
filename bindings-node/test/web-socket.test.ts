/**
 * The client's end of a WebSocket. The socket is played by the test, since not every Node has one.
 */

import assert from 'node:assert/strict';
import { afterEach, test } from 'node:test';

import { Client, InMemoryTransport, McpServer, UsageError } from 'oxmcp';
import { WebSocketClientTransport } from 'oxmcp/client/websocket.js';

import { textOf } from './support.js';

const before = Object.getOwnPropertyDescriptor(globalThis, 'WebSocket');

afterEach(() => {
  if (before === undefined) delete (globalThis as { WebSocket?: unknown }).WebSocket;
  else Object.defineProperty(globalThis, 'WebSocket', before);
});

/** The next sockets are of this kind. */
function use(kind: unknown): void {
  Object.defineProperty(globalThis, 'WebSocket', { value: kind, configurable: true, writable: true });
}

/** A socket whose other side is a server in this program. */
class Played {
  static readonly opened: Played[] = [];
  onopen: (() => void) | null = null;
  onclose: (() => void) | null = null;
  onerror: ((event: object) => void) | null = null;
  onmessage: ((event: { data: string }) => void) | null = null;
  readyState = 0;
  readonly #far: InMemoryTransport;
  readonly asked: readonly [url: string, protocol: string];

  constructor(url: string, protocol: string) {
    this.asked = [url, protocol];
    Played.opened.push(this);
    const [near, far] = InMemoryTransport.createLinkedPair();
    this.#far = near;
    const server = new McpServer({ name: 's', version: '1' });
    server.registerTool('greet', {}, () => 'Hello');
    near.onmessage = (message) => this.onmessage?.({ data: JSON.stringify(message) });
    void server.connect(far).then(() => near.start()).then(() => {
      this.readyState = 1;
      this.onopen?.();
    });
  }

  send(text: string): void {
    void this.#far.send(JSON.parse(text));
  }

  close(): void {
    this.readyState = 3;
    void this.#far.close().then(() => this.onclose?.());
  }
}

test('a client calls over a socket', async () => {
  use(Played);
  const transport = new WebSocketClientTransport(new URL('ws://127.0.0.1:1/mcp'));
  const client = new Client({ name: 'c', version: '1' });
  await client.connect(transport);
  const [socket] = Played.opened;
  assert.deepEqual(socket?.asked, ['ws://127.0.0.1:1/mcp', 'mcp']);
  assert.equal(textOf(await client.callTool({ name: 'greet' })), 'Hello');
  const errors: string[] = [];
  transport.onerror = ({ message }) => errors.push(message);
  socket?.onmessage?.({ data: 'noise' });
  assert.deepEqual(errors, ['the other side sent a message that is not JSON: noise']);
  await assert.rejects(transport.start(), UsageError);
  const closed = new Promise<void>((resolve) => (client.onclose = resolve));
  socket?.close();
  await closed;
  await assert.rejects(transport.send({ jsonrpc: '2.0', method: 'x' }), { message: 'the WebSocket to ws://127.0.0.1:1/mcp is not open' });
});

test('a socket that does not open fails the connection', async () => {
  const failing = (fail: (socket: Played) => void): unknown =>
    class {
      readyState = 0;
      constructor() {
        setImmediate(() => fail(this as unknown as Played));
      }
      close(): void {}
    };
  const connect = (): Promise<void> => new Client({ name: 'c', version: '1' }).connect(new WebSocketClientTransport('ws://a.test/'));
  const own = new Error('refused');
  use(failing((socket) => socket.onerror?.({ error: own })));
  await assert.rejects(connect(), { message: 'the WebSocket to ws://a.test/ failed: refused', cause: own });
  use(failing((socket) => socket.onerror?.({ error: new Error() })));
  await assert.rejects(connect(), { message: 'the WebSocket to ws://a.test/ failed' });
  use(failing((socket) => socket.onerror?.({ message: 'no route' })));
  await assert.rejects(connect(), { message: 'the WebSocket to ws://a.test/ failed: no route' });
  use(failing((socket) => socket.onclose?.()));
  await assert.rejects(connect(), /was closed/);
  use(undefined);
  await assert.rejects(connect(), (error: Error) => error instanceof UsageError && /Node has it from 22 on/.test(error.message));
});
