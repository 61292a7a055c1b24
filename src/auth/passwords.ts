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
  private readonly proven = new LRUCache<string, true>({ max: REMEMBERED, ttl: REMEMBERED_MS });
  private readonly running = new Map<string, Promise<boolean>>();
  private readonly decoy = hashPassword(randomBytes(16).toString('hex'));

  isRemembered(stored: string, password: string): boolean {
    return this.proven.has(this.digest(stored, password));
  }

  /**
   * Whether a success is remembered, or a comparison of just these two that runs now ends with one: a client that begins
   * with many requests at once needs one comparison.
   */
  async isProven(stored: string, password: string): Promise<boolean> {
    if (this.isRemembered(stored, password)) return true;
    return (await this.running.get(this.digest(stored, password))) ?? false;
  }

  async fits(stored: string, password: string): Promise<boolean> {
    const digest = this.digest(stored, password);
    const check = verify(stored, password).catch(() => false);
    this.running.set(digest, check);
    const right = await check;
    this.running.delete(digest);
    if (right) this.proven.set(digest, true);
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
