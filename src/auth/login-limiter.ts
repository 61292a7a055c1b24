import { Inject, Injectable } from '@nestjs/common';
import { RateLimiterMemory, type RateLimiterRes } from 'rate-limiter-flexible';
import { problems } from '../common/index.js';
import { SETTINGS, type Settings } from '../config/index.js';

const MINUTE_S = 60;
const ADDRESS_FACTOR = 10;

/** Counts failed logins and requests of a minute in this instance (contract §3, 429). */
@Injectable()
export class LoginLimiter {
  private readonly pairs: RateLimiterMemory;
  private readonly addresses: RateLimiterMemory;
  private readonly quota: RateLimiterMemory | undefined;

  constructor(@Inject(SETTINGS) settings: Settings) {
    const { loginFailures, credentialQuota } = settings;
    this.pairs = new RateLimiterMemory({ points: loginFailures, duration: MINUTE_S });
    this.addresses = new RateLimiterMemory({ points: loginFailures * ADDRESS_FACTOR, duration: MINUTE_S });
    if (credentialQuota > 0)
      this.quota = new RateLimiterMemory({ points: credentialQuota, duration: MINUTE_S });
  }

  /** Throws 429 where the address, alone or with this user name, has failed more often than allowed. */
  async assertMayTry(address: string, username: string): Promise<void> {
    const states = await Promise.all([
      this.pairs.get(pairOf(address, username)),
      this.addresses.get(address),
    ]);
    const limits = [this.pairs.points, this.addresses.points];
    const blocked = states.find(
      (state, index) => state !== null && state.consumedPoints > (limits[index] ?? 0),
    );
    if (blocked) throw tooMany(blocked);
  }

  /** Counts one failure; throws 429 instead of the caller's 401 where it is one too many. */
  async countFailure(address: string, username: string): Promise<void> {
    await Promise.all([this.pairs.penalty(pairOf(address, username)), this.addresses.penalty(address)]);
    await this.assertMayTry(address, username);
  }

  async countRequest(username: string): Promise<void> {
    await this.quota?.consume(username).catch((state: RateLimiterRes) => {
      throw problems.quotaUsedUp(state.msBeforeNext / 1000);
    });
  }
}

function pairOf(address: string, username: string): string {
  return `${address} ${username}`;
}

function tooMany(state: RateLimiterRes): Error {
  return problems.tooManyLogins(state.msBeforeNext / 1000);
}
