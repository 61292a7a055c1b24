import {
  appendFile,
  type FileHandle,
  lstat,
  mkdtemp,
  open,
  readdir,
  readFile,
  rm,
  stat,
  symlink,
  truncate,
  writeFile,
} from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstState } from '../../../client/src/harvest/state.js';
import { linesOf } from '../../../client/src/stores/ndjson/text-lines.js';
import { NdjsonStore } from '../../../client/src/stores/ndjson/ndjson-store.js';
import { upsert } from './changes.js';

let folder: string;
let path: string;
beforeEach(async () => {
  folder = await mkdtemp(join(tmpdir(), 'tidemark-ndjson-'));
  path = join(folder, 'copy.ndjson');
});
afterEach(() => rm(folder, { recursive: true }));

const state = (cursor: string) => ({ ...firstState('f', undefined), cursor, isWithin: true });
const STAMP = '2026-01-01T00:00:00.000Z';

/** Two pages of three records each; answers how long the file was behind the first. */
async function twoPages(): Promise<number> {
  const store = await NdjsonStore.open(path);
  await store.apply({ changes: ['a', 'b', 'c'].map((id) => upsert(id, STAMP)), state: state('1') });
  const { size } = await stat(path);
  const text = 'line\u2028separators \u2029 and\nbreaks';
  await store.apply({ changes: ['d', 'e', 'f'].map((id) => upsert(id, STAMP, { text })), state: state('2') });
  await store.close();
  return size;
}

async function idsIn(store: NdjsonStore): Promise<string[]> {
  const ids: string[] = [];
  for await (const batch of store.held()) ids.push(...batch.map(({ id }) => id));
  return ids.sort();
}

describe('a log of lines whose writer was killed', () => {
  it('wherever its last page is torn, the copy is as it was behind the page before', async () => {
    const first = await twoPages();
    const whole = await readFile(path);
    for (let length = first; length < whole.length; length += 5) {
      await writeFile(path, whole.subarray(0, length));
      const store = await NdjsonStore.open(path);
      expect((await store.state())?.cursor).toBe('1');
      await store.close();
      expect((await stat(path)).size).toBe(length);
    }
    const store = await NdjsonStore.open(path);
    expect(await idsIn(store)).toEqual(['a', 'b', 'c']);
    await store.apply({ changes: [upsert('g', STAMP)], state: state('3') });
    expect((await readFile(path)).subarray(0, first).equals(whole.subarray(0, first))).toBe(true);
    await store.close();
    const next = await NdjsonStore.open(path);
    expect([(await next.state())?.cursor, await idsIn(next)]).toEqual(['3', ['a', 'b', 'c', 'g']]);
    await next.close();
  });

  it('a hole in the last page, as a power failure leaves it, is seen though its end is there', async () => {
    const first = await twoPages();
    const text = await readFile(path);
    await writeFile(path, text.fill(0, first + 10, first + 30));
    const store = await NdjsonStore.open(path);
    expect((await store.state())?.cursor).toBe('1');
    await store.close();
  });

  it('what was torn in the first page leaves an empty copy', async () => {
    const first = await twoPages();
    for (const length of [0, 1, 9, first - 1]) {
      await truncate(path, length);
      await rm(path);
      const size = await twoPages();
      await truncate(path, Math.min(length, size - 1));
      const store = await NdjsonStore.open(path);
      expect([await store.state(), await store.newestGeneration()]).toEqual([undefined, undefined]);
      await store.close();
    }
  });

  it('a file of something else is left alone', async () => {
    await writeFile(path, '{"id":"mine"}\n');
    await expect(NdjsonStore.open(path)).rejects.toThrow(/holds something else\. Give another file\./);
    expect(await readFile(path, 'utf8')).toBe('{"id":"mine"}\n');
  });

  it('separators of other kinds within a text end no line', async () => {
    await twoPages();
    const lines: string[] = [];
    const file = await open(path);
    for await (const some of linesOf(file, (await file.stat()).size)) lines.push(...some);
    await file.close();
    expect(lines).toHaveLength(9);
    const store = await NdjsonStore.open(path);
    expect(await idsIn(store)).toEqual(['a', 'b', 'c', 'd', 'e', 'f']);
    await store.close();
  });

  it('whoever writes to it as well is seen', async () => {
    await twoPages();
    const store = await NdjsonStore.open(path);
    await appendFile(path, 'x');
    await expect(store.apply({ changes: [], state: state('3') })).rejects.toThrow(
      /Another harvest writes to/,
    );
    await store.close();
  });
});

it('a page that was only partly written because the disk was full is written again by the same store', async () => {
  const store = await NdjsonStore.open(path);
  await store.apply({ changes: [upsert('a', STAMP)], state: state('1') });
  const { size } = await stat(path);
  const file = await open(path);
  const handles = Object.getPrototypeOf(file) as FileHandle;
  await file.close();
  const full = jest.spyOn(handles, 'write').mockImplementationOnce(async () => {
    await appendFile(path, '{"op":"ups');
    throw new Error('ENOSPC: no space left on device, write');
  });
  const page = { changes: [upsert('b', STAMP)], state: state('2') };
  await expect(store.apply(page)).rejects.toThrow('ENOSPC');
  full.mockRestore();
  expect([(await stat(path)).size, (await store.state())?.cursor]).toEqual([size, '1']);
  await store.apply(page);
  expect([(await store.state())?.cursor, await idsIn(store)]).toEqual(['2', ['a', 'b']]);
  await store.close();
});

describe('a log that is written anew', () => {
  /** Starts over, so that the file is written anew. */
  const rewritten = async () => {
    const store = await NdjsonStore.open(path);
    await store.apply({ changes: [upsert('a', STAMP)], state: state('1') });
    await store.apply({ changes: [upsert('b', STAMP)], state: state('2') });
    expect(await store.sweep({ ...state('2'), isWithin: false, generation: 2 })).toBe(2);
    await store.close();
  };

  it('keeps the permissions of the file', async () => {
    await writeFile(path, '', { mode: 0o600 });
    await rewritten();
    expect((await stat(path)).mode & 0o777).toBe(0o600);
  });

  it('stays where a link leads', async () => {
    const place = join(folder, 'elsewhere.ndjson');
    await symlink(place, path);
    await rewritten();
    expect((await lstat(path)).isSymbolicLink()).toBe(true);
    expect(await readFile(place, 'utf8')).toMatch(/^{"op":"state","state":{[^\n]*\n$/);
    expect(await readdir(folder)).toEqual(['copy.ndjson', 'elsewhere.ndjson']);
  });
});
