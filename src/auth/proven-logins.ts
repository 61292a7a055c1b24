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

  /** What stands for a login from an address, and for no other. */
  nameOf(login: Login, address: string): string {
    return `${this.digest(login)} ${address}`;
  }

  /** The length of the user name goes first, so that no two logins give the same text. */
  private digest({ username, password }: Login): string {
    return createHmac('sha256', this.key)
      .update(`${username.length}:${username}${password}`)
      .digest('base64');
  }
}
