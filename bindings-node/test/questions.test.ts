/**
 * What a server asks its client for while it serves a call: by requests in one era, by rounds in the other, and by one
 * function in both.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import {
  CapabilityError,
  Client,
  type ElicitRequestParams,
  type ElicitResult,
  HandlerError,
  McpError,
  McpServer,
  ResponseError,
  UrlElicitationRequiredError,
} from 'oxmcp';

import { connectionsOf } from '../dist/server.js';
import { ERAS, Wire, assertIdle, join, linked, played, textOf, turn } from './support.js';

const INFO = { name: 'asking', version: '1' };
const FORM = { message: 'Who?', requestedSchema: { type: 'object', properties: { name: { type: 'string' } } } } as const;
const CAPABILITIES = { elicitation: { form: {}, url: {} }, sampling: { tools: {} }, roots: { listChanged: true } };

type Answers = (params: ElicitRequestParams) => ElicitResult | Promise<ElicitResult>;

async function asked(server: McpServer, mode: 'auto' | 'legacy', answers: Answers, wire?: Wire): Promise<Client> {
  const client = new Client({ name: 'test', version: '1.0.0' }, { mode, capabilities: CAPABILITIES, ...(wire && { ontrace: wire.ontrace }) });
  client.setRequestHandler('elicitation/create', ({ params }) => answers(params));
  client.setRequestHandler('roots/list', () => ({ roots: [{ uri: 'file:///tmp', name: 'tmp' }] }));
  client.setRequestHandler('sampling/createMessage', ({ params }) => ({
    role: 'assistant',
    model: 'm',
    content: { type: 'text', text: `about ${JSON.stringify(params.messages)}` },
  }));
  await join(client, server);
  return client;
}

for (const { mode, revision } of ERAS) {
  describe(`in ${revision}`, { timeout: 60_000 }, () => {
    test('a form, a model and the roots, one after the other and two at once', async () => {
      const server = new McpServer(INFO);
      let runs = 0;
      server.registerTool('all', {}, async ({ mcpReq }) => {
        runs++;
        const { content } = await mcpReq.elicitInput(FORM);
        const sampled = mcpReq.requestSampling({ messages: [{ role: 'user', content: { type: 'text', text: 'x' } }], maxTokens: 9 });
        const rooted = mcpReq.send<{ roots: { uri: string }[] }>({ method: 'roots/list' });
        const [message, { roots }] = await Promise.all([sampled, rooted]);
        return JSON.stringify([content?.['name'], message.model, roots[0]?.uri]);
      });
      const wire = new Wire();
      const client = await asked(server, mode, () => ({ action: 'accept', content: { name: 'Ada' } }), wire);
      assert.equal(textOf(await client.callTool({ name: 'all' })), '["Ada","m","file:///tmp"]');
      // The function runs from its start for each round; what was asked together is one round.
      assert.deepEqual([runs, wire.sent('tools/call')], mode === 'auto' ? [3, 3] : [1, 1]);
      assertIdle(client, server);
      await client.close();
    });

    test('prompts and resources ask as tools do', async () => {
      const server = new McpServer(INFO);
      server.registerPrompt('p', {}, async ({ mcpReq }) => {
        const { content } = await mcpReq.elicitInput(FORM);
        return { messages: [{ role: 'user', content: { type: 'text', text: String(content?.['name']) } }] };
      });
      server.registerResource('r', 'x://r', {}, async (uri, { mcpReq }) => {
        const { content } = await mcpReq.elicitInput(FORM);
        return { contents: [{ uri: uri.href, text: String(content?.['name']) }] };
      });
      const client = await asked(server, mode, () => ({ action: 'accept', content: { name: 'Ada' } }));
      assert.deepEqual((await client.getPrompt({ name: 'p' })).messages[0]?.content, { type: 'text', text: 'Ada' });
      assert.deepEqual((await client.readResource({ uri: 'x://r' })).contents, [{ uri: 'x://r', text: 'Ada' }]);
      await client.close();
    });

    test('declined and cancelled are answers, whatever stands beside them', async () => {
      const server = new McpServer(INFO);
      server.registerTool('ask', {}, async ({ mcpReq }) => JSON.stringify(await mcpReq.elicitInput(FORM)));
      for (const [answer, wanted] of [
        [{ action: 'decline', content: null }, { action: 'decline' }],
        [{ action: 'decline', content: { name: 'x' } }, { action: 'decline' }],
        [{ action: 'cancel' }, { action: 'cancel' }],
        [{ action: 'accept' }, { action: 'accept', content: {} }],
      ] as const) {
        const client = await asked(server, mode, () => answer as ElicitResult);
        assert.deepEqual(JSON.parse(textOf(await client.callTool({ name: 'ask' })) ?? ''), wanted);
        await client.close();
      }
    });

    test('a form keeps its order, its titles and its defaults', async () => {
      const server = new McpServer(INFO);
      const properties = {
        z: { type: 'string', enum: ['a', 'b'], enumNames: ['A', 'B'] },
        a: { type: 'string', oneOf: [{ const: 'x', title: 'X' }] },
        count: { type: 'integer', default: 3 },
      };
      const form = { message: 'm', requestedSchema: { type: 'object', properties, required: ['z'] } } as const;
      server.registerTool('ask', {}, async ({ mcpReq }) => JSON.stringify((await mcpReq.elicitInput(form)).content));
      let seen = '';
      const client = await asked(server, mode, (params) => {
        seen = JSON.stringify('requestedSchema' in params ? params.requestedSchema : undefined);
        return { action: 'accept', content: { z: 'a' } };
      });
      assert.deepEqual(JSON.parse(textOf(await client.callTool({ name: 'ask' })) ?? ''), { z: 'a', count: 3 });
      assert.equal(seen, JSON.stringify(form.requestedSchema));
      await client.close();
    });

    test('a question to a client that cannot be asked fails before it is sent, and says why', async () => {
      const server = new McpServer(INFO);
      const failures: unknown[] = [];
      server.registerTool('ask', {}, async ({ mcpReq }) => {
        await mcpReq.elicitInput(FORM).catch((error: unknown) => failures.push(error));
        return 'went on';
      });
      server.registerTool('insist', {}, async ({ mcpReq }) => JSON.stringify(await mcpReq.elicitInput(FORM)));
      const client = await linked(server, { mode });
      assert.equal(textOf(await client.callTool({ name: 'ask' })), 'went on');
      assert.ok(failures[0] instanceof CapabilityError && /elicitation/.test(failures[0].message), String(failures[0]));
      const insisted = client.callTool({ name: 'insist' });
      if (mode === 'auto') await assert.rejects(insisted, { code: -32021, message: /elicitation/ });
      else assert.match(textOf(await insisted) ?? '', /elicitation/);
      await client.close();
    });

    test('a function of the client that fails: its own error here, no more than that for the server', async () => {
      const server = new McpServer(INFO);
      server.registerTool('ask', {}, async ({ mcpReq }) => JSON.stringify(await mcpReq.elicitInput(FORM)));
      const thrown = new Error('the secret is 42');
      const errors: unknown[] = [];
      const client = await asked(server, mode, () => Promise.reject(thrown));
      client.onerror = (error) => errors.push(error);
      const call = client.callTool({ name: 'ask' });
      if (mode === 'auto') {
        const failure: unknown = await call.catch((error: unknown) => error);
        assert.ok(failure instanceof HandlerError);
        assert.equal(failure.cause, thrown);
      } else {
        const result = await call;
        assert.equal(result.isError, true);
        assert.doesNotMatch(textOf(result) ?? '', /42/);
      }
      assert.equal(errors[0], thrown);
      assertIdle(client, server);
      await client.close();
    });

    test('a URL that must be visited first', async () => {
      const server = new McpServer(INFO);
      const elicitations = [{ mode: 'url', message: 'Sign in', url: 'https://example.com/in', elicitationId: 'e1' }] as const;
      let signedIn = false;
      server.registerTool('secret', {}, () => {
        if (!signedIn) throw new UrlElicitationRequiredError(elicitations);
        return 'in';
      });
      const seen: ElicitRequestParams[] = [];
      const client = await asked(server, mode, (params) => {
        seen.push(params);
        signedIn = true;
        return { action: 'accept' };
      });
      if (mode === 'legacy') {
        const failure: unknown = await client.callTool({ name: 'secret' }).catch((error: unknown) => error);
        assert.ok(failure instanceof UrlElicitationRequiredError && failure instanceof ResponseError);
        assert.deepEqual([failure.code, failure.elicitations], [-32042, elicitations]);
      } else {
        assert.equal(textOf(await client.callTool({ name: 'secret' })), 'in');
        assert.deepEqual(seen, [{ mode: 'url', message: 'Sign in', url: 'https://example.com/in' }]);
      }
      await client.close();
    });

    test('a question that is not waited for ends with its call, or asks in a round of its own', async () => {
      const server = new McpServer(INFO);
      const kinds: unknown[] = [];
      server.registerTool('hasty', {}, async ({ mcpReq }) => {
        mcpReq.elicitInput(FORM).catch((error: McpError) => kinds.push(error.kind));
        await turn();
        return { content: [{ type: 'text', text: 'done' }] };
      });
      const client = await asked(server, mode, () => (mode === 'auto' ? { action: 'cancel' } : new Promise<ElicitResult>(() => {})));
      assert.equal(textOf(await client.callTool({ name: 'hasty' })), 'done');
      while (kinds.length === 0) await turn();
      assert.deepEqual(kinds, ['cancelled']);
      while (connectionsOf(server)[0]?.stats.calls !== 0) await turn();
      assertIdle(client, server);
      await client.close();
    });

    test('a question that nobody waits for takes its own call along at most, and never the process', async () => {
      const server = new McpServer(INFO);
      server.registerTool('forgets', {}, ({ mcpReq }) => {
        void mcpReq.elicitInput(FORM);
        void mcpReq.send({ method: 'roots/list', params: 5 as never });
        void mcpReq.log('loud' as never, 'x');
        throw new Error('boom');
      });
      const client = await asked(server, mode, () => ({ action: 'cancel' }));
      for (let round = 0; round < 3; round++) {
        const result = await client.callTool({ name: 'forgets' });
        assert.deepEqual([result.isError, textOf(result)], [true, 'boom']);
      }
      await client.close();
    });

    test('a question that fails is a failure of the tool that asked it', async () => {
      const server = new McpServer(INFO);
      server.registerTool('asks', {}, async ({ mcpReq }) => JSON.stringify(await mcpReq.elicitInput(FORM)));
      const client = await asked(server, mode, () => ({ action: 'accept', content: { name: 5 } }) as never);
      const result = await client.callTool({ name: 'asks' });
      assert.equal(result.isError, true);
      assert.match(textOf(result) ?? '', /name/);
      await client.close();
    });

    test('a call that is cancelled takes its questions along', async () => {
      const server = new McpServer(INFO);
      server.registerTool('ask', {}, async ({ mcpReq }) => JSON.stringify(await mcpReq.elicitInput(FORM)));
      let stopped: () => void = () => {};
      const cancelled = new Promise<void>((resolve) => (stopped = resolve));
      const controller = new AbortController();
      const client = new Client({ name: 'test', version: '1' }, { mode, capabilities: CAPABILITIES });
      client.setRequestHandler('elicitation/create', (_request, { mcpReq }) => {
        mcpReq.signal.addEventListener('abort', () => stopped());
        controller.abort(new Error('enough'));
        return new Promise(() => {});
      });
      await join(client, server);
      await assert.rejects(client.callTool({ name: 'ask' }, { signal: controller.signal }), /enough/);
      await cancelled;
      await client.ping();
      while (connectionsOf(server).some(({ stats }) => stats.calls > 0)) await turn();
      assertIdle(client, server);
      await client.close();
    });
  });
}

test('in 2026-07-28 a question ends the run: the signal is aborted and what awaits it rejects', async () => {
  const server = new McpServer(INFO);
  const log: unknown[] = [];
  server.registerTool('ask', {}, async ({ mcpReq }) => {
    try {
      await mcpReq.elicitInput(FORM);
      log.push('answered');
      return 'x';
    } catch (error) {
      log.push(mcpReq.signal.aborted, (error as McpError).kind);
      throw error;
    }
  });
  server.onerror = (error) => log.push(error);
  const client = await asked(server, 'auto', () => ({ action: 'accept', content: {} }));
  await client.callTool({ name: 'ask' });
  assert.deepEqual(log, [true, 'cancelled', 'answered']);
  await client.close();
});

test('a function may make its rounds itself, with a state of its own that nobody can read or change', async () => {
  const server = new McpServer(INFO);
  server.registerTool('steps', {}, ({ mcpReq }) => {
    const state = mcpReq.requestState();
    if (state === undefined) {
      return { resultType: 'input_required', inputRequests: { who: { method: 'elicitation/create', params: FORM } }, requestState: 'step 2' };
    }
    return JSON.stringify([state, mcpReq.inputResponses]);
  });
  const wire = new Wire();
  const client = await asked(server, 'auto', () => ({ action: 'accept', content: { name: 'Ada' } }), wire);
  assert.equal(textOf(await client.callTool({ name: 'steps' })), '["step 2",{"who":{"action":"accept","content":{"name":"Ada"}}}]');
  const sealed = wire.messages.find(({ result }) => result?.['requestState'])?.result?.['requestState'] as string;
  assert.doesNotMatch(Buffer.from(sealed, 'base64url').toString('latin1'), /step 2/);
  const forged = { name: 'steps', requestState: `${sealed.slice(0, -2)}AA`, inputResponses: {} };
  await assert.rejects(client.request({ method: 'tools/call', params: forged }), { code: -32602, message: /requestState/ });
  await client.close();
});

test('a server that never has enough is left', async () => {
  const server = new McpServer(INFO);
  let runs = 0;
  server.registerTool('more', {}, () => ({ resultType: 'input_required', requestState: `${++runs}` }));
  const client = await linked(server, { capabilities: CAPABILITIES, inputRequired: { maxRounds: 3 } });
  await assert.rejects(client.callTool({ name: 'more' }), { kind: 'protocol', message: /3 times/ });
  assert.equal(runs, 4);
  assertIdle(client, server);
  await client.close();
});

test('what a client declares and what it answers must agree', async () => {
  const client = new Client({ name: 'test', version: '1' });
  assert.throws(() => client.setRequestHandler('roots/list', () => ({ roots: [] })), { kind: 'usage', message: /capabilities: \{ roots/ });
  client.registerCapabilities({ roots: {} });
  client.setRequestHandler('roots/list', () => ({ roots: [] }));
  assert.throws(() => client.setRequestHandler('tools/call', () => ({})), { kind: 'usage', message: /taken, by the protocol/ });

  const declaring = await played({ capabilities: { roots: {} } });
  assert.throws(() => declaring.client.registerCapabilities({ sampling: {} }), { kind: 'usage', message: /before/ });
  declaring.server.say({ id: 1, method: 'roots/list' }, { id: 2, method: 'sampling/createMessage', params: {} });
  await turn();
  const errors = declaring.server.sent.slice(-2).map(({ id, error }) => [id, error.code]);
  assert.deepEqual(errors.toSorted(), [[1, -32601], [2, -32601]]);
});

test('a server can call methods of the client’s own', async () => {
  const client = new Client({ name: 'test', version: '1' }, { mode: 'legacy' });
  client.setRequestHandler('acme/where', ({ params }) => ({ at: params?.['what'] }));
  const server = new McpServer(INFO);
  await join(client, server);
  await client.ping();
  assert.deepEqual(await server.request({ method: 'acme/where', params: { what: 'here' } }), { at: 'here' });
  client.removeRequestHandler('acme/where');
  await assert.rejects(server.request({ method: 'acme/where' }), { code: -32601 });
  await client.close();
});
