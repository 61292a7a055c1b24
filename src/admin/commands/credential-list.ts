import { defineCommand } from '../command.js';
import { listCredentials, type ListedCredential } from '../credentials.js';
import { table } from '../print.js';
import { databaseOf } from '../session.js';

export const credentialList = defineCommand({
  name: 'credential list',
  summary: 'Show the credentials, without anything secret',
  options: {},
  async run(context) {
    const credentials = await listCredentials(databaseOf(await context.connected()));
    const rows = credentials.map((credential) => [
      credential.username,
      credential.level,
      scopesOf(credential).join(' '),
      stateOf(credential, new Date()),
    ]);
    return {
      text: table(['USERNAME', 'LEVEL', 'SCOPES', 'STATE'], rows, 'There is no credential yet.'),
      json: credentials,
    };
  },
});

/** Operators write this collection too, so it is shown as it is. */
function scopesOf({ scopes }: ListedCredential): string[] {
  return Array.isArray(scopes) ? scopes.map(({ organizationid, appid }) => `${organizationid}/${appid}`) : [];
}

function stateOf({ disabled, expiresAt }: ListedCredential, now: Date): string {
  if (disabled) return 'disabled';
  if (!(expiresAt instanceof Date)) return 'valid';
  return expiresAt > now ? `valid until ${expiresAt.toISOString()}` : `expired ${expiresAt.toISOString()}`;
}
