import { createHash } from 'node:crypto';
import type { mongo } from 'mongoose';
import { type Identity, identityKey } from '../ledger/index.js';

/** Who lives under an identity, as the collection or the ledger has it. */
export interface Tenure {
  owner: mongo.ObjectId;
  identity: Identity;
  /** The `id` of the record is stored as a number. */
  isNumber?: true;
}

/** Of a list in any order: lists that differ have another one, but for one chance in 2^64. */
export interface Digest {
  count: number;
  sum: bigint;
}

export function digestOf(tenures: Tenure[]): Digest {
  const sum = tenures.reduce((total, tenure) => total + hashOf(tenure), 0n);
  return { count: tenures.length, sum: BigInt.asUintN(64, sum) };
}

export function isSameDigest(one: Digest, other: Digest): boolean {
  return one.count === other.count && one.sum === other.sum;
}

/** A key for maps. */
export function tenureKey({ owner, identity }: Tenure): string {
  return `${owner.toHexString()} ${identityKey(identity)}`;
}

function hashOf(tenure: Tenure): bigint {
  return createHash('sha256').update(tenureKey(tenure)).digest().readBigUInt64LE();
}
