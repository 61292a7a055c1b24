import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

let service: TestService;
let admin: AdminConsole;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.shared();
  admin = new AdminConsole(service.uri);
  app = await service.application();
});

const words = (command: string, name: string, filter?: string) => [
  ...[
    'service',
    command,
    '--org',
    app.organizationid,
    '--app',
    app.appid,
    '--kind',
    'product',
    '--name',
    name,
  ],
  ...(filter === undefined ? [] : ['--filter', filter]),
];

describe('`service set|list|remove|preview --org --app --kind --name --filter JSON|@file`', () => {
  it('a service that is set, set again and removed takes effect in the feeds', async () => {
    await app.product({ id: 'red', data: { color: 'red' } });
    await app.product({ id: 'blue', data: { color: 'blue' } });
    const ids = async () => (await app.feed('product', 'colored').page()).ids.join();
    expect((await admin.run(words('set', 'colored', '{"data.color": "red"}'))).code).toBe(0);
    await eventually(async () => (await app.feed('product', 'colored').ask()).status === 200);
    await eventually(async () => (await ids()) === 'red');
    await admin.run(words('set', 'colored', '{"data.color": "blue"}'));
    await eventually(async () => (await ids()) === 'blue');
    await admin.run(words('remove', 'colored'));
    await eventually(async () => (await app.feed('product', 'colored').ask()).status === 404);
  });

  it('takes a filter from a file, and dates and ObjectIds in it', async () => {
    const text =
      '{"createDate":{"$lt":{"$date":"2026-01-01T00:00:00Z"}},"data.owner":{"$oid":"6b0135868b2d4656a43aaa06"}}';
    const file = join(tmpdir(), `tidemark-filter-${app.appid}.json`);
    await writeFile(file, text);
    expect((await admin.run(words('set', 'from-file', `@${file}`))).code).toBe(0);
    await writeFile(file, `\uFEFF${text}`);
    for (const command of ['set', 'preview'])
      expect(await admin.run(words(command, 'with-mark', `@${file}`))).toMatchObject({ code: 0, errors: [] });
    await writeFile(file, `\uFEFF\uFEFF${text}`);
    expect(await admin.failure(words('set', 'with-marks', `@${file}`))).toContain('The filter is not JSON');
    await writeFile(file, Buffer.from('{"data.name":"Café"}', 'latin1'));
    expect(await admin.failure(words('set', 'latin1', `@${file}`))).toBe(
      `The filter cannot be read from ${file}: it is not UTF-8.`,
    );
    const stored = await service.db.collection('services').findOne({ ...app.tenant, name: 'from-file' });
    expect(stored?.['filter'].createDate.$lt).toEqual(new Date('2026-01-01'));
    expect(stored?.['filter']['data.owner']._bsontype).toBe('ObjectId');
    const listed = await admin.json<{ name: string; filter: object }[]>('service list');
    expect(JSON.stringify(listed.find(({ name }) => name === 'from-file')?.filter)).toBe(text);
  });

  it('set keeps what it is not asked to change', async () => {
    await app.filter('product', 'off', { a: 1 }, { enabled: false, description: 'as it was' });
    await admin.run(words('set', 'off', '{"a": 2}'));
    expect(await service.db.collection('services').findOne({ ...app.tenant, name: 'off' })).toMatchObject({
      ...{ filter: { a: 2 }, enabled: false, description: 'as it was' },
    });
  });

  it.each([
    [
      'another operator',
      '{"$where": "true"}',
      '"$where" at the top is not allowed; allowed operators are $and $or',
    ],
    ['another operator deeper', '{"a": {"$not": {"$near": 1}}}', '"$near" at a.$not is not allowed'],
    ['a depth over 10', `{"a":${'['.repeat(11)}${']'.repeat(11)}}`, 'deeper than 10 levels'],
    ['more than 1,000 values', `{"a":{"$in":[${'1,'.repeat(1000)}1]}}`, 'more than 1000 values'],
    [
      '64 KiB',
      `{"a":"${'x'.repeat(65_536)}"}`,
      'The filter takes 65549 bytes; it must be smaller than 65536',
    ],
    [
      'a field of the service',
      '{"$or":[{"emailkey":"a"},{"b":1}]}',
      '"emailkey" at $or[0] is a field that the service keeps for itself; write "data.email"',
    ],
    ['what is not JSON', '{', 'The filter is not JSON'],
    [
      'what MongoDB refuses',
      '{"a": {"$regex": "("}}',
      'MongoDB refuses the filter at a: Regular expression is invalid',
    ],
    [
      'what MongoDB does not know',
      '{"a": {"$type": "colour"}}',
      'MongoDB refuses the filter at a: Unknown type name',
    ],
  ])('set refuses %s and stores nothing', async (_name, filter, sentence) => {
    expect(await admin.failure(words('set', 'bad', filter))).toContain(sentence);
    expect(await service.db.collection('services').countDocuments({ ...app.tenant, name: 'bad' })).toBe(0);
  });

  it.each([
    '{"$and": [{"$or": [{"a": 1}, {"b": 2}]}, {"$nor": [{"c": 3}]}]}',
    '{"a": {"$not": {"$gt": 5}}, "b": {"$not": {"$regex": "x"}}}',
    '{"a": {"$eq": 1, "$ne": 2, "$gt": 0, "$gte": 1, "$lt": 9, "$lte": 8, "$in": [1], "$nin": [2]}}',
    '{"a": {"$exists": true, "$type": ["string", 2]}, "channels": {"$size": 1, "$all": ["web"]}}',
    '{"rows": {"$elemMatch": {"a": 1, "$or": [{"b": 1}]}}, "list": {"$elemMatch": {"$gt": 1}}}',
    '{"rows": {"$all": [{"$elemMatch": {"a": 1}}]}, "a": {"$mod": [4, 0], "$regex": "^x", "$options": "i"}}',
    '{"data": {"color": "red", "sizes": [1, {"wide": true}]}, "x": {"$in": [{"$regularExpression": {"pattern": "y", "options": ""}}]}}',
  ])('set accepts, as MongoDB does, %s', async (filter) => {
    expect(await admin.run(words('set', 'good', filter))).toMatchObject({ code: 0, errors: [] });
  });

  it.each(['default', 'max', 'harddeletes', '-x', 'a b'])('set refuses the name %s', async (name) => {
    const named = words('set', 'x', '{}').map((word) => (word === 'x' ? name : word));
    const asOneWord = [...named.filter((word) => word !== '--name' && word !== name), `--name=${name}`];
    expect(await admin.failure(asOneWord)).toMatch(/^--name ".+" (is reserved|must start)/);
  });

  it('set refuses an unknown application and an unknown kind', async () => {
    const elsewhere = ['service', 'set', '--org', 'no', '--app', 'where', '--name', 'x', '--filter', '{}'];
    expect(await admin.failure([...elsewhere, '--kind', 'member'])).toContain(
      'There is no application no/where',
    );
    expect(await admin.failure([...elsewhere, '--kind', 'order'])).toBe(
      '--kind "order" is not known. Choose member or product.',
    );
  });

  it('preview counts the records that match, of this application and kind, and shows some ids', async () => {
    const mine = await service.application();
    await mine.products(30, (index) => ({ id: `p-${index}`, data: { even: index % 2 === 0 } }));
    await mine.member({ data: { even: true } });
    await mine.filter('product', 'even', { 'data.even': true });
    const preview = `service preview --org ${mine.organizationid} --app ${mine.appid} --kind product`;
    const ids = Array.from({ length: 10 }, (_, index) => `p-${index * 2}`);
    expect(await admin.json(`${preview} --name even`)).toMatchObject({
      ...{ matching: { count: 15, ids }, others: { count: 15 }, records: 30, restamps: 0 },
    });
    expect((await admin.run(`${preview} --filter {"data.even":false}`)).output).toMatch(
      /^15 of 30 products match\.\nThe first that match: p-1, p-3,/,
    );
    expect(await admin.failure(preview)).toBe('Give --name or --filter.');
    expect(await admin.failure(`${preview} --name odd`)).toContain('There is no product service "odd"');
  });

  it('set says how many match, and how many will be delivered again', async () => {
    const mine = await service.application();
    await mine.products(1500, (index) => ({ data: { n: index } }));
    const set = (filter: object) => [
      ...['service', 'set', '--org', mine.organizationid, '--app', mine.appid, '--kind', 'product'],
      ...['--name', 'low', '--filter', JSON.stringify(filter)],
    ];
    const done = `The product service "low" of ${mine.organizationid}/${mine.appid} is set.`;
    const said = async (filter: object) => {
      const { output } = await admin.run(set(filter));
      await service.watcher.caughtUp();
      return output;
    };
    expect(await said({ 'data.n': { $lt: 1200 } })).toBe(`${done} 1,200 of 1,500 match.`);
    expect(await said({ 'data.n': { $lt: 1190 } })).toBe(
      `${done} 1,190 of 1,500 match; 10 will be delivered again.`,
    );
    await service.db.collection('services').updateOne(mine.tenant, { $set: { enabled: false } });
    expect(await said({ 'data.n': { $lt: 1200 } })).toBe(
      `${done} 1,200 of 1,500 match; 10 will be delivered again once it is on.`,
    );
    const wrong = { n: { $lt: 5 } };
    expect(await said(wrong)).toBe(
      `${done} 0 of 1,500 match; 1,190 will be delivered again once it is on.\n` +
        'Warning: n: No product has the field "n"; write "data.n", which some have.',
    );
    expect(await admin.json(set(wrong))).toMatchObject({
      ...{ filter: wrong, matching: 0, records: 1500, restamps: 1190, warnings: [{ path: 'n' }] },
    });
  });

  it('remove of what does not exist is an error', async () => {
    expect(await admin.failure(words('remove', 'nothing'))).toContain(
      'There is no product service "nothing"',
    );
  });
});
