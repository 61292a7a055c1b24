import { randomPassword, rotateCredential } from '../../administration/plain.js';
import type { Run } from '../command.js';
import type { credentialRotate } from '../descriptions/credential.js';
import { futureDateOf } from '../option-values.js';
import { passwordFrom } from '../password-input.js';
import { deskOn } from '../session.js';

export const run: Run<typeof credentialRotate> = async (
  context,
  { username, 'keep-old-until': until, 'password-stdin': fromStdin },
) => {
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
};
