import { finishUpgrade, readFormat, STORAGE_FORMATS } from '../../../replication/store/plain.js';
import { recordAction } from '../../plain.js';
import type { Run } from '../command.js';
import type { upgradeFinish } from '../operation-descriptions.js';
import { deskOn } from '../session.js';
import { isConfirmed } from '../input.js';

const QUESTION = 'No instance of an older version runs, and none is to be started again?';

/** Puts the newest storage format of this version in force (docs/upgrading.md). */
export const runFinish: Run<typeof upgradeFinish> = async (context, { yes }) => {
  const connection = await context.connected();
  const { newest } = STORAGE_FORMATS;
  const before = await readFormat(connection);
  if (before === newest)
    return { text: `Storage format ${newest} is in force already.`, json: { before, format: newest } };
  if (!yes && !(await isConfirmed(context.terminal, QUESTION)))
    return {
      text: 'Nothing is changed.',
      json: { before, format: before },
      failure: 'It was not confirmed.',
    };
  await finishUpgrade(connection);
  await recordAction(deskOn(context, connection), {
    action: 'upgrade.finish',
    target: `storage format ${newest}`,
  });
  return {
    text: `Storage format ${newest} is in force (${before} before).`,
    json: { before, format: newest },
  };
};
