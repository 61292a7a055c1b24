import type { BuiltInKind } from '../../src/kinds/index.js';
import type { ChangesPage, Tidemark } from '../../client/src/index.js';
import { type TestApplication, TestService } from '../support/index.js';
import { clientOf } from './tidemark-client.js';

let service: TestService;
let app: TestApplication;
let tidemark: Tidemark;
beforeAll(async () => {
  service = await TestService.shared();
});
beforeEach(async () => {
  app = await service.application();
  tidemark = clientOf(app);
});

/** Everything that is told, up to a number of items. */
async function all<T>(items: AsyncIterable<T>): Promise<T[]> {
  const seen: T[] = [];
  for await (const item of items) seen.push(item);
  return seen;
}

const bike = (id: string) => ({ id, data: { category: 'bikes' }, channels: ['web'] });
const tent = (id: string) => ({ id, data: { category: 'tents' }, channels: ['shop'] });

/** Four that match, two that do not, and two that are gone. */
async function filled(kind: BuiltInKind): Promise<void> {
  await app.filter(kind, 'bikes', { 'data.category': 'bikes' });
  for (const id of ['b1', 'b2', 'b3', 'b4']) await app.put(kind, bike(id));
  for (const id of ['t1', 't2']) await app.put(kind, tent(id));
  const gone = [await app.put(kind, bike('gone1')), await app.put(kind, tent('gone2'))];
  await service.watcher.caughtUp();
  for (const record of gone) await app.remove(kind, record);
}

describe.each<BuiltInKind>(['product', 'member'])('the client harvests (%s)', (kind) => {
  beforeEach(() => filled(kind));

  it('updates, softdeletes and harddeletes, page by page, to the end', async () => {
    const to = await app.max(kind);
    expect(await tidemark.max(kind)).toEqual({ offset: to.toISOString() });
    for (const limit of [1, 3, 1000]) {
      const window = { to, limit };
      expect(await all(tidemark.updates(kind, 'bikes', window))).toEqual(
        await app.feed(kind, 'bikes').drain({ to }),
      );
      expect(await all(tidemark.softdeletes(kind, 'bikes', window))).toEqual(
        await app.softDeletes(kind, 'bikes').drain({ to }),
      );
      expect(await all(tidemark.harddeletes(kind, window))).toEqual(
        await app.hardDeletes(kind).drain({ to }),
      );
    }
  });

  it('changes, which tell the same in one feed, and go on at a cursor', async () => {
    const pages: ChangesPage[] = await all(tidemark.changes(kind, 'bikes', { limit: 3 }).pages());
    const told = pages.flatMap(({ result }) => result).map((item) => [item.id, item.op]);
    const upserts = ['b1', 'b2', 'b3', 'b4'].map((id) => [id, 'upsert']);
    const deletes = ['gone1', 'gone2', 't1', 't2'].map((id) => [id, 'delete']);
    expect(told.sort()).toEqual([...upserts, ...deletes]);
    const { cursor } = pages.at(-1)!;
    expect(await all(tidemark.changes(kind, 'bikes', { cursor }))).toEqual([]);
    await app.put(kind, bike('b5'));
    await service.watcher.caughtUp();
    const [next] = await all(tidemark.changes(kind, 'bikes', { cursor }));
    expect(next).toMatchObject({ op: 'upsert', id: 'b5', data: { category: 'bikes' } });
  });

  it('changes without deletes, for a copy that is empty', async () => {
    const told = await all(tidemark.changes(kind, 'bikes', { deletes: 'skip', limit: 2 }));
    expect(told.map(({ id }) => id)).toEqual(['b1', 'b2', 'b3', 'b4']);
  });
});

it('a harvest without to shows one moment, whatever is written meanwhile', async () => {
  await filled('product');
  const pages = tidemark.updates('product', 'bikes', { limit: 1 }).pages();
  const moments = new Set<string>();
  const ids: string[] = [];
  let late = 0;
  for await (const { to, result } of pages) {
    moments.add(to);
    ids.push(...result.map(({ id }) => id));
    await app.product(bike(`late-${late++}`));
    await service.watcher.caughtUp();
  }
  expect([moments.size, ids]).toEqual([1, ['b1', 'b2', 'b3', 'b4']]);
});

it('the feeds of a channel', async () => {
  await filled('product');
  const web = tidemark.channel('web');
  expect((await all(web.updates())).map(({ id }) => id)).toEqual(['b1', 'b2', 'b3', 'b4']);
  expect((await all(web.softdeletes())).map(({ id }) => id)).toEqual(['t1', 't2']);
  expect((await all(web.changes())).length).toBe(8);
});

describe('what goes wrong', () => {
  it.each([
    ['unknown-service', () => all(tidemark.updates('product', 'boats'))],
    ['unknown-channel', () => all(tidemark.channel('radio').changes())],
    ['invalid-request', () => all(tidemark.changes('product', 'default', { cursor: 'x' }))],
    ['invalid-request', () => all(tidemark.updates('product', 'default', { limit: 0 }))],
    ['unknown-application', () => clientOf(app, { app: 'elsewhere' }).max('product')],
    ['unauthorized', () => clientOf(app, { password: 'wrong' }).max('product')],
  ])('is told as the problem %s', async (slug, call) => {
    await expect(call()).rejects.toMatchObject({ name: 'ProblemError', slug });
  });

  it('a call ends when its signal is aborted', async () => {
    await filled('product');
    const leaving = new AbortController();
    const seen: string[] = [];
    const read = async () => {
      const feed = tidemark.updates('product', 'bikes', { limit: 1, signal: leaving.signal });
      for await (const { id } of feed) if (seen.push(id) === 2) leaving.abort(new Error('enough'));
    };
    await expect(read()).rejects.toThrow('enough');
    expect(seen).toEqual(['b1', 'b2']);
  });
});
