/**
 * Standard output that is no pipe or socket. Read when it is. Internal.
 */

import { closeSync, writeSync } from 'node:fs';

import type { Sink } from './stdio-server.js';

/** A file takes all at once, and a terminal as good as that. */
export function fileOutput(descriptor: number, restore: () => void): Sink {
  let failed: ((error: Error) => void)[] = [];
  return {
    write(chunk, written) {
      try {
        const bytes = typeof chunk === 'string' ? Buffer.from(chunk) : chunk;
        for (let at = 0; at < bytes.length; ) at += writeSync(descriptor, bytes, at);
      } catch (error) {
        process.nextTick(() => failed.forEach((listener) => listener(error as Error)));
      }
      if (written !== undefined) process.nextTick(written);
    },
    end(finished) {
      restore();
      closeSync(descriptor);
      failed = [];
      if (finished !== undefined) process.nextTick(finished);
    },
    on: (_event, listener) => failed.push(listener),
  };
}

/** The part of `process.stdout` that is used where it is redirected. */
interface Printed {
  write(chunk: string | Uint8Array, written?: () => void): boolean;
  on(event: 'error', listener: (error: Error) => void): unknown;
}

/** Where descriptors cannot be moved: what JavaScript prints goes to stderr. Internal. */
export function redirectedStdout(stdout: Printed = process.stdout, stderr: Pick<Printed, 'write'> = process.stderr): Sink {
  const write = stdout.write.bind(stdout);
  const own = Object.getOwnPropertyDescriptor(stdout, 'write');
  Object.defineProperty(stdout, 'write', { value: stderr.write.bind(stderr), configurable: true, writable: true });
  const restore = (): void => {
    if (own === undefined) delete (stdout as { write?: unknown }).write;
    else Object.defineProperty(stdout, 'write', own);
  };
  return {
    write: (chunk, written) => write(chunk, written),
    end: (finished) =>
      write('', () => {
        restore();
        finished?.();
      }),
    on: (event, listener) => stdout.on(event, listener),
    destroy: restore,
  };
}
