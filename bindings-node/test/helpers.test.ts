/**
 * Small things that programs of the official SDK use by themselves: templates of URIs, rounds of questions, capabilities.
 */

import assert from 'node:assert/strict';
import { describe, test } from 'node:test';

import { Client, McpServer, ResourceTemplate, UsageError } from 'oxmcp';
import { UriTemplate, acceptedContent, inputRequired, inputResponse, isInputRequiredResult, mergeCapabilities } from 'oxmcp/server';
import * as z from 'zod';

import { join, textOf } from './support.js';

describe('UriTemplate', () => {
  test('expands and matches', () => {
    const template = new UriTemplate('repo://{owner}/{name}/files{/path*}{?ref}');
    const variables = { owner: 'ada', name: 'engine', path: ['src', 'main file.rs'], ref: 'ä' };
    const uri = 'repo://ada/engine/files/src/main%20file.rs?ref=%C3%A4';
    assert.equal(template.expand(variables), uri);
    assert.deepEqual(template.match(uri), variables);
    assert.equal(template.match('repo://ada/engine/files/..%2Fsecret'), null);
    assert.deepEqual(template.variableNames, ['owner', 'name', 'path', 'ref']);
    assert.equal(String(template), 'repo://{owner}/{name}/files{/path*}{?ref}');
    assert.equal(new UriTemplate('{a}{b}').expand({}), '');
  });

  test('says what is none', () => {
    assert.deepEqual(['a{b}', 'a', 'a{}', '{?x,y}'].map(UriTemplate.isTemplate), [true, false, false, true]);
    assert.throws(() => new UriTemplate('a://{b'), (error: Error) => error instanceof UsageError && /a:\/\/\{b/.test(error.message));
    assert.throws(() => new UriTemplate(7 as never), UsageError);
    assert.throws(() => new UriTemplate('{a}').expand({ a: 7 as never }), UsageError);
  });

  test('may stand for the text of a resource template', () => {
    assert.equal(new ResourceTemplate(new UriTemplate('note://{name}')).uriTemplate, 'note://{name}');
  });
});

describe('rounds of questions', () => {
  const Sure = z.object({ sure: z.boolean(), why: z.string().optional() });

  function eraser(): McpServer {
    const server = new McpServer({ name: 'eraser', version: '1.0.0' });
    server.registerTool('erase', {}, (ctx) => {
      const answer = inputResponse(ctx.mcpReq.inputResponses, 'sure');
      if (answer.kind === 'elicit' && answer.action !== 'accept') return `kept: ${answer.action}`;
      const content = acceptedContent(ctx.mcpReq.inputResponses, 'sure', Sure);
      if (content !== undefined) return content.sure ? `gone after ${ctx.mcpReq.requestState()}` : 'kept';
      const inputRequests = { sure: inputRequired.elicit({ message: 'Sure?', requestedSchema: Sure }), roots: inputRequired.listRoots() };
      return inputRequired({ inputRequests, requestState: 'one round' });
    });
    return server;
  }

  test('are made by what inputRequired gives', async () => {
    for (const [answer, text] of [
      [{ action: 'accept', content: { sure: true } }, 'gone after one round'],
      [{ action: 'accept', content: { sure: false } }, 'kept'],
      [{ action: 'decline' }, 'kept: decline'],
    ] as const) {
      const client = new Client({ name: 'test', version: '1.0.0' }, { capabilities: { elicitation: {}, roots: {} } });
      client.setRequestHandler('roots/list', () => ({ roots: [] }));
      client.setRequestHandler('elicitation/create', ({ params }) => {
        assert.equal(params.message, 'Sure?');
        const { type, required, properties } = (params as { requestedSchema: Record<string, object> }).requestedSchema;
        assert.deepEqual([type, required, Object.keys(properties ?? {})], ['object', ['sure'], ['sure', 'why']]);
        return answer;
      });
      await join(client, eraser());
      assert.equal(textOf(await client.callTool({ name: 'erase' })), text);
      await client.close();
    }
  });

  test('answers are told apart by their kinds', () => {
    const sampled = { role: 'assistant', content: { type: 'text', text: 'hi' }, model: 'm' };
    const responses = { a: { action: 'accept', content: { x: 1 } }, b: { action: 'cancel', content: {} }, c: { roots: [] }, d: sampled, e: null, f: {} };
    const kinds = ['a', 'b', 'c', 'd', 'e', 'f', 'g', 'toString'].map((key) => inputResponse(responses, key));
    assert.deepEqual(kinds, [
      { kind: 'elicit', action: 'accept', content: { x: 1 } },
      { kind: 'elicit', action: 'cancel' },
      { kind: 'roots', roots: [] },
      { kind: 'sampling', result: sampled },
      ...Array.from({ length: 4 }, () => ({ kind: 'missing' })),
    ]);
    assert.deepEqual([acceptedContent(responses, 'a'), acceptedContent(responses, 'b'), acceptedContent(undefined, 'a')], [{ x: 1 }, undefined, undefined]);
    assert.equal(acceptedContent(responses, 'a', z.object({ x: z.string() })), undefined);
    assert.throws(() => acceptedContent(responses, 'a', z.object({ x: z.number() }).refine(async () => true)));
  });

  test('what asks for nothing is refused', () => {
    assert.throws(() => inputRequired({}), UsageError);
    assert.deepEqual([inputRequired({ requestState: 'x' }), { content: [] }, null].map(isInputRequiredResult), [true, false, false]);
    assert.deepEqual(inputRequired.elicitUrl({ message: 'Sign in', url: 'https://example.com' }), {
      method: 'elicitation/create',
      params: { message: 'Sign in', url: 'https://example.com', mode: 'url' },
    });
    assert.equal(inputRequired.createMessage({ messages: [], maxTokens: 1 }).method, 'sampling/createMessage');
  });
});

test('capabilities are merged one by one', () => {
  const merged = mergeCapabilities({ tools: { listChanged: true }, logging: {} }, { tools: {}, resources: { subscribe: true } });
  assert.deepEqual(merged, { tools: { listChanged: true }, logging: {}, resources: { subscribe: true } });
});
