import { retireOldPassword } from '../../administration/plain.js';
import { defineCommand } from '../command.js';
import { USERNAME } from '../options.js';
import { deskOn } from '../session.js';

export const credentialRetire = defineCommand({
  name: 'credential retire',
  summary: 'End the password that a credential had before its last rotation',
  options: USERNAME,
  async run(context, { username }) {
    const isRetired = await retireOldPassword(deskOn(context, await context.connected()), username);
    return {
      text: isRetired
        ? `The old password of "${username}" opens nothing more.`
        : `The credential "${username}" has no old password.`,
      json: { username, isRetired },
    };
  },
});
