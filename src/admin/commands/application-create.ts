import { createApplication, nameOfTenant } from '../../administration/plain.js';
import type { Run } from '../command.js';
import type { applicationCreate } from '../descriptions/application.js';
import { tenantOf } from '../option-values.js';
import { deskOn } from '../session.js';

export const run: Run<typeof applicationCreate> = async (context, { title, ...names }) => {
  const tenant = tenantOf(names);
  await createApplication(deskOn(context, await context.prepared()), tenant, { title });
  return {
    text: `The application ${nameOfTenant(tenant)} is registered.`,
    json: { ...tenant, ...(title !== undefined && { title }) },
  };
};
