/** JSON compared without loss: numbers by their text, objects whatever the order of their keys. */

/** A JSON value. Strings and keys carry a mark, so that a number, which is kept as its text, is never taken for one. */
export type Exact = null | boolean | string | Exact[] | { [key: string]: Exact };

export type Members = { [key: string]: Exact };

const TOKEN = /"(?:[^"\\]|\\.)*"|-?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?/g;

/** Reads JSON; `{"a":1.0}` becomes `{'"a': '1.0'}`. */
export function decode(text: string): Exact {
  return JSON.parse(text.replace(TOKEN, (token) => (token.startsWith('"') ? `"\\"${token.slice(1)}` : `"${token}"`))) as Exact;
}

/** Writes it again, numbers as they were. */
export function encode(value: Exact): string {
  if (typeof value === 'string') return value.startsWith('"') ? JSON.stringify(value.slice(1)) : value;
  if (Array.isArray(value)) return `[${value.map(encode).join(',')}]`;
  if (value === null || typeof value === 'boolean') return String(value);
  return `{${Object.entries(value).map(([key, member]) => `${encode(key)}:${encode(member)}`).join(',')}}`;
}

/** The value as JavaScript's own. */
export function plain(value: Exact): unknown {
  return JSON.parse(encode(value));
}

/** The other way round, for what JavaScript holds. */
export function exact(value: unknown): Exact {
  return decode(JSON.stringify(value));
}

/** Whether `found` is what `wanted` expects; `{"$contains": part}` stands for any string with that part. */
export function matches(wanted: Exact, found: Exact | undefined): boolean {
  if (wanted === null || typeof wanted !== 'object') return wanted === found;
  if (found === undefined || found === null || typeof found !== 'object') {
    return isPart(wanted) && typeof found === 'string' && found.startsWith('"') && found.includes(partOf(wanted));
  }
  const keys = Object.keys(wanted);
  if (Array.isArray(wanted) !== Array.isArray(found) || keys.length !== Object.keys(found).length) return false;
  const [left, right] = [wanted as Members, found as Members];
  return keys.every((key) => Object.hasOwn(right, key) && matches(left[key]!, right[key]));
}

function isPart(value: Exact[] | Members): value is Members {
  return !Array.isArray(value) && Object.keys(value).length === 1 && Object.hasOwn(value, '"$contains');
}

function partOf(wanted: Members): string {
  return String(wanted['"$contains']).slice(1);
}
