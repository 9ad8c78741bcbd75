/**
 * The tree of errors.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import * as oxmcp from 'oxmcp';

import { nativeDetails, toError } from '../dist/errors.js';
import { packageFolder } from './support.js';

test('classes hold across copies of the package, and only where they should', () => {
  const paths = Object.keys(require.cache).filter((file) => file.startsWith(`${packageFolder}/dist/`));
  const kept = new Map(paths.map((file) => [file, require.cache[file]]));
  // As a copy of another version, for copies of one version are one.
  const all = globalThis as unknown as Record<symbol, unknown>;
  const name = Symbol.for(`oxmcp ${oxmcp.version}`);
  const running = all[name];
  for (const file of paths) delete require.cache[file];
  delete all[name];
  const copy = require('../dist/errors.js') as typeof oxmcp;
  for (const [file, module] of kept) require.cache[file] = module;
  all[name] = running;

  const foreign = new copy.RequestTimeoutError({ kind: 'timeout', message: 'late' });
  assert.notEqual(copy.RequestTimeoutError, oxmcp.RequestTimeoutError);
  assert.ok(foreign instanceof oxmcp.RequestTimeoutError);
  assert.ok(foreign instanceof oxmcp.McpError);
  assert.ok(foreign instanceof Error);
  assert.ok(!(foreign instanceof oxmcp.UsageError));
  for (const other of [new Error('x'), {}, null, 'x', undefined]) assert.ok(!(other instanceof oxmcp.McpError));
});

test('a class that a program derives stays its own', () => {
  class Own extends oxmcp.McpError {}
  const own = new Own({ kind: 'usage', message: 'x' });
  assert.ok(own instanceof Own && own instanceof oxmcp.McpError);
  assert.ok(!(new oxmcp.McpError({ kind: 'usage', message: 'x' }) instanceof Own));
});

test('every kind of the core has its class, with its name', () => {
  const classes = {
    response: oxmcp.ResponseError,
    timeout: oxmcp.RequestTimeoutError,
    cancelled: oxmcp.CancelledError,
    closed: oxmcp.ConnectionClosedError,
    not_negotiated: oxmcp.CapabilityError,
    usage: oxmcp.UsageError,
    protocol: oxmcp.ProtocolError,
    internal: oxmcp.InternalError,
  } as const;
  for (const [kind, expected] of Object.entries(classes)) {
    const error = toError({ kind: kind as keyof typeof classes, message: 'm', code: 5 });
    assert.ok(error instanceof expected);
    assert.deepEqual([error.name, error.kind, error.code, String(error)], [expected.name, kind, 5, `${expected.name}: m`]);
  }
});

test('what the addon throws is plain data, and anything else stays as it is', () => {
  const details = nativeDetails({ kind: 'response', message: 'm', code: 1, data: '{"a":[1]}', fault: 'peer', retryable: false });
  assert.deepEqual(details?.data, { a: [1] });
  for (const other of [new Error('x'), 'text', undefined, null]) assert.equal(nativeDetails(other), undefined);
});
