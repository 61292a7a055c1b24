import type { Kind } from '../../../src/kinds/index.js';
import type { Tenant } from '../../../src/record/index.js';
import type { Stamp } from '../plan/index.js';
import type { World } from '../world/index.js';
import type { Handlers, Touch } from './handlers.js';
import { stamped } from './stamping.js';

/** Never an `id` of the key space: it only stands in the way of the unique index for a moment. */
const IN_BETWEEN = 'swapping';

/** What other programs do to the place of records: their `id` and their application. */
export const foreignMoves: Handlers<'moveId' | 'swapIds' | 'moveAway' | 'moveBack'> = {
  moveId: async ({ source }, { kind, pick, id, stamp }, touch) => {
    await source.ids.take(async () => {
      const record = await source.some(kind, pick);
      if (record === undefined || !(await source.isFree(kind, id))) return;
      touch(record['id']);
      touch(id);
      await source.records(kind).updateOne({ _id: record._id }, stamped({ id }, stamp));
    });
  },
  swapIds: async ({ source }, { kind, picks }, touch) => {
    await source.ids.take(async () => {
      const [one, other] = await Promise.all([source.some(kind, picks[0]), source.some(kind, picks[1])]);
      if (one === undefined || other === undefined || one._id.equals(other._id)) return;
      if (typeof one['id'] === 'number' || typeof other['id'] === 'number') return;
      touch(one['id']);
      touch(other['id']);
      const records = source.records(kind);
      await source.client.withSession((session) =>
        session.withTransaction(async () => {
          for (const [record, id] of [
            [one, IN_BETWEEN],
            [other, one['id']],
            [one, other['id']],
          ] as const) {
            await records.updateOne({ _id: record._id }, { $set: { id: id as unknown } }, { session });
          }
        }),
      );
    });
  },
  moveAway: ({ source }, operation, touch) =>
    move(source, { ...operation, touch, from: source.tenant, to: source.elsewhere }),
  moveBack: ({ source }, operation, touch) =>
    move(source, { ...operation, touch, from: source.elsewhere, to: source.tenant }),
};

interface Move {
  kind: Kind;
  pick: number;
  stamp: Stamp;
  touch: Touch;
  from: Tenant;
  to: Tenant;
}

/** Moves a record to another application, where its `id` is free there. */
async function move(source: World['source'], { kind, pick, stamp, touch, from, to }: Move): Promise<void> {
  await source.ids.take(async () => {
    const record = await source.some(kind, pick, from);
    const id: unknown = record?.['id'];
    if (record === undefined || (id !== undefined && !(await source.isFree(kind, id, to)))) return;
    touch(id);
    await source.records(kind).updateOne({ _id: record._id }, stamped({ ...to }, stamp));
  });
}
