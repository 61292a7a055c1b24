import { changeCredential } from '../../administration/plain.js';
import { LEVELS } from '../../auth/plain.js';
import { FatalError } from '../../common/index.js';
import type { Run } from '../command.js';
import type { credentialChange } from '../descriptions/credential.js';
import { choiceOf, futureDateOf } from '../option-values.js';
import { deskOn } from '../session.js';

const NEVER = 'never';

export const run: Run<typeof credentialChange> = async (
  context,
  { username, level, expires, disable, enable },
) => {
  if (disable && enable) throw new FatalError('Give --disable or --enable, not both.');
  const change = {
    ...(level !== undefined && { level: choiceOf('level', level, LEVELS) }),
    ...(expires !== undefined && {
      expiresAt: expires === NEVER ? null : futureDateOf('expires', expires),
    }),
    ...((disable || enable) && { disabled: !enable }),
  };
  if (Object.keys(change).length === 0)
    throw new FatalError('Give --level, --expires, --disable or --enable.');
  await changeCredential(deskOn(context, await context.connected()), username, change);
  return { text: `The credential "${username}" is changed.`, json: { username, ...change } };
};
