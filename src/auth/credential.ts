import { Schema } from 'mongoose';
import argon2 from '@node-rs/argon2';

/** Maximum length of the user name of a credential (UTF-16 units). The database is not queried for a longer one. */
export const LONGEST_USERNAME = 256;

export const LEVELS = ['read', 'write', 'admin'] as const;

/** Each level includes those before it. */
export type Level = (typeof LEVELS)[number];

/** `"*"` means every organization or every application. */
export interface Scope {
  organizationid: string;
  appid: string;
}

/** A document of `credentials` (contract §4). */
export interface Credential {
  username: string;
  /** argon2id, PHC string. */
  passwordhash: string;
  /** The previous password, which is also valid until `oldexpiresAt`. */
  oldpasswordhash?: string;
  oldexpiresAt?: Date;
  level: Level;
  scopes: Scope[];
  disabled?: boolean;
  expiresAt?: Date;
}

/** Whether a stored document is a credential that is usable now. A malformed one is not. */
export function isUsable(stored: Partial<Credential> | null, now: Date): stored is Credential {
  return stored !== null && credentialState(stored, now) === 'valid' && isArgon2id(stored.passwordhash);
}

/** The hashes of the passwords that are valid now: the current one, and the previous one while it is kept. */
export function liveHashes({ passwordhash, oldpasswordhash, oldexpiresAt }: Credential, now: Date): string[] {
  const isKept = oldexpiresAt instanceof Date && oldexpiresAt > now && isArgon2id(oldpasswordhash);
  return isKept ? [passwordhash, oldpasswordhash] : [passwordhash];
}

/** The state of a credential apart from its password; `broken` if its user name, level or expiration is malformed. */
type CredentialState = 'valid' | 'disabled' | 'expired' | 'broken';

/**
 * A credential is disabled unless `disabled` is false, null or absent. A credential whose `username` is a list is found
 * under each of its elements, but is never valid.
 */
export function credentialState(
  { username, level, disabled, expiresAt }: { [field in keyof Credential]?: unknown },
  now: Date,
): CredentialState {
  if (disabled !== undefined && disabled !== null && disabled !== false) return 'disabled';
  if (typeof username !== 'string' || !LEVELS.includes(level as Level)) return 'broken';
  if (expiresAt === undefined || expiresAt === null) return 'valid';
  if (!(expiresAt instanceof Date) || Number.isNaN(expiresAt.getTime())) return 'broken';
  return expiresAt > now ? 'valid' : 'expired';
}

export function reaches(level: Level, needed: Level): boolean {
  return LEVELS.indexOf(level) >= LEVELS.indexOf(needed);
}

/** Whether one of the scopes covers the application. False without scopes. */
export function covers(scopes: unknown, organizationid: string, appid: string): boolean {
  if (!Array.isArray(scopes)) return false;
  return (scopes as (Partial<Scope> | null)[]).some(
    (scope) => fits(scope?.organizationid, organizationid) && fits(scope?.appid, appid),
  );
}

/** The user name and password of HTTP Basic. */
export interface Login {
  username: string;
  password: string;
}

/**
 * Parses `Authorization: Basic …` according to RFC 7617: UTF-8, the user name up to the first colon, the password
 * after it.
 */
export function parseBasicHeader(header: string | undefined): Login | undefined {
  const encoded = /^Basic +([A-Za-z0-9+/]+={0,2}) *$/i.exec(header ?? '')?.[1];
  if (encoded === undefined) return undefined;
  const text = Buffer.from(encoded, 'base64').toString('utf8');
  const colon = text.indexOf(':');
  return colon > 0 ? { username: text.slice(0, colon), password: text.slice(colon + 1) } : undefined;
}

function isArgon2id(hash: unknown): hash is string {
  return typeof hash === 'string' && hash.startsWith('$argon2id$');
}

function fits(pattern: unknown, value: string): boolean {
  return pattern === '*' || pattern === value;
}

/** When and from where a credential was last used. */
export interface CredentialUse {
  /** The user name; empty for the document that holds the start of the tracking. */
  _id: string;
  at: Date;
  /** Address of the client. */
  from?: string;
}

/** Name of the collection. */
export const CREDENTIALS = 'credentials';

/** Name of the Mongoose model of `credentials`. */
export const CREDENTIAL_MODEL = 'Credential';

/** Operators write this collection too, so documents are read without validation and checked by `credentialState`. */
export const credentialSchema = new Schema<Credential>(
  {},
  { collection: CREDENTIALS, strict: false, versionKey: false },
)
  .index({ username: 1 }, { unique: true })
  .index({ 'scopes.organizationid': 1 });

/** Name of the collection. */
export const CREDENTIAL_USES = 'tidemark.credentialuses';

/** Name of the Mongoose model of `tidemark.credentialuses`. */
export const CREDENTIAL_USE_MODEL = 'CredentialUse';

export const credentialUseSchema = new Schema<CredentialUse>(
  { _id: String },
  { collection: CREDENTIAL_USES, strict: false, versionKey: false },
);

/** The library's default algorithm is argon2id. */
const COST = { memoryCost: 19_456, timeCost: 2, parallelism: 1 };

/** The PHC string of a password. */
export function hashPassword(password: string): Promise<string> {
  return argon2.hash(password, COST);
}

/**
 * A hash for a password: one of the stored hashes if it is of this password, so that requests whose login it has admitted
 * stay admitted; otherwise a new one. A stored hash that was made at a lower cost is replaced.
 */
export async function hashAmong(stored: unknown[], password: string): Promise<string> {
  for (const one of stored)
    if (isArgon2id(one) && hasFullCost(one) && (await isHashOf(one, password))) return one;
  return hashPassword(password);
}

function hasFullCost(hash: string): boolean {
  const [, memory = 0, time = 0] = (/\$m=(\d+),t=(\d+),/.exec(hash) ?? []).map(Number);
  return memory >= COST.memoryCost && time >= COST.timeCost;
}

/** Whether a PHC string is the hash of a password; false if it is malformed. */
export function isHashOf(stored: string, password: string): Promise<boolean> {
  return argon2.verify(stored, password).catch(() => false);
}
