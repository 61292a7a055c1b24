import { randomBytes } from 'node:crypto';
import argon2 from '@node-rs/argon2';
import { Injectable } from '@nestjs/common';
import { Turns } from './turns.js';

/** The library's default algorithm is argon2id. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The PHC string of a password. */
export function hashPassword(password: string): Promise<string> {
  return argon2.hash(password, COST);
}

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
      const isRight = await argon2.verify(stored ?? (await this.decoy), password).catch(() => false);
      return stored !== undefined && isRight;
    });
  }
}
