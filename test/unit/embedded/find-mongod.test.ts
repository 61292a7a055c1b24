import { join } from 'node:path';
import { FatalError } from '../../../src/platform/common/index.js';
import {
  findMongod,
  firstUsable,
  mongodsOnPath,
  type MongodSource,
  standardSources,
} from '../../../src/embedded/find-mongod.js';
import { versionOfCached } from '../../../src/embedded/mongod-cache.js';
import { fakeMongod, temporaryDirectory } from './fake-mongod.js';

const quiet = () => undefined;

describe('looking for a mongod', () => {
  let home: string;
  beforeEach(async () => {
    home = await temporaryDirectory();
  });

  const source = (name: string, ...paths: string[]): MongodSource => ({
    name,
    candidates: () => Promise.resolve(paths),
  });
  const failing = (name: string, reason: string): MongodSource => ({
    name,
    candidates: () => Promise.reject(new Error(reason)),
  });

  it('takes the first source that has one, and asks none after it', async () => {
    const good = await fakeMongod(join(home, 'mongod'), '6.0.5');
    const never = jest.fn();
    const found = await firstUsable(
      [
        source('empty'),
        failing('away', 'no route'),
        source('here', good),
        { name: 'later', candidates: never },
      ],
      quiet,
    );
    expect(found).toEqual({ path: good, version: '6.0.5', source: 'here' });
    expect(never).not.toHaveBeenCalled();
  });

  it('passes over candidates that are missing, too old, broken or no mongod', async () => {
    const good = await fakeMongod(join(home, 'good'), '7.0.1');
    const candidates = [
      join(home, 'missing'),
      await fakeMongod(join(home, 'old'), '4.4.29'),
      await fakeMongod(
        join(home, 'broken'),
        '',
        'echo "libssl.so.3: cannot open shared object file" >&2; exit 127',
      ),
      await fakeMongod(join(home, 'other'), '', 'echo hello'),
      good,
    ];
    expect((await firstUsable([source('here', ...candidates)], quiet)).path).toBe(good);
  });

  it('ends with one message that tells why each source failed and lists the choices', async () => {
    const broken = await fakeMongod(
      join(home, 'broken'),
      '',
      'echo "libssl.so.3: cannot open it" >&2; exit 127',
    );
    const search = firstUsable([source('one'), failing('two', 'no route'), source('three', broken)], quiet);
    await expect(search).rejects.toBeInstanceOf(FatalError);
    await expect(search).rejects.toThrow(
      /one: none\n.*two: no route\n.*three: libssl\.so\.3: cannot open it\n[^]*MONGODB_URI[^]*MONGOMS_SYSTEM_BINARY[^]*PATH[^]*pip/,
    );
  });

  it('takes what MONGOMS_SYSTEM_BINARY names, and says so', async () => {
    const mongodBinary = await fakeMongod(join(home, 'mine'), '6.0.9');
    const said: string[] = [];
    const found = await findMongod({ mongodBinary, say: (line) => said.push(line) });
    expect(found.path).toBe(mongodBinary);
    expect(said).toEqual([`Using mongod 6.0.9, named by MONGOMS_SYSTEM_BINARY: ${mongodBinary}`]);
  });

  it('stops where MONGOMS_SYSTEM_BINARY names something else, and does not take another', async () => {
    const search = findMongod({ mongodBinary: join(home, 'missing'), say: quiet });
    await expect(search).rejects.toThrow(
      /MONGOMS_SYSTEM_BINARY names no usable mongod: there is no .*missing/,
    );
  });

  it('takes an old one of the cache only where none that is repaired can be had', async () => {
    const cacheHome = process.env['XDG_CACHE_HOME'];
    process.env['XDG_CACHE_HOME'] = home;
    for (const version of ['6.0.5', '6.0.27', '7.0.40'])
      await fakeMongod(join(home, 'tidemark', 'mongod', version, 'mongod'), version);
    const cached = standardSources().filter(({ name }) => name === 'fetched by an earlier start');
    const versions = await Promise.all(
      cached.map(async (one) => (await one.candidates(quiet)).map((path) => versionOfCached(path))),
    );
    if (cacheHome === undefined) delete process.env['XDG_CACHE_HOME'];
    else process.env['XDG_CACHE_HOME'] = cacheHome;
    expect(versions).toEqual([
      ['7.0.40', '6.0.27'],
      ['7.0.40', '6.0.27', '6.0.5'],
    ]);
  });

  it('finds every executable mongod of the PATH in its order', async () => {
    const [second, fourth] = [join(home, 'b'), join(home, 'd')];
    await fakeMongod(join(second, 'mongod'), '6.0.5');
    await fakeMongod(join(fourth, 'mongod'), '6.0.5');
    await fakeMongod(join(home, 'c', 'mongodump'), '6.0.5');
    expect(await mongodsOnPath([join(home, 'a'), second, join(home, 'c'), fourth])).toEqual([
      join(second, 'mongod'),
      join(fourth, 'mongod'),
    ]);
  });
});
