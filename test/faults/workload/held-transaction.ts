import { setTimeout as wait } from 'node:timers/promises';
import type { mongo } from 'mongoose';
import type { Operation } from '../plan/index.js';
import type { World } from '../world/index.js';
import type { Handlers, Touch } from './handlers.js';
import { changedFields, newRecord } from './new-record.js';
import { stamped } from './stamping.js';

/** How long a transaction waits for a `max` that is asked while it is open (milliseconds). */
const HELD_MS = 1000;
const LOOK_MS = 10;

/** A transaction that stamps first, stays open until a consumer has been given a `max`, and commits only then. */
export function heldTransactions(maxesGiven: () => number): Handlers<'transaction'> {
  return {
    transaction: async (world, operation, touch) => {
      await world.source.client.withSession(async (session) => {
        session.startTransaction();
        try {
          await writeInside(world, operation, { session, touch });
          await untilGiven(maxesGiven);
          await session.commitTransaction();
        } catch (error) {
          await session.abortTransaction().catch(() => undefined);
          throw error;
        }
      });
    },
  };
}

async function writeInside(
  { source }: World,
  { kind, picks, stamp, content, id }: Extract<Operation, { do: 'transaction' }>,
  { session, touch }: { session: mongo.ClientSession; touch: Touch },
): Promise<void> {
  const records = source.records(kind);
  const [changed, deleted] = await Promise.all([source.some(kind, picks[0]), source.some(kind, picks[1])]);
  [id, changed?.['id'], deleted?.['id']].forEach(touch);
  await records.insertOne(newRecord(source.tenant, { kind, id, stamp, content }), { session });
  if (changed === undefined || deleted === undefined) return;
  await records.updateOne({ _id: changed._id }, stamped(changedFields(kind, content), stamp), { session });
  await records.deleteOne({ _id: deleted._id }, { session });
}

/** Two of them: the first may have been asked before the transaction began. */
async function untilGiven(maxesGiven: () => number): Promise<void> {
  const enough = maxesGiven() + 2;
  for (const end = Date.now() + HELD_MS; maxesGiven() < enough && Date.now() < end;) await wait(LOOK_MS);
}
