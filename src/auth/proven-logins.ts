import { createHmac, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import type { Login } from './basic-header.js';

const REMEMBERED = 10_000;
const REMEMBERED_MS = 60_000;

/**
 * Logins whose password was right a minute ago at most, under a keyed digest, with the hash that it fitted: a harvest
 * pays for argon2 once. A failure never is remembered.
 */
@Injectable()
export class ProvenLogins {
  private readonly key = randomBytes(32);
  private readonly hashes = new LRUCache<string, string>({ max: REMEMBERED, ttl: REMEMBERED_MS });
  private readonly running = new Map<string, Promise<unknown>>();

  /** Whether the password was right, for whatever hash was stored then: worth a look at the credential. */
  has(login: Login): boolean {
    return this.hashes.has(this.digest(login));
  }

  /** Whether the password was right for this very hash. */
  hasFitted(login: Login, hash: string): boolean {
    return this.hashes.get(this.digest(login)) === hash;
  }

  remember(login: Login, hash: string): void {
    this.hashes.set(this.digest(login), hash);
  }

  /**
   * Proves a login that nobody is proving; else waits until that is over, however it ends, and gives nothing. A client
   * that begins with many requests at once needs one comparison, and one attempt.
   */
  async alone<T>(login: Login, prove: () => Promise<T>): Promise<{ proof: T } | undefined> {
    const digest = this.digest(login);
    const running = this.running.get(digest);
    if (running !== undefined) {
      await running;
      return undefined;
    }
    const proving = prove();
    this.running.set(
      digest,
      proving.catch(() => undefined),
    );
    try {
      return { proof: await proving };
    } finally {
      this.running.delete(digest);
    }
  }

  /** The length of the user name goes first, so that no two logins give the same text. */
  private digest({ username, password }: Login): string {
    return createHmac('sha256', this.key)
      .update(`${username.length}:${username}${password}`)
      .digest('base64');
  }
}
