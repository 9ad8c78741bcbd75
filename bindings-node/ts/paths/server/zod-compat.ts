/**
 * `oxmcp/server/zod-compat.js`: the types that the official SDK has at this path.
 *
 * @packageDocumentation
 */

import type { AnySchema, InferSchema, SchemaShape } from '../../schema.js';

export type { AnySchema } from '../../schema.js';

/** A schema of an object. */
export type AnyObjectSchema = AnySchema;

/** An object of schemas. */
export type ZodRawShapeCompat = SchemaShape;

/** What a schema makes of what fits it. */
export type SchemaOutput<Schema extends AnySchema> = InferSchema<Schema>;

/** The same of an object of schemas. */
export type ShapeOutput<Shape extends SchemaShape> = InferSchema<Shape>;
