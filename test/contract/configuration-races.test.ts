import {
  applyConfiguration,
  compare,
  type Configuration,
  type ChangeContext,
  EVERYTHING,
  storedConfiguration,
} from '../../src/administration/index.js';
import { mongo } from 'mongoose';
import { driverOptions } from '../../src/platform/database/index.js';
import { eventually, type TestApplication, TestService } from '../support/index.js';

/** Each is another chance for both to be within their transactions at the same time. */
const ROUNDS = 5;

let service: TestService;
let app: TestApplication;
let services: object[];

beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
});
afterAll(() => service?.stop());
beforeEach(async () => {
  await service.db.collection('services').deleteMany(app.tenant);
  services = Array.from({ length: 600 }, (_, index) => ({
    ...{ kind: 'product', name: `s${index}`, filter: { 'data.n': index }, enabled: false },
  }));
});

/** Lets all who are expected begin together. */
function meeting(expected: number): () => Promise<void> {
  let open: () => void;
  const opened = new Promise<void>((resolve) => (open = resolve));
  let here = 0;
  return () => {
    here += 1;
    if (here === expected) open();
    return opened;
  };
}

/** Its trials of filters are the last step before the transaction. */
function deskWaiting(meet: () => Promise<void>): ChangeContext {
  let isFirst = true;
  return {
    ...{ db: service.db, actor: { who: 'ann', via: 'http', from: '' }, auditTrailDays: 1 },
    turn: async (_of, work) => {
      if (isFirst) await meet();
      isFirst = false;
      return await work();
    },
  };
}

/** Something happens before the applications are read, and behind their services. */
function pausing(db: mongo.Db, happens: () => Promise<void>): mongo.Db {
  const find = (...words: Parameters<mongo.Collection['find']>) => ({
    async *[Symbol.asyncIterator]() {
      await happens();
      yield* db.collection('applications').find(...words);
    },
  });
  const collection = (name: string) => {
    const real = db.collection(name);
    return name === 'applications' ? { aggregate: real.aggregate.bind(real), find } : real;
  };
  return { client: db.client, collection } as unknown as mongo.Db;
}

const wanted = (some: object[]) =>
  ({ applications: [{ ...app.tenant, services: some }] }) as unknown as Configuration;
const named = (name: string) => ({ kind: 'product', name, filter: { 'data.n': 1 }, enabled: false });

it('of two configurations that were planned against the same one, the second is 412', async () => {
  for (let round = 0; round < ROUNDS; round += 1) {
    const options = { reach: EVERYTHING, isPruned: false };
    const { etag } = await compare(service.db, wanted([]), options);
    const meet = meeting(2);
    const outcomes = await Promise.allSettled(
      ['one', 'other'].map((name) =>
        applyConfiguration(deskWaiting(meet), wanted([named(`${name}${round}`)]), {
          ...{ ...options, ifMatch: etag },
        }),
      ),
    );
    expect(outcomes.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected']);
    const refused = outcomes.find(({ status }) => status === 'rejected') as PromiseRejectedResult;
    expect(refused.reason).toMatchObject({ problem: { status: 412 } });
    expect(await service.db.collection('services').countDocuments(app.tenant)).toBe(round + 1);
  }
});

it('a configuration that may be applied to any version is applied, whatever is changed meanwhile', async () => {
  const other = await service.application();
  const title = (text: string) =>
    service.db.collection('applications').updateOne(other.tenant, { $set: { title: text } });
  const changed = deskWaiting(async () => void (await title('meanwhile')));
  const options = { reach: EVERYTHING, isPruned: false };
  const { changes } = await applyConfiguration(changed, wanted([named('late')]), options);
  expect(changes.map(({ name }) => name)).toEqual([expect.stringContaining('"late"')]);
  const { etag } = await compare(service.db, wanted([]), options);
  const stale = deskWaiting(async () => void (await title('again')));
  await expect(
    applyConfiguration(stale, wanted([named('later')]), { ...options, ifMatch: etag }),
  ).rejects.toMatchObject({ problem: { status: 412 } });
});

it('a configuration is read as of one moment, whatever is applied meanwhile', async () => {
  const later = await service.application();
  await service.db.collection('applications').deleteOne(later.tenant);
  const options = { reach: EVERYTHING, isPruned: false };
  const between = async () => {
    const both = { applications: [{ ...later.tenant, services: [named('erp')] }] };
    await applyConfiguration(deskWaiting(meeting(1)), both as unknown as Configuration, options);
  };
  const { configuration } = await storedConfiguration(pausing(service.db, between), EVERYTHING);
  const shown = configuration.applications?.find(({ appid }) => appid === later.appid);
  expect(shown?.services).toEqual(shown === undefined ? undefined : [named('erp')]);
  expect((await storedConfiguration(service.db, EVERYTHING)).configuration.applications).toContainEqual(
    expect.objectContaining({ ...later.tenant, services: [expect.objectContaining({ name: 'erp' })] }),
  );
});

it('two at once do not give an application more services than it may have', async () => {
  const meet = meeting(2);
  const renamed = services.map((one, index) => ({ ...one, name: `t${index}` }));
  await Promise.allSettled(
    [services, renamed].map((some) =>
      applyConfiguration(deskWaiting(meet), wanted(some), { reach: EVERYTHING, isPruned: false }),
    ),
  );
  expect(await service.db.collection('services').countDocuments(app.tenant)).toBeLessThanOrEqual(1000);
});

it('the documents of a collection are written together, again where another transaction was in the way', async () => {
  const client = await new mongo.MongoClient(service.uri, {
    ...driverOptions,
    monitorCommands: true,
  }).connect();
  const begun: string[] = [];
  client.on('commandStarted', ({ commandName }) => begun.push(commandName));
  const apply = (some: object[]) =>
    applyConfiguration({ ...deskWaiting(meeting(1)), db: client.db() }, wanted(some), {
      ...{ reach: EVERYTHING, isPruned: false },
    });
  await apply(services);
  expect(begun.filter((name) => name === 'update')).toHaveLength(1);
  const session = service.client.startSession();
  session.startTransaction();
  const held = { ...app.tenant, name: 's7' };
  await service.db.collection('services').updateOne(held, { $set: { description: 'held' } }, { session });
  const changed = apply(services.map((one) => ({ ...one, description: 'new' })));
  await eventually(() => begun.includes('abortTransaction'));
  await session.abortTransaction();
  await session.endSession();
  expect((await changed).changes).toHaveLength(services.length);
  expect(await service.db.collection('services').countDocuments({ description: 'new' })).toBe(
    services.length,
  );
  await client.close();
});

it('a user name that is taken meanwhile, by what is no part of the configuration, is 409', async () => {
  const username = `late-${app.appid}`;
  const taken = deskWaiting(async () => {
    await service.db.collection('credentials').insertOne({ username, level: 'odd' });
  });
  const credentials = ['other', username].map((one) => ({
    username: one,
    level: 'read',
    scopes: [app.tenant],
  }));
  const both = { ...wanted([named('beside')]), credentials } as unknown as Configuration;
  const applied = applyConfiguration(taken, both, { reach: EVERYTHING, isPruned: false });
  await expect(applied).rejects.toMatchObject({ problem: { status: 409, slug: 'name-unavailable' } });
  expect(await service.db.collection('services').countDocuments({ ...app.tenant, name: 'beside' })).toBe(0);
});
