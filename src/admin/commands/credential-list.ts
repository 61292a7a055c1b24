import {
  lastUses,
  listCredentials,
  type ListedCredential,
  unusedCredentials,
} from '../../administration/plain.js';
import { defineCommand } from '../command.js';
import { credentialTable, stateOf, usesText } from '../credential-table.js';
import { daysOf, UNUSED_FOR } from '../options.js';
import { databaseOf } from '../session.js';

export const credentialList = defineCommand({
  name: 'credential list',
  summary: 'Show the credentials, without anything secret',
  options: UNUSED_FOR,
  notes: ['LAST USED is known to the minute.'],
  async run(context, { 'unused-for': unusedFor }) {
    const db = databaseOf(await context.connected());
    const days = unusedFor === undefined ? undefined : daysOf('unused-for', unusedFor);
    const unused = days === undefined ? undefined : await unusedCredentials(db, days);
    const credentials: ListedCredential[] = unused?.credentials ?? (await listCredentials(db));
    const now = new Date();
    const useOf = await lastUses(
      db,
      credentials.map(({ username }) => username),
    );
    const none = unused === undefined ? 'There is no credential yet.' : usesText(unused, days!);
    return {
      text: credentialTable(credentials, useOf, none),
      json: credentials.map((credential) => ({
        ...credential,
        ...useOf(credential.username),
        state: stateOf(credential, now),
      })),
    };
  },
});
