/**
 * The version of the package, in a module of its own so that it is where all else is that `import` needs. Internal.
 */

const manifest = require('../package.json') as { readonly version: string };

/** The version of this package, which is the version of its Rust core. */
export const version: string = manifest.version;
