import { defineCommand } from '../command.js';
import { SERVICE, serviceKeyOf } from '../options.js';
import { nameOfService, removeService } from '../services.js';
import { databaseOf } from '../session.js';

export const serviceRemove = defineCommand({
  name: 'service remove',
  summary: 'Remove a service',
  options: SERVICE,
  async run(context, names) {
    const key = serviceKeyOf(names);
    await removeService(databaseOf(await context.connected()), key);
    return { text: `The ${nameOfService(key)} is removed.`, json: key };
  },
});
