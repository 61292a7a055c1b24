import http from 'node:http';
import { usageError } from './exit-codes.js';
import type { HarvestEnvironment } from './options.js';

/** Earlier versions of Node do not have it. */
type ProxyAware = typeof http & { setGlobalProxyFromEnv?: (environment: HarvestEnvironment) => unknown };

/**
 * Sends the requests of this process through the proxy that the environment names for a URL: `HTTPS_PROXY` or `HTTP_PROXY`,
 * except for the hosts of `NO_PROXY`. Returns a warning if this version of Node cannot. Throws a usage error for a proxy that
 * is not a URL.
 */
export function useProxy(environment: HarvestEnvironment, url: string): string | undefined {
  const variable = url.startsWith('https:') ? 'HTTPS_PROXY' : 'HTTP_PROXY';
  const name = [variable.toLowerCase(), variable].find((one) => Boolean(environment[one]));
  if (name === undefined) return undefined;
  const { setGlobalProxyFromEnv } = http as ProxyAware;
  if (setGlobalProxyFromEnv === undefined)
    return `${name} is ignored: this version of Node cannot use it. Run the command with Node 26 or later.`;
  try {
    setGlobalProxyFromEnv(environment);
  } catch {
    throw usageError(
      `${name} is not the URL of a proxy. Set it to one such as http://proxy.example.com:3128.`,
    );
  }
  return undefined;
}
