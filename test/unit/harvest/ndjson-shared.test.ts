import { mkdir, mkdtemp, readdir, readFile, rm, utimes } from 'node:fs/promises';
import { hostname, tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { crc32 } from 'node:zlib';
import { CopyTakenError } from '../../../client/src/harvest/index.js';
import { firstState } from '../../../client/src/harvest/state.js';
import { NdjsonStore } from '../../../client/src/stores/ndjson/ndjson-store.js';
import { upsert } from './changes.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidemark-ndjson-'));
  path = join(folder, 'copy.ndjson');
});
afterEach(() => rm(folder, { recursive: true }));

const STAMP = '2026-01-01T00:00:00.000Z';
const state = (cursor: string) => ({ ...firstState('f', undefined), cursor, isWithin: true });
/** Longer than what a file handle writes at once unless it is told to. */
const LONG = 'x'.repeat(40_000);

function page(name: string, count: number, text = LONG) {
  const changes = Array.from({ length: count }, (_, n) => upsert(`${name}${n}`, STAMP, { text }));
  return { changes, state: state(name) };
}

/** A copy of so many records, 40 kB each: those of more than 400 are divided. */
async function copyOf(count: number): Promise<NdjsonStore> {
  const store = await NdjsonStore.open(path);
  for (let at = 0; at < count; at += 100) await store.apply(page(`p${at}-`, 100));
  return store;
}

async function idsIn(store: NdjsonStore): Promise<string[]> {
  const ids: string[] = [];
  for await (const batch of store.held()) ids.push(...batch.map(({ id }) => id));
  return ids;
}

/** What the file holds, read by whoever comes next; each of its lines is whole. */
async function nextOne(): Promise<{ cursor: string | undefined; ids: string[] }> {
  for (const line of (await readFile(path, 'utf8')).trimEnd().split('\n')) JSON.parse(line);
  const store = await NdjsonStore.open(path);
  const found = { cursor: (await store.state())?.cursor, ids: await idsIn(store) };
  await store.close();
  return found;
}

const isTaken = (error: unknown) => expect(error).toBeInstanceOf(CopyTakenError);

describe('two harvests of one file', () => {
  it('to read what is held changes no file, and is not disturbed by a page of somebody else', async () => {
    const store = await copyOf(500);
    await store.mend({ upserts: [], removed: ['p0-0'], state: state('mended') });
    const before = await readFile(path);
    const ids: string[] = [];
    for await (const batch of store.held()) {
      if (ids.length === 0) {
        const other = await NdjsonStore.open(path);
        await other.apply(page('other', 1));
        await other.close();
      }
      ids.push(...batch.map(({ id }) => id));
    }
    expect([ids.length, new Set(ids).size]).toEqual([499, 499]);
    expect((await readFile(path)).subarray(0, before.length).equals(before)).toBe(true);
    expect(await readdir(folder)).toEqual(['copy.ndjson']);
    await store.close();
  });

  it('whoever writes it anew while another one opens it is not harmed', async () => {
    const store = await copyOf(500);
    const swept = store.sweep(state('swept'));
    let isDone = false;
    const done = swept.finally(() => (isDone = true)).catch(() => undefined);
    while (!isDone) await (await NdjsonStore.open(path)).close();
    await done;
    await swept;
    await store.apply(page('last', 1));
    await store.close();
    expect(await nextOne()).toMatchObject({ cursor: 'last', ids: { length: 501 } });
    expect(await readdir(folder)).toEqual(['copy.ndjson']);
  });

  it('a page that another one stores meanwhile is kept: whoever writes it anew has lost', async () => {
    const store = await copyOf(500);
    const lost = expect(store.sweep(state('swept'))).rejects.toThrow(CopyTakenError);
    while (!(await readdir(folder)).some((name) => name.includes('.parts'))) await Promise.resolve();
    const other = await NdjsonStore.open(path);
    await other.apply(page('other', 1));
    await lost;
    await expect(store.apply(page('late', 1))).rejects.toThrow(CopyTakenError);
    await other.apply(page('last', 1));
    await Promise.all([store.close(), other.close()]);
    expect(await nextOne()).toMatchObject({ cursor: 'last', ids: { length: 502 } });
    expect(await readdir(folder)).toEqual(['copy.ndjson']);
  });

  it('of two that write at the same moment each page is whole, and nobody goes on beside the other', async () => {
    await (await copyOf(100)).close();
    for (let round = 0; round < 8; round += 1) {
      const stores = await Promise.all([NdjsonStore.open(path), NdjsonStore.open(path)]);
      const works = stores.map(async (store, n) => {
        await store.apply(page(`r${round}-${n}-`, 40));
        if (round % 2 === 0) await store.sweep(state(`swept${round}`));
        await store.apply(page(`s${round}-${n}-`, 1));
      });
      const ends = await Promise.allSettled(works);
      const lost = ends.flatMap((end) => (end.status === 'rejected' ? [end.reason as unknown] : []));
      expect(lost.length).toBeGreaterThan(0);
      lost.forEach(isTaken);
      await Promise.all(stores.map((store) => store.close()));
      const { ids } = await nextOne();
      expect(ids).toEqual(expect.arrayContaining(['p0-0', 'p0-99']));
    }
  });

  it('what is behind the last page is cut off only by whoever writes, and not while another one does', async () => {
    await (await copyOf(100)).close();
    const [first, second] = [await NdjsonStore.open(path), await NdjsonStore.open(path)];
    const stored = first.apply(page('first', 100));
    let isStored = false;
    void stored.finally(() => (isStored = true)).catch(() => undefined);
    while (!isStored) await (await NdjsonStore.open(path)).close();
    await stored;
    await expect(second.apply(page('second', 1))).rejects.toThrow(CopyTakenError);
    await first.apply(page('last', 1));
    await Promise.all([first.close(), second.close()]);
    expect(await nextOne()).toMatchObject({ cursor: 'last', ids: { length: 201 } });
  });
});

describe('folders in which a file was written anew', () => {
  const here = crc32(hostname()).toString(16);
  /** No process has this number. */
  const DEAD = 2 ** 30;

  it.each([
    ['of a process that is dead', `${here}-${DEAD}`, 0, false],
    ['of a process that runs', `${here}-${process.ppid}`, 0, true],
    ['of this process', `${here}-${process.pid}`, 0, true],
    ['of an earlier process with the same number', `${here}-${process.pid}`, 40 * 86_400, false],
    ['of another machine', `0-${DEAD}`, 0, true],
    ['of another machine, two days ago', `0-${DEAD}`, 2 * 86_400, false],
    ['of nobody', 'mine', 2 * 86_400, true],
  ])('one %s', async (_name, owner, secondsAgo, isKept) => {
    const left = `${path}.parts-${owner}-a1B2c3`;
    await mkdir(left);
    const then = new Date(Date.now() - secondsAgo * 1000);
    await utimes(left, then, then);
    await (await NdjsonStore.open(path)).close();
    expect((await readdir(folder)).includes(basename(left))).toBe(isKept);
  });
});
