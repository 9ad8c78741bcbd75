/**
 * What a server inherits of this program's environment.
 */

const POSIX = ['HOME', 'LOGNAME', 'PATH', 'SHELL', 'TERM', 'USER', 'LANG', 'LC_ALL', 'LC_CTYPE', 'TMPDIR', 'TZ'];

const WINDOWS = [
  'APPDATA',
  'COMSPEC',
  'HOMEDRIVE',
  'HOMEPATH',
  'LOCALAPPDATA',
  'PATH',
  'PATHEXT',
  'PROCESSOR_ARCHITECTURE',
  'PROGRAMDATA',
  'PROGRAMFILES',
  'SYSTEMDRIVE',
  'SYSTEMROOT',
  'TEMP',
  'TMP',
  'USERNAME',
  'USERPROFILE',
];

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
  for (const name of process.platform === 'win32' ? WINDOWS : POSIX) {
    const value = process.env[name];
    // Some shells export functions as variables; they are code.
    if (value !== undefined && !value.startsWith('()')) environment[name] = value;
  }
  return environment;
}
