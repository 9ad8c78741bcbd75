/**
 * Drives one native session: bytes in, events out, one write per turn of the event loop, one timer. Internal.
 */

import { onAbort } from './abort.js';
import type { Clock, Timer } from './clock.js';
import { ConnectionClosedError, type ErrorDetails, fromNative, nativeDetails, textOf, toError } from './errors.js';
import type { ErrorAnswer } from './failure.js';
import type { ConnectionHooks, Home, Peer } from './home.js';
import { type CallKind, Incoming } from './incoming.js';
import { objectText } from './json.js';
import { type NativeCallOptions, type NativeSession, native } from './native.js';
import {
  type AbortSignalLike,
  type AskOptions,
  type ConnectOptions,
  type Problem,
  type RequestOptions,
  milliseconds,
  optionsText,
  toNative,
} from './options.js';
import type { Origin } from './origin.js';
import type { Call } from './outgoing.js';
import { type Transport, type TransportEnd, startOver } from './transport.js';
import type { JsonObject, LoggingMessage, Progress } from './types.js';

/**
 * How much of what the peer made us write may wait before nothing more is read: it must read before we answer it more.
 * Our own requests never count: two sides that both stop reading until theirs are written would wait for each other.
 */
const OWED = 16 * 1024 * 1024;

/** Calls that wait to be written together; more of them leave in parts, so that the server works while we go on. */
const BURST = 64;

/** Of a connection that made no call, as most of those do that are there for one request. */
const NO_CALLS = new Map<number, Call>();

export class Connection {
  #sessionId: string | undefined;
  readonly #native = native();
  #made: NativeSession | undefined;
  /** The number of its session. */
  readonly handle: number;
  readonly #transport: Transport;
  readonly #clock: Clock;
  readonly #hooks: ConnectionHooks;
  #calls = NO_CALLS;
  readonly #incoming = new Map<number, Incoming>();
  /** Whether all that is written is for the peer to read before it gets more: a server makes few requests of its own. */
  readonly #owesAll: boolean;
  readonly #elsewhere: boolean;
  #handshake: Call | undefined;
  #peer: Peer | undefined;
  #end: TransportEnd | undefined;
  #closed = false;
  #failed = false;
  #flushing = false;
  /** What came is being given out. */
  #reading = false;
  /** Answers that were given meanwhile, and wait to cross: for each a line. */
  #answers = '';
  #asking = false;
  /** While a call waits that nothing else keeps the process alive for: without it, its promise would never settle. */
  #alive: NodeJS.Timeout | undefined;
  #rearm = false;
  /** The core may have something to tell at the end of the turn, and not only with the next input. */
  #tells = false;
  /** An answer of ours may set off more than itself: in clients, in servers that ask, and after the end of the input. */
  #answersTell: boolean;
  /** What functions of this program threw, in the order in which the core was told of it. */
  readonly #thrown: unknown[] = [];
  #unsent = 0;
  #owed = 0;
  /** What put the session out of order. */
  #fault: { readonly error: unknown } | undefined;
  #timer: { readonly at: number; readonly timer: Timer } | undefined;

  /** Set for a session elsewhere: nothing is written and no time passes here. */
  readonly #home: Home | undefined;
  /** Nothing more is to be said to a session elsewhere. */
  #isOver = false;
  /** Where what comes at the moment comes from. */
  #from: Origin | undefined;

  /**
   * @param session or its handle, by which its home finds it
   * @param home of a session elsewhere, whose rows come by {@link take}
   */
  constructor(
    role: 'client' | 'server',
    session: NativeSession | number,
    transport: Transport,
    clock: Clock,
    hooks: ConnectionHooks,
    home?: Home,
  ) {
    this.#home = home;
    this.#elsewhere = home !== undefined;
    this.#owesAll = role === 'server';
    this.#answersTell = role === 'client';
    if (typeof session === 'number') this.handle = session;
    else [this.#made, this.handle] = [session, session.handle];
    this.#transport = transport;
    this.#clock = clock;
    this.#hooks = hooks;
  }

  /** Names the connection, where its transport has names. */
  get sessionId(): string | undefined {
    if (this.#home?.sessionOf === undefined || this.#isOver) return this.#sessionId;
    return (this.#sessionId ??= this.#session.sessionId() ?? undefined);
  }

  set sessionId(id: string | undefined) {
    this.#sessionId = id;
  }

  get peer(): Peer | undefined {
    return this.#peer;
  }

  /** Made where it is asked for: a request that stands for itself costs more by such an object than by all else here. */
  get #session(): NativeSession {
    const session = this.#isOver ? undefined : (this.#made ??= this.#home?.sessionOf?.(this.handle));
    if (session !== undefined) return session;
    throw toError({ kind: 'closed', message: 'the request is over', fault: 'local', retryable: false });
  }

  /** The session, once it has the answers that were given: for what could put an end to their calls. */
  get #inOrder(): NativeSession {
    this.#home?.settle?.();
    if (this.#answers !== '') {
      const wire = this.#native.answer(this.handle, this.#takeAnswers(), this.#clock.now(), -1);
      if (wire !== null) this.#writeOwed(wire);
    }
    return this.#session;
  }

  #takeAnswers(): string {
    const answers = this.#answers;
    this.#answers = '';
    return answers;
  }

  /** The session itself, for tests. */
  get session(): NativeSession {
    return this.#session;
  }

  get isClosed(): boolean {
    return this.#closed || this.#failed;
  }

  /** What is held at the moment: calls that wait, here and in the core. */
  get stats(): { calls: number; inbound: number; outbound: number; buffered: number; timer: boolean } {
    const calls = this.#calls.size + this.#incoming.size;
    if (this.#isOver) return { calls, inbound: 0, outbound: 0, buffered: 0, timer: false };
    return { calls, ...this.#session.stats(), timer: this.#timer !== undefined };
  }

  /** Starts the transport and the handshake; resolves once the connection is ready. */
  open(options: ConnectOptions): Promise<void> {
    return new Promise((resolve, reject) => {
      const { signal } = options;
      if (signal?.aborted) {
        this.#closed = true;
        reject(signal.reason);
        return;
      }
      try {
        if (!this.#elsewhere) this.#session.connect(milliseconds('timeout', options.timeout), this.#clock.now());
      } catch (thrown) {
        this.#closed = true;
        reject(fromNative(thrown));
        return;
      }
      const handshake: Call = { resolve: () => resolve(), reject, onprogress: undefined, isTool: false, release: undefined };
      this.#handshake = handshake;
      this.#hold();
      if (signal !== undefined) {
        handshake.release = onAbort(signal, () => {
          this.#takeHandshake()?.reject(signal.reason);
          void this.close('connecting was aborted');
        });
      }
      this.accept();
      this.#flushSoon();
    });
  }

  /** Starts the transport, and waits for what comes. */
  accept(): void {
    this.#transport.open({
      data: (buffer, length, from) => {
        this.#from = from;
        this.#receive(buffer, length);
        this.#from = undefined;
      },
      ended: (why) => this.#ended(why),
    });
  }

  /** Makes a call. `params` is JSON text. */
  request(method: string, params: string | null, options: RequestOptions | undefined): Promise<unknown> {
    return this.#call(options, (native, now) => {
      // What is fresh is at hand, and comes without an answer of the server.
      this.#tells = true;
      return this.#session.begin(method, params, native, now);
    }, method === 'tools/call');
  }

  /** Asks for a whole list, all pages of it. */
  list(method: string, options: RequestOptions | undefined): Promise<unknown> {
    return this.#call(options, () => this.#beginBy(`{"list":{"method":"${method}","options":${optionsText(options)}}}`));
  }

  /** Asks the other side for something that a function of ours needs for its answer. `params` is JSON text. */
  ask(call: Incoming, method: string, params: string | null, options: AskOptions | undefined): Promise<unknown> {
    this.#answersTell = true;
    const { key, ...others } = options ?? {};
    const named = key === undefined ? '' : `"key":${JSON.stringify(key)},`;
    const rest = `${named}"method":${JSON.stringify(method)},"params":${params},"options":${optionsText(others)}`;
    return this.#call(others, () => {
      this.#settleSoon();
      return this.#beginBy(`{"ask":{"call":${call.id},${rest}}}`, (text, now) => this.#session.ask(text, now));
    });
  }

  /** Sends what is asked in this turn together. Here all that is written leaves together. */
  #settleSoon(): void {
    if (!this.#elsewhere || this.#asking) return;
    this.#asking = true;
    process.nextTick(() => {
      this.#asking = false;
      if (!this.#closed) this.#session.settle();
    });
  }

  /** Asks for a sign of life. */
  ping(options: RequestOptions | undefined): Promise<unknown> {
    return this.#call(options, (native, now) => this.#session.ping(native, now));
  }

  /** Calls a tool. `args` is JSON text. */
  callTool(name: string, args: string | null, options: RequestOptions | undefined): Promise<unknown> {
    return this.#call(options, (native, now) => this.#native.callTool(this.handle, name, args, native, now), true);
  }

  /** Sends a notification. `params` is JSON text. */
  notify(method: string, params: string | null): void {
    this.#attempt((session) => session.notify(method, params));
  }

  /** Runs a command of the core that makes no call of ours; gives what it gives. */
  command(text: string): unknown {
    return JSON.parse(this.#attempt((session) => session.command(text, this.#clock.now())));
  }

  /** Sends a log message, for a call of the other side or on its own. */
  log({ level, data, logger }: LoggingMessage, call?: Incoming): void {
    const text = objectText({ level, data: data ?? null, logger, call: call?.id }, 'a log message');
    this.command(`{"log":${text}}`);
  }

  /** Opens a stream of notifications: a call that stays open. `started` gets its number at once. */
  listen(params: string, signal: AbortSignalLike | undefined, started: (id: number) => void): Promise<unknown> {
    return this.#call(signal === undefined ? undefined : { signal }, (native, now) => {
      const id = this.#session.begin('subscriptions/listen', params, native, now);
      started(id);
      return id;
    });
  }

  /** Gives a call of ours up. */
  abandon(id: number, reason: unknown): void {
    this.#cancel(id, reason);
  }

  /** The registry changed: says so at the end of the turn. */
  touch(): void {
    if (!this.#closed) this.#flushSoon();
  }

  // A call that was cancelled, or whose connection has ended, is in the table no more, and its answer goes nowhere.

  /** Answers with the JSON text of a result. */
  respondResult(call: Incoming, result: string): void {
    if (!this.#joins('r', call, result)) this.#respond(call, (_, now) => this.#native.respondResult(this.handle, call.id, result, now));
  }

  /** Answers that are given at once, and have no line feed, cross together. */
  #joins(kind: 'r' | 't', call: Incoming, answer: string): boolean {
    if (!(this.#reading || this.#home?.answer) || answer.includes('\n')) return false;
    if (!this.#incoming.delete(call.id)) return true;
    if (this.#home?.answer) this.#home.answer(this, kind, call.id, answer);
    else this.#answers += `${kind}${call.id} ${answer}\n`;
    this.#answered();
    return true;
  }

  /** Answers: the tool gave text. */
  respondText(call: Incoming, text: string): void {
    if (!this.#joins('t', call, text)) this.#respond(call, (_, now) => this.#native.respondText(this.handle, call.id, text, now));
  }

  /** Answers: the tool failed. */
  respondToolError(call: Incoming, message: string): void {
    this.#respond(call, (session, now) => session.respondToolError(call.id, message, now));
  }

  /** Answers: the arguments do not fit the tool. */
  respondInvalidArguments(call: Incoming, what: string): void {
    this.#respond(call, (session, now) => session.respondInvalidArguments(call.id, what, now));
  }

  /** Answers with an error; `thrown` is what a call of ours fails with that rests on the answer. */
  respondError(call: Incoming, { code, message, data }: ErrorAnswer, thrown: unknown): void {
    this.#respond(call, (session, now) => {
      if (session.respondError(call.id, code, message, data, now)) this.#thrown.push(thrown);
    });
  }

  /** Answers by asking for input. `requests` is JSON text, `state` any text. */
  respondInputRequired(call: Incoming, requests: string, state: string | undefined): void {
    const rest = state === undefined ? '' : `,"state":${JSON.stringify(state)}`;
    const text = `{"inputRequired":{"call":${call.id},"requests":${requests}${rest}}}`;
    // Where such rounds are requests of ours, they have their time.
    this.#tells = true;
    this.#rearm = true;
    this.#respond(call, (session, now) => session.command(text, now));
  }

  /** Whether each request has a stream of its own. */
  get isElsewhere(): boolean {
    return this.#elsewhere;
  }

  /** The request over HTTP that brought a call to a session elsewhere. */
  originOf(call: Incoming): Origin | undefined {
    return this.#isOver ? undefined : this.#home?.originOf(this.#session, call);
  }

  /** Keeps what is known of the requests that brought the calls under way, which it would be forgotten with. */
  keepOrigins(): void {
    for (const call of this.#incoming.values()) void call.origin;
  }

  /** Ends the stream that the answer to a call would go on. */
  endStream(call: Incoming): void {
    if (!this.#incoming.has(call.id)) return;
    void call.origin;
    this.#attempt((session) => session.endStream(call.id));
  }

  /** The same for the calls that the other side gave this id. */
  endStreamOf(id: string | number): void {
    for (const call of this.#incoming.values()) if (call.caller.id === id) this.endStream(call);
  }

  /** Reports progress on a call of the other side. */
  progress(call: Incoming, { progress, total, message }: Progress): void {
    if (!this.#incoming.has(call.id)) return;
    this.#attempt((session) => session.progress(call.id, progress, total ?? null, message ?? null));
  }

  #respond(call: Incoming, answer: (session: NativeSession, now: number) => unknown): void {
    if (!this.#incoming.delete(call.id)) return;
    try {
      answer(this.#session, this.#clock.now());
    } catch (thrown) {
      this.#break(fromNative(thrown));
      return;
    }
    this.#answered();
  }

  /** What follows from an answer. */
  #answered(): void {
    this.#tells ||= this.#answersTell;
    // What waits for a client's answer goes on with a request of its own, and its time.
    this.#rearm ||= !this.#owesAll;
    if (this.#elsewhere) this.#endIfOver();
    else this.#flushSoon();
  }

  /** Runs an input that the core may refuse. */
  #attempt<T>(input: (session: NativeSession) => T): T {
    if (this.#fault !== undefined) throw this.#fault.error;
    let given: T;
    try {
      given = input(this.#session);
    } catch (thrown) {
      throw this.#refused(thrown);
    }
    this.#flushSoon();
    return given;
  }

  #beginBy(command: string, run = (text: string, now: number): string => this.#session.command(text, now)): number {
    const given = JSON.parse(run(command, this.#clock.now())) as { readonly call: number };
    this.#rearm = true;
    this.#tells = true;
    return given.call;
  }

  /** Ends the connection: what waits fails with `why`. Resolves when nothing of the transport is left. */
  close(why: string): Promise<void> {
    if (!this.#closed) this.#drive((session) => session.close(why));
    return this.#transport.close();
  }

  #call(
    options: RequestOptions | undefined,
    begin: (options: NativeCallOptions | null, now: number) => number,
    isTool = false,
  ): Promise<unknown> {
    return new Promise((resolve, reject) => {
      const signal = options?.signal;
      if (signal?.aborted) {
        reject(signal.reason);
        return;
      }
      if (this.#fault !== undefined) {
        reject(this.#fault.error);
        return;
      }
      let id: number;
      try {
        const native = toNative(options);
        id = begin(native, this.#clock.now());
        // All calls with the default timeout end in the order they were made, so one timer is enough for them.
        if (native !== null || this.#owesAll) this.#rearm = true;
        if (options?.rawJson) this.#session.keepText(id);
      } catch (thrown) {
        reject(this.#refused(thrown));
        return;
      }
      const call: Call = { resolve, reject, onprogress: options?.onprogress, isTool, release: undefined };
      if (this.#calls === NO_CALLS) this.#calls = new Map();
      this.#calls.set(id, call);
      this.#hold();
      if (signal !== undefined) call.release = onAbort(signal, () => this.#cancel(id, signal.reason));
      if (++this.#unsent === BURST) this.#flush();
      else this.#flushSoon();
    });
  }

  /** The program gives a call up: it fails at once, and the server is told at once. */
  #cancel(id: number, reason: unknown): void {
    const call = this.#take(id);
    if (call === undefined) return;
    call.reject(reason);
    const text = textOf(reason);
    this.#drive((session) => session.cancel(id, text));
  }

  /** Removes a call: whoever gets it is the one to settle it. */
  #take(id: number): Call | undefined {
    const call = this.#calls.get(id);
    if (call === undefined) return undefined;
    this.#calls.delete(id);
    this.#hold();
    call.release?.();
    return call;
  }

  #hold(): void {
    if (!this.#transport.isBare) return;
    if (this.#calls.size > 0 || this.#handshake !== undefined) {
      this.#alive ??= setInterval(() => {}, 2 ** 30);
    } else {
      clearInterval(this.#alive);
      this.#alive = undefined;
    }
  }

  #takeHandshake(): Call | undefined {
    const handshake = this.#handshake;
    this.#handshake = undefined;
    this.#hold();
    handshake?.release?.();
    return handshake;
  }

  // The hot path: one crossing in, one JSON.parse, and what the core wants to say of itself goes out at once. Calls that
  // the results set off are written together once all of them have been made.
  #receive(buffer: Uint8Array, length: number): void {
    if (this.#closed) return;
    // So that what there is to write afterwards is the peer's doing alone.
    if (this.#flushing) this.#flush();
    let events: string | null;
    try {
      events = this.#native.receive(this.handle, buffer, length, this.#clock.now());
    } catch (thrown) {
      this.#break(fromNative(thrown));
      return;
    }
    if (events === null) return;
    if (events.charCodeAt(0) === 0x20) this.#answer();
    this.#reading = true;
    this.#dispatch(events);
    this.#reading = false;
    if (this.#flushing) this.#flushNow();
  }

  /** Runs one input of the session that cannot be refused, with all that follows from it. */
  #drive(input: (session: NativeSession) => void): void {
    try {
      input(this.#inOrder);
      this.#dispatchWaiting();
    } catch (thrown) {
      this.#break(fromNative(thrown));
      return;
    }
    this.#flush();
  }

  #ended(why: TransportEnd): void {
    if (!this.#closed && startOver(this.#transport, this.#session, why, this.#clock.now())) {
      this.#rearm = true;
      return this.#flushSoon();
    }
    this.#end = why;
    if (this.#closed) return;
    this.#drive((session) => session.endInput(this.#clock.now()));
    // A server may finish its work, but not for ever.
    this.#answersTell = true;
    this.#rearm = true;
    this.#flushSoon();
  }

  /**
   * Writes all there is once the program has had its say: when what came has been given out, or after the promise callbacks that run
   * now.
   */
  #flushSoon(): void {
    if (this.#flushing || this.#elsewhere) return;
    this.#flushing = true;
    if (!this.#reading) process.nextTick(Connection.#flushLater, this);
  }

  static #flushLater(connection: Connection): void {
    connection.#flushNow();
  }

  #flushNow(): void {
    this.#flushing = false;
    this.#flush();
    if (this.#tells) this.#tell();
    // The calls of a client nearly all have a time; those of a server are few, and say so.
    if (this.#rearm || (this.#timer === undefined && !this.#owesAll)) this.#arm();
  }

  #tell(): void {
    this.#tells = false;
    this.#dispatchAll();
    this.#thrown.length = 0;
  }

  #flush(): void {
    this.#unsent = 0;
    if (this.#elsewhere) return;
    // Events come out with the next input; but what is about to be written is traced now.
    if (this.#hooks.trace !== undefined) this.#dispatchAll();
    if (this.#owesAll) {
      this.#answer();
      return;
    }
    const wire = this.#takeWire();
    if (wire !== null) this.#transport.write(wire);
  }

  #dispatchAll(): void {
    try {
      this.#dispatchWaiting();
    } catch (thrown) {
      this.#break(fromNative(thrown));
    }
  }

  #dispatchWaiting(): void {
    if (this.#elsewhere) return;
    const events = this.#inOrder.takeEvents();
    if (events !== null) this.#dispatch(events);
  }

  /** Writes what the peer caused, and stops reading while too much of that waits. */
  #answer(): void {
    const wire = this.#takeWire();
    if (wire !== null) this.#writeOwed(wire);
  }

  #writeOwed(wire: string | Uint8Array): void {
    const { length } = wire;
    this.#owe(length);
    this.#transport.write(wire, () => this.#owe(-length));
  }

  #owe(more: number): void {
    const stopped = this.#owed > OWED;
    this.#owed += more;
    if (this.#owed > OWED !== stopped) this.#transport.pause(!stopped);
  }

  /** What waits to be written, but for what could be written here at once. */
  #takeWire(): string | Uint8Array | null {
    try {
      const descriptor = this.#transport.descriptor?.() ?? -1;
      if (this.#answers === '') return this.#native.takeWire(this.handle, descriptor);
      return this.#native.answer(this.handle, this.#takeAnswers(), this.#clock.now(), descriptor);
    } catch (thrown) {
      this.#break(fromNative(thrown));
      return null;
    }
  }

  /** Sets the timer, if the next deadline is earlier than what it is set to. A timer that comes too early is no harm. */
  #arm(): void {
    this.#rearm = false;
    const at = this.#closed ? null : this.#session.pollTimeout();
    if (at === null || (this.#timer !== undefined && this.#timer.at <= at)) return;
    this.#timer?.timer.cancel();
    const timer = this.#clock.after(Math.max(0, at - this.#clock.now()), () => {
      this.#timer = undefined;
      this.#drive((session) => session.handleTimeout(this.#clock.now()));
      this.#arm();
    });
    this.#timer = { at, timer };
  }

  // See `encode_outputs` in oxmcp-proto for the rows, and `encode_tool_call` in `state.rs`.
  #dispatch(text: string): void {
    const rows = JSON.parse(text) as unknown[];
    for (let row = 0; row < rows.length; row += 4) this.#row(rows, row);
  }

  /** Takes a row of a session elsewhere. */
  take(rows: readonly unknown[], row: number): void {
    this.#row(rows, row);
    if (this.#calls.size === 0) this.#thrown.length = 0;
    this.#endIfOver();
  }

  #row(rows: readonly unknown[], row: number): void {
    const id = rows[row + 1] as number;
    const first = rows[row + 2];
    switch (rows[row]) {
      case 'tool':
      case 'call': {
        const head = rows[row] === 'tool' ? undefined : (first as [CallKind, number | string, boolean]);
        const call = new Incoming(this, id, head?.[2] ?? false, this.#from);
        this.#incoming.set(id, call);
        this.#hooks.call(call, head?.[0] ?? 'tool', head?.[1] ?? (first as number), rows[row + 3]);
        break;
      }
      case 'result': {
        const call = this.#take(id);
        // Some servers leave the content out where there is none; programs need not know.
        if (call?.isTool) (first as { content?: unknown }).content ??= [];
        call?.resolve(first);
        break;
      }
      case 'text':
        this.#take(id)?.resolve(first);
        break;
      case 'error':
        this.#take(id)?.reject(this.#failure(first as ErrorDetails));
        break;
      case 'cancelled': {
        const call = this.#incoming.get(id);
        this.#incoming.delete(id);
        call?.cancel(first as string | null);
        break;
      }
      case 'describe': {
        const from = this.#from;
        this.#hooks.describe(first as string, () => {
          this.#from = from;
          if (!this.#closed) this.#drive((session) => session.resume(id));
        });
        break;
      }
      case 'progress':
        this.#progress(id, first as Progress & { progressToken: unknown });
        break;
      case 'notification':
        this.#hooks.notification({ method: first as string, params: (rows[row + 3] as JsonObject | null) ?? undefined }, id);
        break;
      case 'problem':
        this.#hooks.problem({ kind: first as Problem['kind'], message: rows[row + 3] as string });
        break;
      case 'trace':
        this.#hooks.trace?.(first as 'sent' | 'received', rows[row + 3] as string);
        break;
      case 'ready':
        this.#peer = first as Peer;
        this.#takeHandshake()?.resolve(undefined);
        this.#hooks.ready(this);
        break;
      case 'connectFailed':
        // What is left of it may take a moment more to end.
        this.#failed = true;
        this.#takeHandshake()?.reject(this.#failure(first as ErrorDetails));
        break;
      case 'closed':
        this.#finish();
        break;
    }
  }

  /** A request without a session is over with its answer; a session, when it is closed. */
  #endIfOver(): void {
    if (this.#home === undefined || this.#isOver || this.#incoming.size > 0) return;
    if (!this.#closed && (this.#peer !== undefined || !this.#owesAll)) return;
    if (this.#made !== undefined) {
      this.#home.settle?.();
      this.#made.release();
    }
    this.#home.over(this, this.#made === undefined);
    this.#isOver = true;
  }

  /** Its home is no more: what functions of this program still give goes nowhere. */
  forsake(): void {
    this.#isOver = true;
    this.#incoming.clear();
  }

  /** The core says that the session broke. */
  broke(): void {
    this.#drive((session) => session.handleTimeout(this.#clock.now()));
  }

  #progress(id: number, { progressToken: _, ...progress }: Progress & { progressToken: unknown }): void {
    try {
      this.#calls.get(id)?.onprogress?.(progress);
    } catch (error) {
      this.#hooks.thrown(error);
    }
  }

  /** The error for the program; after the transport's end it says how that came. */
  #failure(details: ErrorDetails): Error {
    if (details.kind === 'handler') return toError({ ...details, cause: this.#thrown.shift() });
    if (details.kind !== 'closed' || this.#end === undefined) return toError(details);
    const { text, process, error } = this.#end;
    return error ?? new ConnectionClosedError({ ...details, message: `${details.message}${text}` }, process);
  }

  /** The error for a call that the session did not take. */
  #refused(thrown: unknown): unknown {
    const details = nativeDetails(thrown);
    if (details === undefined) return thrown;
    const error = this.#failure(details);
    if (details.kind === 'internal') this.#break(error);
    return error;
  }

  /** The session is out of order: all that waits fails, as does all that comes later, and only this connection ends. */
  #break(error: unknown): void {
    this.#fault ??= { error };
    this.#takeHandshake()?.reject(error);
    for (const id of [...this.#calls.keys()]) this.#take(id)?.reject(error);
    for (const call of this.#incoming.values()) call.cancel(textOf(error));
    this.#incoming.clear();
    try {
      this.#session.close('a fault inside oxmcp ended the connection');
    } catch {
      // After a fault of the core the session takes nothing more, which is as good.
    }
    this.#finish();
  }

  #finish(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#timer?.timer.cancel();
    this.#timer = undefined;
    // After this turn, so that what the session still has to say is written first.
    process.nextTick(() => {
      this.#flushLast();
      void this.#transport.close();
    });
    this.#hooks.closed(this);
  }

  #flushLast(): void {
    if (this.#elsewhere) return;
    try {
      const wire = this.#native.takeWire(this.handle, -1);
      if (wire !== null) this.#transport.write(wire);
    } catch {
      // A broken session has nothing more to say.
    }
  }
}
