/**
 * Reading what a child writes: into one buffer where the system allows, else in chunks of Node's. Internal.
 */

import type { ChildProcess } from 'node:child_process';
import { Socket } from 'node:net';
import type { Readable } from 'node:stream';

import { native } from '../native.js';
import { isNode } from '../runtime.js';
import { reading } from '../standard-input.js';

/** The output of a child that is not started yet. */
export interface Output {
  /** What to give the child as its standard output. */
  readonly stdio: 'pipe' | number;
  /** Starts reading; `data` gets each chunk as the first bytes of a buffer, which is theirs during the call. */
  read(child: ChildProcess, data: (buffer: Uint8Array, length: number) => void): Readable;
  /** The child has its end, or there is no child. */
  started(): void;
  /** There is no child to read from. */
  abandon(): void;
}

export function makeOutput(): Output {
  const pair = isNode ? native().socketPair() : null;
  return pair === null ? pipeOutput() : socketOutput(pair[0], pair[1]);
}

function socketOutput(ours: number, theirs: number): Output {
  return {
    stdio: theirs,
    read: (_child, data) => new Socket(reading(ours, data)),
    started: () => native().closeDescriptor(theirs),
    abandon: () => native().closeDescriptor(ours),
  };
}

function pipeOutput(): Output {
  return {
    stdio: 'pipe',
    read(child, data) {
      if (child.stdout === null) throw new TypeError('a piped child has an output');
      return child.stdout.on('data', (chunk: Buffer) => data(chunk, chunk.length));
    },
    started: () => {},
    abandon: () => {},
  };
}
