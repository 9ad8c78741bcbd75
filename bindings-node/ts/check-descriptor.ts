/**
 * What a program says of a tool, a resource or a prompt: a member of another type than the protocol has would make clients refuse the
 * whole list. Internal.
 */

import { isObject, kindOf } from './check-options.js';
import { usage } from './errors.js';

type Type = 'string' | 'number' | 'boolean';

const TOOL_ANNOTATIONS: Readonly<Record<string, Type>> = {
  title: 'string',
  readOnlyHint: 'boolean',
  destructiveHint: 'boolean',
  idempotentHint: 'boolean',
  openWorldHint: 'boolean',
};
const RESOURCE: Readonly<Record<string, Type>> = {
  title: 'string',
  description: 'string',
  mimeType: 'string',
  size: 'number',
};
const RESOURCE_ANNOTATIONS: Readonly<Record<string, Type>> = { priority: 'number', lastModified: 'string' };
const ICON: Readonly<Record<string, Type>> = { mimeType: 'string', theme: 'string' };

type Json = Readonly<Record<string, unknown>>;

/** @throws {@link UsageError} unless the name of an entry that `call` registers is a string */
export function requireName(name: unknown, call: string): void {
  if (typeof name !== 'string') throw usage(`${call} needs a name that is a string, as its first argument; it is ${kindOf(name)}`);
}

/** @throws {@link UsageError} unless there is an object of what to say of an entry */
export function requireConfig(config: unknown, call: string): void {
  if (config === undefined || config === null) {
    throw usage(`${call} needs an object as its second argument, such as { description }, or {}; it is ${kindOf(config)}`);
  }
}

/** Checks what {@link checkOptions} leaves: the icons, and the annotations of a tool. */
export function checkShown(what: string, { icons, annotations }: { readonly icons?: unknown; readonly annotations?: unknown }): void {
  checkIcons(what, icons);
  if (isObject(annotations)) checkMembers(what, annotations, TOOL_ANNOTATIONS, 'annotations.');
}

/** Checks what is said of a resource or a template. Members that the protocol does not have are shown as they are. */
export function checkMetadata(what: string, metadata: unknown): void {
  if (metadata === undefined || metadata === null) return;
  if (!isObject(metadata)) throw usage(`the metadata of ${what} must be an object; it is ${kindOf(metadata)}`);
  checkMembers(what, metadata, RESOURCE, '');
  checkIcons(what, metadata['icons']);
  const { annotations, _meta } = metadata;
  if (_meta !== undefined && !isObject(_meta)) throw wrong(what, '_meta', 'an object', _meta);
  if (annotations === undefined) return;
  if (!isObject(annotations)) throw wrong(what, 'annotations', 'an object', annotations);
  checkMembers(what, annotations, RESOURCE_ANNOTATIONS, 'annotations.');
  const { audience } = annotations;
  if (audience !== undefined && !isTexts(audience)) throw wrong(what, 'annotations.audience', 'an array of "user" and "assistant"', audience);
}

function checkIcons(what: string, icons: unknown): void {
  if (icons === undefined) return;
  if (!Array.isArray(icons)) throw wrong(what, 'icons', 'an array', icons);
  icons.forEach((icon: unknown, index) => {
    const path = `icons[${index}]`;
    if (!isObject(icon) || typeof icon['src'] !== 'string') throw wrong(what, path, 'an object with a URL as "src"', icon);
    checkMembers(what, icon, ICON, `${path}.`);
    const { sizes } = icon;
    if (sizes !== undefined && !isTexts(sizes)) throw wrong(what, `${path}.sizes`, 'an array of strings, such as ["48x48"]', sizes);
  });
}

function checkMembers(what: string, object: Json, types: Readonly<Record<string, Type>>, path: string): void {
  for (const [name, type] of Object.entries(types)) {
    const value = object[name];
    if (value !== undefined && typeof value !== type) throw wrong(what, `${path}${name}`, type === 'boolean' ? 'true or false' : `a ${type}`, value);
  }
}

function isTexts(value: unknown): boolean {
  return Array.isArray(value) && value.every((one) => typeof one === 'string');
}

function wrong(what: string, path: string, wanted: string, value: unknown): Error {
  return usage(`the option "${path}" of ${what} must be ${wanted}; it is ${kindOf(value)}`);
}
