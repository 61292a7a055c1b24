import { revokeCredential } from '../../administration/index.js';
import { defineCommand } from '../command.js';
import { deskOn } from '../session.js';

export const credentialRevoke = defineCommand({
  name: 'credential revoke',
  summary: 'Remove a credential: it opens nothing from the next request on',
  options: { username: { value: 'NAME', required: true, description: 'its user name' } },
  notes: ['The user name is free again afterwards.'],
  async run(context, { username }) {
    await revokeCredential(deskOn(context, await context.connected()), username);
    return { text: `The credential "${username}" is removed.`, json: { username } };
  },
});
