/**
 * The client's rows of the behaviour table, against a server and a clock in the hand.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { ConnectionClosedError, McpError, type Problem, ProtocolError, RequestTimeoutError, type Tool } from 'oxmcp';

import { connectionOf } from '../dist/client.js';
import type { Connection } from '../dist/connection.js';
import { type Played, connecting, played, turn } from './support.js';

const OK = { content: [] };

/** A call that has been sent, with its id. */
async function sent({ client, server }: Played, options?: object): Promise<{ call: Promise<unknown>; id: number }> {
  const call = client.callTool({ name: 'x' }, options);
  call.catch(() => {});
  await turn();
  assert.equal(server.last['method'], 'tools/call');
  return { call, id: server.last['id'] };
}

function held(client: Played['client']): number {
  const stats = connectionOf(client)?.stats;
  return (stats?.calls ?? 0) + (stats?.outbound ?? 0);
}

describe('timeouts', () => {
  test('a call without an answer fails after 60 s, and the server is told', async () => {
    const peer = await played();
    const { call, id } = await sent(peer);
    peer.clock.advance(59_999);
    assert.equal(held(peer.client), 2);
    peer.clock.advance(1);
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof RequestTimeoutError);
      assert.deepEqual([error.code, error.kind, error.retryable], [-32001, 'timeout', true]);
      assert.match(error.message, /tools\/call got no answer within 60 s/);
      return true;
    });
    await turn();
    assert.equal(peer.server.last['method'], 'notifications/cancelled');
    assert.equal(peer.server.last['params'].requestId, id);
    assert.equal(held(peer.client), 0);
  });

  test('the client and each call can set another', async () => {
    const peer = await played({ timeout: 500 });
    const { call } = await sent(peer);
    const { call: shorter } = await sent(peer, { timeout: 100 });
    const { call: longer } = await sent(peer, { timeout: 10_000 });
    peer.clock.advance(100);
    await assert.rejects(shorter, /within 0.1 s/);
    peer.clock.advance(400);
    await assert.rejects(call, /within 0.5 s/);
    peer.clock.advance(9_500);
    await assert.rejects(longer, /within 10 s/);
  });

  test('infinity is no limit', async () => {
    const peer = await played({ timeout: Infinity });
    const { call, id } = await sent(peer);
    peer.clock.advance(1e12);
    peer.server.say({ id, result: OK });
    assert.deepEqual(await call, OK);
  });

  test('reset on progress needs no callback, and each report starts the time anew', async () => {
    const peer = await played();
    const { call, id } = await sent(peer, { timeout: 1000, resetTimeoutOnProgress: true });
    assert.equal(peer.server.last['params']._meta.progressToken, id);
    for (let progress = 1; progress <= 6; progress++) {
      peer.clock.advance(500);
      peer.server.say({ method: 'notifications/progress', params: { progressToken: id, progress } });
    }
    peer.server.say({ id, result: OK });
    assert.deepEqual(await call, OK);
  });

  test('the total timeout is not moved by progress', async () => {
    const peer = await played();
    const { call, id } = await sent(peer, { timeout: 1000, resetTimeoutOnProgress: true, maxTotalTimeout: 2500 });
    for (let progress = 1; progress <= 5; progress++) {
      peer.clock.advance(500);
      peer.server.say({ method: 'notifications/progress', params: { progressToken: id, progress } });
    }
    await assert.rejects(call, /total timeout of 2.5 s/);
  });

  test('without the option progress moves nothing', async () => {
    const peer = await played();
    const { call, id } = await sent(peer, { timeout: 1000, onprogress: () => {} });
    peer.clock.advance(900);
    peer.server.say({ method: 'notifications/progress', params: { progressToken: id, progress: 1 } });
    peer.clock.advance(100);
    await assert.rejects(call, RequestTimeoutError);
  });

  test('a late answer is dropped in silence', async () => {
    const problems: Problem[] = [];
    const peer = await played({ onproblem: (problem) => problems.push(problem) });
    const { call, id } = await sent(peer, { timeout: 10 });
    peer.clock.advance(10);
    await assert.rejects(call);
    peer.server.say({ id, result: OK });
    assert.deepEqual(problems, []);
  });

  test('no timer is left after close', async () => {
    const peer = await played();
    const { call } = await sent(peer);
    assert.equal(peer.clock.timers, 1);
    await peer.client.close();
    assert.equal(peer.clock.timers, 0);
    await assert.rejects(call, ConnectionClosedError);
  });

  test('the handshake has its time as well, and is never cancelled', async () => {
    const { server, clock, done } = connecting({ timeout: 1000 });
    await turn();
    clock.advance(1000);
    await assert.rejects(done, { kind: 'timeout', message: /initialize got no answer within 1 s/ });
    await turn();
    assert.deepEqual(
      server.sent.map((message) => message['method']),
      ['initialize'],
    );
    assert.equal(server.closes, 1);
  });
});

describe('cancelling', () => {
  test('abort rejects at once with the very reason, and the server is told', async () => {
    const peer = await played();
    const controller = new AbortController();
    const { call, id } = await sent(peer, { signal: controller.signal });
    const reason = { my: 'reason' };
    controller.abort(reason);
    // Written before anything else can run.
    assert.equal(peer.server.last['method'], 'notifications/cancelled');
    assert.equal(peer.server.last['params'].requestId, id);
    assert.equal(held(peer.client), 0);
    await assert.rejects(call, (error) => error === reason);
  });

  test('a reason may be anything: the call rejects with it, and the connection goes on', async () => {
    const peer = await played();
    const throwing = (): never => {
      throw new Error('no text');
    };
    const reasons: [reason: unknown, text: unknown][] = [
      [Object.create(null), 'object that has no text'],
      [Object.assign(new Error(), { message: 5 }), '5'],
      [Object.assign(new Error(), { message: Object.create(null) }), 'object that has no text'],
      [{ toString: throwing }, 'object that has no text'],
      [Object.defineProperty(new Error(), 'message', { get: throwing }), 'object that has no text'],
      [new Proxy({}, { getPrototypeOf: throwing }), 'object that has no text'],
      [Symbol('mine'), 'Symbol(mine)'],
      [null, 'null'],
      ['\ud800', '\ufffd'],
    ];
    for (const [reason, text] of reasons) {
      const controller = new AbortController();
      const { call: other, id } = await sent(peer);
      const { call } = await sent(peer, { signal: controller.signal });
      controller.abort(reason);
      await assert.rejects(call, (error) => error === reason);
      assert.equal(peer.server.last['params'].reason, text);
      peer.server.say({ id, result: OK });
      assert.deepEqual(await other, OK);
    }
    assert.equal(peer.client.isConnected, true);
    assert.equal(held(peer.client), 0);
  });

  test('an aborted signal sends nothing', async () => {
    const peer = await played();
    const before = peer.server.sent.length;
    const signal = AbortSignal.abort();
    await assert.rejects(peer.client.callTool({ name: 'x' }, { signal }), (error) => error === signal.reason);
    await turn();
    assert.equal(peer.server.sent.length, before);
  });

  test('the late answer to a cancelled call is dropped in silence', async () => {
    const errors: Error[] = [];
    const peer = await played();
    peer.client.onerror = (error) => errors.push(error);
    const controller = new AbortController();
    const { call, id } = await sent(peer, { signal: controller.signal });
    controller.abort();
    await assert.rejects(call, { name: 'AbortError' });
    peer.server.say({ id, result: OK });
    assert.deepEqual(errors, []);
  });

  test('abort after the answer does nothing, and no listener stays', async () => {
    const peer = await played();
    const signal = countingSignal();
    for (let round = 0; round < 3; round++) {
      const calls = await Promise.all(Array.from({ length: 20 }, () => sent(peer, { signal })));
      assert.equal(signal.listeners, 1);
      for (const [index, { call }] of calls.entries()) {
        const id = peer.server.sent.at(index - 20)?.['id'];
        peer.server.say({ id, result: OK });
        await call;
      }
      assert.equal(signal.listeners, 0);
    }
    const before = peer.server.sent.length;
    signal.abort();
    assert.equal(peer.server.sent.length, before);
  });

  test('answer, abort and disconnect at the same time settle each call once', async () => {
    for (let round = 0; round < 300; round++) {
      const peer = await played();
      const controller = new AbortController();
      let settled = 0;
      const calls = [];
      for (let index = 0; index < 33; index++) {
        const { call, id } = await sent(peer, { signal: controller.signal });
        calls.push({ id, call: call.finally(() => settled++).catch(() => {}) });
      }
      const answers = calls.map(({ id }) => ({ id, result: OK }));
      const steps = [() => peer.server.say(...answers.slice(0, 20)), () => controller.abort(), () => peer.server.end()];
      for (let index = 0; index < 3; index++) steps[(index + round) % 3]?.();
      await Promise.all(calls.map(({ call }) => call));
      assert.equal(settled, 33);
      assert.equal(held(peer.client), 0);
    }
  });
});

describe('progress', () => {
  test('is reported in order, before the result, without the token', async () => {
    const peer = await played();
    const log: unknown[] = [];
    const { call, id } = await sent(peer, { onprogress: (progress: unknown) => log.push(progress) });
    void call.then(() => log.push('result'));
    peer.server.say(
      { method: 'notifications/progress', params: { progressToken: id, progress: 1, total: 2, message: 'half' } },
      { method: 'notifications/progress', params: { progressToken: id, progress: 2 } },
      { id, result: OK },
    );
    await call;
    assert.deepEqual(log, [{ progress: 1, total: 2, message: 'half' }, { progress: 2 }, 'result']);
  });

  test('after the result it is no fault', async () => {
    const problems: Problem[] = [];
    const peer = await played({ onproblem: (problem) => problems.push(problem) });
    const { call, id } = await sent(peer, { onprogress: () => {} });
    peer.server.say({ id, result: OK }, { method: 'notifications/progress', params: { progressToken: id, progress: 1 } });
    await call;
    assert.equal(problems.length, 0);
    peer.server.say({ method: 'notifications/progress', params: { progressToken: 'never given', progress: 1 } });
    assert.deepEqual(problems.map((problem) => problem.kind), ['unknown_progress']);
  });

  test('what a callback throws reaches onerror as the same object, and the call goes on', async () => {
    const peer = await played();
    class Odd extends Error {
      readonly detail = 7;
    }
    const thrown = new Odd('from the callback');
    const errors: Error[] = [];
    peer.client.onerror = (error) => errors.push(error);
    const throwing = (): never => {
      throw thrown;
    };
    const { call, id } = await sent(peer, { onprogress: throwing });
    peer.server.say({ method: 'notifications/progress', params: { progressToken: id, progress: 1 } }, { id, result: OK });
    assert.deepEqual(await call, OK);
    assert.equal(errors[0], thrown);
  });

  test('what a callback throws may be anything', async () => {
    const peer = await played();
    const thrown: unknown = Object.create(null);
    const errors: Error[] = [];
    peer.client.onerror = (error) => errors.push(error);
    const throwing = (): never => {
      throw thrown;
    };
    const { call, id } = await sent(peer, { onprogress: throwing });
    peer.server.say({ method: 'notifications/progress', params: { progressToken: id, progress: 1 } }, { id, result: OK });
    assert.deepEqual(await call, OK);
    assert.equal(errors[0]?.cause, thrown);
  });

  test('a callback may abort its own call', async () => {
    const peer = await played();
    const controller = new AbortController();
    const { call, id } = await sent(peer, { signal: controller.signal, onprogress: () => controller.abort('enough') });
    peer.server.say({ method: 'notifications/progress', params: { progressToken: id, progress: 1 } }, { id, result: OK });
    await assert.rejects(call, (error) => error === 'enough');
    assert.equal(held(peer.client), 0);
  });
});

describe('what a server gets wrong', () => {
  test('text that is not JSON is reported and never answered, and the stream goes on', async () => {
    const problems: Problem[] = [];
    const peer = await played({ onproblem: (problem) => problems.push(problem) });
    const before = peer.server.sent.length;
    peer.server.say('got it\n', 'Listening on port 3\n', '[1,2]\n', '{"jsonrpc":"2.0"}\n');
    await turn();
    assert.equal(peer.server.sent.length, before);
    assert.deepEqual(problems.map((problem) => problem.kind), ['not_json', 'not_json', 'not_a_message', 'not_a_message']);
    assert.match(problems[0]?.message ?? '', /got it/);
    const { call, id } = await sent(peer);
    peer.server.say({ id, result: OK });
    assert.deepEqual(await call, OK);
  });

  test('without onproblem it is an error of onerror', async () => {
    const peer = await played();
    const errors: Error[] = [];
    peer.client.onerror = (error) => errors.push(error);
    peer.server.say('not json\n');
    assert.ok(errors[0] instanceof ProtocolError);
    assert.match(errors[0].message, /not json/);
  });

  test('an answer with an unknown id is reported, a decimal string for a number is accepted', async () => {
    const problems: Problem[] = [];
    const peer = await played({ onproblem: (problem) => problems.push(problem) });
    const { call, id } = await sent(peer);
    peer.server.say({ id: 999, result: OK }, { id: `0${id}`, result: OK });
    assert.equal(held(peer.client), 2);
    peer.server.say({ id: String(id), result: OK });
    assert.deepEqual(await call, OK);
    assert.deepEqual(problems.map((problem) => problem.kind), ['unknown_response', 'unknown_response', 'loose_id']);
  });

  test('a broken answer fails its call', async () => {
    const peer = await played();
    const { call, id } = await sent(peer);
    peer.server.say({ id, result: 5 });
    await assert.rejects(call, ProtocolError);
  });

  test('content of an unknown kind arrives as it is', async () => {
    const peer = await played();
    const { call, id } = await sent(peer);
    const content = [{ type: 'text', text: 'a' }, { type: 'hologram', x: 1 }];
    peer.server.say({ id, result: { content, more: true } });
    assert.deepEqual(await call, { content, more: true });
  });

  test('a message over the limit is dropped, and the stream goes on', async () => {
    const problems: Problem[] = [];
    const peer = await played({ limits: { message: 1000 }, onproblem: (problem) => problems.push(problem) });
    const { call, id } = await sent(peer);
    peer.server.say(`${'x'.repeat(5000)}\n`, { id, result: OK });
    assert.deepEqual(await call, OK);
    assert.deepEqual(problems.map((problem) => problem.kind), ['too_large']);
  });

  test('a server of another revision is refused by its name', async () => {
    const { server, done } = connecting();
    await turn();
    server.say({ id: 0, result: { protocolVersion: '1999-01-01', capabilities: {}, serverInfo: { name: 'x', version: '1' } } });
    await assert.rejects(done, { kind: 'protocol', message: /revision 1999-01-01, this client speaks 2025-11-25/ });
    await turn();
    assert.equal(server.closes, 1);
  });

  test('a strict server is offered a revision it speaks', async () => {
    const { client, server, done } = connecting();
    await turn();
    const data = { supported: ['2025-03-26'], requested: '2025-11-25' };
    server.say({ id: 0, error: { code: -32602, message: 'Unsupported protocol version', data } });
    await turn();
    assert.equal(server.last['params'].protocolVersion, '2025-03-26');
    server.say({ id: 1, result: { protocolVersion: '2025-03-26', capabilities: {}, serverInfo: { name: 'x', version: '1' } } });
    await done;
    assert.equal(client.getNegotiatedProtocolVersion(), '2025-03-26');
  });
});

describe('requests and notifications of the server', () => {
  test('ping is answered, also during the handshake; other requests get -32601', async () => {
    const { server } = connecting();
    await turn();
    server.say({ id: 'p', method: 'ping' });
    assert.deepEqual(server.last, { jsonrpc: '2.0', id: 'p', result: {} });
    const peer = await played();
    peer.server.say({ id: 1, method: 'sampling/createMessage', params: {} });
    assert.equal(peer.server.last['error'].code, -32601);
  });

  test('go to their handler, or to the fallback', async () => {
    const peer = await played();
    const log: unknown[] = [];
    peer.client.setNotificationHandler('notifications/tools/list_changed', ({ method }) => void log.push(method));
    peer.client.fallbackNotificationHandler = ({ method, params }) => void log.push([method, params]);
    peer.server.say({ method: 'notifications/tools/list_changed' }, { method: 'notifications/message', params: { level: 'info' } });
    assert.deepEqual(log, ['notifications/tools/list_changed', ['notifications/message', { level: 'info' }]]);
    peer.client.removeNotificationHandler('notifications/tools/list_changed');
    peer.server.say({ method: 'notifications/tools/list_changed' });
    assert.deepEqual(log.at(-1), ['notifications/tools/list_changed', undefined]);
  });

  test('an async handler that fails is reported', async () => {
    const peer = await played();
    const reported = new Promise((resolve) => (peer.client.onerror = resolve));
    const thrown = new Error('later');
    peer.client.setNotificationHandler('n', () => Promise.reject(thrown));
    peer.server.say({ method: 'n' });
    assert.equal(await reported, thrown);
  });

  test('and ours are written', async () => {
    const peer = await played({ capabilities: { roots: { listChanged: true } } });
    await peer.client.notification({ method: 'notifications/roots/list_changed', params: { a: 1 } });
    await turn();
    assert.deepEqual(peer.server.last, { jsonrpc: '2.0', method: 'notifications/roots/list_changed', params: { a: 1 } });
  });
});

describe('lists', () => {
  const tool = (name: string): object => ({ name, inputSchema: { type: 'object' } });

  test('all pages are read, to the absent or empty cursor', async () => {
    for (const last of [{}, { nextCursor: '' }]) {
      const peer = await played();
      const list = peer.client.listTools();
      await turn();
      assert.equal(peer.server.last['params'], undefined);
      peer.server.say({ id: peer.server.last['id'], result: { tools: [tool('a')], nextCursor: 'two' } });
      await turn();
      assert.deepEqual(peer.server.last['params'], { cursor: 'two' });
      peer.server.say({ id: peer.server.last['id'], result: { tools: [tool('b')], ...last } });
      assert.deepEqual(await list, { tools: [tool('a'), tool('b')] });
    }
  });

  test('a list without end is an error, never a silent cut', async () => {
    const peer = await played({ listMaxPages: 3 });
    const list = peer.client.listTools();
    for (let page = 0; page < 3; page++) {
      await turn();
      peer.server.say({ id: peer.server.last['id'], result: { tools: [], nextCursor: 'more' } });
    }
    await assert.rejects(list, { kind: 'protocol', message: /not at its end after 3 pages/ });
  });

  test('a page without an array of tools is the fault of the server', async () => {
    for (const result of [{}, { tools: null }, { tools: 'ab' }, { tools: { length: 1 } }]) {
      const peer = await played();
      const list = peer.client.listTools();
      await turn();
      peer.server.say({ id: peer.server.last['id'], result });
      await assert.rejects(list, (error) => {
        assert.ok(error instanceof ProtocolError);
        assert.deepEqual([error.kind, error.fault], ['protocol', 'peer']);
        assert.match(error.message, /tools\/list is broken: "tools" must be an array/);
        return true;
      });
    }
  });

  test('a page may be long', async () => {
    const peer = await played();
    const list = peer.client.listTools();
    await turn();
    const tools = Array.from({ length: 200_000 }, (_, index) => tool(`${index}`) as Tool);
    peer.server.say({ id: peer.server.last['id'], result: { tools } });
    assert.equal((await list).tools.length, tools.length);
  });

  test('a cursor asks for its page alone', async () => {
    const peer = await played();
    const list = peer.client.listTools({ cursor: 'two' });
    await turn();
    peer.server.say({ id: peer.server.last['id'], result: { tools: [], nextCursor: 'three' } });
    assert.deepEqual(await list, { tools: [], nextCursor: 'three' });
  });
});

describe('writing', () => {
  test('calls of one turn leave together, many of them in parts', async () => {
    const peer = await played();
    let writes = 0;
    const write = peer.server.write.bind(peer.server);
    peer.server.write = (wire) => {
      writes++;
      write(wire);
    };
    for (const [count, expected] of [[10, 1], [200, 4]] as const) {
      writes = 0;
      const calls = Array.from({ length: count }, () => peer.client.callTool({ name: 'x' }));
      await turn();
      assert.equal(writes, expected);
      peer.server.say(...peer.server.sent.slice(-count).map(({ id }) => ({ id, result: OK })));
      await Promise.all(calls);
    }
  });
});

test('a trace shows each line, in both directions, cut anywhere', async () => {
  const lines: string[] = [];
  const peer = await played({ ontrace: (direction, line) => lines.push(`${direction} ${line}`) });
  assert.deepEqual(
    lines.map((line) => line.replace(/\{.*"method":("[^"]*").*/, '$1').replace(/\{.*/, 'answer')),
    ['sent "initialize"', 'received answer', 'sent "notifications/initialized"'],
  );
  await sent(peer);
  assert.match(lines.at(-1) ?? '', /^sent .*"tools\/call"/);
  peer.server.say('{"jsonrpc":"2.0",');
  peer.server.say('"method":"ü"}\n');
  assert.equal(lines.at(-1), 'received {"jsonrpc":"2.0","method":"ü"}');
});

describe('a fault inside the core', () => {
  test('rejects what waits and ends this connection alone', async () => {
    const broken = await played();
    const other = await played();
    let closed = 0;
    broken.client.onclose = () => closed++;
    const { call } = await sent(broken);
    const session = nativeSession(broken);
    assert.throws(() => session.provokeFault(), { kind: 'internal' });
    broken.server.say({ method: 'n' });
    await assert.rejects(call, (error) => {
      assert.ok(error instanceof McpError);
      assert.deepEqual([error.kind, error.fault], ['internal', 'local']);
      return true;
    });
    await assert.rejects(broken.client.callTool({ name: 'x' }), { kind: 'internal' });
    await turn();
    assert.deepEqual([closed, broken.server.closes > 0, broken.client.isConnected], [1, true, false]);

    const { call: fine, id } = await sent(other);
    other.server.say({ id, result: OK });
    assert.deepEqual(await fine, OK);
  });

  test('at its border, where the core itself knows nothing of it, settles all calls as well, now and later', async () => {
    const peer = await played();
    const { call } = await sent(peer);
    const controller = new AbortController();
    const { call: aborted } = await sent(peer, { signal: controller.signal });
    const fault = new TypeError('the border does not take this');
    const session = nativeSession(peer);
    session.cancel = () => {
      throw fault;
    };
    controller.abort('enough');
    await assert.rejects(aborted, (error) => error === 'enough');
    for (const one of [call, peer.client.callTool({ name: 'x' }), peer.client.ping(), peer.client.notification({ method: 'n' })]) {
      await assert.rejects(one, (error) => error === fault);
    }
    await turn();
    assert.deepEqual([held(peer.client), peer.server.closes, peer.client.isConnected, peer.clock.timers], [0, 1, false, 0]);
    // What comes after the end changes nothing.
    const before = peer.server.sent.length;
    peer.server.say({ id: 'p', method: 'ping' });
    await turn();
    assert.equal(peer.server.sent.length, before);
  });
});

function nativeSession({ client }: Played): Connection['session'] {
  const connection = connectionOf(client);
  assert.ok(connection);
  return connection.session;
}

function countingSignal(): AbortSignal & { listeners: number; abort(): void } {
  const controller = new AbortController();
  const signal = controller.signal as AbortSignal & { listeners: number; abort(): void };
  signal.listeners = 0;
  signal.abort = () => controller.abort();
  const { addEventListener, removeEventListener } = signal;
  signal.addEventListener = (...args: Parameters<typeof addEventListener>) => {
    signal.listeners++;
    addEventListener.apply(signal, args);
  };
  signal.removeEventListener = (...args: Parameters<typeof removeEventListener>) => {
    signal.listeners--;
    removeEventListener.apply(signal, args);
  };
  return signal;
}
