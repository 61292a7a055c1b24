import { mkdir, readdir, utimes, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { librariesOf, mongodEnvironment, verifyMongod } from '../../../src/embedded/mongod.js';
import { cachedMongods, fetchIntoCache } from '../../../src/embedded/mongod-cache.js';
import { fakeMongod, temporaryDirectory } from './fake-mongod.js';

describe('fetched mongods', () => {
  let root: string;
  beforeEach(async () => {
    root = join(await temporaryDirectory(), 'cache', 'mongod');
  });

  const bring = (version: string) => (directory: string) =>
    fakeMongod(join(directory, 'deep', 'mongod'), version);

  it('are none before the first fetch', async () => {
    expect(await cachedMongods(root)).toEqual([]);
  });

  it('lie under their version, the newest first, and nothing else lies there', async () => {
    for (const version of ['6.0.5', '7.0.40', '7.0.9']) await fetchIntoCache(root, bring(version));
    expect(await cachedMongods(root)).toEqual(
      ['7.0.40', '7.0.9', '6.0.5'].map((v) => join(root, v, 'mongod')),
    );
    expect((await readdir(root)).sort()).toEqual(['6.0.5', '7.0.40', '7.0.9']);
  });

  it('bring the libraries along that lie beside them, and run with these', async () => {
    const needy = async (directory: string) => {
      const path = join(directory, 'mongod');
      await mkdir(librariesOf(path), { recursive: true });
      await writeFile(join(librariesOf(path), 'libssl.so.1.1'), '');
      return fakeMongod(path, '6.0.27', `echo "db version v6.0.$(ls "\${LD_LIBRARY_PATH%%:*}" | wc -l)"`);
    };
    const [first, second] = await Promise.all([fetchIntoCache(root, needy), fetchIntoCache(root, needy)]);
    expect([first, second]).toEqual([join(root, '6.0.1', 'mongod'), join(root, '6.0.1', 'mongod')]);
    expect(await readdir(join(root, '6.0.1', 'mongod-libraries'))).toEqual(['libssl.so.1.1']);
    expect(mongodEnvironment(first)['LD_LIBRARY_PATH']?.split(':')[0]).toBe(librariesOf(first));
    expect(mongodEnvironment(join(root, 'mongod'))['LD_LIBRARY_PATH']).toBe(process.env['LD_LIBRARY_PATH']);
    expect(await verifyMongod(first)).toBe('6.0.1');
  });

  it('do not hurt each other when two starts fetch at once', async () => {
    const paths = await Promise.all([
      fetchIntoCache(root, bring('6.0.5')),
      fetchIntoCache(root, bring('6.0.5')),
    ]);
    expect(new Set(paths)).toEqual(new Set([join(root, '6.0.5', 'mongod')]));
    expect(await readdir(root)).toEqual(['6.0.5']);
  });

  it('leave nothing behind where fetching failed or what came does not run', async () => {
    await expect(fetchIntoCache(root, () => Promise.reject(new Error('no route')))).rejects.toThrow(
      'no route',
    );
    await expect(fetchIntoCache(root, bring('4.4.0'))).rejects.toThrow('is MongoDB 4.4.0');
    expect(await readdir(root)).toEqual([]);
  });

  it('clear away what a killed start left a day ago, not what another start is fetching now', async () => {
    await mkdir(join(root, '.part-old'), { recursive: true });
    await mkdir(join(root, '.part-new'));
    const twoDaysAgo = Date.now() / 1000 - 2 * 24 * 60 * 60;
    await utimes(join(root, '.part-old'), twoDaysAgo, twoDaysAgo);
    await fetchIntoCache(root, bring('6.0.5'));
    expect((await readdir(root)).sort()).toEqual(['.part-new', '6.0.5']);
  });
});
