/**
 * Options as programs give them: a name that is none is an error, and not left aside in silence. Internal.
 */

import { usage } from './errors.js';

/** What an option may be. */
export type Kind = 'text' | 'flag' | 'function' | 'object' | 'list' | 'milliseconds' | 'count' | 'anything' | Known;

/** The options that there are, by name. */
export interface Known {
  readonly [name: string]: Kind;
}

const KINDS: Readonly<Record<string, readonly [is: (value: unknown) => boolean, what: string]>> = {
  text: [(value) => typeof value === 'string', 'a string'],
  flag: [(value) => typeof value === 'boolean', 'true or false'],
  function: [(value) => typeof value === 'function', 'a function'],
  object: [isObject, 'an object'],
  list: [Array.isArray, 'an array'],
  milliseconds: [(value) => typeof value === 'number' && value >= 0, 'a number of milliseconds from 0 up, or Infinity'],
  count: [(value) => Number.isSafeInteger(value) && (value as number) >= 1, 'a whole number from 1 up'],
  anything: [() => true, 'anything'],
};

/**
 * Checks what the program gave to `what`.
 *
 * @throws {@link UsageError} that names the option and those that there are, or what it must be
 */
export function checkOptions(what: string, options: unknown, known: Known): void {
  if (options === undefined || options === null) return;
  if (!isObject(options)) throw usage(`the options of ${what} must be an object; they are ${kindOf(options)}`);
  for (const [name, value] of Object.entries(options as object)) check(what, name, value, known, name);
}

function check(what: string, name: string, value: unknown, known: Known, path: string): void {
  const kind = Object.hasOwn(known, name) ? known[name] : undefined;
  if (kind === undefined) throw unknown(what, path, Object.keys(known));
  if (value === undefined) return;
  if (typeof kind === 'string') {
    const [is, wanted] = KINDS[kind] as [(value: unknown) => boolean, string];
    if (!is(value)) throw usage(`the option "${path}" of ${what} must be ${wanted}; it is ${kindOf(value)}`);
    return;
  }
  if (!isObject(value)) throw usage(`the option "${path}" of ${what} must be an object; it is ${kindOf(value)}`);
  for (const [inner, one] of Object.entries(value as object)) check(what, inner, one, kind, `${path}.${inner}`);
}

/** The error for an option that does not exist. */
export function unknown(what: string, name: string, known: readonly string[]): Error {
  const plain = (text: string): string => text.toLowerCase().replaceAll(/[^a-z]/g, '');
  const last = plain(name.split('.').at(-1) ?? name);
  const meant = known.find((one) => plain(one) === last || (last.length > 3 && (plain(one).startsWith(last) || last.startsWith(plain(one)))));
  const hint = meant === undefined ? '' : ` Did you mean "${meant}"?`;
  return usage(`${what} has no option "${name}".${hint} There are: ${known.join(', ')}`);
}

/** Whether a value is an object, and no array. */
export function isObject(value: unknown): value is Readonly<Record<string, unknown>> {
  return typeof value === 'object' && value !== null && !Array.isArray(value);
}

/** What a value is, for a message. */
export function kindOf(value: unknown): string {
  if (typeof value === 'number' || typeof value === 'boolean') return String(value);
  if (typeof value === 'string') return JSON.stringify(value);
  if (value === undefined) return 'undefined';
  return value === null ? 'null' : Array.isArray(value) ? 'an array' : typeof value === 'object' ? 'an object' : `a ${typeof value}`;
}
