import { retireOldPassword } from '../../administration/plain.js';
import type { Run } from '../command.js';
import type { credentialRetire } from '../descriptions/credential.js';
import { deskOn } from '../session.js';

export const run: Run<typeof credentialRetire> = async (context, { username }) => {
  const isRetired = await retireOldPassword(deskOn(context, await context.connected()), username);
  return {
    text: isRetired
      ? `The old password of "${username}" opens nothing more.`
      : `The credential "${username}" has no old password.`,
    json: { username, isRetired },
  };
};
