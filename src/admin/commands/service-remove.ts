import { nameOfService, removeService } from '../../administration/plain.js';
import type { Run } from '../command.js';
import type { serviceRemove } from '../descriptions/service.js';
import { serviceKeyOf } from '../option-values.js';
import { deskOn } from '../session.js';

export const run: Run<typeof serviceRemove> = async (context, names) => {
  const key = serviceKeyOf(names);
  await removeService(deskOn(context, await context.connected()), key);
  return { text: `The ${nameOfService(key)} is removed.`, json: key };
};
