import type { Credential, Scope } from '../auth/index.js';
import { covers } from '../auth/plain.js';
import { problems } from '../http/plain.js';
import type { Tenant } from '../record/index.js';
import { Refused, unknownApplication } from './changes.js';

const EVERY = '*';

/** Throws 404 where the caller does not cover the application, as if it did not exist. */
export function assertCovers({ scopes }: Credential, { organizationid, appid }: Tenant): void {
  if (!covers(scopes, organizationid, appid)) throw unknownApplication(`${organizationid}/${appid}`);
}

export function coversAll({ scopes }: Pick<Credential, 'scopes'>): boolean {
  return covers(scopes, EVERY, EVERY);
}

/** Whether all that a stored credential opens is covered by the caller: only such a one is for the caller to see. */
export function coversCredential(caller: Pick<Credential, 'scopes'>, stored: { scopes?: unknown }): boolean {
  if (coversAll(caller)) return true;
  const scopes = scopesOf(stored);
  return (
    scopes.length > 0 &&
    scopes.every(
      (scope) =>
        typeof scope?.organizationid === 'string' &&
        typeof scope.appid === 'string' &&
        covers(caller.scopes, scope.organizationid, scope.appid),
    )
  );
}

/** Throws 403 where somebody would give others more than they have. */
export function assertGives(caller: Credential, scopes: Scope[]): void {
  if (!coversCredential(caller, { scopes })) throw new Refused(problems.outOfScope());
}

/** The organizations that the caller covers as a whole; undefined: all of them. */
export function organizationsOf(caller: Credential): string[] | undefined {
  if (coversAll(caller)) return undefined;
  return organizationsIn(scopesOf(caller).filter((scope) => scope?.appid === EVERY));
}

/** The organizations of which the caller covers anything; undefined: it may be any. */
export function organizationsTouched(caller: Pick<Credential, 'scopes'>): string[] | undefined {
  const touched = organizationsIn(scopesOf(caller));
  return touched.includes(EVERY) ? undefined : touched;
}

/** Operators write credentials by hand: a scope may be anything. */
function scopesOf({ scopes }: { scopes?: unknown }): (Partial<Scope> | null | undefined)[] {
  return Array.isArray(scopes) ? (scopes as (Partial<Scope> | null)[]) : [];
}

function organizationsIn(scopes: (Partial<Scope> | null | undefined)[]): string[] {
  return scopes.map((scope) => scope?.organizationid).filter((one) => typeof one === 'string');
}
