import type { mongo } from 'mongoose';
import { MaxService } from '../../src/replication/feed/index.js';
import type { Kind } from '../../src/kinds/index.js';
import { type TestApplication, TestService, withoutWatcher } from '../support/index.js';
import { commandsDuring, nameOf } from './profiler.js';

const T = Date.parse('2025-03-04T05:06:07.008Z');
const at = (milliseconds: number) => new Date(T + milliseconds);
const COUNT = 100;
const NEWEST = at(COUNT);

const LOOK = 'aggregate tidemark.leases';
const CALLERS = 10;

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start({ KNOWLEDGE_MS: '0' });
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(() => service.stop());

/** As many records as hard deletes; the last record is the newest of all. */
async function populate(kind: Kind): Promise<void> {
  for (let n = 1; n <= COUNT; n += 1) await app.put(kind, { lastupdated: at(n) });
  const gone = Array.from({ length: COUNT }, (_, n) => ({
    ...{ ...app.tenant, kind, id: `gone-${n}`, alive: false, lastupdated: at(n) },
  }));
  await service.db.collection('tidemark.ledger').insertMany(gone);
  await service.watcher.caughtUp();
}

/** What `max` asks of records and hard deletes, with the keys and documents examined. */
async function readsOf(kind: Kind): Promise<string[]> {
  const seen = await commandsDuring(service.db, () => app.max(kind));
  const reads = seen.filter(({ command }) => command['comment'] === 'tidemark max');
  for (const { command } of reads) expect(command['hint']).toBeDefined();
  return reads
    .map((read) => `${nameOf(read)}: ${read.keysExamined} keys, ${read.docsExamined} documents`)
    .sort();
}

const raises = async () =>
  (await service.db.collection('tidemark.marks').findOne({ '_id.appid': app.appid }))?.['raises'] as number;

describe('the keys and documents that max examines', () => {
  beforeEach(() => populate('member'));

  it('where nothing has a greater stamp than before: no document, in one look', async () => {
    expect(await app.max('member')).toEqual(NEWEST);
    expect(await readsOf('member')).toEqual([
      'find members: 1 keys, 0 documents',
      'find tidemark.ledger: 0 keys, 0 documents',
    ]);
  });

  it('where a record has changed: that one, before a raise and as of its moment', async () => {
    await app.max('member');
    await app.member();
    expect(await readsOf('member')).toEqual([
      'find members: 1 keys, 1 documents',
      'find members: 1 keys, 1 documents',
      'find tidemark.ledger: 0 keys, 0 documents',
      'find tidemark.ledger: 0 keys, 0 documents',
    ]);
  });

  it('where a record is gone: its hard delete, before a raise and as of its moment', async () => {
    const gone = await app.member({ lastupdated: at(COUNT + 1) });
    await app.max('member');
    await app.remove('member', gone);
    expect(await readsOf('member')).toEqual([
      'find members: 1 keys, 0 documents',
      'find members: 1 keys, 0 documents',
      'find tidemark.ledger: 1 keys, 1 documents',
      'find tidemark.ledger: 1 keys, 1 documents',
    ]);
  });

  it('where nobody has asked before: the newest of each', async () => {
    expect(await readsOf('member')).toEqual([
      'find members: 1 keys, 1 documents',
      'find tidemark.ledger: 1 keys, 1 documents',
    ]);
  });
});

describe('callers share what has not been asked yet', () => {
  const seenDuring = async (work: () => Promise<unknown>) =>
    (await commandsDuring(service.db, work)).map(nameOf).filter((name) => /leases|find/.test(name));

  it('many at once: one look for the first, and one for all others', async () => {
    await app.member({ lastupdated: NEWEST });
    await app.max('member');
    const max = service.app.get(MaxService, { strict: false });
    const answers: Date[] = [];
    const seen = await seenDuring(async () => {
      const callers = Array.from({ length: CALLERS }, () => max.max(app.tenant, 'member'));
      answers.push(...(await Promise.all(callers)));
    });
    expect(answers).toEqual(Array(CALLERS).fill(NEWEST));
    expect(seen.filter((name) => name === LOOK)).toHaveLength(2);
    expect(seen.filter((name) => name === 'find members')).toHaveLength(2);
  });
});

describe('what foreign programs leave in the index', () => {
  const strangers = (): [string, mongo.Document][] => [
    ['a list in place of organizationid', { organizationid: [app.organizationid] }],
    ['a list in place of appid', { appid: [app.appid] }],
    ['a list in place of lastupdated', { lastupdated: [new Date()] }],
    ['a list in place of id', { id: ['a'] }],
    ['no id', { id: null }],
    ['an id that is neither a text nor a number', { id: true }],
    ['an _id that is not an ObjectId', { _id: `a-${app.appid}` }],
    ['a stamp that is a text', { lastupdated: '2999-01-01' }],
    ['no stamp', { lastupdated: null }],
  ];

  it('counts for nothing and raises nothing before it is repaired', async () => {
    await app.member();
    await service.watcher.caughtUp();
    const known = await app.max('member');
    const before = await raises();
    await withoutWatcher(service, async () => {
      for (const [what, fields] of strangers()) {
        await app.member(fields);
        expect([what, await app.max('member'), await raises()]).toEqual([what, known, before]);
      }
    });
  });

  it('a list that once stood in place of a stamp makes nothing dearer', async () => {
    await populate('product');
    await app.product({ lastupdated: [new Date()] });
    await service.watcher.caughtUp();
    // The stamp that repairs it is an event of its own.
    await service.watcher.caughtUp();
    await app.max('product');
    expect(await readsOf('product')).toEqual([
      'find products: 0 keys, 0 documents',
      'find tidemark.ledger: 0 keys, 0 documents',
    ]);
    await app.product();
    expect(await readsOf('product')).toEqual([
      'find products: 1 keys, 1 documents',
      'find products: 2 keys, 2 documents',
      'find tidemark.ledger: 0 keys, 0 documents',
      'find tidemark.ledger: 0 keys, 0 documents',
    ]);
  });
});
