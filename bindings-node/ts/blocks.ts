/**
 * Content as functions of the program give it: each piece must be what its kind says, and bytes are written in base64. Internal.
 */

import { isObject, kindOf } from './check-options.js';
import { fault } from './failure.js';

/** What a member of a block must be. */
type Member = 'text' | 'bytes' | 'contents';

/** The members that blocks of the known types need. */
const NEEDED: Readonly<Record<string, readonly (readonly [name: string, member: Member])[]>> = {
  text: [['text', 'text']],
  image: [
    ['data', 'bytes'],
    ['mimeType', 'text'],
  ],
  audio: [
    ['data', 'bytes'],
    ['mimeType', 'text'],
  ],
  resource_link: [
    ['uri', 'text'],
    ['name', 'text'],
  ],
  resource: [['resource', 'contents']],
};

const EXAMPLE = "{ type: 'text', text: '…' }";

type Json = Readonly<Record<string, unknown>>;

/** The blocks of a result, ready to be written: the very array where there is nothing to do. */
export function blocksOf(content: readonly unknown[], what: string): readonly unknown[] {
  return each(content, what, 'content', blockOf, isPlainText);
}

/** The contents of resources that were read. */
export function contentsOf(contents: readonly unknown[], what: string): readonly unknown[] {
  return each(contents, what, 'contents', oneOf);
}

/** The messages of a prompt. */
export function promptMessagesOf(messages: readonly unknown[], what: string): readonly unknown[] {
  return each(messages, what, 'messages', (message, place) => {
    if (!isObject(message)) throw fault(`${place} must be a message, such as { role: 'user', content: ${EXAMPLE} }; it is ${kindOf(message)}`);
    const { role, content } = message;
    if (role !== 'user' && role !== 'assistant') throw fault(`${place} needs the role "user" or "assistant"; it has ${kindOf(role)}`);
    const block = blockOf(content, `${place}.content`);
    return block === content ? message : { ...message, content: block };
  });
}

/** The array, or another one where an item is not written as it was given. */
function each(
  items: readonly unknown[],
  what: string,
  name: string,
  one: (item: unknown, place: string) => unknown,
  isReady?: (item: unknown) => boolean,
): readonly unknown[] {
  let made: unknown[] | undefined;
  for (let at = 0; at < items.length; at++) {
    const item = items[at];
    if (isReady?.(item)) continue;
    const written = one(item, `${what}: ${name}[${at}]`);
    if (written !== item) (made ??= [...items])[at] = written;
  }
  return made ?? items;
}

/** Most blocks: told apart before anything is made for them. */
function isPlainText(item: unknown): boolean {
  if (typeof item !== 'object' || item === null) return false;
  const { type, text, annotations, _meta } = item as Json;
  return type === 'text' && typeof text === 'string' && annotations === undefined && _meta === undefined;
}

function blockOf(block: unknown, place: string): unknown {
  if (!isObject(block)) throw fault(`${place} must be a block of content, such as ${EXAMPLE}; it is ${kindOf(block)}`);
  const { type } = block;
  if (typeof type !== 'string') throw fault(`${place} needs a string "type", such as "text"; it is ${kindOf(type)}`);
  requireObjects(block, place);
  let written = block;
  // Kinds that are not known here go out as they are.
  for (const [name, member] of Object.hasOwn(NEEDED, type) ? NEEDED[type]! : []) {
    const value = block[name];
    const made = member === 'text' ? textOf(value, name, `${place}, of type "${type}",`) : partOf(member, value, name, place, type);
    if (made !== value) written = { ...written, [name]: made };
  }
  return written;
}

function partOf(member: Member, value: unknown, name: string, place: string, type: string): unknown {
  if (member === 'bytes') return base64Of(value, name, `${place}, of type "${type}",`);
  return oneOf(value, `${place}.${name}`);
}

/** The contents of one resource. */
function oneOf(contents: unknown, place: string): unknown {
  if (!isObject(contents)) throw fault(`${place} must be an object, such as { uri, text }; it is ${kindOf(contents)}`);
  const { uri, text, blob } = contents;
  textOf(uri, 'uri', place);
  requireObjects(contents, place);
  if (text === undefined && blob === undefined) throw fault(`${place} needs a string "text", or a "blob" of bytes or base64; it has neither`);
  if (text !== undefined) textOf(text, 'text', place);
  if (blob === undefined) return contents;
  const made = base64Of(blob, 'blob', place);
  return made === blob ? contents : { ...contents, blob: made };
}

function requireObjects({ annotations, _meta }: Json, place: string): void {
  if (annotations !== undefined && !isObject(annotations)) throw fault(`${place} needs an object as its "annotations"; it is ${kindOf(annotations)}`);
  if (_meta !== undefined && !isObject(_meta)) throw fault(`${place} needs an object as its "_meta"; it is ${kindOf(_meta)}`);
}

function textOf(value: unknown, name: string, place: string): string {
  if (typeof value === 'string') return value;
  throw fault(`${place} needs a string "${name}"; it is ${kindOf(value)}`);
}

function base64Of(value: unknown, name: string, place: string): string {
  if (typeof value === 'string') return value;
  if (ArrayBuffer.isView(value)) return Buffer.from(value.buffer, value.byteOffset, value.byteLength).toString('base64');
  if (value instanceof ArrayBuffer) return Buffer.from(value).toString('base64');
  throw fault(`${place} needs "${name}", bytes or a string of base64; it is ${kindOf(value)}`);
}
