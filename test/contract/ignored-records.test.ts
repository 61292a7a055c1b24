import { getConnectionToken } from '@nestjs/mongoose';
import { mongo } from 'mongoose';
import { Metrics } from '../../src/platform/observability/index.js';
import { IncompleteIdentities, WorkedThrough } from '../../src/replication/store/index.js';
import { placeAfter } from '../../src/replication/protocol/index.js';
import { IgnoredRecords, type PresentRecord } from '../../src/replication/watcher/index.js';
import { TestService } from '../support/index.js';

const BEFORE = placeAfter(new mongo.Timestamp({ t: 1, i: 1 }));
const AFTER = placeAfter(new mongo.Timestamp({ t: 2 ** 32 - 1, i: 1 }));

let service: TestService;
let metrics: Metrics;
let ignored: IgnoredRecords;
/** Of the test alone: the watcher of the service counts, too. */
let rivals: IncompleteIdentities;

beforeEach(async () => {
  service = await TestService.start();
  const of = <T>(token: string | (new (...parts: never[]) => T)) =>
    service.app.get<T>(token, { strict: false });
  metrics = new Metrics();
  rivals = Object.create(of(IncompleteIdentities)) as IncompleteIdentities;
  ignored = new IgnoredRecords(of(getConnectionToken()), rivals, of(WorkedThrough), metrics);
});
afterEach(() => service.stop());

const products = () => service.db.collection('products');
const present = (_id: mongo.ObjectId, appid: string | false) =>
  ({ _id, organizationid: 'acme', appid }) as PresentRecord;

async function counted(): Promise<number | undefined> {
  const { values } = await metrics.ignoredRecords.get();
  return values.find(({ labels }) => labels['kind'] === 'product')?.value;
}

async function homeless(): Promise<mongo.ObjectId> {
  const { insertedId } = await products().insertOne({ organizationid: 'acme', appid: 5, id: 'homeless' });
  return insertedId;
}

/** Counts both kinds; each has so few records that it is one slice. `amid` happens while the products are being read. */
async function round(amid: () => void = () => undefined): Promise<void> {
  await ignored.step();
  const counting = jest.spyOn(rivals, 'countRivals').mockImplementationOnce(() => {
    setImmediate(amid);
    return Promise.resolve(0);
  });
  await ignored.step();
  counting.mockRestore();
}

describe('a record whose `organizationid` or `appid` is not a string is counted (tidemark_ignored_records)', () => {
  it('and counted no more where it is deleted while a round reads it', async () => {
    const _id = await homeless();
    await round(() => ignored.hear('product', [{ type: 'deleted', owner: _id, place: AFTER }]));
    expect(await counted()).toBe(0);
  });

  it('and counted no more where it is set right while a round reads it', async () => {
    const _id = await homeless();
    await round(() => ignored.see('product', [present(_id, 'shop')]));
    expect(await counted()).toBe(0);
  });

  it('also where the round has met it set right for a moment', async () => {
    const _id = await homeless();
    await round();
    await products().updateOne({ _id }, { $set: { appid: 'shop' } });
    await round(() => ignored.see('product', [present(_id, false)]));
    expect(await counted()).toBe(1);
  });

  it('once, where the stream comes to its insert only after the count', async () => {
    await products().insertOne({ _id: 'no ObjectId' as never, ...{ organizationid: 'acme', appid: 'shop' } });
    await round();
    ignored.hear('product', [{ type: 'written', owner: 'no ObjectId', place: BEFORE, isNew: true }]);
    expect(await counted()).toBe(1);
    ignored.hear('product', [{ type: 'deleted', owner: 'no ObjectId', place: AFTER }]);
    expect(await counted()).toBe(0);
  });

  it('but not by a leader that was in office before, and has heard nothing since', async () => {
    const _id = await homeless();
    await round();
    ignored.hear('product', [{ type: 'written', owner: 'no ObjectId', place: AFTER, isNew: true }]);
    expect(await counted()).toBe(2);
    ignored.reset();
    await products().updateOne({ _id }, { $set: { appid: 'shop' } });
    ignored.see('product', []);
    expect(await counted()).toBe(0);
  });

  it('nor by one whose term ends while a round reads it, or counts rivals', async () => {
    await homeless();
    await round(() => ignored.reset());
    expect(await counted()).toBeUndefined();
    const counting = jest.spyOn(rivals, 'countRivals').mockResolvedValue(5);
    const heard = ignored.hearRivals('product', []);
    ignored.reset();
    await heard;
    expect([await counted(), ignored.hasRivals('product')]).toEqual([undefined, true]);
    counting.mockResolvedValue(0);
    await ignored.step();
    await ignored.step();
    expect(await counted()).toBe(1);
  });
});
