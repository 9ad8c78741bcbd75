/**
 * What a server inherits of this program's environment.
 */

import { native } from '../native.js';

/**
 * The variables that every server gets: those that programs need to run, and none that may hold a secret.
 *
 * A server runs code of others; what it should know beyond these goes into `env`. To hand over everything, pass
 * `env: process.env`.
 *
 * @example
 * ```ts
 * import { getDefaultEnvironment } from 'oxmcp';
 *
 * console.log(Object.keys(getDefaultEnvironment()));
 * ```
 */
export function getDefaultEnvironment(): Record<string, string> {
  const environment: Record<string, string> = {};
  for (const name of native().inheritedVariables()) {
    const value = process.env[name];
    // Some shells export functions as variables; they are code.
    if (value !== undefined && !value.startsWith('()')) environment[name] = value;
  }
  return environment;
}
