/**
 * Whether this is Node itself. Others run its programs, but not its sockets over descriptors, which are the fastest way.
 * Internal.
 */
export const isNode: boolean = !('bun' in process.versions) && !('deno' in process.versions);

/** Deno counts descriptors of its own, and knows none that an addon opens. */
export const isDeno: boolean = 'deno' in process.versions;
