import { nameOfTenant } from '../../administration/index.js';
import type { mongo } from 'mongoose';
import { FatalError, literal, shown } from '../../common/index.js';
import { COLLECTION_OF, idTextAt, type Kind, ofTenant, type Tenant, withIds } from '../../record/index.js';
import { LEDGER, type LedgerEntry } from '../../replication/ledger/index.js';
import { defineCommand } from '../command.js';
import { APPLICATION, KIND, kindOf, tenantOf } from '../options.js';
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
    const db = databaseOf(await context.connected());
    if (!(await remove(db, tenant, kind, id))) {
      throw new FatalError(`There is no ${kind} "${shown(id)}" in ${nameOfTenant(tenant)}.`);
    }
    return {
      text: `The ${kind} "${id}" of ${nameOfTenant(tenant)} is deleted.`,
      json: { ...tenant, kind, id },
    };
  },
});

/** The record with this text as its `id`, else the one that is delivered under it since its `id` is a number. */
async function remove(db: mongo.Db, tenant: Tenant, kind: Kind, id: string): Promise<boolean> {
  const records = db.collection(COLLECTION_OF[kind]);
  const { deletedCount } = await records.deleteOne(withIds(tenant, [id]));
  if (deletedCount > 0) return true;
  const entry = await db.collection<LedgerEntry>(LEDGER).findOne({
    ...{ ...tenant, kind, id: { $eq: id } },
    ...{ alive: true, isNumber: true },
  });
  if (entry === null) return false;
  const isSame = { $expr: { $eq: [idTextAt('$id'), literal(id)] } };
  return (await records.deleteOne({ ...ofTenant(tenant), _id: entry.owner!, ...isSame })).deletedCount > 0;
}
