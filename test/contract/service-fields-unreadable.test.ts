import { mongo } from 'mongoose';
import { eventually, expectProblem, type TestApplication, TestService } from '../support/index.js';
import { onceServed } from '../support/patience.js';
import { CANARY, dataOf, setService, TO_NOW } from './shown-fields.js';

let service: TestService;
let other: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
  other = await service.another();
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(async () => {
  await other.leave();
  await service.stop();
});

const services = () => service.db.collection('services');
const versions = () => service.db.collection('tidemark.filterversions');

describe('invalid fields deliver nothing: 500 service-misconfigured', () => {
  const WRONG: mongo.Document[] = [
    { fields: 'data.secret' },
    { fields: [] },
    { fields: { exept: ['data.secret'] } },
    { fields: { only: ['data.n'], except: ['data.secret'] } },
    { fields: { except: ['data.secret', 5] } },
    { fields: { except: ['secret'] } },
    { fields: { except: ['id'] } },
    { fields: { except: Array.from({ length: 201 }, (_, index) => `data.n${index}`) } },
    { fields: { except: [`data.${'x'.repeat(140_000)}`] } },
    { fields: new Date(0) },
    { fields: new mongo.MaxKey() },
    { hash: 'data.secret' },
    { hash: ['data.secret'], fields: { except: ['data.secret'] } },
    { allowHiddenFilter: 'yes', fields: { except: ['data.secret'] } },
  ];

  it('documents by hand', async () => {
    await app.product({ id: 'a', data: { n: 1, secret: CANARY }, channels: ['web'] });
    const kept = { ...app.tenant, kind: 'product', filter: { id: 'a' } };
    await services().insertMany(WRONG.map((fields, index) => ({ ...kept, ...fields, name: `s${index}` })));
    await app.filter('product', 'told', { 'data.secret': CANARY }, { fields: { except: ['data.secret'] } });
    await app.filter(
      'product',
      'allowed',
      { 'data.secret': CANARY },
      {
        fields: { except: ['data.secret'] },
        allowHiddenFilter: true,
      },
    );
    for (const name of [...WRONG.map((_, index) => `s${index}`), 'told'])
      for (const feed of ['updates', 'changes', 'softdeletes', 'digest']) {
        const answer = await onceServed(() => app.get(`product/${name}/${feed}`, TO_NOW));
        expectProblem(answer, 500, 'service-misconfigured');
        expect(answer.text).not.toContain(CANARY);
      }
    expect(await dataOf(app, 'allowed')).toEqual({ a: { n: 1 } });
  });

  it('default, and with it the channels', async () => {
    await app.product({ id: 'a', data: { secret: CANARY }, channels: ['web'] });
    await setService(app, 'default', { $set: { fields: { exept: ['data.secret'] } } });
    for (const path of ['product/default/updates', 'product/default/changes', 'productbychannel/web/updates'])
      expectProblem(await onceServed(() => app.get(path, TO_NOW)), 500, 'service-misconfigured');
    const from = await app.max('product');
    await setService(app, 'default', { $set: { fields: { except: ['data.secret'] } } });
    expect(await dataOf(app, 'default', from)).toEqual({ a: {} });
  });

  it.each(['true', 1, {}])('default, if its enabled is %j: neither on nor off', async (enabled) => {
    await app.product({ id: 'a', data: { secret: CANARY } });
    await setService(app, 'default', { $set: { fields: { except: ['data.secret'] }, enabled } });
    const answer = await onceServed(() => app.get('product/default/updates', TO_NOW));
    expectProblem(answer, 500, 'service-misconfigured');
    await setService(app, 'default', { $set: { enabled: false } });
    expect(await dataOf(app, 'default')).toEqual({ a: { secret: CANARY } });
  });

  it('an entry in force that another program has damaged', async () => {
    await app.product({ id: 'a', data: { secret: CANARY } });
    await app.filter('product', 'erp', { id: 'a' }, { fields: { except: ['data.secret'] } });
    expect(await dataOf(app, 'erp')).toEqual({ a: {} });
    for (const fields of ['data.secret', { hash: ['data.secret'] }, { except: 'all' }]) {
      await versions().updateOne({ ...app.tenant, name: 'erp' }, { $set: { fields } });
      await service.watcher.caughtUp();
      const answer = await onceServed(() => app.get('product/erp/updates', TO_NOW));
      expect(answer.text).not.toContain(CANARY);
      expectProblem(answer, 500, 'service-misconfigured');
    }
  });
});

describe('a collection of the service is dropped', () => {
  it('tidemark.hashkeys: each application gets a new key, and hashed values are delivered again', async () => {
    await app.product({ id: 'a', data: { n: 1 } });
    await app.product({ id: 'b', data: { x: 1 } });
    await setService(app, 'all', { $set: { filter: {}, hash: ['data.n'] } });
    const [before, from] = [await dataOf(app, 'all'), await app.max('product')];
    await service.db.collection('tidemark.hashkeys').drop();
    await eventually(async () => {
      await service.watcher.caughtUp();
      return Object.keys(await dataOf(app, 'all', from)).length > 0;
    });
    const after = await dataOf(app, 'all', from);
    expect(Object.keys(after)).toEqual(['a']);
    expect(after).not.toEqual({ a: before['a'] });
  });

  it('tidemark.filterversions: a page of the past does not show what default hides either', async () => {
    await app.product({ id: 'a', data: { secret: CANARY } });
    await setService(app, 'default', { $set: { fields: { except: ['data.secret'] } } });
    const to = (await app.max('product')).toISOString();
    const seen = new Set<number>();
    for (let drop = 0; drop < 5; drop += 1) {
      await versions().drop();
      for (let asked = 0; asked < 20; asked += 1)
        for (const reader of [app, app.seenBy(other)]) {
          const { status, text } = await reader.get('product/default/updates', { query: { to } });
          expect(text).not.toContain(CANARY);
          seen.add(status);
        }
      await app.max('product');
    }
    expect(seen).toContain(503);
  });

  it('an entry of default: its pages wait until it is written again', async () => {
    await app.product({ id: 'a', data: { secret: CANARY } });
    await setService(app, 'default', { $set: { fields: { except: ['data.secret'] } } });
    expect(await dataOf(app, 'default')).toEqual({ a: {} });
    await versions().deleteOne({ ...app.tenant, name: 'default' });
    await eventually(async () => {
      const { status, text } = await app.get('product/default/updates', TO_NOW);
      expect(text).not.toContain(CANARY);
      return status === 503;
    });
    await eventually(async () => (await app.get('product/default/updates', TO_NOW)).status === 200);
    expect(await dataOf(app, 'default')).toEqual({ a: {} });
  });

  it('tidemark.filterversions: no page shows what default hides, before, while and after it is written again', async () => {
    await app.product({ id: 'a', data: { secret: CANARY }, channels: ['web'] });
    await setService(app, 'default', { $set: { fields: { except: ['data.secret'] } } });
    const paths = ['product/default/updates', 'productbychannel/web/updates'];
    const seenBy = [app, app.seenBy(other)];
    const statuses = new Set<number>();
    let isOver = false;
    const reading = seenBy.flatMap((reader) =>
      paths.map(async (path) => {
        while (!isOver) {
          const { status, text } = await reader.get(path, TO_NOW);
          statuses.add(status);
          expect(text).not.toContain(CANARY);
        }
      }),
    );
    for (let drop = 0; drop < 3; drop += 1) {
      await versions().drop();
      await eventually(async () => (await versions().countDocuments({ ...app.tenant, pending: false })) > 0);
      await app.max('product');
    }
    isOver = true;
    await Promise.all(reading);
    expect([...statuses].sort()).toEqual([200, 503]);
    expect(await dataOf(app, 'default')).toEqual({ a: {} });
  });
});
