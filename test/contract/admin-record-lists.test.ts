import { writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { eventually, Gate, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole, type TypedInput } from './admin-console.js';

let service: TestService;
let admin: AdminConsole;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.shared();
  admin = new AdminConsole(service.uri);
});
beforeEach(async () => (app = await service.application()));

const words = (...more: string[]) => [
  ...['record', 'delete', '--org', app.organizationid, '--app', app.appid, '--kind', 'product'],
  ...more,
];
const deleteListed = (input: TypedInput['input'], ...more: string[]) =>
  admin.run(words('--ids-from', '-', ...more), { input: input! });
const left = async () => {
  const records = await service.db.collection('products').find(app.tenant).sort({ id: 1 }).toArray();
  return records.map(({ id }) => id as unknown);
};

describe('`record delete --ids-from FILE|-`', () => {
  beforeEach(() => app.products(5, (n) => ({ id: `p-${n}` })));

  it('deletes those of the list, and consumers learn it from harddeletes', async () => {
    await app.member({ id: 'p-1' });
    await service.watcher.caughtUp();
    expect(await deleteListed('\uFEFFp-1\r\n\r\np-3\n')).toEqual({
      code: 0,
      output: `2 products of ${app.organizationid}/${app.appid} deleted.`,
      errors: [],
    });
    expect(await left()).toEqual(['p-0', 'p-2', 'p-4']);
    await service.watcher.caughtUp();
    expect((await app.hardDeletes('product').page()).ids.sort()).toEqual(['p-1', 'p-3']);
    expect((await app.feed('member').page()).ids).toEqual(['p-1']);
  });

  it('from a file, with the ids that are not there', async () => {
    const file = join(tmpdir(), `tidemark-ids-${app.appid}`);
    const missing = Array.from({ length: 12 }, (_, n) => `no-${n}`);
    await writeFile(file, ['p-0', ...missing, 'p-0', 'p-4'].join('\n'));
    const { code, output, errors } = await admin.run(words('--ids-from', file));
    expect([code, output]).toEqual([1, `2 products of ${app.organizationid}/${app.appid} deleted.`]);
    expect(errors).toEqual([`12 ids not found: ${missing.slice(0, 10).join(', ')} and 2 more.`]);
    const said = await admin.run(words('--ids-from', file, '--json'));
    expect(JSON.parse(said.output)).toEqual({
      ...{ ...app.tenant, kind: 'product', deleted: 0, missing: 14, bad: 0 },
      firstMissing: ['p-0', ...missing.slice(0, 9)],
    });
  });

  it('`--dry-run` deletes nothing', async () => {
    expect(await deleteListed('p-0\nnot-there', '--dry-run')).toMatchObject({
      code: 1,
      output: `1 product of ${app.organizationid}/${app.appid} would be deleted. Nothing was deleted.`,
      errors: ['1 id not found: not-there.'],
    });
    const one = await admin.json(words('--id', 'p-0', '--dry-run'));
    expect(one).toEqual({ ...app.tenant, kind: 'product', id: 'p-0', dryRun: true });
    expect(await left()).toHaveLength(5);
  });

  it('of ids that are stored as numbers deletes the records that are delivered under them', async () => {
    await app.product({ id: 17 });
    await app.product({ id: 18 });
    await service.watcher.caughtUp();
    expect((await deleteListed('17\np-0', '--dry-run')).code).toBe(0);
    expect((await deleteListed('17\np-0')).code).toBe(0);
    expect(await left()).toEqual([18, 'p-1', 'p-2', 'p-3', 'p-4']);
  });

  it('more than one command takes, with a line that cannot be read', async () => {
    await app.products(1500, (n) => ({ id: `many-${n}` }));
    const ids = Array.from({ length: 1500 }, (_, n) => `many-${n}`);
    const { code, output, errors } = await deleteListed([...ids, 'x'.repeat(70_000)].join('\n'));
    expect([code, output]).toEqual([1, `1,500 products of ${app.organizationid}/${app.appid} deleted.`]);
    expect(errors).toEqual(['line 1501: is longer than 65536 bytes', '1 bad line left out.']);
    expect(await left()).toHaveLength(5);
  });

  it('what was deleted before an interruption stays so, and it is told', async () => {
    const controller = new AbortController();
    function* stopped() {
      for (let n = 0; n < 3000; n += 1) {
        if (n === 2000) controller.abort();
        yield `p-${n}\n`;
      }
    }
    const { code, errors } = await admin.run(words('--ids-from', '-'), {
      input: stopped(),
      interrupted: controller.signal,
    });
    expect([code, errors.at(-1)]).toEqual([
      1,
      expect.stringContaining('Interrupted before the end of the list.'),
    ]);
  });

  it.each([[[]], [['--id', 'a', '--ids-from', '-']]])(
    'either a list or one id is given: %j',
    async (more) => {
      expect(await admin.failure(words(...more))).toBe('Give either --id or --ids-from.');
    },
  );

  it('a list that cannot be read is an error', async () => {
    expect(await admin.failure(words('--ids-from', '/no/such/list'))).toBe(
      '/no/such/list cannot be read: there is no such file.',
    );
  });
});

describe('the audit trail names what commands did to records', () => {
  interface Entry {
    action: string;
    target: string;
  }
  const trail = () =>
    service.db
      .collection<Entry>('tidemark.audittrail')
      .find(app.tenant, { projection: { _id: 0, action: 1, target: 1, via: 1 }, sort: { _id: 1 } })
      .toArray();

  it('with one entry each, and nothing of what changes nothing', async () => {
    const scope = `--org ${app.organizationid} --app ${app.appid} --kind product`;
    const load = (lines: string, more = '') => admin.run(`import ${scope} ${more} -`, { input: lines });
    await load('{"id":"a","data":{}}\n{"id":"b","data":{}}\n{"id":"c","data":{}}\nx');
    await load('{"id":"a","data":{}}');
    await load('{"id":"d","data":{}}', '--dry-run');
    await load('{"id":"a","data":{"n":1}}\n{"id":"b","data":{}}', '--mirror');
    await service.watcher.caughtUp();
    await admin.run(`resync ${scope}`);
    await admin.run(words('--id', 'a', '--dry-run'));
    await admin.run(words('--id', 'a'));
    await admin.run(words('--id', 'not-there'));
    await admin.run(words('--ids-from', '-'), { input: 'b\nc' });
    const via = 'command';
    expect(await trail()).toEqual([
      { via, action: 'record.import', target: 'products: 3 created, 0 changed' },
      { via, action: 'record.import', target: 'products: 0 created, 1 changed, 1 removed' },
      { via, action: 'record.resync', target: 'products: 3 records and hard deletes' },
      { via, action: 'record.delete', target: 'product a' },
      { via, action: 'record.delete', target: '1 product' },
    ]);
  });

  it('an import that breaks off is there with what it did', async () => {
    function* broken() {
      for (let n = 0; n < 1500; n += 1) yield `${JSON.stringify({ id: `p-${n}`, data: {} })}\n`;
      throw new Error('the pipe broke');
    }
    const scope = `--org ${app.organizationid} --app ${app.appid} --kind product`;
    expect(await admin.failure(`import ${scope} -`, { input: broken() })).toMatch(
      /^The import is not complete: reading failed after line \d+: the pipe broke\. Import it again/,
    );
    expect(await trail()).toEqual([
      {
        via: 'command',
        action: 'record.import',
        target: expect.stringMatching(/^products: 1,\d00 created/) as string,
      },
    ]);
  });

  it('a mirror that loses the database while it removes is there with what it removed', async () => {
    await app.products(1500, (n) => ({ id: `p-${n}` }));
    const gate = await Gate.to(service.uri);
    await gate.open();
    let removals = 0;
    const isSecond = (request: Buffer) =>
      /delete\0[^]{4}products\0/.test(request.toString('latin1')) && (removals += 1) > 1;
    const held = new Set<Buffer>();
    gate.hold((request) => held.has(request) || (isSecond(request) && held.add(request).size > 0));
    const scope = `--org ${app.organizationid} --app ${app.appid} --kind product`;
    const mirrored = new AdminConsole(gate.uri).run(`import ${scope} --mirror -`, {
      input: '{"id":"p-0","data":{"n":1}}',
    });
    await eventually(() => gate.holding > 0);
    await gate.shut();
    gate.release();
    await gate.open();
    const { code, errors } = await mirrored;
    await gate.shut();
    expect([code, errors]).toEqual([1, [expect.stringMatching(/^The database does not answer: /)]]);
    const removed = 1500 - (await left()).length;
    expect(removed).toBeGreaterThanOrEqual(999);
    expect(await trail()).toEqual([
      {
        via: 'command',
        action: 'record.import',
        target: `products: 0 created, 1 changed, ${removed} removed`,
      },
    ]);
  });

  const isEntry = (request: Buffer) =>
    /insert\0[^]{4}tidemark\.audittrail\0/.test(request.toString('latin1'));

  it('although the database goes away when the entry is written', async () => {
    const gate = await Gate.to(service.uri);
    await gate.open();
    const held = new Set<Buffer>();
    // The driver itself tries twice.
    gate.hold(
      (request) => held.has(request) || (isEntry(request) && held.size < 2 && held.add(request).size > 0),
    );
    const scope = `--org ${app.organizationid} --app ${app.appid} --kind product`;
    const imported = new AdminConsole(gate.uri).run(`import ${scope} -`, { input: '{"id":"a","data":{}}' });
    for (const tries of [1, 2]) {
      await eventually(() => held.size === tries);
      gate.cut();
    }
    const { code, errors } = await imported;
    await gate.shut();
    expect([code, errors]).toEqual([0, []]);
    expect(await trail()).toEqual([
      { via: 'command', action: 'record.import', target: 'products: 1 created, 0 changed' },
    ]);
  });

  it.each([
    ['--id', 'product a'],
    ['--ids-from', '1 product'],
  ])(
    'once, although the database goes away before it answers that the entry of %s is written',
    async (option, target) => {
      await app.products(1, () => ({ id: 'a' }));
      const gate = await Gate.to(service.uri);
      await gate.open();
      let unanswered = 0;
      // The driver itself tries twice.
      gate.silence((request) => isEntry(request) && unanswered < 2 && (unanswered += 1) > 0);
      const deleted = new AdminConsole(gate.uri).run(words(option, option === '--id' ? 'a' : '-'), {
        input: 'a',
      });
      await eventually(async () => unanswered === 1 && (await trail()).length === 1);
      gate.cut();
      await eventually(() => unanswered === 2);
      gate.cut();
      const { code, errors } = await deleted;
      await gate.shut();
      expect([code, errors]).toEqual([0, []]);
      expect(await trail()).toEqual([{ via: 'command', action: 'record.delete', target }]);
    },
  );
});
