/**
 * Values of the program as JSON text.
 */

import { textOf, usage } from './errors.js';

/**
 * The JSON text of an object the program passes to the other side; `null` when it passes none.
 *
 * A `bigint` becomes an integer of the same digits.
 */
export function objectText(value: object | undefined, what: string): string | null {
  if (value === undefined || value === null) return null;
  let text: string | undefined;
  try {
    text = JSON.stringify(value);
  } catch (error) {
    text = textWithBigInts(value, what, error);
  }
  if (text === undefined || text.charCodeAt(0) !== 0x7b) {
    throw usage(`${what} must be an object that has a JSON form; it is ${Array.isArray(value) ? 'an array' : typeof value}`);
  }
  return text;
}

/** The slow way, taken when the fast one failed: most often because of a `bigint`, which JSON.stringify refuses. */
function textWithBigInts(value: object, what: string, first: unknown): string {
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
