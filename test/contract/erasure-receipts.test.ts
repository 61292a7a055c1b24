import { Harvester, verify } from '../../client/src/harvest/index.js';
import { sqliteCopies } from '../support/copies/index.js';
import { expectProblem, type TestApplication, TestService } from '../support/index.js';
import { ErasureOperator, type Receipt } from './erasure-operator.js';
import { bike, BIKES, bikesOf, stampsIn } from './harvest-client.js';

let service: TestService;
let app: TestApplication;
let operator: ErasureOperator;

beforeAll(async () => {
  service = await TestService.shared();
});
beforeEach(async () => {
  app = await service.application();
  operator = new ErasureOperator(app);
});

describe('`GET …/erasures`', () => {
  it('lists the newest first, page by page, and by id', async () => {
    const ids = ['a', 'b', 'c'];
    for (const id of ids) await app.member({ id });
    await service.watcher.caughtUp();
    await Promise.all(ids.map((id) => operator.erase('member', id)));
    const first = (await operator.ask('GET', '?limit=2')).json as { result: Receipt[]; next: string };
    const second = (await operator.ask('GET', `?limit=2&before=${first.next}`)).json as typeof first;
    expect([first.result.length, second.result.length, second.next]).toEqual([2, 1, '']);
    expect([...first.result, ...second.result].map(({ id }) => id).sort()).toEqual(ids);
    const whole = (await operator.ask('GET', '?limit=3')).json as typeof first;
    expect([whole.result.length, whole.next]).toEqual([3, '']);
    const { result } = (await operator.ask('GET', '?id=b')).json as typeof first;
    expect(result).toMatchObject([{ id: 'b', kind: 'member', state: 'done' }]);
    expectProblem(await operator.ask('GET', '/6740a1b2c3d4e5f601234567'), 404, 'unknown-erasure');
    expectProblem(await operator.ask('GET', '?limit=0'), 400, 'invalid-request');
    const { output } = await operator.run(['record', 'erasures', '--id', 'b']);
    expect(output.split('\n')[1]).toContain(`${result[0]!.receipt}  member  b  `);
  });
});

describe('the state of each consumer in a receipt', () => {
  const window = (from: Date | string, to: Date | string) => ({
    from: new Date(from).toISOString(),
    to: new Date(to).toISOString(),
  });

  it('open, delivered, returned, proven: as of when it is read', async () => {
    await app.member({ id: 'm' });
    await app.member({ id: 'other' });
    await service.watcher.caughtUp();
    const [three, one] = [app.user('read'), await app.credential()];
    const before = await app.max('member');
    const read = async (user: string, feed: string, query: Record<string, string>) =>
      expect((await app.get(`member/${feed}`, { user, query })).status).toBe(200);
    await read(three, 'default/updates', { to: before.toISOString() });
    await read(three, 'harddeletes', { to: before.toISOString() });
    await read(one, 'default/changes', { to: before.toISOString() });
    await operator.noteConsumers();

    const receipt = await operator.erase('member', 'm');
    const stamp = receipt.lastupdated!;
    const states = async () => {
      const { state, consumers } = await operator.read(receipt);
      return [
        state,
        ...[three, one].map((user) => consumers.find(({ username }) => username === user)?.state),
      ];
    };
    expect(await states()).toEqual(['open', 'open', 'open']);
    expect(receipt.counts).toEqual({ open: 2, delivered: 0, returned: 0, proven: 0 });
    const harvest = window(before, stamp);
    await read(three, 'default/updates', harvest);
    await read(one, 'default/changes', harvest);
    // Its hard deletes come in a feed of their own.
    expect(await states()).toEqual(['open', 'open', 'delivered']);
    await read(three, 'harddeletes', harvest);
    expect(await states()).toEqual(['open', 'delivered', 'delivered']);
    const next = window(stamp, new Date(Date.parse(stamp) + 1));
    await read(three, 'default/updates', next);
    expect(await states()).toEqual(['open', 'returned', 'delivered']);
    await read(three, 'default/digest', { to: before.toISOString() });
    expect(await states()).toEqual(['open', 'returned', 'delivered']);
    await read(three, 'default/digest', { to: stamp });
    await read(one, 'default/digest', { to: stamp });
    expect(await states()).toEqual(['done', 'proven', 'proven']);
    // It lists records, since its copy differs.
    await read(one, 'default/digest', { to: stamp, bucket: '0' });
    expect(await states()).toEqual(['open', 'proven', 'delivered']);
    await read(one, 'default/changes', next);
    expect(await states()).toEqual(['done', 'proven', 'returned']);

    // A consumer that begins only now has never received the member.
    const late = await app.credential();
    await service.db
      .collection('tidemark.erasures')
      .updateOne({ ...app.tenant }, { $set: { at: new Date(Date.now() - 60_000) } });
    await service.db
      .collection('tidemark.consumers')
      .updateMany({ '_id.appid': app.appid }, { $set: { firstCall: new Date(Date.now() - 120_000) } });
    await read(late, 'default/updates', { to: before.toISOString() });
    expect((await operator.read(receipt)).counts).toEqual({ open: 0, delivered: 0, returned: 1, proven: 1 });
  });

  it('the copy of a harvester is proven as soon as it has verified it', async () => {
    await app.filter('product', BIKES, { 'data.category': BIKES });
    for (const id of ['erased', 'kept']) await app.product(bike(id));
    await service.watcher.caughtUp();
    const place = await sqliteCopies().fresh();
    const store = await place.open();
    try {
      const { source } = bikesOf(app);
      const compared = { source, store, harvester: new Harvester(source, store) };
      await verify(compared);
      await operator.noteConsumers();
      const receipt = await operator.erase('product', 'erased');
      expect(receipt).toMatchObject({ state: 'open', consumers: [{ service: BIKES, state: 'open' }] });
      expect(await verify(compared)).toMatchObject({ count: 1, differences: [] });
      expect(await operator.read(receipt)).toMatchObject({ state: 'done', counts: { proven: 1 } });
      expect((await stampsIn(place)).map(([id]) => id)).toEqual(['kept']);
    } finally {
      await store.close();
      await place.remove();
    }
  });

  it('the command says it too, and its exit code is 3 while one is open', async () => {
    await app.product({ id: 'p' });
    await service.watcher.caughtUp();
    await app.feed('product').page();
    await operator.noteConsumers();
    const words = ['record', 'erase', '--kind', 'product', '--id', 'p', '--wait', '4'];
    const open = await operator.run(words);
    expect([open.code, open.errors.length]).toEqual([3, 1]);
    expect(open.errors[0]).toMatch(
      /^1 of 1 consumer has not confirmed the erasure yet, .* with: record erasures --org \S+ --app \S+ --receipt [0-9a-f]{24}$/,
    );
    const receipt = open.errors[0]!.split(' ').at(-1)!;
    const lines = open.output.split('\n');
    expect(lines[0]).toBe(
      `The product "p" of ${app.organizationid}/${app.appid} is erased. Receipt ${receipt}.`,
    );
    expect(lines[1]).toMatch(
      /^Its hard delete is stamped 20\S+Z: windows that contain this time deliver it\.$/,
    );
    expect(lines[3]).toMatch(new RegExp(`^${app.user('read')} +default +open `));
    await app.feed('product').page();
    await app.hardDeletes('product').page();
    await operator.noteConsumers();
    const shown = await operator.run(['record', 'erasures', '--receipt', receipt, '--json']);
    expect(shown.code).toBe(0);
    expect(JSON.parse(shown.output)).toMatchObject({
      receipt,
      id: 'p',
      state: 'done',
      counts: { returned: 1 },
    });
    expect((await operator.run(words)).code).toBe(0);
  });

  it('a record that exists again under the id has to be received as well', async () => {
    await app.member({ id: 'm' });
    await service.watcher.caughtUp();
    await app.feed('member').page();
    await operator.noteConsumers();
    const receipt = await operator.erase('member', 'm');
    await app.feed('member').page();
    await app.hardDeletes('member').page();
    expect(await operator.read(receipt)).toMatchObject({ state: 'done', isUsedAgain: false });
    await app.member({ id: 'm' });
    await service.watcher.caughtUp();
    const again = await operator.read(receipt);
    expect(again).toMatchObject({ state: 'open', isUsedAgain: true, id: 'm' });
    expect(again.lastupdated! > receipt.lastupdated!).toBe(true);
  });
});
