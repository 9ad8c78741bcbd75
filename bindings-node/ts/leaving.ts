/**
 * The end of a process whose only client has left. Timers, pools of connections and watchers of files would keep it for ever, and
 * nobody is there who could end it. Internal.
 */

/** How long a program has for what it does at its end, in milliseconds. */
const GRACE = 2000;

let ports = 0;

/** The core listens on a port, or does so no more. */
export function listens(change: 1 | -1): void {
  ports += change;
}

/** Ends the process soon, unless it ends by itself, or serves others: what listens on a port has not lost its last client. */
export function leaveSoon(): void {
  const timer = setTimeout(() => {
    const listening = process.getActiveResourcesInfo?.().some((name) => /^(TCPServer|PipeServer)/.test(name)) ?? false;
    if (ports === 0 && !listening) process.exit();
  }, GRACE);
  timer.unref();
}
