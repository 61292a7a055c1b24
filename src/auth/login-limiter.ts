import { hash } from 'node:crypto';
import { isIPv4, isIPv6 } from 'node:net';
import { Inject, Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { atMost } from '../platform/common/index.js';
import { SETTINGS, type Settings } from '../platform/config/index.js';
import { problems } from '../platform/http/index.js';

const MINUTE_MS = 60_000;
/** Maximum number of keys, keeping the most recently used ones. It bounds the memory for keys that clients choose. */
const REMEMBERED = 50_000;
const KEY_LENGTH = 22;

const ADDRESS_FACTOR = 10;
/** The limit of a /48 network is higher, because a legitimate site has many /64 networks. */
const SITE_FACTOR = 8 * ADDRESS_FACTOR;

/** The length of the longest notation of an IPv6 address, without its zone. */
const LONGEST_ADDRESS = 45;
const LONGEST_WITH_PORT = LONGEST_ADDRESS + '[]:65535'.length;
const UNREADABLE = 'unreadable';
const GROUPS = 8;
const NETWORK_GROUPS = 4;
const SITE_GROUPS = 3;
const MAPPED = '0:0:0:0:0:ffff';

/** The number of events in a minute, and the seconds until that minute ends. */
interface Count {
  count: number;
  secondsLeft: number;
}

/**
 * Counts events by key, each in its own minute, which starts with the first event. Keys may have any length; only
 * digests are kept.
 */
export class MinuteCounts {
  private readonly minutes = new LRUCache<string, { count: number; ends: number }>(atMost(REMEMBERED));

  count(key: string): Count {
    const now = performance.now();
    const minute = this.minutes.get(shortened(key));
    return minute === undefined || minute.ends <= now
      ? { count: 0, secondsLeft: MINUTE_MS / 1000 }
      : { count: minute.count, secondsLeft: (minute.ends - now) / 1000 };
  }

  /** The count including this event. */
  add(key: string, times = 1): Count {
    const { count, secondsLeft } = this.count(key);
    const counted = { count: Math.max(0, count + times), secondsLeft };
    const ends = performance.now() + secondsLeft * 1000;
    this.minutes.set(shortened(key), { count: counted.count, ends });
    return counted;
  }

  get size(): number {
    return this.minutes.size;
  }
}

/** A login whose password is about to be verified. It counts as failed until its result is known. */
export interface Attempt {
  /** The number of logins of this address that failed or are in progress in this minute, including this one. */
  rank: number;
  /** Counts no failure: the password was right, or could not be verified. */
  withdraw(): void;
  /**
   * Confirms the failure: the password was wrong. Throws 429, in place of the caller's 401, if a limit is exceeded.
   */
  failed(): void;
}

/** Counts failed logins and requests per minute in this instance (contract §3, 429). */
@Injectable()
export class LoginLimiter {
  private readonly sites = new MinuteCounts();
  private readonly addresses = new MinuteCounts();
  private readonly pairs = new MinuteCounts();
  private readonly requests = new MinuteCounts();
  private readonly failures: number;
  private readonly quota: number;

  constructor(@Inject(SETTINGS) { loginFailures, credentialQuota }: Settings) {
    this.failures = loginFailures;
    this.quota = credentialQuota;
  }

  /**
   * Counts a failure before the password is verified, so that parallel guesses cannot exceed the limit. Throws 429 if
   * there were too many failures of the address, of its /48 network, or of the address with this user name. All
   * limits are checked before anything is counted, so a refused attempt leaves no trace. After the last allowed
   * failure, a right password is still accepted.
   */
  attempt(address: string, username: string): Attempt {
    const caller = callerAt(address);
    const site = siteOf(caller);
    const ofAddress = { counts: this.addresses, key: caller, allowed: this.failures * ADDRESS_FACTOR };
    const places = [
      ...(site === undefined
        ? []
        : [{ counts: this.sites, key: site, allowed: this.failures * SITE_FACTOR }]),
      ofAddress,
      { counts: this.pairs, key: `${caller} ${username}`, allowed: this.failures },
    ];
    for (const { counts, key, allowed } of places) assertAtMost(allowed, counts.count(key));
    const counted = places.map(({ counts, key }) => counts.add(key));
    return {
      rank: counted[places.indexOf(ofAddress)]!.count,
      withdraw: () => {
        for (const { counts, key } of places) counts.add(key, -1);
      },
      failed: () => {
        for (const [index, { allowed }] of places.entries()) assertAtMost(allowed, counted[index]!);
      },
    };
  }

  /** The number of networks, addresses, and pairs of address and user name that are remembered. */
  get remembered(): number {
    return this.sites.size + this.addresses.size + this.pairs.size;
  }

  /** Throws 429 if a credential has used up its quota. */
  countRequest(username: string): void {
    if (this.quota === 0) return;
    const { count, secondsLeft } = this.requests.add(username);
    if (count > this.quota) throw problems.quotaUsedUp(secondsLeft);
  }
}

/**
 * The caller for whom failed logins are counted. An IPv6 user can usually call from a whole /64 network, so that
 * counts as one caller. An IPv4 address in IPv6 notation counts as the IPv4 address. A port, which some proxies add,
 * is removed. All unreadable addresses count as one caller.
 */
export function callerAt(address: string): string {
  const [plain = ''] = withoutPort(address.slice(0, LONGEST_WITH_PORT + 1)).split('%');
  if (isIPv4(plain)) return plain;
  if (plain.length > LONGEST_ADDRESS || !isIPv6(plain)) return UNREADABLE;
  const groups = groupsOf(plain);
  return groups.slice(0, -2).join(':') === MAPPED
    ? groups.slice(-2).flatMap(bytesOf).join('.')
    : `${groups.slice(0, NETWORK_GROUPS).join(':')}::/64`;
}

/**
 * The /48 network of an IPv6 caller; undefined for IPv4. One owner often has a whole /48, which contains 65,536
 * callers.
 */
export function siteOf(caller: string): string | undefined {
  if (!caller.endsWith('::/64')) return undefined;
  return `${caller.split(':').slice(0, SITE_GROUPS).join(':')}::/48`;
}

function shortened(key: string): string {
  return hash('sha256', key, 'base64url').slice(0, KEY_LENGTH);
}

function assertAtMost(allowed: number, { count, secondsLeft }: Count): void {
  if (count > allowed) throw problems.tooManyLogins(secondsLeft);
}

/** `203.0.113.7:1234` and `[2001:db8::7]:1234`, but not `2001:db8::7`. */
function withoutPort(address: string): string {
  const [, bracketed] = /^\[([^\]]*)\](?::\d{1,5})?$/.exec(address) ?? [];
  if (bracketed !== undefined) return bracketed;
  return address.split(':').length === 2 ? address.slice(0, address.indexOf(':')) : address;
}

/** The eight groups in hex, without leading zeros. */
function groupsOf(address: string): string[] {
  const [front = [], back = []] = address.split('::').map((half) => half.split(':').flatMap(hexOf));
  const zeros = Array<string>(GROUPS - front.length - back.length).fill('0');
  return [...front, ...zeros, ...back];
}

/** One group; two for an IPv4 address, as which the last two groups of an address may be written. */
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
