import { changeCredential } from '../../administration/plain.js';
import { LEVELS } from '../../auth/plain.js';
import { FatalError } from '../../common/index.js';
import { defineCommand } from '../command.js';
import { choiceOf, futureDateOf, USERNAME } from '../options.js';
import { deskOn } from '../session.js';

const NEVER = 'never';

export const credentialChange = defineCommand({
  name: 'credential change',
  summary: 'Disable or enable a credential, or change its level or end',
  options: {
    ...USERNAME,
    level: { value: 'read|write|admin', description: 'what it may do; each includes those before it' },
    expires: { value: 'DATE|never', description: 'until when it works, such as 2027-01-31' },
    disable: { description: 'it opens nothing until it is enabled' },
    enable: { description: 'it opens again what it opened before' },
  },
  async run(context, { username, level, expires, disable, enable }) {
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
  },
});
