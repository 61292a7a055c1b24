import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mongo } from 'mongoose';
import { TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';
import { counts, ImportOperator } from './import-operator.js';

let service: TestService;
let operator: ImportOperator;

beforeAll(async () => {
  service = await TestService.shared();
});
beforeEach(async () => (operator = new ImportOperator(service, await service.application())));

describe('`import --org --app --kind FILE.ndjson|-`', () => {
  it('new records get what their lines say, and defaults for what they leave out', async () => {
    const whole = {
      id: 'a',
      data: { n: 1 },
      channels: ['web'],
      type: 'bundle',
      createDate: '2020-01-02T03:04:05Z',
      createdBy: 'erp',
    };
    expect(await operator.load([whole, { id: 'b', data: { n: 2 } }])).toEqual(counts(2));
    const { a, b } = await operator.items();
    expect(a).toMatchObject({ ...whole, createDate: '2020-01-02T03:04:05.000Z' });
    expect(b).toMatchObject({ data: { n: 2 }, type: 'product', createdBy: 'import', channels: [] });
    expect(b?.createDate).toBe(b?.lastupdated);
    expect((await operator.stored('product', 'b'))?.['_id']).toBeInstanceOf(mongo.ObjectId);
  });

  it('reads a file as it reads stdin, without a break at the end and with blank lines', async () => {
    const file = join(tmpdir(), `tidemark-import-${operator.app.appid}.ndjson`);
    await writeFile(
      file,
      '\uFEFF{"id":"a","data":{"accountnumber":"1"}}\r\n\r\n  \n{"id":"b","data":{"accountnumber":"2"}}',
    );
    expect(JSON.parse((await operator.read({}, 'member', '--json', file)).output)).toEqual(counts(2));
    const missing = await operator.read({}, 'member', '', '/no/such/file');
    expect(missing).toMatchObject({
      code: 1,
      errors: ['/no/such/file cannot be read: there is no such file.'],
    });
    expect((await operator.read({}, 'member', '', tmpdir())).errors[0]).toContain('is a directory');
  });

  it('upserts by `id`: a changed line changes its record, and what the line leaves out stays', async () => {
    await operator.load([
      { id: 'a', data: { n: 1, old: true }, channels: ['web'], type: 'bundle', createdBy: 'erp' },
    ]);
    const before = await operator.stored('product', 'a');
    expect(await operator.load([{ id: 'a', data: { n: 2 } }])).toEqual(counts(0, 1));
    const after = await operator.stored('product', 'a');
    expect(after).toEqual({ ...before, data: { n: 2 }, lastupdated: expect.any(Date) as Date });
    expect(Number(after?.lastupdated)).toBeGreaterThan(Number(before?.lastupdated));
  });

  it.each(['channels', 'type', 'createDate', 'createdBy'])(
    'a change of %s alone is a change',
    async (name) => {
      const first = {
        id: 'a',
        data: {},
        channels: ['web'],
        type: 't',
        createDate: '2020-01-01',
        createdBy: 'x',
      };
      const value = { channels: ['store'], type: 'u', createDate: '2021-01-01', createdBy: 'y' }[name];
      await operator.load([first]);
      expect(await operator.load([{ ...first, [name]: value }])).toEqual(counts(0, 1));
    },
  );

  it('a record equal already is left alone: no event, no new `lastupdated`', async () => {
    const lines = [
      { id: 'a', data: { n: 1, deep: [{ x: null }] }, channels: [] },
      { id: 'b', data: {}, type: 'product' },
    ];
    await operator.load(lines);
    const before = await operator.items();
    const stream = service.db.collection('products').watch();
    await stream.tryNext();
    expect(await operator.load(lines)).toEqual(counts(0, 0, 2));
    await operator.app.product({ id: 'after' });
    const next = (await stream.next()) as { fullDocument?: { id: string } };
    expect(next.fullDocument?.id).toBe('after');
    await stream.close();
    expect(await operator.items()).toMatchObject(before);
  });

  it('`lastupdated` comes from the service, after the stamp that the record had, and a stamp in the future is replaced', async () => {
    const soon = new Date(Date.now() + 500);
    await operator.app.product({ id: 'ahead', lastupdated: soon });
    await operator.app.product({ id: 'far', lastupdated: new Date('2999-01-01') });
    await operator.load([
      { id: 'ahead', data: { n: 1 } },
      { id: 'far', data: { n: 1 } },
    ]);
    expect(Number((await operator.stored('product', 'ahead'))?.lastupdated)).toBeGreaterThan(soon.getTime());
    expect((await operator.stored('product', 'far'))?.lastupdated?.getFullYear()).toBeLessThan(2999);
  });

  it('takes over records that other programs wrote, and leaves their own fields', async () => {
    await operator.app.product({ id: 'a', data: { n: 1 }, own: { keep: 1 }, channels: 'web' });
    await operator.load([{ id: 'a', data: { n: 2 }, channels: ['store'] }]);
    expect(await operator.stored('product', 'a')).toMatchObject({
      data: { n: 2 },
      own: { keep: 1 },
      channels: ['store'],
    });
  });

  it('of two lines with one id the later one wins', async () => {
    const lines = Array.from({ length: 50 }, (_, n) => ({ id: n % 2 ? 'a' : 'b', data: { n } }));
    expect(await operator.load(lines)).toEqual(counts(2, 48));
    expect(await operator.items()).toMatchObject({ a: { data: { n: 49 } }, b: { data: { n: 48 } } });
  });

  it('text that looks like an operator is just text, in every place and on both ways', async () => {
    const data = {
      $set: '$$ROOT',
      'a.b': '$id',
      nested: { $function: { body: 'x' }, list: ['$$NOW', { $literal: 1 }] },
    };
    const line = { id: '$id', data, channels: ['$channels'], type: '$$ROOT', createdBy: '$createdBy' };
    expect(await operator.load([line])).toEqual(counts(1));
    expect((await operator.items())['$id']).toMatchObject(line);
    expect(await operator.load([line])).toEqual(counts(0, 0, 1));
    expect(await operator.load([{ ...line, data: { ...data, more: '$data' } }])).toEqual(counts(0, 1));
    expect((await operator.items())['$id']?.data).toEqual({ ...data, more: '$data' });
  });

  it('belongs to one application and kind', async () => {
    const other = await service.application();
    await other.product({ id: 'a', data: { n: 1 } });
    await operator.app.member({ id: 'a', data: { n: 1 } });
    expect(await operator.load([{ id: 'a', data: { n: 2 } }])).toEqual(counts(1));
    expect((await other.feed('product').page()).items[0]?.data).toEqual({ n: 1 });
    expect((await operator.stored('member', 'a'))?.['data']).toEqual({ n: 1 });
  });

  it('imports more than a batch, new and changed and equal ones in one file', async () => {
    const line = (n: number, data: object) => ({ id: `p-${n}`, data });
    const numbers = Array.from({ length: 2500 }, (_, n) => n);
    expect(await operator.load(numbers.slice(0, 2000).map((n) => line(n, { n })))).toEqual(counts(2000));
    const again = numbers.map((n) => line(n, n % 2 ? { n } : { n, changed: true }));
    expect(await operator.load(again)).toEqual(counts(500, 1000, 1000));
    expect(Object.keys(await operator.items())).toHaveLength(2500);
  });

  it('a record that belongs to nobody is not touched', async () => {
    await operator.load([{ id: 'a', data: { n: 1 } }]);
    const strange = {
      ...operator.app.tenant,
      organizationid: [operator.app.organizationid],
      id: 'b',
      data: { n: 0 },
    };
    const { insertedId } = await service.db.collection('products').insertOne(strange);
    const { output, errors } = await operator.try([
      { id: 'a', data: { n: 2 } },
      { id: 'b', data: { n: 2 } },
    ]);
    expect(output).toBe('2 lines: 0 created, 1 changed, 0 unchanged, 1 bad.');
    expect(errors[0]).toMatch(/^line 2: the database refuses it: .*E11000/);
    expect(await service.db.collection('products').findOne({ _id: insertedId })).toMatchObject(strange);
  });

  it('refuses an unknown application before it reads', async () => {
    const elsewhere = 'import --org no --app where --kind product -';
    expect(await new AdminConsole(service.uri).failure(elsewhere, { input: 'x' })).toContain(
      'There is no application no/where',
    );
  });
});
