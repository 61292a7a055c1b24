import { MongodbStore } from '../../client/src/stores/mongodb.js';
import { startLocked } from '../support/own-mongod.js';

let locked: Awaited<ReturnType<typeof startLocked>>;
beforeAll(async () => {
  const reader = { name: 'reader', roles: [{ role: 'read', db: 'tidemark' }] };
  locked = await startLocked([reader, { name: 'writer', roles: [{ role: 'readWrite', db: 'tidemark' }] }]);
});
afterAll(() => locked.stop());

describe('a copy in a MongoDB that asks for a login', () => {
  const at = (name: string, change: (uri: string) => string = (uri) => uri) => change(locked.as(name));

  it.each([
    [
      'a wrong password',
      () => at('writer', (uri) => uri.replace(':writer@', ':wrong@')),
      'refuses the user name or',
    ],
    [
      'no authSource',
      () => at('writer', (uri) => uri.replace('authSource=admin&', '')),
      'such as authSource=admin',
    ],
    [
      'no user',
      () => at('writer', (uri) => uri.replace('writer:writer@', '').replace('authSource=admin&', '')),
      'role readWrite',
    ],
    ['a user who only reads', () => at('reader'), 'role readWrite'],
    [
      'no database',
      () => at('writer', (uri) => uri.replace('/tidemark?', '/?')),
      'names no database. Add one, such as mongodb://host/copies.',
    ],
  ])('%s is told, with what is right', async (_name, uri, words) => {
    const opening = MongodbStore.open(uri(), 'products');
    await expect(opening).rejects.toThrow(words);
    await expect(opening).rejects.not.toThrow('wrong@');
  });

  it('the right login opens it', async () => {
    const store = await MongodbStore.open(at('writer'), 'products');
    expect(await store.state()).toBeUndefined();
    await store.close();
  });
});
