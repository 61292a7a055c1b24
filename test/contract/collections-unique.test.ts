import { collectionOf, BUILT_IN_KINDS } from '../../src/kinds/index.js';
import { type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
});

const refused = { code: 11000 };
const insert = (collection: string, document: object) =>
  service.db.collection(collection).insertOne({ ...document });

describe.each(BUILT_IN_KINDS)(
  '`{organizationid, appid, id}` is unique (partial: where `id` is a string): %s',
  (kind) => {
    it('twice in one application is refused, in another application it is not', async () => {
      const other = await service.application();
      await app.put(kind, { id: 'one' });
      await expect(app.put(kind, { id: 'one' })).rejects.toMatchObject(refused);
      await expect(other.put(kind, { id: 'one' })).resolves.toBeDefined();
      await expect(app.put(kind, { id: 'ONE' })).resolves.toBeDefined();
    });

    it('records without one do not get in the way of each other', async () => {
      const records = service.db.collection(collectionOf(kind));
      await expect(
        records.insertMany([
          { ...app.tenant },
          { ...app.tenant },
          { ...app.tenant, id: 5 },
          { ...app.tenant, id: 5 },
        ]),
      ).resolves.toMatchObject({ insertedCount: 4 });
    });
  },
);

describe('names are unique', () => {
  it('an application', async () => {
    await expect(insert('applications', app.tenant)).rejects.toMatchObject(refused);
  });

  it('a service of an application and kind', async () => {
    const named = { ...app.tenant, name: 'one', filter: {} };
    await insert('services', { ...named, kind: 'product' });
    await insert('services', { ...named, kind: 'member' });
    await expect(insert('services', { ...named, kind: 'member' })).rejects.toMatchObject(refused);
  });

  it('a user name', async () => {
    await insert('credentials', { username: 'one' });
    await expect(insert('credentials', { username: 'one' })).rejects.toMatchObject(refused);
  });
});
