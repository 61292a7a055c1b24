import {
  lastUses,
  listCredentials,
  type ListedCredential,
  unusedCredentials,
} from '../../administration/plain.js';
import type { Run } from '../command.js';
import { credentialTable, stateOf, usesText } from '../credential-table.js';
import type { credentialList } from '../descriptions/credential.js';
import { daysOf } from '../option-values.js';
import { databaseOf } from '../session.js';

export const run: Run<typeof credentialList> = async (context, { 'unused-for': unusedFor }) => {
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
};
