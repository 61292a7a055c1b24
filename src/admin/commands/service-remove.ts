import { nameOfService, removeService } from '../../administration/plain.js';
import { defineCommand } from '../command.js';
import { SERVICE, serviceKeyOf } from '../options.js';
import { deskOn } from '../session.js';

export const serviceRemove = defineCommand({
  name: 'service remove',
  summary: 'Remove a service',
  options: SERVICE,
  async run(context, names) {
    const key = serviceKeyOf(names);
    await removeService(deskOn(context, await context.connected()), key);
    return { text: `The ${nameOfService(key)} is removed.`, json: key };
  },
});
