import { nameOfTenant, removeApplication } from '../../administration/plain.js';
import { defineCommand } from '../command.js';
import { APPLICATION, tenantOf } from '../options.js';
import { counted } from '../print.js';
import { deskOn } from '../session.js';

export const applicationRemove = defineCommand({
  name: 'application remove',
  summary: 'Remove an application and its services',
  options: { ...APPLICATION, purge: { description: 'remove its members and products too' } },
  notes: [
    'Without --purge an application that still has records is not removed.',
    'Consumers can be told of removed records only while the application exists: remove the records first ' +
      '(import --mirror, record delete), let every consumer harvest, then remove the application.',
  ],
  async run(context, { purge, ...names }) {
    const tenant = tenantOf(names);
    const { member, product } = await removeApplication(deskOn(context, await context.connected()), tenant, {
      purge,
    });
    const records = purge ? `, with ${counted(member, 'member')} and ${counted(product, 'product')}` : '';
    return {
      text: `The application ${nameOfTenant(tenant)} is removed${records}.`,
      json: { ...tenant, removed: { members: member, products: product } },
    };
  },
});
