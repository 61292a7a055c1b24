import argon2 from '@node-rs/argon2';

/** The library's default algorithm is argon2id. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The PHC string of a password. */
export function hashPassword(password: string): Promise<string> {
  return argon2.hash(password, COST);
}

/** Whether a PHC string is the hash of a password; false if it is malformed. */
export function isHashOf(stored: string, password: string): Promise<boolean> {
  return argon2.verify(stored, password).catch(() => false);
}
