/**
 * What to call a thing when people read it.
 */

/** The title of a tool, a resource, a prompt or a program; its name where it has none. */
export function getDisplayName(named: {
  readonly name: string;
  readonly title?: string | undefined;
  readonly annotations?: { readonly title?: string | undefined } | undefined;
}): string {
  return named.title || named.annotations?.title || named.name;
}
