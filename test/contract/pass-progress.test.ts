import type { mongo } from 'mongoose';
import type { PassProgress, WatchState } from '../../src/replication/protocol/index.js';
import { TestService } from '../support/index.js';

const TENANT = { organizationid: 'acme', appid: 'shop' };
const MANY = 300;
const FEW = 3;
const products = (count: number) =>
  Array.from({ length: count }, (_, n) => ({ ...TENANT, id: `${count}-${n}`, data: { n } }));

async function placeIn(db: mongo.Db): Promise<mongo.Timestamp> {
  return (await db.command({ ping: 1 }))['operationTime'] as mongo.Timestamp;
}

/** What the first pass behind a place in the log told of itself for the last time. */
async function lastTold(
  db: mongo.Db,
  startAtOperationTime: mongo.Timestamp,
): Promise<PassProgress | undefined> {
  const leases = db.collection<WatchState>('tidemark.leases');
  let told: PassProgress | undefined;
  for await (const change of leases.watch([], { startAtOperationTime })) {
    if (change.operationType !== 'update') continue;
    const { pass, since } = change.updateDescription.updatedFields ?? {};
    told = pass ?? told;
    if (since !== undefined && told !== undefined) break;
  }
  return told;
}

describe('a pass tells how much of about how much it has done', () => {
  it('on the first start, and on repairs: it never exceeds its total, and ends at it', async () => {
    let begun: mongo.Timestamp | undefined;
    const service = await TestService.start({}, async (db) => {
      await db.collection('products').insertMany(products(MANY));
      begun = await placeIn(db);
    });
    const { db, watcher } = service;
    const first = { isRepair: false, done: MANY, total: MANY };
    expect(await lastTold(db, begun!)).toMatchObject(first);

    const allGone = await placeIn(db);
    await db.collection('products').drop();
    const [entries, living] = [MANY, MANY];
    const second = { isRepair: true, done: entries + living, total: entries + living };
    expect(await lastTold(db, allGone)).toMatchObject(second);

    await db.collection('products').insertMany(products(FEW));
    await watcher.caughtUp();
    const fewLeft = await placeIn(db);
    await db.collection('tidemark.marks').drop();
    const third = { isRepair: true, done: MANY + FEW + 2 * FEW, total: MANY + FEW + 2 * FEW };
    expect(await lastTold(db, fewLeft)).toMatchObject(third);
    await service.stop();
  });
});
