import type { World } from '../world/index.js';
import type { Handlers } from './handlers.js';
import { changedFields, newRecord } from './new-record.js';
import { stamped } from './stamping.js';

type Names =
  | 'insert'
  | 'insertWithoutId'
  | 'update'
  | 'delete'
  | 'reinsert'
  | 'updateMany'
  | 'addChannel'
  | 'removeChannel';

/** What other programs do to the content of records. */
export const foreignRecords: Handlers<Names> = {
  insert: async ({ source }, operation, touch) => {
    await source.ids.take(async () => {
      if (!(await source.isFree(operation.kind, operation.id))) return;
      touch(operation.id);
      await source.records(operation.kind).insertOne(newRecord(source.tenant, operation));
    });
  },
  insertWithoutId: async ({ source }, operation) => {
    await source.records(operation.kind).insertOne(newRecord(source.tenant, operation));
  },
  update: async (world, { kind, pick, stamp, content }, touch) => {
    const record = await world.source.some(kind, pick);
    touch(record?.['id']);
    if (record === undefined) return;
    await world.source
      .records(kind)
      .updateOne({ _id: record._id }, stamped(changedFields(kind, content), stamp));
  },
  delete: async ({ source }, { kind, pick }, touch) => {
    const record = await source.some(kind, pick);
    touch(record?.['id']);
    if (record !== undefined) await source.records(kind).deleteOne({ _id: record._id });
  },
  reinsert: async ({ source }, { kind, pick, stamp, content }, touch) => {
    await source.ids.take(async () => {
      const record = await source.some(kind, pick);
      const id: unknown = record?.['id'];
      touch(id);
      if (record === undefined || typeof id !== 'string') return;
      await source.records(kind).deleteOne({ _id: record._id });
      await source.records(kind).insertOne(newRecord(source.tenant, { kind, id, stamp, content }));
    });
  },
  updateMany: async ({ source, journal }, { kind, stamp, n }) => {
    journal.noteForAll(`updateMany of all of kind ${kind}, stamp ${stamp}`);
    await source.records(kind).updateMany(source.tenant, stamped({ 'data.n': n }, stamp));
  },
  addChannel: (world, { pick, channel, stamp }, touch) =>
    changeChannels(world, { pick, touch }, { $addToSet: { channels: channel }, ...stamped({}, stamp) }),
  removeChannel: (world, { pick, channel, stamp }, touch) =>
    changeChannels(world, { pick, touch }, { $pull: { channels: channel }, ...stamped({}, stamp) }),
};

async function changeChannels(
  { source }: World,
  { pick, touch }: { pick: number; touch: (id: unknown) => void },
  update: object,
): Promise<void> {
  const product = await source.some('product', pick);
  touch(product?.['id']);
  if (product !== undefined) await source.records('product').updateOne({ _id: product._id }, update);
}
