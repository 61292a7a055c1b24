import { expectProblem, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  app = await service.application();
});
afterAll(() => service.stop());

const products = () => service.db.collection<{ id: string; channels: string[] }>('products');
const known = async () => {
  await service.watcher.caughtUp();
  const found = await service.db.collection('tidemark.channels').find(app.tenant).toArray();
  return found.map(({ channel }) => channel as string).sort();
};
const statusOf = async (channel: string) => (await app.channel(channel, 'softdeletes').ask()).status;

describe('collection `channels`: each channel that a product has carried since the service first saw it', () => {
  it('is learned once, whatever way it came', async () => {
    const product = await app.product({ channels: ['inserted', 'shared'] });
    await app.product({ channels: ['shared'] });
    await service.watcher.caughtUp();
    await app.change('product', product, { $push: { channels: 'pushed' } });
    await app.change('product', product, { $set: { 'channels.0': 'placed' } });
    await service.watcher.caughtUp();
    await app.change('product', product, { $set: { channels: ['replaced'] } });
    expect(await known()).toEqual(['inserted', 'placed', 'pushed', 'replaced', 'shared']);
  });

  it('also where it was carried for no longer than it takes to write twice', async () => {
    const document = { ...app.tenant, id: 'brief', lastupdated: new Date(), channels: ['one'] };
    const filter = { ...app.tenant, id: 'brief' };
    await products().bulkWrite([
      { insertOne: { document } },
      { updateOne: { filter, update: { $set: { channels: ['two'] } } } },
      { updateOne: { filter, update: { $push: { channels: 'three' } } } },
      { updateOne: { filter, update: { $set: { 'channels.0': 'four', 'data.x': 1 } } } },
      { replaceOne: { filter, replacement: { ...document, channels: ['five'] } } },
      { deleteOne: { filter } },
    ]);
    await service.watcher.caughtUp();
    expect((await known()).sort()).toEqual(['five', 'four', 'one', 'three', 'two']);
    expect(await statusOf('three')).toBe(200);
  });

  it('texts only: what else stands in `channels` is none', async () => {
    await app.product({ channels: ['text', 5, null, ['deep'], { name: 'x' }] });
    await app.product({ channels: 'single' });
    await app.product({ channels: { web: 'document' } });
    expect(await known()).toEqual(['single', 'text']);
  });

  it('members and products of nobody teach none', async () => {
    await app.member({ channels: ['of-a-member'] });
    await app.product({ appid: 5, channels: ['of-nobody'] });
    expect(await known()).toEqual([]);
    expectProblem(await app.channel('of-a-member').ask(), 404, 'unknown-channel');
  });

  it('One that has no product any more: 200, so that its last soft deletes still arrive', async () => {
    const [left, gone] = [
      await app.product({ channels: ['old'] }),
      await app.product({ channels: ['older'] }),
    ];
    await service.watcher.caughtUp();
    await app.change('product', left, { $set: { channels: ['new'] } });
    await app.remove('product', gone);
    expect(await statusOf('older')).toBe(200);
    expect((await app.channel('old').page()).ids).toEqual([]);
    expect((await app.channel('old', 'softdeletes').page()).ids).toEqual([left['id']]);
  });

  it('a channel of another application stays unknown', async () => {
    const other = await service.application();
    await other.product({ channels: ['theirs'] });
    await service.watcher.caughtUp();
    expectProblem(await app.channel('theirs').ask(), 404, 'unknown-channel');
  });
});

it('the first pass learns those that are carried already', async () => {
  const late = await TestService.start({}, (db) =>
    db
      .collection('products')
      .insertOne({ ...app.tenant, id: 'x', lastupdated: new Date(0), channels: ['a', 'b'] }),
  );
  const found = await late.db.collection('tidemark.channels').find().toArray();
  expect(found.map(({ channel }) => channel as string).sort()).toEqual(['a', 'b']);
  await late.stop();
});
