import { hash, randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { LRUCache } from 'lru-cache';
import { atMost } from '../common/index.js';
import type { Login } from './basic-header.js';

const KEY_BYTES = 48;
const REMEMBERED = 10_000;
const REMEMBERED_MS = 60_000;

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
