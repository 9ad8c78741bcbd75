/**
 * URI templates (RFC 6570), for programs that use them by themselves: those of resources are the core's business.
 */

import { fromNative, usage } from './errors.js';
import { type NativeUriTemplate, native } from './native.js';
import type { Variables } from './registered.js';

/**
 * A URI template.
 *
 * @example
 * ```ts
 * import { UriTemplate } from 'oxmcp/shared/uriTemplate.js';
 *
 * const template = new UriTemplate('repo://{owner}/{name}{?ref}');
 * console.log(template.expand({ owner: 'ada', name: 'engine' }), template.match('repo://ada/engine?ref=main'));
 * ```
 */
export class UriTemplate {
  readonly #text: string;
  readonly #native: NativeUriTemplate;

  /** @throws {@link UsageError} when it is none */
  constructor(template: string) {
    if (typeof template !== 'string') throw usage('a URI template must be a string');
    this.#text = template;
    this.#native = guarded(() => new (native().UriTemplate)(template));
  }

  /** Whether a text has an expression in braces. */
  static isTemplate(text: string): boolean {
    return /\{[^{}\s]+\}/.test(text);
  }

  /** The names of its variables, each once. */
  get variableNames(): string[] {
    return this.#native.variables();
  }

  /** The URI for these variables. Those that are missing write nothing. */
  expand(variables: Variables): string {
    return guarded(() => this.#native.expand(JSON.stringify(variables)));
  }

  /** The variables of a URI; `null` when the template does not make it. A value never climbs out of its place in the path. */
  match(uri: string): Variables | null {
    const found = this.#native.matches(uri);
    return found === null ? null : (JSON.parse(found) as Variables);
  }

  toString(): string {
    return this.#text;
  }
}

function guarded<T>(run: () => T): T {
  try {
    return run();
  } catch (thrown) {
    throw fromNative(thrown);
  }
}
