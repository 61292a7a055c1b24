import { createHmac, randomBytes } from 'node:crypto';
import { hash, verify } from '@node-rs/argon2';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';

/** The library's default algorithm is argon2id. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };
const REMEMBERED = 10_000;
const REMEMBERED_MS = 60_000;

/** The PHC string of a password. */
export function hashPassword(password: string): Promise<string> {
  return hash(password, COST);
}

/**
 * Compares passwords with stored hashes. A success is remembered for a minute under a keyed digest of hash and
 * password, so that a harvest pays for argon2 once; a failure never is.
 */
@Injectable()
export class Passwords {
  private readonly key = randomBytes(32);
  private readonly remembered = new LRUCache<string, true>({ max: REMEMBERED, ttl: REMEMBERED_MS });
  private readonly running = new Map<string, Promise<boolean>>();
  private readonly decoy = hashPassword(randomBytes(16).toString('hex'));

  isRemembered(stored: string, password: string): boolean {
    return this.remembered.has(this.digest(stored, password));
  }

  /**
   * Compares unless a success is remembered, one at a time for just these two: whoever comes meanwhile waits, and need not
   * compare if it was right. A client that begins with many requests at once needs one comparison, and one attempt.
   */
  async proven(stored: string, password: string, compare: () => Promise<boolean>): Promise<boolean> {
    if (this.isRemembered(stored, password)) return true;
    const digest = this.digest(stored, password);
    const running = this.running.get(digest);
    if (running !== undefined) return (await running) || this.proven(stored, password, compare);
    const comparison = compare().finally(() => this.running.delete(digest));
    this.running.set(
      digest,
      comparison.catch(() => false),
    );
    return comparison;
  }

  async fits(stored: string, password: string): Promise<boolean> {
    const right = await verify(stored, password).catch(() => false);
    if (right) this.remembered.set(this.digest(stored, password), true);
    return right;
  }

  /** Takes as long as a real comparison, so that time does not tell which user names exist. */
  async refuse(password: string): Promise<false> {
    await verify(await this.decoy, password);
    return false;
  }

  /** The hash holds its own salt; its length goes first, so that no two pairs give the same text. */
  private digest(stored: string, password: string): string {
    return createHmac('sha256', this.key).update(`${stored.length}:${stored}${password}`).digest('base64');
  }
}
