import { lastUses, revokeCredential, unusedCredentials } from '../../administration/plain.js';
import { FatalError } from '../../common/index.js';
import type { CommandContext, Outcome, Run } from '../command.js';
import { isConfirmed } from '../confirm.js';
import { credentialTable, usesText } from '../credential-table.js';
import type { credentialRevoke } from '../descriptions/credential.js';
import { daysOf } from '../option-values.js';
import { counted } from '../print.js';
import { deskOn } from '../session.js';

export const run: Run<typeof credentialRevoke> = async (
  context,
  { username, 'unused-for': unusedFor, yes },
) => {
  if ((username === undefined) === (unusedFor === undefined))
    throw new FatalError('Give either --username or --unused-for.');
  if (username === undefined) return revokeUnused(context, daysOf('unused-for', unusedFor!), yes);
  await revokeCredential(deskOn(context, await context.connected()), username);
  return { text: `The credential "${username}" is removed.`, json: { username } };
};

async function revokeUnused(context: CommandContext, days: number, isSure: boolean): Promise<Outcome> {
  const desk = deskOn(context, await context.connected());
  const unused = await unusedCredentials(desk.db, days);
  const usernames = unused.credentials
    .map(({ username }) => username)
    .filter((one) => typeof one === 'string');
  if (usernames.length === 0) return { text: usesText(unused, days), json: { revoked: [] } };
  const useOf = await lastUses(desk.db, usernames);
  context.tell(credentialTable(unused.credentials, useOf, ''));
  const question = `Remove ${counted(usernames.length, 'credential')}?`;
  if (!isSure && !(await isConfirmed(context.terminal, question)))
    return { text: 'Nothing is removed.', json: { revoked: [] }, failure: 'It was not confirmed.' };
  for (const username of usernames) await revokeCredential(desk, username);
  const text = `${counted(usernames.length, 'credential')} removed: ${usernames.join(', ')}.`;
  return { text, json: { revoked: usernames } };
}
