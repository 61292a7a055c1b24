import { ControlStream } from '../../src/platform/control/index.js';
import {
  controlStreams,
  eventually,
  type TestApplication,
  TestService,
  withoutWatcher,
} from '../support/index.js';
import { MemberClient, newEmail } from './member-client.js';
import { commandsDuring, nameOf } from './profiler.js';

const POLLERS = 30;
const ATTEMPTS = 10;
const ONE_QUERY = ['find products'];
/** What the leader and timers write, and how every instance listens. */
const NOT_OF_REQUESTS =
  /^(getMore \$cmd|(update|findAndModify) tidemark\.leases|update tidemark\.(watchtotals|consumers)|insert tidemark\.audittrail|\w+ system\.)/;

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  app = await service.application();
  await app.product();
  await service.knows(app);
});
afterAll(() => service.stop());

/** What requests asked the database. */
async function asked(work: () => Promise<unknown>): Promise<string[]> {
  const seen = await commandsDuring(service.db, work);
  return seen.map(nameOf).filter((name) => !NOT_OF_REQUESTS.test(name));
}

/** On a machine that does much else what is known may be too old for a while: then the same once more. */
async function askedOnceKnown(work: () => Promise<unknown>, expected: string[]): Promise<string[]> {
  let commands: string[] = [];
  for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
    commands = (await asked(work)).sort();
    if (commands.join() === expected.join()) break;
    await service.knows(app);
  }
  return commands;
}

const pollersOf = (kind: 'member' | 'product') =>
  Promise.all(Array.from({ length: POLLERS }, () => app.max(kind)));

describe('what an instance knows it does not ask for', () => {
  it('max where nothing is new: no command at all, however many poll', async () => {
    expect(await askedOnceKnown(() => pollersOf('product'), [])).toEqual([]);
  });

  it('max behind a change: a raise and a look at records and hard deletes as of its moment, however many poll', async () => {
    const ofChange = ['find products', 'find tidemark.ledger', 'update tidemark.marks'];
    let commands: string[] = [];
    for (let attempt = 0; attempt < ATTEMPTS && commands.join() !== ofChange.join(); attempt += 1) {
      const known = await app.max('product');
      await app.beyondFence('product');
      await app.product({ lastupdated: new Date() });
      await service.watcher.caughtUp();
      let answers: Date[] = [];
      const seen = await asked(async () => (answers = await pollersOf('product')));
      expect(answers.every((answer) => answer > known)).toBe(true);
      commands = seen.filter((name) => /marks|products|ledger/.test(name)).sort();
    }
    expect(commands).toEqual(ofChange);
    expect(await askedOnceKnown(() => pollersOf('product'), [])).toEqual([]);
  });

  it('a page: one command', async () => {
    const to = await app.max('product');
    await app.feed('product').page({ to });
    const page = () => app.feed('product').page({ to });
    expect(await askedOnceKnown(page, ONE_QUERY)).toEqual(ONE_QUERY);
  });

  it('a page of a filter: one command', async () => {
    await app.filter('product', 'all', {});
    const to = await app.max('product');
    await app.feed('product', 'all').page({ to });
    const page = () => app.feed('product', 'all').page({ to });
    expect(await askedOnceKnown(page, ONE_QUERY)).toEqual(ONE_QUERY);
  });
});

describe('what changes is known again', () => {
  it('a credential that is disabled is refused', async () => {
    const user = await app.credential();
    const status = async () => (await app.get('product/max', { user })).status;
    for (let turn = 0; turn < 3; turn += 1) expect(await status()).toBe(200);
    await service.db.collection('credentials').updateOne({ username: user }, { $set: { disabled: true } });
    await service.heard();
    expect(await status()).toBe(401);
  });

  it('a change that another program makes is in max as soon as the watcher has worked it through', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      const known = await app.max('product');
      await app.beyondFence('product');
      await app.product({ lastupdated: new Date() });
      await service.watcher.caughtUp();
      expect((await app.max('product')).getTime()).toBeGreaterThan(known.getTime());
    }
  });

  it('a record that comes from another application with its stamp', async () => {
    const other = await service.application();
    const product = await other.product({ lastupdated: new Date() });
    const known = await app.max('product');
    await app.change('product', product, { $set: app.tenant });
    await service.watcher.caughtUp();
    expect((await app.max('product')).getTime()).toBeGreaterThan(known.getTime());
  });

  it('a hard delete', async () => {
    const product = await app.product();
    await service.watcher.caughtUp();
    const known = await app.max('product');
    await app.beyondFence('product');
    await app.remove('product', product);
    expect((await app.max('product')).getTime()).toBeGreaterThan(known.getTime());
  });

  it('a member that was written here: at once', async () => {
    const members = new MemberClient(app);
    await members.born();
    await service.watcher.caughtUp();
    for (let turn = 0; turn < 5; turn += 1) {
      const known = await app.max('member');
      await app.beyondFence('member');
      await members.create({ accountnumber: '1', email: newEmail() });
      expect((await app.max('member')).getTime()).toBeGreaterThan(known.getTime());
    }
  });
});

const READ_LEASE = 'aggregate tidemark.leases';

describe('an instance that no request uses follows the database less often', () => {
  /** How long the server may wait for events, if a request of the control stream is in progress (milliseconds). */
  async function wait(): Promise<number> {
    const ofStream = {
      ns: `${service.db.databaseName}.$cmd`,
      'cursor.originatingCommand.comment': 'tidemark control',
    };
    const stages = [{ $currentOp: {} }, { $match: ofStream }];
    const [found] = await service.client.db('admin').aggregate(stages).toArray();
    return Number(found?.['command']?.maxTimeMS);
  }

  it('until the next request', async () => {
    await eventually(async () => (await wait()) === 1000);
    await app.max('product');
    await eventually(async () => (await wait()) <= 125);
    await service.knows(app);
    expect(await askedOnceKnown(() => pollersOf('product'), [])).toEqual([]);
  });
});

describe('where nothing is known the database is asked', () => {
  it('while nobody leads', async () => {
    await withoutWatcher(service, async () => {
      const leases = service.db.collection<{ _id: string }>('tidemark.leases');
      let commands: string[] = [];
      // On a busy machine the instance may lead again before it is asked: then the same once more.
      for (let attempt = 0; attempt < ATTEMPTS && !commands.includes(READ_LEASE); attempt += 1) {
        await leases.updateOne(
          { _id: 'watcher' },
          { $set: { holder: 'x', expires: new Date(Date.now() - 60_000) } },
        );
        await service.heard();
        commands = await asked(() => app.max('product'));
      }
      expect(commands).toContain(READ_LEASE);
    });
  });

  it('when the stream was ended by somebody: then it begins anew', async () => {
    const control = service.app.get(ControlStream, { strict: false });
    await eventually(async () => {
      const cursors = (await controlStreams(service.db)).map(({ cursorId }) => cursorId);
      if (cursors.length > 0) await service.db.command({ killCursors: '$cmd.aggregate', cursors });
      return control.heardUpTo === undefined;
    });
    expect((await app.get('product/max')).status).toBe(200);
    await service.knows(app);
    expect(await askedOnceKnown(() => pollersOf('product'), [])).toEqual([]);
  });

  it('with KNOWLEDGE_MS=0', async () => {
    const other = await service.another({ KNOWLEDGE_MS: '0' });
    for (let turn = 0; turn < 2; turn += 1) await app.seenBy(other).max('product');
    const expected = [
      'aggregate tidemark.leases',
      'find applications',
      'find credentials',
      'find products',
      'find tidemark.ledger',
    ];
    expect(await askedOnceKnown(() => app.seenBy(other).max('product'), expected)).toEqual(expected);
    await other.leave();
  });
});
