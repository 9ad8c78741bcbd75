/**
 * The same package for `import`. Both ways share one set of classes, so `instanceof` holds across them.
 *
 * @packageDocumentation
 */

export * from './index.js';
