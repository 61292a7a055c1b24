import { isIP } from 'node:net';

/** Networks that Express knows by name. */
const NAMED_NETWORKS = ['loopback', 'linklocal', 'uniquelocal'];

/** What `trust proxy` of Express takes: a number of proxies, or names, addresses and networks with commas between. */
export function isProxies(text: string): boolean {
  return /^\d{1,2}$/.test(text) || text.split(',').every((one) => isNetwork(one.trim()));
}

function isNetwork(text: string): boolean {
  if (NAMED_NETWORKS.includes(text)) return true;
  const [address = '', bits, ...more] = text.split('/');
  const most = { 0: -1, 4: 32, 6: 128 }[isIP(address)] ?? -1;
  const prefix = bits === undefined ? most : /^\d{1,3}$/.test(bits) ? Number(bits) : Infinity;
  return more.length === 0 && most > 0 && prefix <= most;
}

/** Scheme, host and port as a browser sends them in `Origin`: without a path, and in lower case. */
export function isOrigin(text: string): boolean {
  return /^https?:/.test(text) && URL.canParse(text) && new URL(text).origin === text;
}
