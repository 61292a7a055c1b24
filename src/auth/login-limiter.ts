import { Inject, Injectable } from '@nestjs/common';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { problems } from '../common/index.js';
import { SETTINGS, type Settings } from '../config/index.js';

const MINUTE_S = 60;
const ADDRESS_FACTOR = 10;

/** A login whose password is about to be compared. It counts as failed until it is known to be right. */
export interface Attempt {
  /** The password was right: nothing is counted. */
  succeeded(): Promise<void>;
  /** The password was wrong; throws 429 instead of the caller's 401 where that is one too many. */
  failed(): void;
}

/** Counts failed logins and requests of a minute in this instance (contract §3, 429). */
@Injectable()
export class LoginLimiter {
  private readonly pairs: RateLimiterMemory;
  private readonly addresses: RateLimiterMemory;
  private readonly quota: RateLimiterMemory | undefined;

  constructor(@Inject(SETTINGS) settings: Settings) {
    const { loginFailures, credentialQuota } = settings;
    this.pairs = failuresBeyond(loginFailures);
    this.addresses = failuresBeyond(loginFailures * ADDRESS_FACTOR);
    if (credentialQuota > 0)
      this.quota = new RateLimiterMemory({ points: credentialQuota, duration: MINUTE_S });
  }

  /**
   * Takes the point of a failure before the password is compared, so that parallel guesses cannot overtake the count.
   * Throws 429 where the address, alone or with this user name, has none left.
   */
  async attempt(address: string, username: string): Promise<Attempt> {
    const places = [
      { limiter: this.addresses, key: address },
      { limiter: this.pairs, key: `${address} ${username}` },
    ];
    const states = await Promise.all(places.map(({ limiter, key }) => limiter.penalty(key)));
    const giveBack = async () => {
      await Promise.all(places.map(({ limiter, key }) => limiter.reward(key)));
    };
    const limits = places.map(({ limiter }) => limiter.points);
    const refused = states.find((state, index) => state.consumedPoints > (limits[index] ?? 0));
    if (refused) {
      await giveBack();
      throw tooMany(refused);
    }
    const last = states.find(({ remainingPoints }) => remainingPoints === 0);
    return {
      succeeded: giveBack,
      failed: () => {
        if (last) throw tooMany(last);
      },
    };
  }

  async countRequest(username: string): Promise<void> {
    await this.quota?.consume(username).catch((state: RateLimiterRes) => {
      throw problems.quotaUsedUp(state.msBeforeNext / 1000);
    });
  }
}

/** One point more than may fail: after the last allowed failure a right login is still let in. */
function failuresBeyond(allowed: number): RateLimiterMemory {
  return new RateLimiterMemory({ points: allowed + 1, duration: MINUTE_S });
}

function tooMany(state: RateLimiterRes): Error {
  return problems.tooManyLogins(state.msBeforeNext / 1000);
}
