import { FatalError, shown } from '../../common/index.js';
import { COLLECTION_OF } from '../../record/index.js';
import { nameOfTenant } from '../applications.js';
import { defineCommand } from '../command.js';
import { APPLICATION, KIND, kindOf, tenantOf } from '../options.js';
import { withIds } from '../selection.js';
import { databaseOf } from '../session.js';

export const recordDelete = defineCommand({
  name: 'record delete',
  summary: 'Delete one record; consumers learn it from harddeletes',
  options: {
    ...APPLICATION,
    ...KIND,
    id: { value: 'ID', required: true, description: 'id of the record, as in the feeds' },
  },
  async run(context, { id, ...names }) {
    const tenant = tenantOf(names);
    const kind = kindOf(names);
    const records = databaseOf(await context.connected()).collection(COLLECTION_OF[kind]);
    const { deletedCount } = await records.deleteOne(withIds(tenant, [id]));
    if (deletedCount === 0) {
      throw new FatalError(`There is no ${kind} "${shown(id)}" in ${nameOfTenant(tenant)}.`);
    }
    return {
      text: `The ${kind} "${id}" of ${nameOfTenant(tenant)} is deleted.`,
      json: { ...tenant, kind, id },
    };
  },
});
