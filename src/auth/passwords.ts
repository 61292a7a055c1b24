import { randomBytes } from 'node:crypto';
import { Injectable } from '@nestjs/common';
import { hashPassword, isHashOf } from './password-hash.js';
import { Turns } from './turns.js';

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
