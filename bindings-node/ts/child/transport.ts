/**
 * A server in a child process, by its standard streams. Internal.
 */

import type { ChildProcess } from 'node:child_process';
import type { Readable, Writable } from 'node:stream';

import type { Clock, Timer } from '../clock.js';
import type { ProcessEnd } from '../errors.js';
import { type NativeChildShutdown, native } from '../native.js';
import { isNode } from '../runtime.js';
import type { Transport, TransportEnd, TransportEvents } from '../transport.js';
import { guard, release, signalGroup } from './guard.js';
import { makeOutput } from './output.js';
import { type Program, start, startError } from './start.js';
import { Tail } from './tail.js';

/** How long after the end of its output a process may take to say how it ended. */
const SETTLE = 500;

/** How long after the last step of a shutdown a process may take to vanish. */
const GIVE_UP = 2000;

/** Gets what the process writes to a piped stderr. */
export interface StderrSink {
  chunk(chunk: Uint8Array): void;
  end(): void;
}

/** The part of a pipe of Node's that it does not tell of. */
type Piped = Writable & { readonly _handle?: { readonly fd?: number } | null };

export class ChildTransport implements Transport {
  readonly #program: Program;
  readonly #clock: Clock;
  readonly #stderr: StderrSink | undefined;
  readonly #tail = new Tail();
  #child: ChildProcess | undefined;
  #events: TransportEvents | undefined;
  #output: Readable | undefined;
  #outputClosed = false;
  #processClosed = false;
  #settle: Timer | undefined;
  #heldOpen: Timer | undefined;
  #gone = false;
  #closing: Promise<void> | undefined;
  #finishClosing: (() => void) | undefined;
  #step: Timer | undefined;

  constructor(program: Program, clock: Clock, stderr?: StderrSink) {
    this.#program = program;
    this.#clock = clock;
    this.#stderr = stderr;
  }

  get pid(): number | null {
    const child = this.#child;
    const runs = !this.#gone && child !== undefined && child.exitCode === null && child.signalCode === null;
    return runs ? (child.pid ?? null) : null;
  }

  open(events: TransportEvents): void {
    this.#events = events;
    const output = makeOutput();
    let child: ChildProcess;
    try {
      child = start(this.#program, output.stdio);
    } catch (error) {
      output.abandon();
      process.nextTick(() => this.#neverStarted(error as NodeJS.ErrnoException));
      return;
    } finally {
      output.started();
    }
    this.#child = child;
    if (child.pid !== undefined) guard(child.pid);
    child.on('error', (error) => {
      if (child.pid === undefined) this.#neverStarted(error);
    });
    // Its output may be held open by what it started. What is left in there is read meanwhile.
    child.on('exit', () => {
      this.#heldOpen = this.#clock.after(SETTLE, () => {
        this.#report(this.#ending());
        void this.close();
      });
    });
    child.on('close', () => {
      this.#processClosed = true;
      this.#maybeVanished();
    });
    // The end of the output tells of a broken input as well, or the process goes on and cannot hear us.
    child.stdin?.on('error', () => this.#outputEnded());
    this.#readOutput(output.read(child, (buffer, length) => this.#events?.data(buffer, length)));
    child.stderr?.on('data', (chunk: Buffer) => {
      this.#tail.push(chunk);
      this.#stderr?.chunk(chunk);
    });
    child.stderr?.on('error', () => {});
  }

  write(wire: string | Uint8Array, written?: () => void): void {
    const input = this.#child?.stdin;
    if (input?.writable) input.write(wire, 'utf8', written);
    else if (written !== undefined) process.nextTick(written);
  }

  descriptor(): number {
    const input = this.#child?.stdin as Piped | null | undefined;
    const isIdle = isNode && process.platform !== 'win32' && input?.writable === true && input.writableLength === 0;
    return isIdle ? (input._handle?.fd ?? -1) : -1;
  }

  pause(paused: boolean): void {
    if (paused) this.#output?.pause();
    else this.#output?.resume();
  }

  close(): Promise<void> {
    return (this.#closing ??= new Promise((resolve) => {
      if (this.#child === undefined || this.#gone) {
        resolve();
        return;
      }
      this.#finishClosing = resolve;
      // Whatever it still writes is read, so that it can come to its end, and dropped.
      this.pause(false);
      this.#shutDown(new (native().ChildShutdown)());
    }));
  }

  #readOutput(output: Readable): void {
    this.#output = output;
    output.on('error', () => this.#outputEnded());
    output.on('end', () => this.#outputEnded());
    output.on('close', () => {
      this.#outputClosed = true;
      this.#outputEnded();
      this.#maybeVanished();
    });
  }

  #neverStarted(error: NodeJS.ErrnoException): void {
    this.#report({ text: '', error: startError(this.#program, error) });
    this.#output?.destroy();
    this.#vanished();
  }

  /** Nothing more will come. The process gets a moment to say how it ended, and is shut down if it goes on. */
  #outputEnded(): void {
    if (this.#gone || this.#settle !== undefined) return;
    this.#settle = this.#clock.after(SETTLE, () => this.#report(this.#ending()));
    void this.close();
  }

  /** Once the process has ended and all it wrote has been read. */
  #maybeVanished(): void {
    if (this.#processClosed && this.#outputClosed) this.#vanished();
  }

  #vanished(): void {
    if (this.#gone) return;
    this.#gone = true;
    const pid = this.#child?.pid;
    if (pid !== undefined) {
      // What it started and left behind in its group goes as well.
      if (process.platform !== 'win32') signalGroup(pid, 'SIGKILL');
      release(pid);
    }
    this.#step?.cancel();
    this.#report(this.#ending());
    this.#stderr?.end();
    this.#finishClosing?.();
  }

  #report(end: TransportEnd): void {
    this.#settle?.cancel();
    this.#heldOpen?.cancel();
    const events = this.#events;
    this.#events = undefined;
    events?.ended(end);
  }

  #ending(): TransportEnd {
    const exitCode = this.#child?.exitCode ?? null;
    const signal = this.#child?.signalCode ?? null;
    const end: ProcessEnd = { exitCode, signal, stderr: this.#tail.text };
    const how =
      signal !== null
        ? `; its process was ended by ${signal}`
        : exitCode !== null
          ? `; its process exited with code ${exitCode}`
          : '; its process has not exited';
    const last = end.stderr === '' ? '' : `\nThe last lines of its stderr:\n${end.stderr}`;
    return { text: how + last, process: end };
  }

  #shutDown(shutdown: NativeChildShutdown): void {
    if (this.#gone) return;
    for (let step = shutdown.poll(this.#clock.now()); step !== null; step = shutdown.poll(this.#clock.now())) {
      this.#perform(step);
    }
    const at = shutdown.pollTimeout();
    this.#step =
      at === null
        ? this.#clock.after(GIVE_UP, () => this.#abandon())
        : this.#clock.after(at - this.#clock.now(), () => this.#shutDown(shutdown));
  }

  #perform(step: 'closeInput' | 'terminate' | 'kill'): void {
    const child = this.#child;
    if (step === 'closeInput') child?.stdin?.end();
    else if (child?.pid !== undefined) signalGroup(child.pid, step === 'terminate' ? 'SIGTERM' : 'SIGKILL');
    // A process that left the group may hold the pipes open for ever.
    if (step === 'kill') this.#destroyStreams();
  }

  /** Even SIGKILL did not end it: it is stuck in the system, and must not hold this program as well. */
  #abandon(): void {
    this.#destroyStreams();
    this.#child?.unref();
    this.#vanished();
  }

  #destroyStreams(): void {
    this.#child?.stdin?.destroy();
    this.#output?.destroy();
    this.#child?.stderr?.destroy();
  }
}
