/**
 * Sees to it that no child outlives this program. Internal.
 *
 * | the program ends by | who ends the children |
 * | --- | --- |
 * | its last line, `process.exit`, an uncaught error | the exit hook here |
 * | SIGINT, SIGTERM, SIGHUP that nobody listens for | the addon's signal hook |
 * | `worker.terminate()` on the thread that started them | the addon's hook on the environment's end |
 * | SIGKILL | nobody can; the children see the end of their standard input |
 */

import { spawnSync } from 'node:child_process';

import { type NativeProcessGroups, native } from '../native.js';

const live = new Set<number>();
let groups: NativeProcessGroups | undefined;

/** From now on the process `leader`, with its group, ends with this program at the latest. */
export function guard(leader: number): void {
  if (live.size === 0) process.on('exit', killAll);
  live.add(leader);
  groups ??= new (native().ProcessGroups)();
  groups.add(leader);
}

/** The process and its group have ended. */
export function release(leader: number): void {
  if (!live.delete(leader)) return;
  groups?.remove(leader);
  if (live.size === 0) process.off('exit', killAll);
}

/** Sends `signal` to a process and all it started; on Windows, which has no such signals, ends them. */
export function signalGroup(leader: number, signal: 'SIGTERM' | 'SIGKILL'): void {
  if (process.platform === 'win32') {
    spawnSync('taskkill', ['/pid', String(leader), '/t', '/f'], { windowsHide: true, stdio: 'ignore' });
    return;
  }
  try {
    process.kill(-leader, signal);
  } catch {
    // The group has ended.
  }
}

function killAll(): void {
  for (const leader of live) signalGroup(leader, 'SIGKILL');
}
