import { nameOfTenant, removeApplication } from '../../administration/plain.js';
import type { Run } from '../command.js';
import type { applicationRemove } from '../descriptions/application.js';
import { tenantOf } from '../option-values.js';
import { counted } from '../print.js';
import { deskOn } from '../session.js';

export const run: Run<typeof applicationRemove> = async (context, { purge, ...names }) => {
  const tenant = tenantOf(names);
  const { member, product } = await removeApplication(deskOn(context, await context.connected()), tenant, {
    purge,
  });
  const records = purge ? `, with ${counted(member, 'member')} and ${counted(product, 'product')}` : '';
  return {
    text: `The application ${nameOfTenant(tenant)} is removed${records}.`,
    json: { ...tenant, removed: { members: member, products: product } },
  };
};
