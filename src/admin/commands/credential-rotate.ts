import { randomPassword, rotateCredential } from '../../administration/index.js';
import { defineCommand } from '../command.js';
import { passwordFrom } from '../password-input.js';
import { deskOn } from '../session.js';

export const credentialRotate = defineCommand({
  name: 'credential rotate',
  summary: 'Give a credential another password',
  options: {
    username: { value: 'NAME', required: true, description: 'its user name' },
    'password-stdin': { description: 'read the password from stdin: 12 to 256 characters' },
  },
  notes: [
    'Without --password-stdin a random password is made and printed, this once. The old one opens nothing more.',
  ],
  async run(context, { username, 'password-stdin': fromStdin }) {
    const given = fromStdin ? await passwordFrom(context.terminal.input) : undefined;
    const password = given ?? randomPassword();
    await rotateCredential(deskOn(context, await context.connected()), username, password);
    return {
      text: [
        `The credential "${username}" has another password.`,
        ...(given === undefined ? [`Password, shown only now: ${password}`] : []),
      ].join('\n'),
      json: { username, ...(given === undefined && { password }) },
    };
  },
});
