// The life of one connection, step by step: a Python server, called by this Node client, through one Rust core on both
// sides. Run it with `cargo xtask demo`.

import { fileURLToPath } from 'node:url';
import { Client } from 'oxmcp';

const python = process.env.OXMCP_PYTHON ?? 'python3';
const server = fileURLToPath(new URL('../python/demo_server.py', import.meta.url));

const colour = process.stdout.isTTY && !process.env.NO_COLOR;
const paint = (code) => (text) => (colour ? `\u001b[${code}m${text}\u001b[0m` : text);
const [bold, dim, red, green, yellow, blue, magenta] = [1, 2, 31, 32, 33, 34, 35].map(paint);

const start = performance.now();
let last = start;

/** One line: when, how long since the line before, and what. */
function say(what) {
  const now = performance.now();
  const [at, since] = [now - start, now - last].map((time) => time.toFixed(1));
  last = now;
  console.log(`${dim(`${at.padStart(8)} ms ${`+${since}`.padStart(8)}`)}  ${what}`);
}

let number = 0;
const step = (title) => console.log(`\n${bold(`${String(++number).padStart(2)}  ${title}`)}`);

// Each kind of message opens its step of the story the first time it is seen.
const steps = new Map([
  ['sent initialize', 'initialize: the client offers a revision and says who it is'],
  ['received initialize', 'the answer: the server accepts and says what it offers'],
  ['sent notifications/initialized', 'initialized: the handshake is complete'],
  ['sent tools/list', 'list: which tools are there?'],
  ['sent tools/call', 'call: one tool, with arguments, asking for progress'],
  ['received notifications/progress', 'progress, while the tool works'],
  ['received tools/call', 'the result'],
]);
const methods = new Map();

function show(direction, line) {
  const message = JSON.parse(line);
  if (direction === 'sent' && 'id' in message) methods.set(message.id, message.method);
  const key = `${direction} ${message.method ?? methods.get(message.id)}`;
  if (steps.has(key)) step(steps.get(key));
  steps.delete(key);
  say(direction === 'sent' ? `${blue('node → python')}  ${line}` : `${green('node ← python')}  ${line}`);
}

// By the handshake: it is a step of the story, and 2026-07-28 has none.
const client = new Client({ name: 'demo-client', version: '1.0.0' }, { mode: 'legacy', ontrace: show });
client.onclose = () => say(magenta('the connection is closed'));

console.log(bold('A Python server, called by a Node client, both on the same Rust core'));

step('spawn: the client starts the server as a child process');
say(dim(`${python} ${server}`));
await client.connect({
  command: python,
  args: [server],
  onstderr: (text) => {
    for (const line of text.trimEnd().split('\n')) say(yellow(`python's stderr  ${line}`));
  },
});

const tools = await client.listTools();
say(magenta(`listTools() → ${tools.tools.map((tool) => tool.name).join(', ')}`));

const result = await client.callTool(
  { name: 'count', arguments: { to: 3 } },
  {
    resetTimeoutOnProgress: true,
    onprogress: ({ progress, total, message }) => say(magenta(`onprogress: ${progress} of ${total}, "${message}"`)),
  },
);
say(magenta(`callTool() → ${JSON.stringify(result.content[0].text)}`));

step('a call that is cancelled: abort() here is asyncio.CancelledError there, and nothing is answered');
const controller = new AbortController();
const reason = new Error('the user pressed Escape');
try {
  await client.callTool(
    { name: 'count', arguments: { to: 1_000_000 } },
    { signal: controller.signal, onprogress: () => controller.abort(reason) },
  );
  throw new Error('the call was not cancelled');
} catch (error) {
  if (error !== reason) throw error;
  say(red(`callTool() rejected with the signal's own reason: "${error.message}"`));
}
// The connection goes on as if nothing had been; and by its answer the server's last words have come.
await client.ping();

step('shutdown: the client closes the server’s input, and the server leaves');
await client.close();
say(magenta('close() → the process has ended'));
