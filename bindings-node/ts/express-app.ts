/**
 * An app of Express for servers over HTTP, by the name of the official SDK.
 */

import { type Known, checkOptions } from './check-options.js';
import { textOf, usage } from './errors.js';
import { type Guard, hostHeaderValidation, localhostHostValidation } from './host-guard.js';

/** Settings of {@link createMcpExpressApp}, all optional. */
export interface CreateMcpExpressAppOptions {
  /** The address that the app will listen on; 127.0.0.1 by default. At one of this machine's own, only its names are served. */
  readonly host?: string | undefined;
  /** The names under which it is served, whatever the port. */
  readonly allowedHosts?: readonly string[] | undefined;
}

/** The `Express` of the program's own types, where it has some. */
// oxlint-disable-next-line no-explicit-any
type App = any;

interface Express {
  (): { use(middleware: Guard | unknown): unknown };
  json(): unknown;
}

const KNOWN: Known = { host: 'text', allowedHosts: 'list' };
const OWN = ['127.0.0.1', 'localhost', '::1'];

/**
 * An app of the program's own Express, which reads JSON and refuses requests for hosts that it is not served under.
 *
 * @throws {@link UsageError} when Express is not installed
 */
export function createMcpExpressApp(options: CreateMcpExpressAppOptions = {}): App {
  checkOptions('createMcpExpressApp', options, KNOWN);
  const { host = '127.0.0.1', allowedHosts } = options;
  const express = load();
  const app = express();
  if (allowedHosts !== undefined) app.use(hostHeaderValidation(allowedHosts));
  else if (OWN.includes(host)) app.use(localhostHostValidation());
  else console.warn(`at ${host} requests for any host are served; list those that are meant as allowedHosts`);
  app.use(express.json());
  return app;
}

function load(): Express {
  try {
    // From where the program is, as npm may have put this package elsewhere.
    const { createRequire } = require('node:module') as typeof import('node:module');
    const own = createRequire(`${process.cwd()}/`);
    try {
      return require('express') as Express;
    } catch {
      return own('express') as Express;
    }
  } catch (error) {
    throw usage(`createMcpExpressApp needs the package express: ${textOf(error).split('\n', 1)[0]}`, error);
  }
}
