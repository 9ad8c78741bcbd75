/**
 * One listener per signal, however many calls share it: Node warns of a leak from the eleventh on. Internal.
 */

import type { AbortSignalLike } from './options.js';

interface Watch {
  readonly tasks: Set<() => void>;
  readonly listener: () => void;
}

const watches = new WeakMap<AbortSignalLike, Watch>();

/** Runs `task` when `signal` is aborted; the function it gives takes that back. */
export function onAbort(signal: AbortSignalLike, task: () => void): () => void {
  const { tasks, listener } = watches.get(signal) ?? watch(signal);
  tasks.add(task);
  return () => {
    if (!tasks.delete(task) || tasks.size > 0) return;
    watches.delete(signal);
    signal.removeEventListener('abort', listener);
  };
}

function watch(signal: AbortSignalLike): Watch {
  const tasks = new Set<() => void>();
  const listener = (): void => {
    for (const task of [...tasks]) task();
  };
  const made = { tasks, listener };
  watches.set(signal, made);
  signal.addEventListener('abort', listener);
  return made;
}
