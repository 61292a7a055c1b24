import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdir, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import {
  assertOpens,
  findEmbedded,
  holderOf,
  openDataDirectory,
  rememberLine,
  waitUntilFree,
} from '../../../src/embedded/data-directory.js';
import { temporaryDirectory } from './fake-mongod.js';

const mongod = (version: string) => ({ path: '/opt/mongod', version, source: 'given' });

describe('the data directory', () => {
  let home: string;
  beforeEach(async () => {
    home = await temporaryDirectory();
  });

  it('is made where it is missing, and a file in its place is a clear error', async () => {
    const { dbPath } = await openDataDirectory(join(home, 'a', 'b'));
    expect(dbPath).toBe(join(home, 'a', 'b', 'mongod'));
    await writeFile(join(home, 'file'), '');
    await expect(openDataDirectory(join(home, 'file'))).rejects.toThrow(/^DATA_DIR .*file cannot be used/);
  });

  it('opens with any mongod while it is new, then with its own line and the next', async () => {
    const directory = await openDataDirectory(home);
    await assertOpens(directory, mongod('8.0.1'));
    await rememberLine(directory, '6.0');
    await assertOpens(directory, mongod('6.0.5'));
    await assertOpens(directory, mongod('7.0.40'));
    await expect(assertOpens(directory, mongod('8.0.1'))).rejects.toThrow(
      /have the format of MongoDB 6\.0, which mongod 8\.0\.1 .* cannot open/,
    );
  });

  it('tells of no running database where none has started', async () => {
    expect(await findEmbedded(home)).toBeUndefined();
    expect(await findEmbedded(join(home, 'missing'))).toBeUndefined();
  });

  it('a file that a loss of power has left empty counts as missing', async () => {
    const directory = await openDataDirectory(home);
    await writeFile(directory.lineFile, '');
    await writeFile(directory.runningFile, '');
    await assertOpens(directory, mongod('8.0.1'));
    expect(await findEmbedded(home)).toBeUndefined();
  });

  describe('with a mongod.lock', () => {
    let holder: ChildProcess;
    afterEach(() => {
      holder.kill('SIGKILL');
    });

    async function lockedBy(name: string, ...args: string[]): Promise<string> {
      holder = spawn('sh', ['-c', 'read line', name, ...args], { argv0: name });
      await once(holder, 'spawn');
      const dbPath = join(home, 'mongod');
      await mkdir(dbPath);
      await writeFile(join(dbPath, 'mongod.lock'), `${holder.pid}\n`);
      return dbPath;
    }

    it('is held while that mongod lives, and is waited for', async () => {
      const dbPath = await lockedBy('mongod');
      expect(await holderOf(dbPath)).toBe(holder.pid);
      const said: string[] = [];
      await waitUntilFree(dbPath, (line) => {
        said.push(line);
        holder.kill('SIGKILL');
      });
      expect(said).toEqual([`Waiting for an earlier mongod (process ${holder.pid}) to release ${dbPath} …`]);
      expect(await holderOf(dbPath)).toBeUndefined();
    });

    it('names its holder where that stays', async () => {
      const dbPath = await lockedBy('mongod');
      await expect(waitUntilFree(dbPath, () => undefined, 0)).rejects.toThrow(
        `${dbPath} is in use by mongod (process ${holder.pid}).`,
      );
    });

    it.each(['node', 'mongodump', '/usr/bin/mongodb_exporter', 'node /srv/node_modules/mongodb/bin.js'])(
      'is free where another program has got the process id: %s',
      async (name) => {
        expect(await holderOf(await lockedBy(name))).toBeUndefined();
      },
    );

    it.each(['/opt/mongo db/bin/mongod', '/opt/mongod-7.0'])('is held by %s', async (name) => {
      expect(await holderOf(await lockedBy(name, '--dbpath', join(home, 'mongod')))).toBe(holder.pid);
    });

    it('is free where the mongod of another directory has got the process id', async () => {
      const other = join(home, 'other', 'mongod');
      expect(await holderOf(await lockedBy('/opt/mongod', '--dbpath', other))).toBeUndefined();
    });
  });
});
