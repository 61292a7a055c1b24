import type { mongo } from 'mongoose';
import { expectProblem, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  await app.product({ data: { name: 'visible' } });
});

const FEEDS = ['updates', 'softdeletes', 'digest'];
const ask = (kind: string, name: string, feed: string) =>
  app.get(`${kind}/${name}/${feed}`, { query: { to: '2999-01-01' } });

const nested = (levels: number): mongo.Document =>
  levels === 1 ? { 'data.name': 'x' } : { $and: [nested(levels - 1)] };

describe('A registered filter that is invalid (§4) or that MongoDB refuses answers 500 `service-misconfigured` naming the service; never unfiltered data', () => {
  it.each<[string, unknown]>([
    ['where', { $where: 'true' }],
    ['expr', { $expr: { $eq: [1, 1] } }],
    ['function', { $expr: { $function: { body: 'function() { return true }', args: [], lang: 'js' } } }],
    ['text', { $text: { $search: 'x' } }],
    ['near', { 'data.place': { $near: [0, 0] } }],
    ['hidden', { $or: [{ 'data.a': 1 }, { $nor: [{ 'data.b': { $elemMatch: { $where: '1' } } }] }] }],
    ['unknown', { 'data.name': { $unheard: 1 } }],
    ['not-a-document', 'all'],
    ['a-list', [{ 'data.name': 'x' }]],
    ['null', null],
    ['missing', undefined],
    ['deep', nested(6)],
    ['many', { 'data.name': { $in: Array.from({ length: 1001 }, (_, index) => index) } }],
    ['regex', { 'data.name': { $regex: '(unclosed' } }],
    ['options', { 'data.name': { $regex: 'x', $options: 'q' } }],
    ['type', { 'data.name': { $type: 'nothing' } }],
    ['mod', { 'data.name': { $mod: [0, 0] } }],
  ])('%s', async (name, filter) => {
    await app.filter('product', name, filter as mongo.Document);
    for (const feed of FEEDS) {
      const answer = await ask('product', name, feed);
      const { detail } = expectProblem(answer, 500, 'service-misconfigured');
      expect(detail).toContain(`"${name}"`);
      expect(answer.text).not.toContain('visible');
    }
  });

  it('a filter at the limits is none of these', async () => {
    await app.filter('product', 'depth', nested(5));
    await app.filter('product', 'breadth', {
      'data.name': { $in: Array.from({ length: 1000 }, (_, index) => index) },
    });
    for (const name of ['depth', 'breadth']) expect((await ask('product', name, 'updates')).status).toBe(200);
  });
});

describe('404 unknown or disabled service', () => {
  it.each(FEEDS)('%s of a service that is not registered', async (feed) => {
    const { detail } = expectProblem(await ask('product', 'nothing', feed), 404, 'unknown-service');
    expect(detail).toContain('"nothing"');
  });

  it('`enabled: false`: as if it were not there', async () => {
    await app.filter('product', 'off', {}, { enabled: false });
    await app.filter('product', 'off-and-broken', { $where: '1' }, { enabled: false });
    for (const feed of FEEDS) {
      expectProblem(await ask('product', 'off', feed), 404, 'unknown-service');
      expectProblem(await ask('product', 'off-and-broken', feed), 404, 'unknown-service');
    }
  });

  it('a service of the other kind, or in another case, is another one', async () => {
    await app.filter('product', 'goods', {});
    expect((await ask('product', 'goods', 'updates')).status).toBe(200);
    expectProblem(await ask('member', 'goods', 'updates'), 404, 'unknown-service');
    expectProblem(await ask('product', 'Goods', 'updates'), 404, 'unknown-service');
  });

  it.each(['a%20b', '%24where', '.hidden', 'x'.repeat(65)])('%s, which is not a name', async (name) => {
    expectProblem(await ask('product', name, 'updates'), 404, 'unknown-service');
  });
});

describe('404 unknown channel', () => {
  it('whatever text it is', async () => {
    for (const channel of ['nothing', '$ne', 'a b', 'ü'])
      for (const feed of ['updates', 'softdeletes'] as const)
        expectProblem(await app.channel(channel, feed).ask(), 404, 'unknown-channel');
  });
});
