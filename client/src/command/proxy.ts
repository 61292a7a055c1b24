import http from 'node:http';
import process from 'node:process';
import { usageError } from './exit-codes.js';
import type { HarvestEnvironment } from './options.js';

/** Earlier versions of Node do not have it. */
type ProxyAware = typeof http & { setGlobalProxyFromEnv?: (environment: HarvestEnvironment) => unknown };

/** The first minor version, of each major one, that heeds NODE_USE_ENV_PROXY as it starts; those from 24 on all do. */
const HEEDS_VARIABLE = new Map([[22, 21]]);
const ALL_HEED_VARIABLE = 24;

/** What this process can do, and has done as it started. */
export interface ProxyAbility {
  /** As in `process.versions.node`. */
  version: string;
  setFromEnvironment: ProxyAware['setGlobalProxyFromEnv'] | undefined;
  /** The options that Node was started with. */
  options: string[];
}

const THIS_PROCESS: ProxyAbility = {
  version: process.versions.node,
  setFromEnvironment: (http as ProxyAware).setGlobalProxyFromEnv,
  options: process.execArgv,
};

/**
 * Sends the requests of this process through the proxy that the environment names for a URL: `HTTPS_PROXY` or `HTTP_PROXY`,
 * except for the hosts of `NO_PROXY`. Returns a warning if this version of Node cannot, and does not do so by itself. Throws a
 * usage error for a proxy that is not a URL.
 */
export function useProxy(
  environment: HarvestEnvironment,
  url: string,
  ability: ProxyAbility = THIS_PROCESS,
): string | undefined {
  const variable = new URL(url).protocol === 'https:' ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const name = [variable.toLowerCase(), variable].find((one) => Boolean(environment[one]));
  if (name === undefined || isExempt(url, environment['no_proxy'] || environment['NO_PROXY']))
    return undefined;
  const { version, setFromEnvironment } = ability;
  if (setFromEnvironment === undefined) {
    if (!heedsVariable(version))
      return `${name} is ignored: this version of Node cannot use it. Run the command with Node 26 or later.`;
    return isInUse(environment, ability)
      ? undefined
      : `${name} is ignored: set NODE_USE_ENV_PROXY=1, without which this version of Node does not use it.`;
  }
  try {
    setFromEnvironment({
      [name]: environment[name],
      no_proxy: environment['no_proxy'] || environment['NO_PROXY'],
    });
  } catch {
    throw usageError(
      `${name} is not the URL of a proxy. Set it to one such as http://proxy.example.com:3128.`,
    );
  }
  return undefined;
}

/** As Node reads the list: hosts with or without a port, `.example.com` or `*.example.com` for all within, `*` for all. */
function isExempt(url: string, list: string | undefined): boolean {
  const { hostname, port, protocol } = new URL(url);
  const actual = port === '' ? (protocol === 'https:' ? '443' : '80') : port;
  const entries = (list ?? '').toLowerCase().split(/[\s,]+/);
  return entries.some((entry) => {
    const [, host = '', only = actual] = /^(.+?)(?::(\d+))?$/.exec(entry) ?? [];
    if (host === '' || only !== actual) return false;
    return /^[.*]/.test(host) ? hostname.endsWith(host.replace(/^\*/, '')) : hostname === host;
  });
}

function heedsVariable(version: string): boolean {
  const [major = 0, minor = 0] = version.split('.').map(Number);
  return major >= ALL_HEED_VARIABLE || minor >= (HEEDS_VARIABLE.get(major) ?? Infinity);
}

function isInUse(environment: HarvestEnvironment, { options }: ProxyAbility): boolean {
  const given = [...options, ...(environment['NODE_OPTIONS'] ?? '').split(/\s+/)];
  return environment['NODE_USE_ENV_PROXY'] === '1' || given.includes('--use-env-proxy');
}
