import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { mongo } from 'mongoose';
import { eventually, Gate, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole, type Said } from './admin-console.js';

let service: TestService;
let admin: AdminConsole;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.shared();
  admin = new AdminConsole(service.uri);
});
beforeEach(async () => (app = await service.application()));
afterEach(async () => {
  expect(await service.db.collection('tidemark.imports').countDocuments()).toBe(0);
});

const line = (id: string, data: object = {}) => `${JSON.stringify({ id, data })}\n`;
const load = (lines: string[], more = '--mirror'): Promise<Said> =>
  admin.run(`import --org ${app.organizationid} --app ${app.appid} --kind product ${more} -`, {
    input: lines,
  });
const ids = async () => {
  const records = await service.db.collection('products').find(app.tenant).sort({ id: 1 }).toArray();
  return records.map(({ id }) => id as string);
};

describe('`--mirror` removes what the file lacks', () => {
  it('and nothing else; what is removed becomes a hard delete', async () => {
    const other = await service.application();
    await Promise.all([other.product({ id: 'gone' }), app.member({ id: 'gone' })]);
    await load([line('a'), line('b'), line('gone')], '');
    await service.watcher.caughtUp();
    const { code, output } = await load([line('a', { n: 1 }), line('b'), line('new')]);
    expect([code, output]).toEqual([0, '3 lines: 1 created, 1 changed, 1 unchanged, 1 removed, 0 bad.']);
    expect(await ids()).toEqual(['a', 'b', 'new']);
    await service.watcher.caughtUp();
    expect((await app.hardDeletes('product').page()).ids).toEqual(['gone']);
    expect((await other.feed('product').page()).ids).toEqual(['gone']);
    expect((await app.feed('member').page()).ids).toEqual(['gone']);
  });

  it('over more than a batch, kept and removed ones side by side', async () => {
    const all = Array.from({ length: 3500 }, (_, n) => line(`p-${n}`));
    await load(all, '');
    const kept = all.filter((_, n) => n % 3 !== 0);
    expect((await load(kept)).output).toContain('2,333 unchanged, 1,167 removed');
    expect(await ids()).toHaveLength(2333);
    expect((await load(kept)).output).toContain('2,333 unchanged, 0 removed');
  });

  it('if the input has as many lines as `--expect` says, without blank ones', async () => {
    await load([line('a'), line('b')], '');
    const { code, output } = await load([line('a'), '\n', line('a', { n: 1 })], '--mirror --expect 2');
    expect([code, output]).toEqual([0, expect.stringContaining('1 removed')]);
    expect(await ids()).toEqual(['a']);
  });

  it.each([
    ['--mirror --expect 1.5', '--expect "1.5" is not a whole number of lines, such as 1000.'],
    ['--expect 2', '--expect requires --mirror.'],
  ])('but not with %s', async (more, error) => {
    const { code, errors } = await load([line('a')], more);
    expect([code, errors[0]]).toEqual([1, error]);
    expect(await ids()).toEqual([]);
  });

  it('a file with the same id on two lines removes neither', async () => {
    await load([line('a'), line('b')], '');
    expect((await load([line('a'), line('a', { n: 1 })])).output).toContain('1 removed');
    expect(await ids()).toEqual(['a']);
  });

  it('records whose id is not a string are not in the file either, not even where it is the number of one', async () => {
    await service.db.collection('products').insertMany([{ ...app.tenant }, { ...app.tenant, id: 5 }]);
    await load([line('a'), line('5')]);
    expect(await ids()).toEqual(['5', 'a']);
  });
});

describe('`--mirror` removes nothing', () => {
  beforeEach(() => load([line('a'), line('b')], ''));

  it('where a line is bad', async () => {
    const { code, errors } = await load([line('a'), 'x\n']);
    expect([code, errors.at(-1)]).toEqual([
      1,
      'The import is not complete: nothing was removed, since there are bad lines.',
    ]);
    expect(await ids()).toEqual(['a', 'b']);
  });

  it('where the file has no record', async () => {
    const { code, errors } = await load(['\n']);
    expect([code, errors]).toEqual([
      1,
      ['The import is not complete: nothing was removed, since the file has no record.'],
    ]);
    expect(await ids()).toEqual(['a', 'b']);
  });

  it.each([
    ['fewer', [line('a')], '1 line instead of 2'],
    ['more', [line('a'), line('c'), line('c')], '3 lines instead of 2'],
  ])('where the input has %s lines than `--expect` says', async (_which, lines, found) => {
    for (const dry of ['', '--dry-run ']) {
      const { code, errors } = await load(lines, `${dry}--mirror --expect 2`);
      expect([code, errors.at(-1)?.split(', since ')[1]]).toEqual([1, `the input has ${found}.`]);
    }
    expect(await ids()).toEqual(expect.arrayContaining(['a', 'b']));
  });

  it('where reading fails', async () => {
    function* broken() {
      yield line('a');
      throw new Error('the pipe broke');
    }
    const words = `import --org ${app.organizationid} --app ${app.appid} --kind product --mirror -`;
    expect(await admin.failure(words, { input: broken() })).toContain('the pipe broke');
    expect(await ids()).toEqual(['a', 'b']);
  });

  it.each([
    ['has grown', line('a') + line('b')],
    ['has been truncated', ''],
  ])('where the file %s while it was read', async (_how, later) => {
    const file = join(tmpdir(), `tidemark-mirror-${app.appid}.ndjson`);
    await writeFile(file, line('a'));
    const gate = await Gate.to(service.uri);
    await gate.open();
    let isHeld = true;
    gate.hold((request) => isHeld && /insert\0[^]{4}tidemark\.imports\0/.test(request.toString('latin1')));
    const words = `import --org ${app.organizationid} --app ${app.appid} --kind product --mirror ${file}`;
    const failed = new AdminConsole(gate.uri).failure(words);
    await eventually(() => gate.holding > 0);
    await writeFile(file, later);
    isHeld = false;
    expect(await failed).toBe(
      'The import is not complete: nothing was removed, since the file has changed while it was read.',
    );
    await gate.shut();
    expect(await ids()).toEqual(['a', 'b']);
  });

  it('where it is interrupted', async () => {
    const controller = new AbortController();
    function* stopped() {
      yield line('a');
      controller.abort();
      yield line('b');
    }
    const words = `import --org ${app.organizationid} --app ${app.appid} --kind product --mirror -`;
    const { code } = await admin.run(words, { input: stopped(), interrupted: controller.signal });
    expect(code).toBe(1);
    expect(await ids()).toEqual(['a', 'b']);
  });
});

describe('the ids in the file are kept apart from those of other imports', () => {
  const DAY_S = 86_400;
  const imports = () =>
    service.db.collection<{ _id: { run: mongo.ObjectId; id: string } }>('tidemark.imports');
  const seenBefore = (days: number) => {
    const run = mongo.ObjectId.createFromTime(Math.floor(Date.now() / 1000) - days * DAY_S);
    return imports().insertOne({ _id: { run, id: 'b' } });
  };

  it('one that was killed a day ago is left alone, for it may be running, and saves no record', async () => {
    await load([line('a'), line('b')]);
    await seenBefore(1);
    await load([line('a')]);
    expect(await ids()).toEqual(['a']);
    expect(await imports().countDocuments()).toBe(1);
    await imports().deleteMany();
  });

  it('what one left that was killed more than a week ago is removed', async () => {
    await seenBefore(8);
    await load([line('a')]);
    expect(await imports().countDocuments()).toBe(0);
  });
});
