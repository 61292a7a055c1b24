import { isIPv4, isIPv6 } from 'node:net';

/** The longest way to write an IPv6 address, without its zone. */
const LONGEST = 45;
const LONGEST_WITH_PORT = LONGEST + '[]:65535'.length;
const UNREADABLE = 'unreadable';
const GROUPS = 8;
const NETWORK_GROUPS = 4;
const SITE_GROUPS = 3;
const MAPPED = '0:0:0:0:0:ffff';

/**
 * Whom failed logins are counted for. Everybody with IPv6 has a whole network of /64 to call from, so that counts as
 * one; an IPv4 address in the form of an IPv6 one is the same caller as in its own. Some proxies add the port, which is
 * left out. All that is no address counts as one caller.
 */
export function callerAt(address: string): string {
  const [plain = ''] = withoutPort(address.slice(0, LONGEST_WITH_PORT + 1)).split('%');
  if (isIPv4(plain)) return plain;
  if (plain.length > LONGEST || !isIPv6(plain)) return UNREADABLE;
  const groups = groupsOf(plain);
  return groups.slice(0, -2).join(':') === MAPPED
    ? groups.slice(-2).flatMap(bytesOf).join('.')
    : `${groups.slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

/** The /48 network of an IPv6 caller; undefined for IPv4. One owner often has a whole /48, which is 65,536 callers. */
export function siteOf(caller: string): string | undefined {
  if (!caller.endsWith('::/64')) return undefined;
  return `${caller.split(':').slice(0, SITE_GROUPS).join(':')}::/48`;
}

/** `203.0.113.7:1234` and `[2001:db8::7]:1234`, but not `2001:db8::7`. */
function withoutPort(address: string): string {
  const [, bracketed] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(address) ?? [];
  if (bracketed !== undefined) return bracketed;
  return address.split(':').length === 2 ? address.slice(0, address.indexOf(':')) : address;
}

/** The eight groups in hex, without zeros in front. */
function groupsOf(address: string): string[] {
  const [front = [], back = []] = address.split('::').map((half) => half.split(':').flatMap(hexOf));
  const zeros = Array<string>(GROUPS - front.length - back.length).fill('0');
  return [...front, ...zeros, ...back];
}

/** A group; its last two may be written as an IPv4 address. */
function hexOf(group: string): string[] {
  if (group === '') return [];
  if (!group.includes('.')) return [parseInt(group, 16).toString(16)];
  const [a = 0, b = 0, c = 0, d = 0] = group.split('.').map(Number);
  return [(a * 256 + b).toString(16), (c * 256 + d).toString(16)];
}

function bytesOf(group: string): number[] {
  const value = parseInt(group, 16);
  return [value >> 8, value & 255];
}
