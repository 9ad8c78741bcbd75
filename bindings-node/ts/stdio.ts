/**
 * Servers that are child processes and speak over their standard streams.
 */

import type { PassThrough } from 'node:stream';

import type { Program } from './child/start.js';
import type { ChildTransport } from './child/transport.js';
import { type Known, checkOptions } from './check-options.js';
import type { Clock } from './clock.js';
import { usage } from './errors.js';
import { Messages } from './messages.js';
import { type Transport, offer } from './transport.js';

/** How to start a server. */
export interface StdioServerParameters {
  /** The program: a name to look up in `PATH`, or a path. Not a shell command: arguments go into `args`. */
  readonly command: string;
  readonly args?: readonly string[] | undefined;
  /** Variables beside those of {@link getDefaultEnvironment}. `env: process.env` hands over everything. */
  readonly env?: Readonly<Record<string, string | undefined>> | undefined;
  /** The folder to run in, as a path or a `file:` URL; this program's own by default. */
  readonly cwd?: string | { readonly href: string } | undefined;
  /**
   * Where the server's stderr goes: to this program's (`'inherit'`, the default), nowhere (`'ignore'`), to an open file
   * or stream, or to this program (`'pipe'`): then its last lines stand in the error of a server that dies, and
   * `onstderr` and {@link StdioClientTransport.stderr} get all of it.
   */
  readonly stderr?: 'inherit' | 'pipe' | 'ignore' | number | { readonly fd: number } | undefined;
  /** Gets what the server writes to stderr, as text in pieces of any size. Makes `stderr` `'pipe'`. */
  readonly onstderr?: ((text: string) => void) | undefined;
}

/** A readable stream of bytes: the part of Node's that these types name. */
export interface ByteStream extends AsyncIterable<Uint8Array> {
  on(event: 'data', listener: (chunk: Uint8Array) => void): this;
  on(event: 'end' | 'close', listener: () => void): this;
  pipe<T extends object>(destination: T): T;
}

const KNOWN: Known = {
  command: 'text',
  args: 'list',
  env: 'object',
  cwd: 'anything',
  stderr: 'anything',
  onstderr: 'function',
  // Of `client.connect`, which takes the parameters and its own options in one object.
  timeout: 'milliseconds',
  signal: 'object',
};

/** Bytes of stderr kept for a reader that does not read. */
const STDERR_KEPT = 1024 * 1024;

/**
 * A server to connect to, for programs that use the same class of the official SDK. `client.connect` takes its
 * parameters directly as well.
 *
 * @example
 * ```ts
 * import { Client, StdioClientTransport } from 'oxmcp';
 *
 * const client = new Client({ name: 'example', version: '1.0.0' });
 * await client.connect(new StdioClientTransport({ command: 'python3', args: ['server.py'] }));
 * await client.close();
 * ```
 */
export class StdioClientTransport extends Messages {
  readonly #parameters: StdioServerParameters;
  #stderr: PassThrough | undefined;
  #transport: Transport | undefined;
  #started: ChildTransport | undefined;

  constructor(parameters: StdioServerParameters) {
    super();
    if (typeof parameters?.command !== 'string' || parameters.command === '') {
      throw usage('a server needs a "command" that is a non-empty string');
    }
    checkOptions('StdioClientTransport', parameters, KNOWN);
    this.#parameters = parameters;
    const { command, args, cwd } = parameters;
    offer(this, {
      start: (clock) => this.#start(clock),
      server: JSON.stringify([command, args ?? [], typeof cwd === 'object' ? cwd.href : cwd]),
    });
  }

  /**
   * The server's stderr when it is piped; else `null`. It starts with what is written after this is first read, so read
   * it before connecting. Up to 1 MiB waits for a reader; what comes beyond is left out.
   */
  get stderr(): ByteStream | null {
    if (!this.#isPiped) return null;
    const stream = require('node:stream') as typeof import('node:stream');
    this.#stderr ??= new stream.PassThrough();
    // Its `pipe` wants more of a destination than these types can name.
    return this.#stderr as unknown as ByteStream;
  }

  /** The server's process id while it runs; else `null`. */
  get pid(): number | null {
    return this.#started?.pid ?? null;
  }

  /** Ends the server's process, as {@link Client.close} does. */
  override async close(): Promise<void> {
    await this.#transport?.close();
  }

  get #isPiped(): boolean {
    return this.#parameters.stderr === 'pipe' || this.#parameters.onstderr !== undefined;
  }

  #start(clock: Clock): Transport {
    // Servers start no processes, and need none of this.
    const { environment } = require('./child/start.js') as typeof import('./child/start.js');
    const { ChildTransport } = require('./child/transport.js') as typeof import('./child/transport.js');
    const { RestartableTransport } = require('./child/restartable.js') as typeof import('./child/restartable.js');
    const { fileURLToPath } = require('node:url') as typeof import('node:url');
    const { command, args, env, cwd, stderr, onstderr } = this.#parameters;
    const program: Program = {
      command,
      args: args ?? [],
      env: environment(env),
      cwd: cwd === undefined ? process.cwd() : typeof cwd === 'string' ? cwd : fileURLToPath(cwd.href),
      stderr: this.#isPiped ? 'pipe' : typeof stderr === 'object' ? stderr.fd : (stderr ?? 'inherit'),
    };
    return (this.#transport = new RestartableTransport(() => {
      const decoder = new TextDecoder();
      const started = new ChildTransport(program, clock, {
        chunk: (chunk) => {
          onstderr?.(decoder.decode(chunk, { stream: true }));
          if (this.#stderr !== undefined && this.#stderr.writableLength < STDERR_KEPT) this.#stderr.write(chunk);
        },
        // Unless another process goes on with it.
        end: () => {
          if (this.#started === started) this.#stderr?.end();
        },
      });
      this.#started = started;
      return started;
    }));
  }
}
