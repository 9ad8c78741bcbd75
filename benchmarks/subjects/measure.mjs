// What every client program in JavaScript does with its SDK: the same phases, clocks and checks, and one JSON line.

import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFileSync } from 'node:fs';

/** [http] WARMUP CALLS PIPELINED WINDOW COMMAND [ARGUMENT...] */
export function plan() {
  const words = process.argv.slice(2);
  const http = words[0] === 'http';
  if (http) words.shift();
  const [warmup, calls, pipelined, window] = words.splice(0, 4).map(Number);
  const [command, ...args] = words;
  if (!command) throw new Error('usage: [http] WARMUP CALLS PIPELINED WINDOW COMMAND [ARGUMENT...]');
  return { http, warmup, calls, pipelined, window, command, args };
}

/** Starts a server over HTTP, which ends with this program; gives its URL, which is the first line that it prints. */
export async function listening({ command, args }) {
  const server = spawn(command, args, { stdio: ['ignore', 'pipe', 'inherit'] });
  process.once('exit', () => server.kill());
  const [line] = await once(server.stdout.setEncoding('utf8'), 'data');
  server.unref();
  server.stdout.unref();
  return new URL(line.trim());
}

/**
 * @param call sends one text and returns the promise of the SDK's result
 * @param textOf finds the text in that result
 */
export async function measure({ warmup, calls, pipelined, window }, connectMs, call, textOf) {
  let checked = 0;

  async function one() {
    checked += 1;
    const text = `message ${String(checked).padStart(8, '0')} of the benchmark`;
    const answered = textOf(await call(text));
    if (answered !== text) throw new Error(`sent ${JSON.stringify(text)}, got ${JSON.stringify(answered)}`);
  }

  async function inFlight(total) {
    let left = total;
    const worker = async () => {
      while (left-- > 0) await one();
    };
    await Promise.all(Array.from({ length: window }, worker));
  }

  for (let i = 0; i < Math.floor(warmup / 2); i++) await one();
  await inFlight(warmup - Math.floor(warmup / 2));

  const times = new Float64Array(calls);
  for (let i = 0; i < calls; i++) {
    const begin = performance.now();
    await one();
    times[i] = (performance.now() - begin) * 1e3;
  }
  times.sort();

  const cpuBefore = process.cpuUsage();
  const begin = performance.now();
  await inFlight(pipelined);
  const seconds = (performance.now() - begin) / 1e3;
  const cpu = process.cpuUsage(cpuBefore);

  const percentile = (percent) => times[Math.max(1, Math.ceil((calls * percent) / 100)) - 1];
  const report = {
    connect_ms: connectMs,
    p50_us: percentile(50),
    p99_us: percentile(99),
    calls_per_s: pipelined / seconds,
    cpu_s_per_10k: ((cpu.user + cpu.system) / 1e6 / pipelined) * 1e4,
    peak_kb: Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync('/proc/self/status', 'utf8'))[1]),
    checked,
  };
  console.log(JSON.stringify(report));
}
