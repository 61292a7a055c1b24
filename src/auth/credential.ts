/** No credential has a longer user name, so the database is not queried for one (UTF-16 units). */
export const LONGEST_USERNAME = 256;

export const LEVELS = ['read', 'write', 'admin'] as const;

/** Each level includes those before it. */
export type Level = (typeof LEVELS)[number];

/** `"*"` stands for every organization or every application. */
export interface Scope {
  organizationid: string;
  appid: string;
}

/** A document of `credentials` (contract §4). */
export interface Credential {
  username: string;
  /** argon2id, PHC string. */
  passwordhash: string;
  /** The password that it had before, which opens it too until `oldexpiresAt`. */
  oldpasswordhash?: string;
  oldexpiresAt?: Date;
  level: Level;
  scopes: Scope[];
  disabled?: boolean;
  expiresAt?: Date;
}

/** Whether a stored document is a credential that opens anything today. Whatever is odd about it closes it. */
export function isUsable(stored: Partial<Credential> | null, now: Date): stored is Credential {
  return stored !== null && credentialState(stored, now) === 'valid' && isArgon2id(stored.passwordhash);
}

/** The hashes of the passwords that open a credential today: its own, and the one before while it is kept. */
export function liveHashes({ passwordhash, oldpasswordhash, oldexpiresAt }: Credential, now: Date): string[] {
  const isKept = oldexpiresAt instanceof Date && oldexpiresAt > now && isArgon2id(oldpasswordhash);
  return isKept ? [passwordhash, oldpasswordhash] : [passwordhash];
}

/** How a credential stands, but for its password; `broken` where something in it is of a type that opens nothing. */
type CredentialState = 'valid' | 'disabled' | 'expired' | 'broken';

/** A list of user names is found under each of them, and opens none. Of `disabled`, only false or nothing is no. */
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

/** Whether one of the scopes covers the application. No scopes cover nothing. */
export function covers(scopes: unknown, organizationid: string, appid: string): boolean {
  if (!Array.isArray(scopes)) return false;
  return (scopes as (Partial<Scope> | null)[]).some(
    (scope) => fits(scope?.organizationid, organizationid) && fits(scope?.appid, appid),
  );
}

/** What a client sent with HTTP Basic. */
export interface Login {
  username: string;
  password: string;
}

/** Reads `Authorization: Basic …` as RFC 7617 does: UTF-8, user name up to the first colon, password all that follows. */
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
