import { hash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { atMost } from '../common/index.js';
import { problems } from '../http/index.js';
import type { Login } from './credential.js';
import { hashPassword, isHashOf } from './password-hash.js';

/** How many run at a time; addresses with a failed login leave one place to others. */
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

  /** Throws 429 where a comparison of this rank would not be let in. */
  assertRoom(rank: number): void {
    this.turns.assertRoom(rank);
  }

  /** Throws 429 where too many are waiting. Without a hash it takes as long, so that time does not tell which user names exist. */
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
 * Comparisons of passwords, each of which takes a core and 19 MiB for a while: few at a time, in a queue with an end.
 * The smallest rank goes first, and one place is for those of rank 1 alone. The rank is the number of failed logins of an
 * address, so addresses that guess wait for those that do not, regardless of their number.
 */
export class Turns {
  private running = 0;
  private readonly waiting: Waiting[] = [];

  /** Throws 429 where one of this rank would not be let in. */
  assertRoom(rank: number): void {
    if (this.waiting.length < MOST_WAITING || rank < (this.waiting.at(-1)?.rank ?? Infinity)) return;
    throw problems.tooManyLogins(RETRY_SECONDS);
  }

  /** Does the work when it is its turn. Throws 429 where that does not come. */
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

  /** Resolves when a place is taken for it. The last in the queue makes way for a better one where it is full. */
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
 * Logins whose password was right a minute ago at most, under a keyed digest, with the hash that it fitted: a harvest
 * pays for argon2 once. A failure never is remembered.
 */
@Injectable()
export class ProvenLogins {
  private readonly key = randomBytes(KEY_BYTES).toString('base64');
  private readonly hashes = new LRUCache<string, string>({ ...atMost(REMEMBERED), ttl: REMEMBERED_MS });

  /** What stands for a login, and for no other: the length of the user name goes first. */
  nameOf({ username, password }: Login): string {
    return hash('sha256', `${this.key}${username.length}:${username}${password}`, 'base64');
  }

  /** The stored hash that the password of a login fitted lately. */
  hashOf(name: string): string | undefined {
    return this.hashes.get(name);
  }

  remember(name: string, passwordhash: string): void {
    this.hashes.set(name, passwordhash);
  }
}
