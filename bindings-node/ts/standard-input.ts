/**
 * Standard input as a server reads it. Internal.
 *
 * The addon reads it where it can: Node's own streams take longer to load than all else that a server needs. They are left to the
 * program, which may listen for the end of `process.stdin`, and finds its end there. From when the program reads it, what comes is
 * read by that stream alone, and shared.
 */

import { fstatSync } from 'node:fs';

import { type NativeInput, native } from './native.js';
import { isNode } from './runtime.js';

/** A readable stream of bytes: the part of Node's that is used. */
export interface Source {
  on(event: 'data', listener: (chunk: Uint8Array) => void): unknown;
  on(event: 'end' | 'close', listener: () => void): unknown;
  on(event: 'error', listener: (error: Error) => void): unknown;
  pause(): unknown;
  resume(): unknown;
  destroy?(): unknown;
}

type Data = (buffer: Uint8Array, length: number) => void;
type Stdin = typeof process.stdin;

const BUFFER = 64 * 1024;

/** Bytes of any stream. */
export function listen(input: Source, data: Data): Source {
  input.on('data', (chunk) => {
    const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
    data(bytes, bytes.length);
  });
  return input;
}

/** Reads into one buffer where the input is a pipe or a socket; files and terminals are for Node's own streams. */
export function standardInput(data: Data): Source {
  if (!isNode) return listen(process.stdin, data);
  const known = mayBeThere() ? process.stdin : undefined;
  if (known !== undefined && isRead(known)) return listen(known, data);
  return StandardInput.open(data, known) ?? (isPipe(0) ? socketInput(data) : listen(process.stdin, data));
}

/** The addon reads, until the program does. */
class StandardInput implements Source {
  readonly #data: Data;
  readonly #listeners: [event: string, listener: (error: Error) => void][] = [];
  #own: NativeInput | undefined;
  /** Once the program reads it. */
  #shared: Stdin | undefined;
  #stdin: Stdin | undefined;
  #restore: (() => void) | undefined;
  #unwatch: (() => void) | undefined;
  #hasEnded = false;

  static open(data: Data, stdin: Stdin | undefined): StandardInput | undefined {
    const input = new StandardInput(data);
    const buffer = Buffer.allocUnsafeSlow(BUFFER);
    const source = native().pollInput(0, buffer, (length, error) => {
      if (length > 0) data(buffer, length);
      else input.#ended(error);
    });
    if (source === null) return undefined;
    input.#own = source;
    if (stdin === undefined) input.#awaitStdin();
    else input.#watch(stdin);
    return input;
  }

  constructor(data: Data) {
    this.#data = data;
  }

  on(event: string, listener: (given: any) => void): void {
    this.#listeners.push([event, listener]);
    this.#shared?.on(event, listener);
  }

  pause(): void {
    this.#own?.pause(true);
    this.#shared?.pause();
  }

  resume(): void {
    this.#own?.pause(false);
    this.#shared?.resume();
  }

  destroy(): void {
    this.#restore?.();
    this.#unwatch?.();
    this.#own?.close();
    this.#own = undefined;
    this.#shared?.destroy();
    // It has nothing left to read but its end.
    if (this.#hasEnded) this.#stdin?.on('error', () => {}).resume();
  }

  #ended(error: string | null): void {
    this.#hasEnded = true;
    this.#own?.close();
    this.#own = undefined;
    for (const [event, listener] of this.#listeners) {
      if (event === (error === null ? 'end' : 'error')) listener(new Error(error ?? ''));
    }
  }

  /** Until the program asks for it, `process.stdin` is not made. */
  #awaitStdin(): void {
    const own = Object.getOwnPropertyDescriptor(process, 'stdin');
    if (own?.get === undefined || !own.configurable) return;
    const get = (): Stdin => {
      this.#restore?.();
      const { stdin } = process;
      this.#watch(stdin);
      return stdin;
    };
    Object.defineProperty(process, 'stdin', { ...own, get });
    this.#restore = () => {
      this.#restore = undefined;
      if (Object.getOwnPropertyDescriptor(process, 'stdin')?.get === get) Object.defineProperty(process, 'stdin', own);
    };
  }

  #watch(stdin: Stdin): void {
    this.#stdin = stdin;
    const reads = (event: string | symbol): void => {
      if (event !== 'data' && event !== 'readable') return;
      this.#share(stdin);
    };
    const resumed = (): void => reads('data');
    this.#unwatch = () => {
      this.#unwatch = undefined;
      stdin.off('newListener', reads).off('resume', resumed);
    };
    stdin.on('newListener', reads).on('resume', resumed);
  }

  /** From now on the program reads, too. */
  #share(stdin: Stdin): void {
    this.#unwatch?.();
    if (this.#own === undefined) return;
    this.#own.close();
    this.#own = undefined;
    this.#shared = stdin;
    listen(stdin, this.#data);
    for (const [event, listener] of this.#listeners) stdin.on(event, listener);
  }
}

function socketInput(data: Data): Source {
  const net = require('node:net') as typeof import('node:net');
  return new net.Socket(reading(0, data));
}

/** What a socket of Node's is made with to read a descriptor into one buffer. */
export interface Reading {
  readonly fd: number;
  readonly readable: true;
  readonly writable: false;
  readonly onread: { buffer: Uint8Array; callback(length: number): boolean };
}

export function reading(fd: number, data: Data): Reading {
  const buffer = Buffer.allocUnsafeSlow(BUFFER);
  const callback = (length: number): boolean => {
    data(buffer, length);
    return true;
  };
  return { fd, readable: true, writable: false, onread: { buffer, callback } };
}

/** `process.stdin` is made when it is first asked for, and for a pipe of this module of Node's. */
function mayBeThere(): boolean {
  const { moduleLoadList } = process as { readonly moduleLoadList?: readonly string[] };
  return moduleLoadList === undefined || moduleLoadList.includes('NativeModule net');
}

function isRead(stdin: Stdin): boolean {
  return stdin.readableFlowing === true || stdin.listenerCount('data') > 0 || stdin.listenerCount('readable') > 0;
}

function isPipe(descriptor: number): boolean {
  try {
    const stat = fstatSync(descriptor);
    return stat.isFIFO() || stat.isSocket();
  } catch {
    return false;
  }
}
