import { randomPassword, rotateCredential } from '../../administration/plain.js';
import { defineCommand } from '../command.js';
import { futureDateOf, USERNAME } from '../options.js';
import { passwordFrom } from '../password-input.js';
import { deskOn } from '../session.js';

export const credentialRotate = defineCommand({
  name: 'credential rotate',
  summary: 'Give a credential another password',
  options: {
    ...USERNAME,
    'keep-old-until': {
      value: 'DATE',
      description: 'until when the old password works too, such as 2027-01-31 or 2027-01-31T18:00:00Z',
    },
    'password-stdin': { description: 'read the password from stdin: 12 to 256 characters' },
  },
  notes: [
    'Without --password-stdin a random password is made and printed, this once.',
    'Without --keep-old-until the old one opens nothing more. One that is kept ends then, or with "credential retire".',
  ],
  async run(context, { username, 'keep-old-until': until, 'password-stdin': fromStdin }) {
    const keepOldUntil = until === undefined ? undefined : futureDateOf('keep-old-until', until);
    const given = fromStdin ? await passwordFrom(context.terminal.input) : undefined;
    const password = given ?? randomPassword();
    const desk = deskOn(context, await context.connected());
    await rotateCredential(desk, username, password, { keepOldUntil });
    const kept = keepOldUntil === undefined ? '' : `; the old one works until ${keepOldUntil.toISOString()}`;
    return {
      text: [
        `The credential "${username}" has another password${kept}.`,
        ...(given === undefined ? [`Password, shown only now: ${password}`] : []),
      ].join('\n'),
      json: { username, keepOldUntil, ...(given === undefined && { password }) },
    };
  },
});
