import { mongo } from 'mongoose';
import { IncompleteIdentities } from '../../src/replication/store/index.js';
import type { PartialIdentity } from '../../src/replication/protocol/index.js';
import { IncompleteReview } from '../../src/replication/watcher/index.js';
import { eventually, TestService } from '../support/index.js';

let service: TestService;
let incomplete: IncompleteIdentities;
let owner: mongo.ObjectId;
beforeAll(async () => {
  service = await TestService.start();
  incomplete = service.app.get(IncompleteIdentities, { strict: false });
  jest.spyOn(service.app.get(IncompleteReview, { strict: false }), 'step').mockResolvedValue(60_000);
});
beforeEach(() => {
  owner = new mongo.ObjectId();
});
afterAll(() => service.stop());

const stored = () => service.db.collection<mongo.Document>('tidemark.incompleteidentities');
const inApplication = (appid: string, learned: string): PartialIdentity => ({
  organizationid: 'acme',
  appid,
  learned,
});
const keep = (partial: PartialIdentity) => incomplete.keep('product', [{ owner, partial }]);
const known = async () => (await incomplete.among('product', [owner])).get(owner.toHexString());
const applications = async () =>
  (await stored().find({ '_id.owner': owner }).toArray()).map(({ appid }) => appid as string).sort();

describe('what is known of a record that is incomplete is kept by record and application', () => {
  it('what was learned last counts, and what was known in another application is forgotten behind it', async () => {
    await keep(inApplication('a', '1'));
    await keep(inApplication('b', '2'));
    expect(await known()).toEqual(inApplication('b', '2'));
    expect(await applications()).toEqual(['b']);
  });

  it('what a term that was given up knew in one application overwrites nothing in another one', async () => {
    await keep(inApplication('b', '2'));
    await keep(inApplication('a', '1'));
    expect(await applications()).toEqual(['a', 'b']);
    expect(await known()).toEqual(inApplication('b', '2'));
  });

  it('a record that is complete is forgotten in all of them, as of its place', async () => {
    await keep(inApplication('c', '3'));
    await keep(inApplication('b', '2'));
    await keep(inApplication('a', '1'));
    await incomplete.forget('product', [owner], '2');
    expect(await applications()).toEqual(['c']);
  });

  it('one in no application, too', async () => {
    await keep({ organizationid: 'acme', learned: '1' });
    await keep({ organizationid: 'acme', id: 'x', learned: '2' });
    expect(await known()).toEqual({ organizationid: 'acme', id: 'x', learned: '2' });
    expect(await stored().countDocuments({ '_id.owner': owner })).toBe(1);
  });

  it('what an earlier version has kept by record alone is known, and gives way to what is learned later', async () => {
    const _id = { kind: 'product', owner };
    await stored().insertOne({
      _id,
      ...inApplication('a', '1'),
    } as unknown as mongo.OptionalId<mongo.Document>);
    expect(await known()).toEqual(inApplication('a', '1'));
    await keep(inApplication('a', '2'));
    expect(await stored().find({ '_id.owner': owner }).toArray()).toEqual([
      { _id: { ..._id, organizationid: 'acme', appid: 'a' }, ...inApplication('a', '2') },
    ]);
  });

  it('a walk comes to each record once, with all that is known of it', async () => {
    const end = new mongo.ObjectId();
    await keep(inApplication('b', '2'));
    await keep(inApplication('a', '1'));
    await incomplete.keep('product', [{ owner: end, partial: inApplication('a', '1') }]);
    const walked: string[] = [];
    for await (const some of incomplete.inRange('product', { behind: undefined, end: owner }))
      walked.push(...some.map(({ _id }) => _id.owner.toHexString()));
    expect(walked.filter((key) => key === owner.toHexString())).toHaveLength(2);
    for await (const some of incomplete.inRange('product', { behind: owner, end }))
      expect(some.map(({ _id }) => _id.owner)).toEqual([end]);
    const next = await incomplete.nextRange('product', owner, 1);
    expect(next).toEqual({ behind: owner, end, count: 1 });
  });
});

it('the review forgets what was written late of a record of which more is known in another application', async () => {
  const { insertedIds } = await service.db.collection('products').insertMany([
    { organizationid: 'acme', appid: 'b', id: '7' },
    { organizationid: 'acme', appid: 'b', id: 7 },
  ]);
  owner = insertedIds[1]!;
  await service.watcher.caughtUp();
  expect(await known()).toMatchObject({ appid: 'b', isNumber: true });
  await keep(inApplication('a', '1'));
  expect(await applications()).toEqual(['a', 'b']);
  jest.restoreAllMocks();
  const review = service.app.get(IncompleteReview, { strict: false });
  const { signal } = new AbortController();
  await eventually(async () => {
    await review.step(signal);
    return (await applications()).length === 1;
  });
  expect(await applications()).toEqual(['b']);
});
