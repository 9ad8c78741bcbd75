/**
 * Finds and loads the native addon. Internal: nothing here is part of the package's interface.
 */

import { existsSync } from 'node:fs';

import { AddonError } from './errors.js';
import { isNode } from './runtime.js';

/** What the addon exports. It is written by hand and matches `src/lib.rs`. */
export interface Native {
  /** The version of the Rust core inside the addon. */
  version(): string;
  readonly Session: {
    client(info: string, options: string, methods: NativeRegistry | null): NativeSession;
    server(info: string, options: string, registry: NativeRegistry): NativeSession;
  };
  readonly Registry: new () => NativeRegistry;
  /** `wake` is called when something came, once until the next `drain`. It does not keep the process alive. */
  readonly Hub: new (wake: () => void, registry: NativeRegistry | null) => NativeHub;
  readonly HttpServer: new (hub: NativeHub, info: string, options: string, registry: NativeRegistry, http: string) => NativeHttpServer;
  /**
   * `receive` of the first `length` bytes and `takeEvents`, of the session with this handle. The text starts with a space
   * when there is something to write as well.
   */
  receive(session: number, buffer: Uint8Array, length: number, now: number): string | null;
  /**
   * The bytes for the peer, as UTF-8 or as text to be written so; `null` when there are none. What a `descriptor` takes at once is
   * written to it before, and not among them; -1 stands for none.
   */
  takeWire(session: number, descriptor: number): string | Uint8Array | null;
  /** Answers calls, a line each: `r` and its number, a space and its result, or `t` in the place of `r` and text. Then as `takeWire`. */
  answer(session: number, answers: string, now: number, descriptor: number): string | Uint8Array | null;
  /** `callTool` of the session with this handle. */
  callTool(session: number, name: string, args: string | null, options: NativeCallOptions | null, now: number): number;
  /** `respondResult` of the session with this handle. */
  respondResult(session: number, id: number, result: string, now: number): boolean;
  /** Answers a call with text of a tool, of the session with this handle. */
  respondText(session: number, id: number, text: string, now: number): boolean;
  /** Whether a client should ask this server which era it is of. The memory is one for the process. */
  shouldProbe(server: string): boolean;
  /** A client of this server connected in this revision; `null`: connecting failed. */
  learnVerdict(server: string, revision: string | null): void;
  /** The real standard output as a descriptor of our own; from now on descriptor 1 is stderr. `null` where that cannot be. */
  takeStdout(): number | null;
  /** Gives descriptor 1 its real standard output back. The one that `takeStdout` gave stays open. */
  restoreStdout(descriptor: number): void;
  /**
   * Reads a pipe or a socket into the buffer, by a descriptor of its own, so that Node can make `process.stdin` of the one that is
   * given. `told` gets how many bytes there are; 0 is the end, and comes with a text where that is an error. `null` where Node's own
   * streams are to be used: for files and terminals, in workers, on Windows and without Node.
   */
  pollInput(descriptor: number, buffer: Uint8Array, told: (length: number, error: string | null) => void): NativeInput | null;
  /** Whether this is a pipe or a socket, which from now on does not block. */
  unblock(descriptor: number): boolean;
  /** Two descriptors of one connection; `null` where there are none to be had. */
  socketPair(): [ours: number, theirs: number] | null;
  /** Closes an end of a socket pair. */
  closeDescriptor(descriptor: number): void;
  /** 48 bytes of the system's random numbers, in hexadecimal digits; `null` where Node is to be asked. */
  randomSecret(): string | null;
  /** The variables that a server's process inherits. */
  inheritedVariables(): string[];
  readonly ChildShutdown: new (grace?: number) => NativeChildShutdown;
  readonly ProcessGroups: new () => NativeProcessGroups;
  readonly UriTemplate: new (text: string) => NativeUriTemplate;
}

/** `[timeout, maxTotalTimeout, resetTimeoutOnProgress, progress, fresh, logLevel]`, times in milliseconds. */
export type NativeCallOptions = readonly [number | null, number | null, boolean, boolean, boolean, string | null];

/** What a server offers, or a client's own methods; one for any number of sessions. */
export interface NativeRegistry {
  /** Runs a command, JSON in and out: see `Session::command` in oxmcp-proto. */
  command(text: string): string;
  /** Gives the arguments of this tool as JSON text, in place of the object. */
  keepText(tool: number): void;
}

/** The protocol's state machine. All times are milliseconds on the caller's clock, all payloads JSON text. */
export interface NativeSession {
  /** The number by which the functions of the hot path know this session, while the object is held. */
  readonly handle: number;
  connect(timeout: number | null, now: number): void;
  /** Client: another process is in the place of a server that left at the first question. False when it did not leave there. */
  startOver(now: number): boolean;
  receive(bytes: Uint8Array, now: number): void;
  endInput(now: number): void;
  close(why: string): void;
  /** Answers the row `unauthorized` of a hub: names and values one after the other, or why there are none. */
  giveHeaders(fields: string[], whyNot: string | null): boolean;
  ping(options: NativeCallOptions | null, now: number): number;
  begin(method: string, params: string | null, options: NativeCallOptions | null, now: number): number;
  callTool(name: string, args: string | null, options: NativeCallOptions | null, now: number): number;
  keepText(id: number): void;
  cancel(id: number, reason: string | null): boolean;
  notify(method: string, params: string | null): void;
  /** Runs a command, JSON in and out: see `Session::command` in oxmcp-proto. */
  command(text: string, now: number): string;
  /** `command` for one of several questions; of a session elsewhere they leave with `settle`. */
  ask(text: string, now: number): string;
  /** All questions of this turn are asked. */
  settle(): void;
  respondResult(id: number, result: string, now: number): boolean;
  respondToolError(id: number, message: string, now: number): boolean;
  respondInvalidArguments(id: number, what: string, now: number): boolean;
  respondError(id: number, code: number, message: string, data: string | null, now: number): boolean;
  progress(id: number, progress: number, total: number | null, message: string | null): boolean;
  resume(id: number): boolean;
  endStream(id: number): void;
  /**
   * The HTTP request that brought a call, as JSON: `[token, method, target, authority, name, value, …]`; `null` for a call that came
   * by none, or is over.
   */
  httpRequest(id: number): string | null;
  /** The name of a session over HTTP, where it has one. */
  sessionId(): string | null;
  handleTimeout(now: number): void;
  pollTimeout(): number | null;
  stats(): { inbound: number; outbound: number; buffered: number };
  poll(): [events: string, wire: Uint8Array];
  takeEvents(): string | null;
  /** Lets go of a session elsewhere, to which nothing more is to be said. */
  release(): void;
  /** Breaks the session as a fault of the core would, for tests. */
  provokeFault(): void;
}

/** Where what happens on other threads comes to this one. */
export interface NativeHub {
  /** Rows of five elements: see `hub.rs`. The text starts with a space when more waits, for which nobody wakes. */
  drain(): string;
  /** Takes a session that was known by its handle alone; `null` when it was let go of. */
  session(handle: number): NativeSession | null;
  /**
   * Answers calls, and lets go of sessions that are known by their handles alone: a line each, see `hub.rs`. Gives the handles of those
   * that broke at it.
   */
  answer(lines: string): number[];
  /** A client's session over HTTP, which says `ready` or `connectFailed`. */
  connect(
    info: string,
    options: string,
    methods: NativeRegistry | null,
    url: string,
    http: string,
    renews: boolean,
    probe: boolean | null,
    timeout: number | null,
  ): NativeSession;
  close(): void;
}

/** A server over HTTP; what its sessions say comes by its hub. */
export interface NativeHttpServer {
  /** Gives the address and port. */
  bind(port: number): string;
  /** What becomes of it comes as rows with the token. `headers` are names and values in turn, each ended by a line feed. */
  exchange(token: number, method: string, target: string, authority: string | null, headers: string): NativeExchange;
  /** At its end an `"end"` comes with the token. */
  shutDown(token: number): void;
  commandEach(text: string): void;
  notifyEach(method: string, params: string | null): void;
  sessions(): number;
}

/** One request under way. */
export interface NativeExchange {
  /** False when no more is wanted. */
  body(chunk: Uint8Array): boolean;
  /** The last of it. */
  last(chunk: Uint8Array): void;
  endBody(): void;
  /** Asks for the next of the response's body. */
  more(): void;
  /** Before its end: the client left. */
  release(): void;
}

/** A URI template of RFC 6570. */
export interface NativeUriTemplate {
  variables(): string[];
  /** Variables are JSON text. */
  expand(variables: string): string;
  /** JSON text; `null` when the template does not make the URI. */
  matches(uri: string): string | null;
}

/** A descriptor that is read while it is held. */
export interface NativeInput {
  /** While nothing is read, it keeps no process alive. */
  pause(paused: boolean): void;
  /** Reads no more. The descriptor that was given stays open. */
  close(): void;
}

export interface NativeChildShutdown {
  poll(now: number): 'closeInput' | 'terminate' | 'kill' | null;
  pollTimeout(): number | null;
}

export interface NativeProcessGroups {
  add(leader: number): void;
  remove(leader: number): void;
}

/**
 * The names an addon can have here: system, processor and C library. On Linux npm installs the one for this C library
 * and the other is simply not there, which costs less than asking Node which of the two it runs on.
 */
function platforms(): string[] {
  const { platform, arch } = process;
  if (platform === 'linux') return [`linux-${arch}-gnu`, `linux-${arch}-musl`];
  if (platform === 'win32') return [`win32-${arch}-msvc`];
  return [`${platform}-${arch}`];
}

/** In a checkout, and where npm installs it: inside this package, or beside it. There it is found without looking it up. */
const PLACES = ['../native', '../node_modules/oxmcp-NAME', '../../oxmcp-NAME'];

/** Those that are there, and then by name: the first nearly always loads, so the others are looked for only after it. */
function* files(names: readonly string[]): Generator<string> {
  for (const place of typeof __dirname === 'string' ? PLACES : []) {
    for (const name of names) {
      const file = `${__dirname}/${place.replace('NAME', name)}/oxmcp.${name}.node`;
      if (existsSync(file)) yield file;
    }
  }
  for (const name of names) yield `oxmcp-${name}`;
}

function open(place: string): Native {
  // The loader of modules takes longer to begin than the addon to load.
  if (!isNode || process.platform === 'win32' || !place.endsWith('.node')) return require(place) as Native;
  const made = { exports: {} };
  process.dlopen(made, place);
  return made.exports as Native;
}

function load(): Native {
  const names = platforms();
  const reasons: string[] = [];
  for (const place of files(names)) {
    try {
      return open(place);
    } catch (error) {
      const message = error instanceof Error ? error.message : String(error);
      reasons.push(`  ${place}: ${message.split('\n', 1)[0]}`);
    }
  }
  throw new AddonError(
    `oxmcp found no native addon for ${names.join(' or ')} that loads. It was looked for in:\n${reasons.join('\n')}\n` +
      'If npm left out optional packages, install again without --omit=optional. In a checkout, run: cargo xtask build',
  );
}

let loaded: Native | undefined;

/** The addon, loaded on first use: a program that only imports the package pays nothing and cannot fail. */
export function native(): Native {
  return (loaded ??= load());
}
