import fc from 'fast-check';
import type { Kind } from '../../src/kinds/index.js';
import { TestService } from '../support/index.js';
import { ImportOperator, type Summary } from './import-operator.js';

let service: TestService;
let operator: ImportOperator;

beforeAll(async () => {
  service = await TestService.shared();
});
beforeEach(async () => (operator = new ImportOperator(service, await service.application())));

type Told = Summary & { removed?: number; dryRun?: { first: { created: string[]; changed: string[] } } };

/** What the service writes by itself, whatever else happens. */
const OF_THE_SERVICE =
  /^tidemark\.(leases|heads|watchtotals|audits|moments|marks|consumers|credentialuses|schemas|restamps)/;

const product = (id: string, n = 0) => ({ id, data: { n } });

async function told(lines: unknown[], kind: Kind, more: string): Promise<Told> {
  const { output } = await operator.try(lines, kind, `${more} --json`);
  return JSON.parse(output) as Told;
}

describe('`import --dry-run`', () => {
  it('tells what would be made, changed, removed and left out', async () => {
    await operator.load([product('same'), product('other'), product('gone')]);
    const { code, output, errors } = await operator.try(
      [product('same'), product('other', 1), product('new'), product('newer')],
      'product',
      '--dry-run --mirror',
    );
    expect([code, errors]).toEqual([0, []]);
    expect(output.split('\n')).toEqual([
      '4 lines: 2 would be created, 1 would be changed, 1 unchanged, 1 would be removed, 0 bad.',
      'The first that would be created: new, newer',
      'The first that would be changed: other',
      'Nothing was written.',
    ]);
    const bad = await operator.try([product('same'), 'x'], 'product', '--dry-run --mirror');
    expect([bad.code, bad.errors]).toEqual([
      1,
      ['line 2: is not JSON', 'Not complete: nothing would be removed, since there are bad lines.'],
    ]);
    expect((await operator.try(['x'], 'product', '--dry-run')).errors.at(-1)).toBe(
      '1 bad line would be left out.',
    );
  });

  it('writes nothing: no event, and every record stays as it is', async () => {
    await operator.load([product('a'), product('b')]);
    await service.watcher.caughtUp();
    const records = () =>
      service.db.collection('products').find(operator.app.tenant).sort({ _id: 1 }).toArray();
    const before = await records();
    // What the file before has done may be entered a second later.
    const { organizationid } = operator.app.tenant;
    const ofOthers = {
      'ns.coll': 'tidemark.audittrail',
      'fullDocument.organizationid': { $ne: organizationid },
    };
    const stream = service.db.watch([{ $match: { 'ns.coll': { $not: OF_THE_SERVICE }, $nor: [ofOthers] } }]);
    await stream.tryNext();
    await told([product('a', 1), product('c'), product('c', 2)], 'product', '--dry-run --mirror');
    const { insertedId } = await service.db.collection('after').insertOne({});
    const next = (await stream.next()) as { documentKey?: { _id: unknown } };
    expect(next.documentKey?._id).toEqual(insertedId);
    await stream.close();
    expect(await records()).toEqual(before);
  });

  it('tells of an e-mail that another member has, in the database or on an earlier line', async () => {
    const member = (id: string, email: string) => ({ id, data: { accountnumber: id, email } });
    await operator.load([member('a', 'a@y'), member('b', 'b@y')], 'member');
    const lines = [member('a', 'new@y'), member('c', 'A@y'), member('d', 'b@y'), member('e', 'new@y')];
    const { errors, output } = await operator.try(lines, 'member', '--dry-run');
    expect(errors).toEqual([
      'line 3: another member has this e-mail already',
      'line 4: another member has this e-mail already',
      '2 bad lines would be left out.',
    ]);
    expect(output).toMatch(/^4 lines: 1 would be created, 1 would be changed, 0 unchanged, 2 bad\.$/m);
  });

  it('foresees what the import then does, for any file', async () => {
    const line = fc.record({
      id: fc.constantFrom(...'abcdefgh'),
      data: fc.record({ n: fc.integer({ min: 0, max: 2 }) }),
      channels: fc.option(fc.constantFrom(['web'], []), { nil: undefined }),
    });
    const file = fc.array(fc.oneof({ weight: 9, arbitrary: line }, fc.constant({ id: 'bad' })), {
      maxLength: 12,
    });
    await fc.assert(
      fc.asyncProperty(file, fc.uniqueArray(line, { selector: ({ id }) => id }), async (lines, stored) => {
        operator = new ImportOperator(service, await service.application());
        await operator.try(stored);
        // Of an id that comes twice only what the lines say themselves is compared with one another.
        const once = lines.filter(({ id }, place) => lines.findIndex((other) => other.id === id) === place);
        const { dryRun, ...foreseen } = await told(once, 'product', '--dry-run --mirror');
        const done = await told(once, 'product', '--mirror');
        expect(dryRun?.first.created).toHaveLength(Math.min(10, done.created));
        expect({ ...foreseen, incomplete: undefined }).toEqual({ ...done, incomplete: undefined });
      }),
      { numRuns: 12 },
    );
  });

  it('of two lines with one id the later one is judged behind the first', async () => {
    await operator.load([product('a')]);
    const lines = [product('a'), product('a', 1), product('b'), product('b'), product('b', 1)];
    expect(await told(lines, 'product', '--dry-run')).toMatchObject({ created: 1, changed: 2, unchanged: 2 });
    expect(await told(lines, 'product', '')).toMatchObject({ created: 1, changed: 2, unchanged: 2 });
  });

  it('a file that cannot be read to its end: no word of records that were imported', async () => {
    function* broken() {
      yield `${JSON.stringify(product('a'))}\n`;
      throw new Error('the pipe broke');
    }
    const { code, errors } = await operator.read({ input: broken() }, 'product', '--dry-run');
    expect([code, errors]).toEqual([1, ['Not complete: reading failed after line 1: the pipe broke.']]);
  });

  it('over more than a batch', async () => {
    const all = Array.from({ length: 2500 }, (_, n) => product(`p-${n}`));
    await operator.load(all.slice(0, 2000));
    expect(await told(all.slice(500), 'product', '--dry-run --mirror')).toMatchObject({
      ...{ lines: 2000, created: 500, changed: 0, unchanged: 1500, removed: 500 },
    });
  });
});
