import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mongo } from 'mongoose';
import type { Preview } from '../../src/administration/index.js';
import { previewFilter } from '../../src/administration/index.js';
import { rotateHashKey } from '../../src/replication/store/index.js';
import { send, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

let service: TestService;
let admin: AdminConsole;
let app: TestApplication;
let root: string;

beforeAll(async () => {
  service = await TestService.shared();
  admin = new AdminConsole(service.uri);
});
beforeEach(async () => {
  app = await service.application();
  root = await app.credential({ level: 'admin' });
});

const CANARY = 'canary-9e31';
const url = (path: string) =>
  `${service.url}/admin/v1/applications/${app.organizationid}/${app.appid}/${path}`;
const asked = async (method: string, path: string, body: object) => {
  const answer = await send(url(path), method, { user: root, body });
  if (answer.status !== 200) throw new Error(`${answer.status} ${answer.text}`);
  return answer;
};
const preview = async (body: object, kind = 'product') =>
  (await asked('POST', `preview/${kind}`, { name: 'edited', ...body })).json as Preview;
const save = async (body: object, name = 'edited') => {
  await asked('PUT', `services/product/${name}`, body);
  await service.watcher.caughtUp();
};

type Item = mongo.Document & { id: string };
const drain = async (name: string, from?: Date): Promise<Item[]> =>
  app.feed('product', name).drain({ to: await app.max('product'), ...(from && { from }) });
/** An item without its stamp, which an edit changes. */
const unstamped = (item: Item | undefined | null) => item && { ...item, lastupdated: undefined };

describe('What the preview of fields predicts and what is then delivered agree', () => {
  const DATA = { a: CANARY, b: { c: 1, d: [1] }, rows: [{ e: 1 }, {}], n: 1 };
  beforeEach(async () => {
    await rotateHashKey(service.db, app.tenant);
    await app.product({ id: 'all', data: DATA, createdBy: 'me' });
    await app.product({ id: 'lists', data: { rows: [[{ e: 2 }]], n: 2 } });
    await app.product({ id: 'none', data: { z: 1, n: 3 } });
    await app.product({ id: 'other', data: { ...DATA, n: 9 } });
  });
  const LOW = { 'data.n': { $lt: 9 } };
  const HIGH = { 'data.n': { $gt: 1 } };

  it.each<[mongo.Document, mongo.Document]>([
    [{}, { fields: { except: ['data.a'] } }],
    [{}, { fields: { except: ['data.none'] } }],
    [{}, { fields: { only: ['data.n', 'channels'] } }],
    [{ fields: { except: ['data.b'] } }, { hash: ['data.b'] }],
    [{ fields: { except: ['data.rows.e'] } }, { hash: ['data.rows.e', 'data.z'], filter: HIGH }],
    [{ fields: { only: ['data.b.c', 'data.n'] } }, { fields: { except: ['data.b.d'] }, filter: HIGH }],
    [{ hash: ['data.a', 'data.b'] }, {}],
    [{ fields: { except: ['data.a'] } }, { fields: { except: ['data.a'] }, filter: HIGH }],
    [
      { fields: { except: ['data.a', 'createdBy'] }, filter: {} },
      { fields: { except: [] }, filter: {} },
    ],
  ])('from %j to %j', async (one, other) => {
    const [before, after] = [one, other].map((edit) => ({
      ...{ filter: LOW, fields: null, hash: null, allowHiddenFilter: true, ...edit },
    }));
    await save(before!);
    const from = await app.max('product');
    const [items, said] = [await drain('edited', new Date(0)), await preview(after!)];
    await save(after!);
    const delivered = await drain('edited', from);
    const gone = await app.softDeletes('product', 'edited').drain({ from, to: await app.max('product') });
    const restamped = (await drain('default', from)).map(({ id }) => id);
    const { entering, leaving, concerned, restamps, samples } = said;
    expect(restamped.length).toBe(restamps);
    expect(leaving).toEqual({ count: gone.length, ids: gone.map(({ id }) => id) });
    const ids = [...entering!.ids, ...concerned!.ids].sort();
    expect(delivered.map(({ id }) => id).sort()).toEqual(ids);
    expect(samples.map(({ id }) => id).sort()).toEqual([...restamped].sort().slice(0, 3));
    for (const { id, ...sample } of samples) {
      const at = (all: Item[]) => unstamped(all.find((item) => item.id === id)) ?? null;
      const shown = [at(items), at(delivered)];
      expect(Object.values(sample).map((item) => unstamped(item as Item))).toEqual(shown);
    }
  });
});

describe('The samples of a preview', () => {
  const hashes = () => service.db.collection('tidemark.hashkeys');

  it('show hashes under the key in force, and a word before there is one', async () => {
    await app.product({ id: 'a', data: { n: 1, m: 1 } });
    await save({ filter: {} });
    const first = await preview({ filter: {}, hash: ['data.n'] });
    expect(first.samples).toMatchObject([{ before: { data: { n: 1 } }, after: { data: { n: '(hash)' } } }]);
    expect(await hashes().findOne(app.tenant)).toBeNull();
    await save({ filter: {}, hash: ['data.n'] });
    const [item] = await drain('edited');
    const second = await preview({ filter: {}, hash: ['data.n', 'data.m'] });
    expect(second.samples).toMatchObject([
      {
        before: { data: { ...item!['data'], m: 1 } },
        after: { data: { n: item!['data'].n, m: item!['data'].n } },
      },
    ]);
    expect(second).toMatchObject({ restamps: 1, concerned: { count: 1, ids: ['a'] } });
  });

  it('have no byte of what is hidden before and after, in an answer, a plan and a command', async () => {
    await app.product({ id: 'a', data: { n: 1, secret: CANARY, inner: { secret: CANARY } } });
    await save({ filter: {}, fields: { except: ['data.secret', 'data.inner.secret'] } });
    const edit = { filter: { id: 'a' }, fields: { except: ['data.secret', 'data.n'] }, hash: ['data.inner'] };
    const { organizationid, appid } = app;
    const services = [{ kind: 'product', name: 'edited', ...edit }];
    const body = { applications: [{ organizationid, appid, services }] };
    const path = join(tmpdir(), `tidemark-plan-${appid}.json`);
    await writeFile(path, JSON.stringify(body));
    const words = (command: string) => [...command.split(' '), '--org', organizationid, '--app', appid];
    const options = [
      '--filter',
      '{"id": "a"}',
      '--hash',
      'data.inner',
      '--fields',
      JSON.stringify(edit.fields),
    ];
    const previewed = [...words('service preview --kind product --name edited'), ...options];
    const texts = [
      (await asked('POST', 'preview/product', { name: 'edited', ...edit })).text,
      (await send(`${service.url}/admin/v1/configuration/plan`, 'POST', { user: root, body })).text,
      JSON.stringify(await admin.json(previewed)),
      (await admin.run(previewed)).output,
      (await admin.run([...words('config plan'), path])).output,
    ];
    for (const text of texts) {
      expect(text).toContain('(hash)');
      expect(text).not.toContain(CANARY);
    }
    expect(texts[3]).toContain('For example a: data.n 1 -> left out; data.inner {} -> "(hash)"');
    expect(texts[4]).toContain('    For example a: data.n 1 -> left out');
    expect(texts[4]).toContain('    hash: none -> ["data.inner"]');
    expect(texts[4]).toContain('; 1 will be delivered again.');
  });

  it('never have a password hash', async () => {
    await service.db
      .collection('applications')
      .updateOne(app.tenant, { $set: { 'settings.replicatepasswordhash': true } });
    await app.member({ id: 'm', data: { n: 1, passwordhash: CANARY } });
    await app.filter('member', 'edited', {});
    const { samples } = await preview({ filter: {}, fields: { except: ['data.n'] } }, 'member');
    expect(samples).toMatchObject([{ id: 'm', before: { data: { n: 1 } }, after: { data: {} } }]);
    expect(JSON.stringify(samples)).not.toContain(CANARY);
  });

  it('leave out large records, and those that can never be delivered', async () => {
    await app.product({ id: 'large', data: { n: 1, text: 'x'.repeat(20_000) } });
    await app.product({ id: 'b', data: { n: 1 } });
    await service.db
      .collection('products')
      .insertOne({ ...app.tenant, id: 5, data: { n: 1 }, lastupdated: new Date() });
    await save({ filter: {} });
    const { samples, concerned } = await preview({ filter: {}, fields: { except: ['data.n'] } });
    expect(samples.map(({ id }) => id)).toEqual(['b']);
    expect(concerned!.count).toBeGreaterThan(1);
  });

  it('are empty for a service that was never in force', async () => {
    await app.product({ id: 'a', data: { n: 1 } });
    const said = await preview({ filter: {}, fields: { except: ['data.n'] } });
    expect(said).toMatchObject({ restamps: 0, samples: [] });
    expect(said).not.toHaveProperty('concerned');
  });
});

describe('A preview', () => {
  it('takes omitted fields from the service, as PUT does, and of default the filter too', async () => {
    await app.product({ id: 'a', data: { a: 1, b: 1 } });
    await save({ filter: {}, fields: { except: ['data.a'] } });
    expect((await preview({ filter: {} })).restamps).toBe(0);
    expect((await preview({ filter: {}, fields: null })).restamps).toBe(1);
    expect(await preview({ name: 'default', fields: { except: ['data.b'] } })).toMatchObject({
      ...{ matching: { count: 1 }, restamps: 1, concerned: { count: 1, ids: ['a'] } },
      samples: [{ id: 'a', before: { data: { a: 1, b: 1 } }, after: { data: { a: 1 } } }],
    });
  });

  it('estimates how many would show other fields', async () => {
    await app.products(300, (index) => ({ id: `p${index}`, data: index % 3 === 0 ? { a: 1 } : { b: 1 } }));
    const said = await previewFilter(
      service.db,
      { ...app.tenant, kind: 'product' },
      { filter: {}, fields: { except: ['data.a'] } },
      { inForce: { filter: {} }, maxTimeMS: 0, estimateMs: 30_000 },
    );
    expect(said).toMatchObject({ restamps: 100, concerned: { count: 100 }, entering: { count: 0 } });
  });
});
