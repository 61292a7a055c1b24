import type { mongo } from 'mongoose';
import type { Claim, Operation } from '../plan/index.js';
import type { RecordSource } from '../world/index.js';
import type { Handlers } from './handlers.js';
import { newRecord } from './new-record.js';
import { stamped } from './stamping.js';

const MOST_CLAIMANTS = 4;

type ClaimOperation = Extract<Operation, { do: 'claim' }>;

/** Records with a number for an `id`, and one with the text of it: several claims at once are one transaction. */
export const claims: Handlers<'claim'> = {
  claim: async ({ source }, operation, touch) => {
    await source.ids.take(async () => {
      touch(String(operation.number));
      await source.client.withSession((session) =>
        session.withTransaction(async () => {
          for (const claim of operation.claims) await claimOnce(source, operation, claim, session);
        }),
      );
    });
  },
};

async function claimOnce(
  source: RecordSource,
  { kind, number, stamp, content }: ClaimOperation,
  { act, pick }: Claim,
  session: mongo.ClientSession,
): Promise<void> {
  const records = source.records(kind);
  const text = String(number);
  const claimants = await records
    .find({ ...source.tenant, id: { $in: [number, text] } }, { session, sort: { _id: 1 } })
    .toArray();
  const one = claimants[Math.floor(pick * claimants.length)];
  const hasText = claimants.some(({ id }) => id === text);
  if (act === 'number' && claimants.length < MOST_CLAIMANTS) {
    const record = newRecord(source.tenant, { kind, id: text, stamp, content });
    await records.insertOne({ ...record, id: number }, { session });
  }
  if (act === 'text' && !hasText)
    await records.insertOne(newRecord(source.tenant, { kind, id: text, stamp, content }), { session });
  if (act === 'delete' && one !== undefined) await records.deleteOne({ _id: one._id }, { session });
  if (act === 'retype' && one !== undefined && (one['id'] === text || !hasText)) {
    const id = one['id'] === text ? number : text;
    await records.updateOne({ _id: one._id }, stamped({ id }, stamp), { session });
  }
}
