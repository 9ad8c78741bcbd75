/**
 * What the tests share: a server as a child process, and a server in the hand, with a clock in the hand.
 */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import path from 'node:path';

import { type CallToolResult, Client, type ClientOptions, InMemoryTransport, type McpServer, type StdioServerParameters } from 'oxmcp';

import { connectionOf, openClient } from '../dist/client.js';
import type { Clock } from '../dist/clock.js';
import { connectionsOf } from '../dist/server.js';
import type { Transport, TransportEvents } from '../dist/transport.js';

export const packageFolder = path.join(__dirname, '..');

export function fixture(name: string): string {
  return path.join(packageFolder, 'test', 'fixtures', name);
}

/** The server of `fixtures/server.mjs`. Its stderr is piped, so that tests are quiet. */
export function fixtureServer(extra: Partial<StdioServerParameters> = {}): StdioServerParameters {
  return { command: process.execPath, args: [fixture('server.mjs')], stderr: 'pipe', ...extra };
}

export async function connected(options?: ClientOptions, extra?: Partial<StdioServerParameters>): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, options);
  await client.connect(fixtureServer(extra));
  return client;
}

/** A clock that moves when told to. */
export class HandClock implements Clock {
  #now = 1000;
  readonly #timers = new Set<{ at: number; task: () => void }>();

  now(): number {
    return this.#now;
  }

  after(delay: number, task: () => void): { cancel(): void } {
    const timer = { at: this.#now + delay, task };
    this.#timers.add(timer);
    return { cancel: () => this.#timers.delete(timer) };
  }

  get timers(): number {
    return this.#timers.size;
  }

  /** Lets time pass, and runs what became due, in its order. */
  advance(by: number): void {
    const end = this.#now + by;
    for (;;) {
      const due = [...this.#timers].filter((timer) => timer.at <= end).sort((a, b) => a.at - b.at)[0];
      if (due === undefined) break;
      this.#timers.delete(due);
      this.#now = Math.max(this.#now, due.at);
      due.task();
    }
    this.#now = end;
  }
}

/** A server played by the test. */
export class HandTransport implements Transport {
  readonly sent: Record<string, any>[] = [];
  /** Whether the server takes what is written to it, so that it has left. */
  reads = true;
  paused = false;
  closes = 0;
  #events: TransportEvents | undefined;
  readonly #waiting: (() => void)[] = [];

  open(events: TransportEvents): void {
    this.#events = events;
  }

  write(wire: string | Uint8Array, written?: () => void): void {
    if (written !== undefined) this.#waiting.push(written);
    if (this.reads) process.nextTick(() => this.readAll());
    const text = typeof wire === 'string' ? wire : Buffer.from(wire).toString();
    for (const line of text.split('\n').slice(0, -1)) this.sent.push(JSON.parse(line));
  }

  pause(paused: boolean): void {
    this.paused = paused;
  }

  async close(): Promise<void> {
    this.closes++;
  }

  /** Bytes from the server: an object is sent as one line, text as it is. */
  say(...messages: (object | string)[]): void {
    const text = messages.map((one) => (typeof one === 'string' ? one : `${JSON.stringify({ jsonrpc: '2.0', ...one })}\n`));
    const bytes = Buffer.from(text.join(''));
    this.#events?.data(bytes, bytes.length);
  }

  end(): void {
    this.#events?.ended({ text: '' });
  }

  /** Takes all that was written. */
  readAll(): void {
    this.reads = true;
    for (const written of this.#waiting.splice(0)) written();
  }

  /** The last message the client sent. */
  get last(): Record<string, any> {
    const last = this.sent.at(-1);
    if (last === undefined) throw new Error('the client has sent nothing');
    return last;
  }
}

export interface Played {
  readonly client: Client;
  readonly server: HandTransport;
  readonly clock: HandClock;
}

/** What the client wants to write is written by the end of this turn. */
export function turn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}

/** A client that has begun its handshake with a server in the hand, of the handshake where not told otherwise. */
export function connecting(options: ClientOptions = {}): Played & { done: Promise<void> } {
  const server = new HandTransport();
  const clock = new HandClock();
  const client = new Client({ name: 'test', version: '1.0.0' }, { mode: 'legacy', ...options });
  return { client, server, clock, done: openClient(client, () => server, clock, {}) };
}

/** A client that is connected to a server in the hand. */
export async function played(options?: ClientOptions, capabilities: object = { tools: {} }): Promise<Played> {
  const { client, server, clock, done } = connecting(options);
  await turn();
  server.say({
    id: server.last['id'],
    result: { protocolVersion: '2025-11-25', capabilities, serverInfo: { name: 'hand', version: '1' } },
  });
  await done;
  await turn();
  return { client, server, clock };
}

/** Resolves when a process of this id is gone or only waits to be reaped. Fails the test by its timeout otherwise. */
export async function gone(pid: number): Promise<void> {
  while (isRunning(pid)) await turn();
}

export function isRunning(pid: number): boolean {
  try {
    process.kill(pid, 0);
  } catch {
    return false;
  }
  try {
    return !/^State:\s+Z/m.test(readFileSync(`/proc/${pid}/status`, 'utf8'));
  } catch {
    return process.platform !== 'linux';
  }
}

/** The two eras: how a client comes to speak each, and the newest revision of it. */
export const ERAS = [
  { mode: 'auto', revision: '2026-07-28' },
  { mode: 'legacy', revision: '2025-11-25' },
] as const;

/** A server of either kind. */
interface Connectable {
  connect(transport: InMemoryTransport): Promise<void>;
}

/** A client that is connected to a server in this program. */
export async function linked(server: Connectable, options?: ClientOptions): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, options);
  await join(client, server);
  return client;
}

/** Connects the two in memory. */
export async function join(client: Client, server: Connectable): Promise<void> {
  const [near, far] = InMemoryTransport.createLinkedPair();
  await server.connect(far);
  await client.connect(near);
}

export interface Message {
  readonly direction: 'sent' | 'received';
  readonly id?: number;
  readonly method?: string;
  readonly params?: Record<string, any>;
  readonly result?: Record<string, any>;
  readonly error?: Record<string, any>;
}

/** What went over the wire of a client, for `ontrace`. */
export class Wire {
  readonly messages: Message[] = [];
  readonly ontrace = (direction: 'sent' | 'received', line: string): void => {
    this.messages.push({ direction, ...JSON.parse(line) });
  };

  /** The methods of what came from the server by itself. */
  get notifications(): string[] {
    const came = this.messages.filter((message) => message.direction === 'received' && message.method !== undefined);
    return came.map((message) => message.method ?? '');
  }

  /** How often a method was sent. */
  sent(method: string): number {
    return this.messages.filter((message) => message.direction === 'sent' && message.method === method).length;
  }
}

/** Nothing that either side holds is left. */
export function assertIdle(client: Client, server?: McpServer): void {
  const held = [connectionOf(client), ...(server === undefined ? [] : connectionsOf(server))];
  for (const connection of held) {
    const { calls, inbound, outbound } = connection?.stats ?? { calls: 0, inbound: 0, outbound: 0 };
    assert.deepEqual({ calls, inbound, outbound }, { calls: 0, inbound: 0, outbound: 0 });
  }
}

export function textOf(result: CallToolResult): string | undefined {
  const [block] = result.content;
  return block?.type === 'text' ? block.text : undefined;
}
