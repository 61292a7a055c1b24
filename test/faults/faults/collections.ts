import { setTimeout as wait } from 'node:timers/promises';
import { mongo } from 'mongoose';
import type { Kind } from '../../../src/kinds/index.js';
import { allIds, collectionNamed, insertedStamp, Random, someContent } from '../plan/index.js';
import { newRecord } from '../workload/index.js';
import { persistently, type World } from '../world/index.js';

const NO_SUCH_COLLECTION = 26;
const SHARE = 0.5;

export async function dropCollection({ source }: World, { kind }: { kind: Kind }): Promise<void> {
  await persistently(() => source.records(kind).drop());
}

/** Another collection, with other records under some of the same `id`s, takes the place of a kind's. */
export async function renameOver({ source }: World, fault: { kind: Kind; seed: number }): Promise<void> {
  const { kind } = fault;
  const random = new Random(fault.seed);
  const records = allIds(kind)
    .filter(() => random.chance(SHARE))
    .map((id) => ({ kind, id, stamp: insertedStamp(random), content: someContent(random) }));
  await source.ids.take(() =>
    persistently(async () => {
      const incoming = source.db.collection(`incoming-${kind}`);
      await incoming.deleteMany({});
      await incoming.insertMany(records.map((record) => newRecord(source.tenant, record)));
      await incoming.rename(collectionNamed(kind), { dropTarget: true });
    }),
  );
}

/** A collection taken away for some milliseconds; when it returns, what was written meanwhile is gone. */
export async function renameAway({ source }: World, fault: { kind: Kind; away: number }): Promise<void> {
  const name = collectionNamed(fault.kind);
  const archive = `archived-${fault.kind}`;
  await persistently(() => rename(source.db, name, archive));
  await wait(fault.away);
  await source.ids.take(() => persistently(() => rename(source.db, archive, name)));
}

/** Done already, or nothing there, where the collection does not exist. */
async function rename(db: mongo.Db, from: string, to: string): Promise<void> {
  await db
    .collection(from)
    .rename(to, { dropTarget: true })
    .catch((error: unknown) => {
      if (!(error instanceof mongo.MongoServerError && error.code === NO_SUCH_COLLECTION)) throw error;
    });
}
