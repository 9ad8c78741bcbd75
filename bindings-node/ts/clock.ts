/**
 * Time as this package sees it, so that tests can hold it in their hand.
 */

/** A timer that can be taken back. */
export interface Timer {
  cancel(): void;
}

/** A monotonic clock in milliseconds. */
export interface Clock {
  now(): number;
  /** Calls `task` once `delay` milliseconds have passed. The timer alone does not keep the process running. */
  after(delay: number, task: () => void): Timer;
}

/** The longest delay `setTimeout` takes; a longer wait is made of several. */
const LONGEST = 2 ** 31 - 1;

/** After so many looks at the clock, the faster one is worth loading: it takes longer than all of a short program's looks. */
const MANY = 100;

let looks = 0;
/** How far the two clocks are apart. */
let apart = 0;

export const systemClock: Clock = {
  now() {
    if (looks > MANY) return performance.now() + apart;
    const [seconds, nanoseconds] = process.hrtime();
    const now = seconds * 1e3 + nanoseconds / 1e6;
    if (++looks > MANY) apart = now - performance.now();
    return now;
  },
  after(delay, task) {
    // Rounded up: a timer that comes early would only have to be set again.
    const timer = setTimeout(task, Math.min(Math.ceil(delay), LONGEST));
    timer.unref();
    return { cancel: () => clearTimeout(timer) };
  },
};
