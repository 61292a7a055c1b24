import { createApplication, nameOfTenant } from '../../administration/plain.js';
import { defineCommand } from '../command.js';
import { APPLICATION, tenantOf } from '../options.js';
import { deskOn } from '../session.js';

export const applicationCreate = defineCommand({
  name: 'application create',
  summary: 'Register an application',
  options: { ...APPLICATION, title: { value: 'TEXT', description: 'what people call it' } },
  async run(context, { title, ...names }) {
    const tenant = tenantOf(names);
    await createApplication(deskOn(context, await context.prepared()), tenant, { title });
    return {
      text: `The application ${nameOfTenant(tenant)} is registered.`,
      json: { ...tenant, ...(title !== undefined && { title }) },
    };
  },
});
