/**
 * How a command is found and quoted on Windows. The rules are pure, so they are tested everywhere.
 */

import assert from 'node:assert/strict';
import { test } from 'node:test';

import { windowsInvocation } from '../dist/child/windows.js';

const env = { Path: 'C:\\bin;C:\\Program Files\\nodejs', PATHEXT: '.COM;.EXE;.BAT;.CMD', ComSpec: 'C:\\Windows\\cmd.exe' };
const files = new Set(['C:\\Program Files\\nodejs\\npx.cmd', 'C:\\bin\\uvx.exe', 'C:\\work\\run.bat']);
const find = (command: string, args: string[] = []) => windowsInvocation(command, args, env, 'C:\\work', (file) => files.has(file));

test('a program is started as it is', () => {
  assert.deepEqual(find('uvx', ['a "b"']), { file: 'C:\\bin\\uvx.exe', args: ['a "b"'], verbatim: false });
  assert.deepEqual(find('unknown', ['x']), { file: 'unknown', args: ['x'], verbatim: false });
});

test('a script is started by its interpreter, its arguments safe from it', () => {
  const { file, args, verbatim } = find('npx', ['-y', 'a "b" c&d', '%PATH%', 'end\\']);
  assert.equal(file, 'C:\\Windows\\cmd.exe');
  assert.equal(verbatim, true);
  assert.deepEqual(args.slice(0, 4), ['/d', '/s', '/v:off', '/c']);
  const line = args[4] ?? '';
  assert.ok(line.startsWith('"C:\\Program^ Files\\nodejs\\npx.cmd '), line);
  // What cmd.exe leaves of the line after the two times it reads it is what the program must see.
  const read = (text: string) => text.replace(/\^(.)/g, '$1');
  const quoted = read(read(line.slice(1, -1)));
  assert.ok(quoted.endsWith('"-y" "a \\"b\\" c&d" "%PATH%" "end\\\\"'), quoted);
  assert.doesNotMatch(line.slice(1, -1), /(?<!\^)[&%"]/);
});

test('a path is resolved against the folder of the server', () => {
  assert.match(find('.\\run').args[4] ?? '', /C:\\work\\run\.bat/);
});
