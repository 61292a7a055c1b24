import type { LastUse, ListedCredential, Unused } from '../administration/index.js';
import { credentialState, type Scope } from '../auth/plain.js';
import type { Wording } from './layout.js';
import { cell, table } from './print.js';

const HEADINGS = ['USERNAME', 'LEVEL', 'SCOPES', 'STATE', 'LAST USED', 'FROM'];

/** Credentials for people; the sentence where there is none. */
export function credentialTable(
  credentials: ListedCredential[],
  useOf: (username: unknown) => LastUse,
  none: string,
): Wording {
  const now = new Date();
  const rows = credentials.map((credential) => {
    const { lastUsed, lastUsedFrom } = useOf(credential.username);
    return [
      ...[cell(credential.username), cell(credential.level), scopesOf(credential).join(' ')],
      ...[stateOf(credential, now), lastUsed?.toISOString() ?? '', lastUsedFrom ?? ''],
    ];
  });
  return table(HEADINGS, rows, none);
}

/** Why a list of unused credentials is empty. */
export function usesText({ since }: Unused, days: number): string {
  if (since === undefined) return 'No use of a credential has been recorded yet.';
  return since.getTime() > Date.now() - days * 86_400_000
    ? `Usage has been tracked only since ${since.toISOString()}: it is not known yet which credentials were unused for ${days} days.`
    : `Each credential was used or created in the last ${days} days.`;
}

function scopesOf({ scopes }: ListedCredential): string[] {
  if (!Array.isArray(scopes)) return [];
  return (scopes as (Partial<Scope> | null)[]).map(
    (scope) => `${cell(scope?.organizationid)}/${cell(scope?.appid)}`,
  );
}

/** Whether a credential works, in words. */
export function stateOf(credential: ListedCredential, now: Date): string {
  const { expiresAt, oldexpiresAt } = credential;
  const until = expiresAt instanceof Date ? expiresAt.toISOString() : undefined;
  switch (credentialState(credential, now)) {
    case 'disabled':
      return 'disabled';
    case 'broken':
      return 'opens nothing: a field is of the wrong type';
    case 'expired':
      return `expired ${until}`;
    case 'valid': {
      const both =
        oldexpiresAt instanceof Date && oldexpiresAt > now
          ? `, old password until ${oldexpiresAt.toISOString()}`
          : '';
      return `${until === undefined ? 'valid' : `valid until ${until}`}${both}`;
    }
  }
}
