/**
 * Windows: from a command as a person writes it to a program that can be started without a shell. Internal.
 */

import { statSync } from 'node:fs';
import { win32 as path } from 'node:path';

/** What to start. */
export interface Invocation {
  readonly file: string;
  readonly args: readonly string[];
  /** The arguments are quoted already and must reach the program as they are. */
  readonly verbatim: boolean;
}

/** Finds `command` as Windows would, scripts included: `npx` is `npx.cmd`, which only its interpreter can run. */
export function windowsInvocation(
  command: string,
  args: readonly string[],
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
  isFile: (file: string) => boolean = existsAsFile,
): Invocation {
  const file = find(command, env, cwd, isFile) ?? command;
  if (!/\.(cmd|bat)$/i.test(file)) return { file, args, verbatim: false };
  const line = [escapeCommand(file), ...args.map(escapeArgument)].join(' ');
  const interpreter = variable(env, 'COMSPEC') ?? 'cmd.exe';
  return { file: interpreter, args: ['/d', '/s', '/v:off', '/c', `"${line}"`], verbatim: true };
}

function find(
  command: string,
  env: Readonly<Record<string, string | undefined>>,
  cwd: string,
  isFile: (file: string) => boolean,
): string | undefined {
  const endings = (variable(env, 'PATHEXT') ?? '.COM;.EXE;.BAT;.CMD').split(';').filter((ending) => ending !== '');
  const named = endings.some((ending) => command.toLowerCase().endsWith(ending.toLowerCase()));
  const names = named ? [command] : endings.map((ending) => command + ending.toLowerCase());
  const folders = /[\\/:]/.test(command) ? [cwd] : (variable(env, 'PATH') ?? '').split(';').filter((folder) => folder !== '');
  for (const folder of folders) {
    for (const name of names) {
      const file = path.resolve(folder, name);
      if (isFile(file)) return file;
    }
  }
  return undefined;
}

/** Variables have no case on Windows. */
function variable(env: Readonly<Record<string, string | undefined>>, name: string): string | undefined {
  const key = Object.keys(env).find((key) => key.toUpperCase() === name);
  return key === undefined ? undefined : env[key];
}

// cmd.exe reads a line twice when it runs a script: once itself, once for the script's own `%*`. So what it gives a
// meaning is escaped twice, after the quoting that the program behind the script undoes.
const SPECIAL = /([()\][%!^"`<>&|;, *?])/g;

function escapeCommand(file: string): string {
  return path.normalize(file).replace(SPECIAL, '^$1');
}

function escapeArgument(argument: string): string {
  // Backslashes count only before a quote, where each must be doubled.
  const inner = argument.replace(/(\\*)"/g, '$1$1\\"').replace(/(\\*)$/, '$1$1');
  return `"${inner}"`.replace(SPECIAL, '^$1').replace(SPECIAL, '^$1');
}

function existsAsFile(file: string): boolean {
  return statSync(file, { throwIfNoEntry: false })?.isFile() ?? false;
}
