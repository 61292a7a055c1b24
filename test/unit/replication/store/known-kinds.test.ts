import { type Connection, mongo } from 'mongoose';
import { kindNames, replaceKinds } from '../../../../src/kinds/index.js';
import type { ControlStream } from '../../../../src/platform/control/index.js';
import type { Preparation } from '../../../../src/platform/database/index.js';
import { KnownKinds } from '../../../../src/replication/store/index.js';

afterEach(() => replaceKinds(new Map()));

/** A document as the driver returns it: as bytes. */
const ORDER = mongo.BSON.serialize({ _id: 1, name: 'order', collection: 'orders' });

/** The kinds of a database whose queries end when the test says so, with what it then says that they found. */
function known({ isCurrent = true } = {}) {
  const queries: { resolve: (found: object[]) => void; reject: (error: Error) => void }[] = [];
  const toArray = () => new Promise<object[]>((resolve, reject) => void queries.push({ resolve, reject }));
  const collection = () => ({ find: () => ({ toArray }) });
  const connection = {
    models: {},
    model: () => undefined,
    getClient: () => ({ db: () => ({ collection }) }),
  };
  const control = { follow: () => undefined, isCurrent };
  const kinds = new KnownKinds(
    connection as unknown as Connection,
    { require: () => undefined } as unknown as Preparation,
    control as unknown as ControlStream,
  );
  return { kinds, queries };
}

const turn = () => new Promise((resolve) => setImmediate(resolve));

it('a change that comes during a query is read by another one', async () => {
  const { kinds, queries } = known();
  const first = kinds.refresh();
  kinds.hear();
  queries[0]!.resolve([]);
  await turn();
  expect(queries).toHaveLength(2);
  queries[1]!.resolve([ORDER]);
  await first;
  expect(kindNames()).toContain('order');
});

it('a caller waits for one query that begins after its call, however many come after it', async () => {
  const { kinds, queries } = known();
  const calls = [kinds.refresh(), kinds.refresh(), kinds.refresh()];
  queries[0]!.resolve([]);
  await calls[0];
  await turn();
  expect(queries).toHaveLength(2);
  const late = kinds.refresh();
  queries[1]!.resolve([]);
  await Promise.all(calls);
  await turn();
  queries[2]!.resolve([ORDER]);
  await late;
  expect(kindNames()).toContain('order');
  expect(queries).toHaveLength(3);
});

it('after a query that fails, the next request reads again once the last one is a second old', async () => {
  const { kinds, queries } = known();
  const failed = kinds.refresh();
  queries[0]!.reject(new Error('away'));
  await expect(failed).rejects.toThrow('away');
  await kinds.keep();
  expect(queries).toHaveLength(1);
  jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 1001);
  const kept = kinds.keep();
  jest.restoreAllMocks();
  queries[1]!.resolve([ORDER]);
  await kept;
  expect(kindNames()).toContain('order');
});

it.each([
  ['while the control stream reports changes, requests read nothing', true, 1],
  ['while it does not, they read what is older than a second', false, 2],
])('%s', async (_what, isCurrent, expected) => {
  const { kinds, queries } = known({ isCurrent });
  const read = kinds.refresh();
  queries[0]!.resolve([]);
  await read;
  jest.spyOn(performance, 'now').mockReturnValue(performance.now() + 1001);
  const kept = kinds.keep();
  jest.restoreAllMocks();
  expect(queries).toHaveLength(expected);
  queries[1]?.resolve([]);
  await kept;
});
