import mongoose, { type mongo } from 'mongoose';
import { UnwatchedFeeds } from '../../src/replication/store/index.js';
import { eventually, type TestApplication, TestService } from '../support/index.js';

/** For some seconds after a restart a server leaves fields out of its replies. */
type Field = 'operationTime' | 'postBatchResumeToken';

let service: TestService;
let app: TestApplication;
beforeEach(async () => {
  service = await TestService.start({ MARK_WAIT: '1000' });
  app = await service.application();
});
afterEach(async () => {
  jest.restoreAllMocks();
  await service.stop();
});

/** Leaves a field out of the next `count` replies to some commands of the service. Returns how many are left. */
function leaveOut(field: Field, isMeant: (command: mongo.Document) => boolean, count: number): () => number {
  const prototype = mongoose.mongo.Db.prototype;
  const send: mongo.Db['command'] = Reflect.get(prototype, 'command');
  let left = count;
  jest.spyOn(prototype, 'command').mockImplementation(async function (this: mongo.Db, command, options) {
    const reply = await send.call(this, command, options);
    if (left === 0 || this.databaseName !== service.db.databaseName || !isMeant(command)) return reply;
    left -= 1;
    const { cursor } = reply as { cursor?: mongo.Document };
    if (field === 'operationTime') return { ...reply, operationTime: undefined };
    return { ...reply, cursor: { ...cursor, postBatchResumeToken: undefined } };
  });
  return () => left;
}

/** How many terms have begun: one that fails is followed by another. */
async function term(): Promise<number> {
  const leases = service.db.collection<{ _id: string; term: number }>('tidemark.leases');
  return (await leases.findOne({ _id: 'watcher' }))!.term;
}

const raises = ({ update }: mongo.Document) => update === 'tidemark.marks';
const greets = ({ hello }: mongo.Document) => hello === 1;
const readsOn = ({ getMore }: mongo.Document) => getMore !== undefined;

describe('a server that leaves the place in the log out of its replies', () => {
  it('to a raise: it is repeated until it has one', async () => {
    const { id } = await app.product();
    const left = leaveOut('operationTime', raises, 3);
    expect((await app.feed('product').page()).ids).toEqual([id]);
    expect(left()).toBe(0);
  });

  it('to a raise, for longer than a request waits: feeds go on as soon as it tells it again', async () => {
    const { id } = await app.product();
    const left = leaveOut('operationTime', raises, Infinity);
    expect((await app.feed('product').ask()).status).toBe(503);
    expect(left()).toBe(Infinity);
    jest.restoreAllMocks();
    await eventually(async () => (await app.feed('product').ask()).status === 200);
    expect((await app.feed('product').page()).ids).toEqual([id]);
  });

  it('to the greeting: the instance that starts then leads with its first term', async () => {
    const before = await term();
    await service.leave();
    const left = leaveOut('operationTime', greets, 5);
    service = await service.another({ MARK_WAIT: '1000' });
    app = app.seenBy(service);
    const { id } = await app.product();
    expect((await app.feed('product').page()).ids).toEqual([id]);
    await eventually(() => left() === 0);
    expect(await term()).toBe(before + 1);
  });
});

describe('its neighbours: every other command whose reply may lack that place', () => {
  const readsRecords = ({ find, aggregate, getMore, collection }: mongo.Document) =>
    [find, aggregate, getMore === undefined ? undefined : collection].includes('products');

  it('the reads of pages, their first replies and those behind: a harvest is whole', async () => {
    const products = await app.products(30);
    const left = leaveOut('operationTime', readsRecords, 1000);
    const harvested = await app.feed('product').drain({ limit: 7 });
    expect(harvested.map(({ id }) => id).sort()).toEqual(products.map(({ id }) => String(id)).sort());
    expect(left()).toBeLessThan(1000);
  });

  it('the greeting that the leader asks for beside the stream: the quarantine empties all the same', async () => {
    const validate = (validator: object) => service.db.command({ collMod: 'tidemark.ledger', validator });
    const setAside = () => service.db.collection('tidemark.quarantine').countDocuments();
    await service.watcher.caughtUp();
    await validate({ id: { $ne: 'poison' } });
    await app.product({ id: 'poison' });
    await eventually(async () => (await setAside()) === 1);
    const before = await term();
    const left = leaveOut('operationTime', greets, 5);
    await validate({});
    await eventually(async () => (await setAside()) === 0);
    expect(left()).toBe(0);
    expect(await term()).toBe(before);
    expect((await app.feed('product').page()).ids).toEqual(['poison']);
  });
});

it('a stream whose replies have no token goes on from the last one that it knows', async () => {
  await app.product({ id: 'before' });
  await service.watcher.caughtUp();
  const before = await term();
  const left = leaveOut('postBatchResumeToken', readsOn, 6);
  await app.product({ id: 'during' });
  await eventually(() => left() === 0);
  await app.product({ id: 'after' });
  expect((await app.feed('product').page()).ids.sort()).toEqual(['after', 'before', 'during']);
  expect(await term()).toBe(before);
});

it('an instance that answers feeds nothing but 503 `not-watched` is not ready, and a metric says so, until one is served', async () => {
  const readiness = async () => {
    const answer = await fetch(`${service.url}/health/ready`);
    const { details } = (await answer.json()) as { details: { replication: { state?: string } } };
    return [answer.status, details.replication.state];
  };
  const isAsked = async (status: number) => (await app.feed('product').ask()).status === status;
  const unwatched = service.app.get(UnwatchedFeeds, { strict: false });
  if (process.env['TIDEMARK_TEST_LIMITS'] !== 'real') Object.assign(unwatched, { longestMs: 4000 });
  leaveOut('operationTime', raises, Infinity);
  expect([await isAsked(503), await readiness()]).toEqual([true, [200, undefined]]);
  await eventually(async () => (await isAsked(503)) && (await readiness())[0] === 503);
  expect(await readiness()).toEqual([503, 'not-watched']);
  expect(await service.metric('tidemark_feeds_unwatched_seconds')).toBeGreaterThan(1);
  expect((await app.get('product/max')).status).toBe(200);
  jest.restoreAllMocks();
  await eventually(() => isAsked(200));
  expect(await readiness()).toEqual([200, undefined]);
  expect(await service.metric('tidemark_feeds_unwatched_seconds')).toBe(0);
});
