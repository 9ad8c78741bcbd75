import assert from 'node:assert/strict';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { test } from 'node:test';

import { decode, encode, matches } from './exact.js';
import { FOLDER, Runner } from './transcripts.js';
import type { Cut } from './transcripts.js';

const FILES = readdirSync(FOLDER).filter((name) => name.endsWith('.jsonl')).sort();
// As it comes, byte by byte, in small chunks, and with what can be joined.
const CUTS: readonly Cut[] = ['whole', 1, 7, 'joined'];

test('there are transcripts', () => assert.ok(FILES.length > 0));

for (const file of FILES) {
  test(`transcript ${file}`, () => {
    for (const cut of CUTS) new Runner(join(FOLDER, file), cut).run();
  });
}

test('a transcript that does not hold fails', () => {
  const folder = mkdtempSync(join(tmpdir(), 'oxmcp-vectors-'));
  const path = join(folder, 'wrong.jsonl');
  const begin = '{"name":"n","about":"a","role":"server"}\n{"receive":{"id":1,"method":"ping"}}\n';
  const wrong = [
    '{"expect":{"id":1.0,"result":{}}}\n',
    '{"expect":{"id":1,"result":{"a":1}}}\n',
    '{"silence":true}\n',
    '{"expect":{"id":1,"result":{}}}\n{"closed":true}\n',
    '{"expect":{"id":1,"result":{}},"misspelt":1}\n',
    '{"misspelt":true}\n',
    '',
  ];
  try {
    for (const steps of wrong) {
      writeFileSync(path, begin + steps);
      assert.throws(() => new Runner(path, 'whole').run(), Error, steps);
    }
  } finally {
    rmSync(folder, { recursive: true });
  }
});

test('numbers are compared as text', () => {
  const pairs = [['1', '1.0'], ['1', 'true'], ['"1"', '1'], ['9007199254740993', '9007199254740992'], ['{}', '[]']] as const;
  for (const [wanted, found] of pairs) assert.ok(!matches(decode(wanted), decode(found)), `${wanted} is not ${found}`);
  assert.ok(matches(decode('{"a":1,"b":{"$contains":"x"}}'), decode('{"b":"axb","a":1}')));
  const text = '{"a\\"b":[1.0,-2e+5,"3",null,true,{}],"":"\\\\"}';
  assert.equal(encode(decode(text)), text);
});
