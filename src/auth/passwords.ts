import { hash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { atMost } from '../platform/common/index.js';
import { problems } from '../platform/http/index.js';
import { type Login, hashPassword, isHashOf } from './credential.js';

/** Maximum number of concurrent comparisons. One of them is reserved for addresses without a failed login. */
const MOST_RUNNING = 2;
const FIRST = 1;
const MOST_WAITING = 64;
/** Longest wait (milliseconds): callers with a higher priority may keep arriving. */
const LONGEST_MS = 5000;
const RETRY_SECONDS = 2;

const KEY_BYTES = 48;
const REMEMBERED = 10_000;
const REMEMBERED_MS = 60_000;

/** Compares passwords with stored hashes, a few at a time. */
@Injectable()
export class Passwords {
  private readonly turns = new Turns();
  private readonly decoy = hashPassword(randomBytes(16).toString('hex'));

  /** Throws 429 if a comparison of this rank would be refused. */
  assertRoom(rank: number): void {
    this.turns.assertRoom(rank);
  }

  /**
   * Whether a password matches a stored hash. Without a hash the comparison takes as long as with one, so that its
   * duration does not reveal which user names exist. Throws 429 if the comparison is refused or waits too long.
   */
  fits(stored: string | undefined, password: string, rank: number): Promise<boolean> {
    return this.turns.take(rank, async () => {
      const isRight = await isHashOf(stored ?? (await this.decoy), password);
      return stored !== undefined && isRight;
    });
  }
}

interface Waiting {
  rank: number;
  start: () => void;
  refuse: () => void;
}

/**
 * A bounded queue for comparisons of passwords. Each comparison occupies a core and 19 MiB for a while. The smallest
 * rank comes first, and one place is reserved for rank 1. The rank is the number of failed logins of an address plus
 * its current ones, so addresses that guess wait for those that do not, however many of them guess.
 */
export class Turns {
  private running = 0;
  private readonly waiting: Waiting[] = [];

  /** Throws 429 if work of this rank would be refused. */
  assertRoom(rank: number): void {
    if (this.waiting.length < MOST_WAITING || rank < (this.waiting.at(-1)?.rank ?? Infinity)) return;
    throw problems.tooManyLogins(RETRY_SECONDS);
  }

  /** Runs the work when a place is free. Throws 429 if it is refused or waits too long. */
  async take<T>(rank: number, work: () => Promise<T>): Promise<T> {
    if (this.mayRun(rank)) this.running += 1;
    else await this.queue(rank);
    try {
      return await work();
    } finally {
      this.running -= 1;
      this.callNext();
    }
  }

  private mayRun(rank: number): boolean {
    return this.running < (rank <= FIRST ? MOST_RUNNING : MOST_RUNNING - 1);
  }

  private callNext(): void {
    const [next] = this.waiting;
    if (next === undefined || !this.mayRun(next.rank)) return;
    this.waiting.shift();
    this.running += 1;
    next.start();
  }

  /** Resolves when a place is free. If the queue is full, its last entry makes way for one with a better rank. */
  private async queue(rank: number): Promise<void> {
    this.assertRoom(rank);
    if (this.waiting.length === MOST_WAITING) this.waiting.pop()?.refuse();
    await new Promise<void>((resolve, reject) => {
      const refuse = () => {
        clearTimeout(timer);
        reject(problems.tooManyLogins(RETRY_SECONDS));
      };
      const start = () => {
        clearTimeout(timer);
        resolve();
      };
      const place: Waiting = { rank, start, refuse };
      const timer = setTimeout(() => {
        this.waiting.splice(this.waiting.indexOf(place), 1);
        refuse();
      }, LONGEST_MS);
      const better = this.waiting.findIndex((other) => other.rank > rank);
      this.waiting.splice(better === -1 ? this.waiting.length : better, 0, place);
    });
  }
}

/**
 * Logins that were verified within the last minute, under a keyed digest, with the hash that they matched: a harvest
 * needs argon2 only once a minute. Failures are never remembered.
 */
@Injectable()
export class ProvenLogins {
  private readonly key = randomBytes(KEY_BYTES).toString('base64');
  private readonly hashes = new LRUCache<string, string>({ ...atMost(REMEMBERED), ttl: REMEMBERED_MS });

  /**
   * A digest that identifies a login. The length of the user name comes first, so that different logins have
   * different input.
   */
  nameOf({ username, password }: Login): string {
    return hash('sha256', `${this.key}${username.length}:${username}${password}`, 'base64');
  }

  /** The stored hash that the password of a login matched recently. */
  hashOf(name: string): string | undefined {
    return this.hashes.get(name);
  }

  remember(name: string, passwordhash: string): void {
    this.hashes.set(name, passwordhash);
  }
}
