/**
 * Starting a server's process, and saying why it could not be started. Internal.
 */

import { type ChildProcess, type SpawnOptions, spawn } from 'node:child_process';
import { closeSync, openSync, readSync, statSync } from 'node:fs';
import * as path from 'node:path';

import { ServerStartError } from '../errors.js';
import { getDefaultEnvironment } from './environment.js';
import { windowsInvocation } from './windows.js';

/** A server's process, with nothing left to chance. */
export interface Program {
  readonly command: string;
  readonly args: readonly string[];
  readonly env: Readonly<Record<string, string | undefined>>;
  readonly cwd: string;
  readonly stderr: 'inherit' | 'pipe' | 'ignore' | number;
}

/** The environment of a server: the safe part of ours, and what the program adds. */
export function environment(extra: Readonly<Record<string, string | undefined>> | undefined): Record<string, string | undefined> {
  return { ...getDefaultEnvironment(), ...extra };
}

/** Starts the process as the leader of a group of its own. May throw; may also emit `error` soon after. */
export function start(program: Program, stdout: 'pipe' | number): ChildProcess {
  const { command, args, env, cwd, stderr } = program;
  const options: SpawnOptions = {
    cwd,
    env: env as NodeJS.ProcessEnv,
    stdio: ['pipe', stdout, stderr],
    // A group of its own, so that one signal reaches all it starts. On Windows this would open a console instead.
    detached: process.platform !== 'win32',
    windowsHide: true,
    shell: false,
  };
  if (process.platform !== 'win32') return spawn(command, args, options);
  const { file, args: quoted, verbatim } = windowsInvocation(command, args, env, cwd);
  return spawn(file, quoted, { ...options, windowsVerbatimArguments: verbatim });
}

/** The error of a start that failed: what was looked for, where, and what to do. */
export function startError(program: Program, cause: NodeJS.ErrnoException): ServerStartError {
  return new ServerStartError(explain(program, cause), program.command, program.cwd, cause);
}

function explain(program: Program, cause: NodeJS.ErrnoException): string {
  const { command, cwd } = program;
  const what = `The server's command ${JSON.stringify(command)}`;
  if (!isFolder(cwd)) return `${what} was not started: its folder (cwd) ${cwd} does not exist. Create it, or give another.`;
  const file = locate(program);
  if (cause.code === 'EACCES' || cause.code === 'EPERM') {
    return `${what} was found but may not be run: ${file ?? command}. Make it executable, or run it through its interpreter.`;
  }
  if (cause.code !== 'ENOENT') return `${what} was not started in ${cwd}: ${cause.message}`;
  if (file !== undefined) {
    const interpreter = firstLine(file);
    return `${what} is the file ${file}, but its interpreter was not found${interpreter}. Install it, or correct the file's first line.`;
  }
  const words = /\s/.test(command) ? ' The command is one word; its arguments go into "args".' : '';
  if (hasFolder(command)) {
    return `${what} was not found: there is no file ${path.resolve(cwd, command)} (folder: ${cwd}). Correct the path.${words}`;
  }
  const looked = program.env['PATH'] ?? program.env['Path'] ?? '(not set)';
  return (
    `${what} was not found in PATH (${looked}); it was to run in ${cwd}. ` +
    `Install it, correct its spelling, or give its full path.${words}`
  );
}

function locate({ command, cwd, env }: Program): string | undefined {
  const folders = hasFolder(command) ? [cwd] : (env['PATH'] ?? '').split(path.delimiter);
  return folders.map((folder) => path.resolve(cwd, folder, command)).find((file) => stat(file)?.isFile());
}

function hasFolder(command: string): boolean {
  return command.includes('/') || (process.platform === 'win32' && command.includes('\\'));
}

function isFolder(folder: string): boolean {
  return stat(folder)?.isDirectory() ?? false;
}

function stat(file: string): ReturnType<typeof statSync> {
  try {
    return statSync(file, { throwIfNoEntry: false });
  } catch {
    return undefined;
  }
}

/** The `#!` line of a script, in brackets; empty when it has none. */
function firstLine(file: string): string {
  const start = Buffer.alloc(128);
  try {
    const descriptor = openSync(file, 'r');
    const length = readSync(descriptor, start, 0, start.length, 0);
    closeSync(descriptor);
    const line = start.toString('utf8', 0, length).split('\n', 1)[0] ?? '';
    return line.startsWith('#!') ? ` (${line.trim()})` : '';
  } catch {
    return '';
  }
}
