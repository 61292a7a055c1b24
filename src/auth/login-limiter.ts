import { Inject, Injectable } from '@nestjs/common';
import { SETTINGS, type Settings } from '../config/index.js';
import { problems } from '../http/index.js';
import { callerAt, siteOf } from './address.js';
import { type Count, MinuteCounts } from './minute-counts.js';

const ADDRESS_FACTOR = 10;
/** An honest site has many networks of /64. */
const SITE_FACTOR = 8 * ADDRESS_FACTOR;

/** A login whose password is about to be compared. It counts as failed until something else is known. */
export interface Attempt {
  /** How many logins of this address failed or run in this minute, this one included. */
  rank: number;
  /** Nothing is counted: the password was right, or could not be compared. */
  withdraw(): void;
  /** The password was wrong; throws 429 instead of the caller's 401 where that is one too many. */
  failed(): void;
}

/** Counts failed logins and requests of a minute in this instance (contract §3, 429). */
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
   * Counts a failure before the password is compared, so that parallel guesses cannot overtake the count. Throws 429
   * where the address, its network of /48, or the address with this user name has had too many. The widest is looked at first:
   * one that is over its limit leaves nothing behind. After the last allowed failure a right login is still let in.
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

  /** For how many networks, addresses, and pairs of address and user name something is remembered. */
  get remembered(): number {
    return this.sites.size + this.addresses.size + this.pairs.size;
  }

  /** Throws 429 where a credential has used up its quota. */
  countRequest(username: string): void {
    if (this.quota === 0) return;
    const { count, secondsLeft } = this.requests.add(username);
    if (count > this.quota) throw problems.quotaUsedUp(secondsLeft);
  }
}

function assertAtMost(allowed: number, { count, secondsLeft }: Count): void {
  if (count > allowed) throw problems.tooManyLogins(secondsLeft);
}
