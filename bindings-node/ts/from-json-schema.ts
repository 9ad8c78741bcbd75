/**
 * JSON Schema where a program has it, with the type that it stands for.
 */

import type { TypedJsonSchema } from './schema.js';

/** The schema as it is: this package takes JSON Schema everywhere. `T` is what fits it, by the program's own word. */
export function fromJsonSchema<T = unknown>(schema: { readonly type?: unknown; readonly [keyword: string]: unknown }): TypedJsonSchema<T> {
  return schema as TypedJsonSchema<T>;
}
