import { listCredentials, type ListedCredential } from '../../administration/index.js';
import { type Scope, credentialState } from '../../auth/index.js';
import { defineCommand } from '../command.js';
import { cell, table } from '../print.js';
import { databaseOf } from '../session.js';

export const credentialList = defineCommand({
  name: 'credential list',
  summary: 'Show the credentials, without anything secret',
  options: {},
  async run(context) {
    const credentials = await listCredentials(databaseOf(await context.connected()));
    const rows = credentials.map((credential) => [
      cell(credential.username),
      cell(credential.level),
      scopesOf(credential).join(' '),
      stateOf(credential, new Date()),
    ]);
    return {
      text: table(['USERNAME', 'LEVEL', 'SCOPES', 'STATE'], rows, 'There is no credential yet.'),
      json: credentials,
    };
  },
});

function scopesOf({ scopes }: ListedCredential): string[] {
  if (!Array.isArray(scopes)) return [];
  return (scopes as (Partial<Scope> | null)[]).map(
    (scope) => `${cell(scope?.organizationid)}/${cell(scope?.appid)}`,
  );
}

function stateOf(credential: ListedCredential, now: Date): string {
  const { expiresAt } = credential;
  const until = expiresAt instanceof Date ? expiresAt.toISOString() : undefined;
  switch (credentialState(credential, now)) {
    case 'disabled':
      return 'disabled';
    case 'broken':
      return 'opens nothing: a field is of the wrong type';
    case 'expired':
      return `expired ${until}`;
    case 'valid':
      return until === undefined ? 'valid' : `valid until ${until}`;
  }
}
