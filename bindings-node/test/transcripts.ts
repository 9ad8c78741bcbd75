/** Moves a native session by the transcripts of `tests/vectors`. Their README describes the steps. */

import assert from 'node:assert/strict';
import { readFileSync } from 'node:fs';
import { basename, join } from 'node:path';

import { native } from '../dist/native.js';
import type { NativeCallOptions, NativeSession } from '../dist/native.js';
import { decode, encode, exact, matches, plain } from './exact.js';
import type { Exact, Members } from './exact.js';

export const FOLDER = join(__dirname, '..', '..', 'tests', 'vectors');

/** One row of the flat array of events, with the whole array as text. */
interface Event {
  readonly kind: string;
  readonly id: number | null;
  readonly first: Exact;
  readonly second: Exact;
  readonly text: string;
}

/** How many bytes a chunk has: as they come, so many, or with the `receive` steps that follow at once. */
export type Cut = 'whole' | 'joined' | number;

/** One run of one transcript. */
export class Runner {
  readonly #lines: string[];
  readonly #file: string;
  readonly #cut: Cut;
  #session!: NativeSession;
  #now = 0;
  #wire: string[] = [];
  #events: Event[] = [];
  #names = new Map<string, number>();
  /** The keys of entries, by kind and number. */
  #keys = new Map<string, string>();
  #joined: Buffer[] = [];
  #closed = false;

  constructor(path: string, cut: Cut) {
    this.#lines = readFileSync(path, 'utf8').split('\n');
    this.#file = basename(path);
    this.#cut = cut;
  }

  run(): void {
    this.#lines.forEach((line, at) => {
      if (line.trim() === '') return;
      try {
        const fields = new Fields(decode(line));
        if (at === 0) this.#start(fields);
        else this.#step(fields);
        fields.finish();
      } catch (error) {
        throw new Error(`${this.#file}:${at + 1}: ${message(error)} [cut: ${this.#cut}]`, { cause: error });
      }
    });
    this.#flush();
    this.#quiet();
    if (this.#closed) assert.deepEqual({ ...this.#session.stats() }, { inbound: 0, outbound: 0, buffered: 0 });
  }

  #start(header: Fields): void {
    assert.ok(header.text('name') && header.text('about'), 'the header needs a name and what it is about');
    const role = header.text('role');
    const tools = header.list('tools');
    const setup = header.list('setup');
    const connected = header.text('connected');
    const capabilities = header.take('peer_capabilities');
    const info = JSON.stringify({ name: 'vectors', version: '1', ...(header.plain('info') as object | undefined) });
    const given = (header.take('settings') ?? {}) as Members;
    // What is left are the session's own options, which refuse what they do not know.
    const options = encode({ '"probe': false, ...given, ...header.rest() });
    const { Session, Registry } = native();
    const registry = new Registry();
    this.#session = role === 'server' ? Session.server(info, options, registry) : Session.client(info, options, registry);
    for (const tool of tools) this.#command(addTool(tool));
    for (const command of setup) this.#command(encode(command));
    if (connected !== undefined) this.#handshake(role === 'server', connected, capabilities);
  }

  #handshake(server: boolean, protocolVersion: string, capabilities: Exact | undefined): void {
    const peer = { name: 'peer', version: '1' };
    const has = capabilities === undefined ? (server ? {} : { tools: {} }) : plain(capabilities);
    if (server) {
      const params = { protocolVersion, capabilities: has, clientInfo: peer };
      this.#feedMessage(exact({ id: 'handshake', method: 'initialize', params }));
      this.#feedMessage(exact({ method: 'notifications/initialized' }));
    } else {
      this.#session.connect(null, this.#now);
      this.#feedMessage(exact({ id: 0, result: { protocolVersion, capabilities: has, serverInfo: peer } }));
    }
    this.#flush();
    const ready = this.#events.shift();
    assert.equal(ready?.kind, 'ready');
    sameMembers(exact({ protocolVersion }), ready.first);
    this.#wire = [];
    this.#quiet();
  }

  #step(step: Fields): void {
    const [verb, value] = step.verb();
    if (verb === 'receive') return this.#feedMessage(value);
    if (verb === 'receive_text') return this.#feed(Buffer.from(textOf(value)));
    if (verb === 'receive_hex') return this.#feed(Buffer.from(textOf(value).replaceAll(' ', ''), 'hex'));
    this.#flush();
    if (verb === 'turn') {
      for (const part of value as Exact[]) this.#part(new Fields(part));
      return this.#drain();
    }
    const known = this.#act(verb, value, step) || this.#check(verb, value) || this.#checkEvent(verb, value, step);
    if (!known) throw new Error(`there is no step "${verb}"`);
    this.#drain();
  }

  /** A step of a turn, in which nothing is taken out before the last one. */
  #part(step: Fields): void {
    const [verb, value] = step.verb();
    if (!this.#act(verb, value, step)) throw new Error(`a turn has no step "${verb}"`);
    step.finish();
  }

  #feedMessage(value: Exact): void {
    this.#feed(Buffer.from(`${encode(withVersion(value))}\n`));
  }

  #feed(bytes: Buffer): void {
    if (this.#cut === 'joined') {
      this.#joined.push(bytes);
      return;
    }
    const size = this.#cut === 'whole' ? bytes.length : this.#cut;
    for (let start = 0; start < bytes.length; start += size) {
      this.#session.receive(bytes.subarray(start, start + size), this.#now);
      // What a chunk gave is taken out before the next, as a driver does.
      this.#drain();
    }
  }

  #flush(): void {
    const bytes = Buffer.concat(this.#joined);
    this.#joined = [];
    if (bytes.length > 0) this.#session.receive(bytes, this.#now);
    this.#drain();
  }

  #drain(): void {
    const [text, wire] = this.#session.poll();
    const values = decode(text) as Exact[];
    assert.equal(values.length % 4, 0, text);
    for (let at = 0; at < values.length; at += 4) {
      const [kind, id, first, second] = values.slice(at, at + 4) as [Exact, Exact, Exact, Exact];
      const event = whole({ kind: textOf(kind), id: plain(id) as number | null, first, second, text });
      this.#closed ||= event.kind === 'closed';
      this.#events.push(event);
    }
    const lines = Buffer.from(wire).toString('utf8').split('\n');
    assert.equal(lines.pop(), '', 'what was written does not end its line');
    this.#wire.push(...lines);
  }

  #quiet(): void {
    const left = [...this.#wire, ...this.#events.map((event) => JSON.stringify(event))];
    if (left.length > 0) throw new Error(`nobody expected this: ${left.join(' ')}`);
  }

  /** Steps that make the session do something. */
  #act(verb: string, value: Exact, step: Fields): boolean {
    const session = this.#session;
    switch (verb) {
      case 'connect': {
        const timeout = new Fields(value).number('timeout');
        this.#attempt(step, () => session.connect(timeout, this.#now));
        return true;
      }
      case 'begin':
      case 'call_tool':
        this.#begin(verb, new Fields(value), step);
        return true;
      case 'notify': {
        const fields = new Fields(value);
        const [method, params] = [fields.text('method')!, fields.payload('params')];
        this.#attempt(step, () => session.notify(method, params));
        return true;
      }
      case 'cancel':
        step.flag('sent', session.cancel(this.#named(value), step.text('reason') ?? null));
        return true;
      case 'respond':
        step.flag('sent', this.#respond(this.#named(value), step));
        return true;
      case 'report_progress': {
        const [progress, total, text] = [step.number('progress'), step.number('total'), step.text('message') ?? null];
        assert.ok(progress !== null, 'report_progress needs progress');
        step.flag('sent', session.progress(this.#named(value), progress, total, text));
        return true;
      }
      case 'describe_tool': {
        const entry = this.#entry('tool', textOf((value as Members)['"name']));
        this.#command(`{"describe":{"kind":"tool","entry":${entry},"descriptor":${encode(value)}}}`);
        return true;
      }
      case 'command':
        this.#runCommand(new Fields(value), step);
        return true;
      case 'resume':
        step.flag('sent', session.resume(this.#named(value)));
        return true;
      case 'advance':
        this.#advance(plain(value) as number);
        return true;
      case 'end_input':
        session.endInput(this.#now);
        return true;
      case 'close':
        session.close(textOf(value));
        return true;
      default:
        return false;
    }
  }

  #begin(verb: string, call: Fields, step: Fields): void {
    const options: NativeCallOptions = [
      call.number('timeout'),
      call.number('max_total_timeout'),
      call.take('reset_timeout_on_progress') === true,
      call.take('progress') === true,
      false,
      null,
    ];
    const target = call.text(verb === 'begin' ? 'method' : 'name')!;
    const payload = call.payload(verb === 'begin' ? 'params' : 'arguments');
    call.finish();
    const work = verb === 'begin' ? 'begin' : 'callTool';
    this.#attempt(step, () => this.#session[work](target, payload, options, this.#now));
  }

  /** Runs a command, with the call in it by its number, and compares what it gives. */
  #runCommand(command: Fields, step: Fields): void {
    const [verb, value] = command.verb();
    command.finish();
    const inner = new Fields(value);
    const call = inner.take('call');
    const members = inner.rest();
    if (call !== undefined) members['"call'] = String(this.#named(call));
    const gives = step.take('gives');
    this.#attempt(step, () => {
      const given = this.#command(encode({ [`"${verb}`]: members }));
      if (given['"call'] !== undefined) return plain(given['"call']) as number;
      if (gives !== undefined) same(gives, given);
      return undefined;
    });
  }

  /** Runs a command; remembers the key of what it adds. */
  #command(text: string): Members {
    const given = decode(this.#session.command(text, this.#now)) as Members;
    const entry = given['"entry'];
    if (entry !== undefined) {
      const added = (decode(text) as Members)['"add'] as Members;
      this.#keys.set(`${textOf(added['"kind'])} ${plain(entry)}`, textOf(added['"key']));
    }
    return given;
  }

  #entry(kind: string, key: string): number {
    for (const [entry, known] of this.#keys) {
      if (known === key && entry.startsWith(`${kind} `)) return Number(entry.slice(kind.length + 1));
    }
    throw new Error(`there is no ${kind} ${key}`);
  }

  #respond(id: number, step: Fields): boolean {
    const failed = step.text('tool_error');
    if (failed !== undefined) return this.#session.respondToolError(id, failed, this.#now);
    const invalid = step.text('invalid_arguments');
    if (invalid !== undefined) return this.#session.respondInvalidArguments(id, invalid, this.#now);
    const error = step.take('error');
    if (error === undefined) return this.#session.respondResult(id, step.payload('result')!, this.#now);
    const fields = new Fields(error);
    const data = fields.take('data');
    const [code, text] = [fields.number('code')!, fields.text('message')!];
    return this.#session.respondError(id, code, text, data === undefined ? null : encode(data), this.#now);
  }

  /** Lets time pass as a driver does: each deadline is handled when it comes. */
  #advance(by: number): void {
    const target = this.#now + by;
    for (;;) {
      const due = this.#session.pollTimeout();
      if (due === null || due > target) break;
      this.#now = Math.max(this.#now, due);
      this.#session.handleTimeout(this.#now);
      this.#drain();
      const next = this.#session.pollTimeout();
      assert.ok(next === null || next > this.#now, 'a handled deadline is still due');
    }
    this.#now = target;
    this.#session.handleTimeout(target);
  }

  #attempt(step: Fields, work: () => number | void | undefined): void {
    const refused = step.take('refused');
    let made: number | void;
    try {
      made = work();
    } catch (error) {
      if (refused === undefined || error instanceof Error) throw error;
      return sameMembers(refused, exact(error));
    }
    if (refused !== undefined) throw new Error(`expected it to be refused as ${encode(refused)}, it was not`);
    if (typeof made === 'number') this.#name(step, made);
  }

  /** Steps that say what was written, and what the session holds. */
  #check(verb: string, value: Exact): boolean {
    switch (verb) {
      case 'expect':
        same(withVersion(value), decode(this.#message()));
        return true;
      case 'expect_text':
        assert.equal(this.#message(), textOf(value));
        return true;
      case 'silence':
        this.#quiet();
        return true;
      case 'stats':
        sameMembers(value, exact(this.#session.stats()));
        return true;
      case 'timer': {
        const due = this.#session.pollTimeout();
        assert.equal(due === null ? null : due - this.#now, plain(value), 'the next deadline');
        return true;
      }
      default:
        return false;
    }
  }

  #checkEvent(verb: string, value: Exact, step: Fields): boolean {
    const names: Record<string, string> = { connect_failed: 'connectFailed' };
    const plainNames = ['call', 'describe', 'cancelled', 'ready', 'progress', 'notification', 'problem', 'closed'];
    const kind = verb === 'done' ? (step.has('error') ? 'error' : 'result') : (names[verb] ?? verb);
    if (verb !== 'done' && names[verb] === undefined && !plainNames.includes(verb)) return false;
    const event = this.#events.shift();
    if (event?.kind !== kind) throw new Error(`expected an event ${kind}, got ${JSON.stringify(event)}`);
    const part = step.text('text');
    if (part !== undefined && !event.text.includes(part)) throw new Error(`the text ${part} is not in ${event.text}`);
    if (['cancelled', 'progress', 'done'].includes(verb)) assert.equal(event.id, this.#named(value), 'the call');
    this.#compare(kind, event, value, step);
    return true;
  }

  #compare(kind: string, event: Event, value: Exact, step: Fields): void {
    switch (kind) {
      case 'call':
        this.#compareCall(event, value);
        return this.#name(step, event.id!);
      case 'describe':
        same(step.take('kind') ?? '"tool', event.first);
        this.#names.set(textOf(value), event.id!);
        return;
      case 'cancelled':
        return same(step.take('reason') ?? null, event.first);
      case 'progress':
        return same(step.take('params')!, event.first);
      case 'result':
        return same(step.take('result')!, event.first);
      case 'error':
        return sameMembers(step.take('error')!, event.first);
      case 'notification':
        this.#compareStream(event, step);
        same(value, event.first);
        return same(step.take('params') ?? null, event.second);
      case 'problem':
        return sameMembers(value, { '"kind': event.first, '"message': event.second });
      case 'ready':
      case 'connectFailed':
        return sameMembers(value, event.first);
      default:
    }
  }

  /** Compares a call for the host: `{kind: key, params?, progress?}`, and for a tool `arguments`. */
  #compareCall(event: Event, value: Exact): void {
    const [kind, target, wantsProgress] = event.first as [Exact, Exact, Exact];
    const wanted = new Fields(value);
    const [wantedKind, key] = wanted.verb();
    const table = textOf(kind).replace('Completion', '');
    const found = table === 'method' ? textOf(target) : this.#keys.get(`${table} ${plain(target)}`);
    assert.deepEqual([textOf(kind), found], [wantedKind, textOf(key)]);
    same(wanted.take('progress') ?? false, wantsProgress);
    same(wanted.take('params') ?? wanted.take('arguments') ?? null, event.second);
    wanted.finish();
  }

  #compareStream(event: Event, step: Fields): void {
    const name = step.take('subscription');
    assert.equal(event.id, name === undefined ? null : this.#named(name), 'the stream of the notification');
  }

  #name(step: Fields, id: number): void {
    const name = step.text('as');
    if (name !== undefined) this.#names.set(name, id);
  }

  #message(): string {
    const next = this.#wire.shift();
    if (next === undefined) throw new Error('expected a message, nothing was written');
    return next;
  }

  #named(value: Exact): number {
    const id = this.#names.get(textOf(value));
    if (id === undefined) throw new Error(`no earlier step named a call ${encode(value)}`);
    return id;
  }
}

/** The members of an object, taken one by one so that a misspelt one is found. */
class Fields {
  readonly #members: Map<string, Exact>;

  constructor(value: Exact) {
    assert.ok(value !== null && typeof value === 'object' && !Array.isArray(value), 'a step is a JSON object');
    this.#members = new Map(Object.entries(value));
  }

  /** The first member: it names the step. */
  verb(): [string, Exact] {
    for (const [key, value] of this.#members) {
      this.#members.delete(key);
      return [key.slice(1), value];
    }
    throw new Error('a step needs a member');
  }

  has(name: string): boolean {
    return this.#members.has(`"${name}`);
  }

  take(name: string): Exact | undefined {
    const value = this.#members.get(`"${name}`);
    this.#members.delete(`"${name}`);
    return value;
  }

  text(name: string): string | undefined {
    const value = this.take(name);
    return value === undefined ? undefined : textOf(value);
  }

  number(name: string): number | null {
    const value = this.take(name);
    return value === undefined ? null : (plain(value) as number);
  }

  list(name: string): Exact[] {
    return (this.take(name) ?? []) as Exact[];
  }

  plain(name: string): unknown {
    const value = this.take(name);
    return value === undefined ? undefined : plain(value);
  }

  /** A payload is JSON, or a string that holds its text. */
  payload(name: string): string | null {
    const text = this.text(`${name}_text`);
    if (text !== undefined) return text;
    const value = this.take(name);
    return value === undefined ? null : encode(value);
  }

  /** Compares what a call of the session gave; true where the transcript does not say. */
  flag(name: string, found: boolean): void {
    same(this.take(name) ?? true, found);
  }

  rest(): Members {
    const rest = Object.fromEntries(this.#members);
    this.#members.clear();
    return rest;
  }

  finish(): void {
    const left = [...this.#members.keys()].map((key) => key.slice(1));
    if (left.length > 0) throw new Error(`the members ${left.join(', ')} are not known here`);
  }
}

/** The command that adds a tool: a whole descriptor, or the name of one that is described later. */
function addTool(tool: Exact): string {
  const described = typeof tool !== 'string';
  const key = described ? (tool as Members)['"name']! : tool;
  return encode({ '"add': { '"kind': '"tool', '"key': key, ...(described && { '"descriptor': tool }) } });
}

function textOf(value: Exact | undefined): string {
  assert.ok(typeof value === 'string' && value.startsWith('"'), `expected a string, got ${JSON.stringify(value)}`);
  return value.slice(1);
}

function withVersion(value: Exact): Exact {
  if (value === null || typeof value !== 'object' || Array.isArray(value) || Object.hasOwn(value, '"jsonrpc')) return value;
  return { '"jsonrpc': '"2.0', ...value };
}

function same(wanted: Exact, found: Exact): void {
  if (!matches(wanted, found)) throw new Error(`expected ${encode(wanted)}, got ${encode(found)}`);
}

/** Compares the members that `wanted` names; of `message`, a part is enough. */
function sameMembers(wanted: Exact, found: Exact): void {
  for (const [key, value] of Object.entries(wanted as Members)) {
    const wants = key === '"message' && typeof value === 'string' ? { '"$contains': value } : value;
    const has = (found as Members)[key] ?? null;
    if (!matches(wants, has)) throw new Error(`expected ${encode(wanted)}, got ${encode(found)}`);
  }
}

function message(error: unknown): string {
  return error instanceof Error ? error.message : JSON.stringify(error);
}

/** A call of a tool, which comes in few words, as the calls of all other kinds come. */
function whole(event: Event): Event {
  return event.kind === 'tool' ? { ...event, kind: 'call', first: ['"tool', event.first, false] } : event;
}
