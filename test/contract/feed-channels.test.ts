import { expectProblem, type TestApplication, TestService, withoutWatcher } from '../support/index.js';

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(() => service.stop());

describe('/productbychannel/{channel}/updates and /softdeletes', () => {
  it('updates: products in the channel; softdeletes: products of the application that are not', async () => {
    await app.product({ id: 'web', channels: ['web'] });
    await app.product({ id: 'both', channels: ['shop', 'web'] });
    await app.product({ id: 'shop', channels: ['shop'] });
    await app.product({ id: 'none' });
    expect((await app.channel('web').page()).ids).toEqual(['web', 'both']);
    expect((await app.channel('web', 'softdeletes').page()).ids).toEqual(['shop', 'none']);
    expect((await app.channel('shop').page()).ids).toEqual(['both', 'shop']);
    expect((await app.channel('shop', 'softdeletes').page()).ids).toEqual(['web', 'none']);
  });

  it('members are of no concern', async () => {
    await app.member({ channels: ['web'] });
    await service.watcher.caughtUp();
    expectProblem(await app.channel('web').ask(), 404, 'unknown-channel');
  });

  it('a product that leaves the channel is its soft delete', async () => {
    const product = await app.product({ id: 'a', channels: ['web', 'shop'] });
    await app.change('product', product, { $pull: { channels: 'web' } });
    await app.product({ id: 'b', channels: ['web'] });
    expect((await app.channel('web').page()).ids).toEqual(['b']);
    expect((await app.channel('web', 'softdeletes').page()).ids).toEqual(['a']);
  });

  it('a channel stored as one text is a channel too', async () => {
    await app.product({ id: 'a', channels: 'web' });
    expect((await app.channel('web').page()).ids).toEqual(['a']);
  });
});

describe('a channel that no product of the application has carried: 404 unknown-channel', () => {
  it.each(['updates', 'softdeletes'] as const)('%s', async (feed) => {
    await app.product({ id: 'a', channels: ['web'] });
    for (const typo of ['wbe', 'WEB', 'we', 'web ', 'web,shop']) {
      const answer = await app.channel(typo, feed).ask();
      const body = expectProblem(answer, 404, 'unknown-channel');
      expect(body.detail).toContain(`"${typo}"`);
    }
  });

  it('the channels of another application do not count', async () => {
    const other = await service.application({ organizationid: app.organizationid });
    await other.product({ channels: ['theirs'] });
    await service.watcher.caughtUp();
    expectProblem(await app.channel('theirs').ask(), 404, 'unknown-channel');
    expect((await other.channel('theirs').ask()).status).toBe(200);
  });

  it('400 comes before it', async () => {
    expectProblem(await app.channel('nowhere').ask({ to: 'x' }), 400, 'invalid-request');
  });

  it('an empty window of an unknown channel is 404 too', async () => {
    const answer = await app.channel('nowhere').ask({ to: '2025-01-01', from: '2025-01-01' });
    expectProblem(answer, 404, 'unknown-channel');
  });
});

describe('the records are searched before a 404, so a new channel is known at once', () => {
  it('on the request right behind the insert', async () => {
    for (let turn = 0; turn < 5; turn += 1) {
      await app.product({ id: `p${turn}`, channels: [`new-${turn}`] });
      expect((await app.channel(`new-${turn}`).page()).ids).toEqual([`p${turn}`]);
    }
  });

  it('for many who ask at once', async () => {
    await app.product({ channels: ['rush'] });
    const answers = await Promise.all(Array.from({ length: 16 }, () => app.channel('rush').ask()));
    expect(answers.map((answer) => answer.status)).toEqual(answers.map(() => 200));
  });

  it('and behind the update', async () => {
    const product = await app.product({ id: 'a' });
    await app.change('product', product, { $set: { channels: ['late'] } });
    expect((await app.channel('late').page()).ids).toEqual(['a']);
  });
});

describe('a channel that has no product any more: 200, so that its last soft deletes still arrive', () => {
  it('after its last product left it', async () => {
    const product = await app.product({ id: 'a', channels: ['old'] });
    await service.watcher.caughtUp();
    const from = await app.max('product');
    await app.change('product', product, { $set: { channels: [], lastupdated: new Date() } });
    await service.watcher.caughtUp();
    expect((await app.channel('old').page()).ids).toEqual([]);
    expect((await app.channel('old', 'softdeletes').page({ from })).ids).toEqual(['a']);
  });

  it('after its last product was deleted', async () => {
    const product = await app.product({ channels: ['old'] });
    await service.watcher.caughtUp();
    await app.remove('product', product);
    expect((await app.channel('old').page()).answer.text).toBe('{"result":[],"nextoffsetid":""}\n');
    expect((await app.channel('old', 'softdeletes').page()).ids).toEqual([]);
  });

  it('also where the product had left before the watcher looked', async () => {
    await withoutWatcher(service, async () => {
      const product = await app.product({ id: 'a', channels: ['brief'] });
      await app.change('product', product, { $set: { channels: [] } });
    });
    await service.watcher.caughtUp();
    expect((await app.channel('brief', 'softdeletes').page()).ids).toEqual(['a']);
  });
});

describe('odd channel names', () => {
  it.each([
    ...[
      'a/b',
      '/',
      '//',
      'a%2Fb',
      '%',
      '%25',
      '100% cotton',
      'a?b#c',
      'a&b=c',
      'a+b',
      'a b',
      ' ',
      ';',
      "it's",
    ],
    ...[
      '<b>"x"</b>',
      '>; rel="next"',
      'Größe',
      '日本',
      '😀',
      '$web',
      'a.b',
      '{"$ne":1}',
      '__proto__',
      'default',
    ],
    ...['\\', '\n', '\u0000', '*', '(a)', ':channel', 'x'.repeat(1000)],
  ])('%j', async (channel) => {
    await app.product({ id: 'a', channels: [channel] });
    await app.product({ id: 'b', channels: [channel] });
    await app.product({ id: 'c', channels: ['other'] });
    const feed = app.channel(channel);
    const first = await feed.page({ limit: 1 });
    const second = await feed.next(first);
    expect([first.ids, second?.ids]).toEqual([['a'], ['b']]);
    expect((await app.channel(channel, 'softdeletes').page()).ids).toEqual(['c']);
    await service.db.collection('products').deleteMany({ ...app.tenant, id: { $ne: 'c' } });
    await service.watcher.caughtUp();
    expect((await feed.page()).ids).toEqual([]);
  });

  it('a path that cannot be decoded: 400', async () => {
    const answer = await app.get('productbychannel/%ff/updates', { query: { to: '2025-01-01' } });
    expectProblem(answer, 400, 'invalid-request');
  });
});
