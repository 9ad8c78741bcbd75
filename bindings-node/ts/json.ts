/**
 * Values of the program as JSON text.
 */

import { kindOf } from './check-options.js';
import { textOf, usage } from './errors.js';

/**
 * The JSON text of an object the program passes to the other side; `null` when it passes none.
 *
 * A `bigint` becomes an integer of the same digits. What JSON would write as something else is refused: numbers that are not finite,
 * dates that are none, maps, sets, promises and the like.
 */
export function objectText(value: object | undefined, what: string): string | null {
  if (value === undefined || value === null) return null;
  const text = anyText(value, what);
  if (text === undefined || text.charCodeAt(0) !== 0x7b) throw usage(`${what} must be an object that has a JSON form; it is ${kindOf(value)}`);
  return text;
}

/** The same for a value that need not be an object. */
export function valueText(value: unknown, what: string): string {
  const text = anyText(value, what);
  if (text === undefined) throw usage(`${what} must have a JSON form; it is ${kindOf(value)}`);
  return text;
}

function anyText(value: unknown, what: string): string | undefined {
  let text: string | undefined;
  try {
    text = JSON.stringify(value) as string | undefined;
  } catch (error) {
    text = textWithBigInts(value, what, error);
  }
  // Only then can there be anything that was written as another thing.
  if (text !== undefined && (text.includes('null') || text.includes('{}'))) refuseChanged(value, what);
  return text;
}

/** The slow way, taken when the fast one failed: most often because of a `bigint`, which JSON.stringify refuses. */
function textWithBigInts(value: unknown, what: string, first: unknown): string {
  // Loaded when it is needed: it takes longer to load than all of this package.
  const { randomUUID } = require('node:crypto') as typeof import('node:crypto');
  // No string that the program holds can name this mark before it is made.
  const mark = `bigint:${randomUUID()}:`;
  let found = false;
  let text: string;
  try {
    text = JSON.stringify(value, (_key, member: unknown) => {
      if (typeof member !== 'bigint') return member;
      found = true;
      return mark + member.toString();
    });
  } catch (error) {
    throw usage(`${what} has no JSON form: ${textOf(error)}`, error);
  }
  if (!found) throw usage(`${what} has no JSON form: ${textOf(first)}`, first);
  return text.replaceAll(new RegExp(`"${mark}(-?\\d+)"`, 'g'), '$1');
}

/** What JSON writes as `{}`, whatever is in it, and what to give in its place. */
const EMPTIED: readonly (readonly [abstract new (...args: never[]) => object, string])[] = [
  [Map, 'a Map; give an object, as by Object.fromEntries(map)'],
  [Set, 'a Set; give an array, as by [...set]'],
  [Promise, 'a promise; wait for it by await'],
  [Error, 'an error; give its message'],
  [ArrayBuffer, 'an ArrayBuffer; give text, such as base64'],
  [RegExp, 'a regular expression; give its source'],
  [WeakMap, 'a WeakMap'],
  [WeakSet, 'a WeakSet'],
];

/** Refuses a value that has a JSON form in which something in it is another thing. It has no cycles. */
function refuseChanged(whole: unknown, what: string): void {
  const pending: [path: string, value: unknown][] = [['', whole]];
  for (let next = pending.pop(); next !== undefined; next = pending.pop()) {
    const [path, value] = next;
    const changed = changedBy(value);
    if (changed !== undefined) throw usage(`${what} has no JSON form: ${path === '' ? 'it' : `its member ${path}`} is ${changed}`);
    // What writes itself has had its say.
    if (typeof value !== 'object' || value === null || typeof (value as { readonly toJSON?: unknown }).toJSON === 'function') continue;
    if (Array.isArray(value)) value.forEach((item, index) => pending.push([`${path}[${index}]`, item]));
    else for (const [name, member] of Object.entries(value)) pending.push([path === '' ? name : `${path}.${name}`, member]);
  }
}

function changedBy(value: unknown): string | undefined {
  if (typeof value === 'number') return Number.isFinite(value) ? undefined : `${value}, which JSON has no number for; give null or text`;
  if (typeof value !== 'object' || value === null) return undefined;
  if (value instanceof Date) return Number.isNaN(value.getTime()) ? 'a Date without a time' : undefined;
  if (typeof (value as { readonly toJSON?: unknown }).toJSON === 'function') return undefined;
  return EMPTIED.find(([kind]) => value instanceof kind)?.[1];
}
