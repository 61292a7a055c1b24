import { mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { firstState } from '../../../client/src/harvest/state.js';
import { committed, itemLine } from '../../../client/src/stores/ndjson/lines.js';
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
const STATE = { ...firstState('f', undefined), cursor: '1', isWithin: true };
const ITEM = itemLine({ ...upsert('a', STAMP), generation: 1 });

describe('a file that no harvest has made', () => {
  it.each([
    ['an answer of `changes` that somebody saved', `${ITEM}{"op":"end","to":"x","cursor":"c"}\n`],
    ['an answer of which the end is missing', ITEM.slice(0, 40)],
    ['records of somebody else', '{"id":"mine"}\n'],
    ['states of somebody else', '{"op":"state","state":{"feed":"f"}}\n{"op":"state",null}\n'],
    ['a state that counts nothing', '{"op":"state","bytes":-1,"crc32":0}\n{"op":"state","bytes":1.5}\n'],
    ['zeros', '\0\0\0\0\0\0\0\0'],
  ])('%s is refused and stays as it is', async (_name, text) => {
    await writeFile(path, text);
    await expect(NdjsonStore.open(path)).rejects.toThrow(/holds something else\. Give another file\./);
    expect(await readFile(path, 'utf8')).toBe(text);
  });
});

describe('a file that a harvest goes on with', () => {
  it.each([
    ['an empty one', ''],
    ['one whose first line is torn', '{"op":"state","by'],
    ['one whose first page is torn', `{"op":"state","bytes":0,"crc32":0,"compacted":0}\n${ITEM}{"op":"up`],
  ])('%s holds nothing, and takes pages', async (_name, text) => {
    await writeFile(path, text);
    const store = await NdjsonStore.open(path);
    expect([await store.state(), await store.newestGeneration()]).toEqual([undefined, undefined]);
    for await (const batch of store.held()) expect(batch).toEqual([]);
    await store.apply({ changes: [upsert('b', STAMP)], state: STATE });
    await store.close();
    const lines = (await readFile(path, 'utf8')).trimEnd().split('\n');
    expect(lines.map((line) => (JSON.parse(line) as { op: string }).op)).toEqual([
      'state',
      'upsert',
      'state',
    ]);
  });

  it('one that was made before there was a first line is read as it is', async () => {
    await writeFile(path, committed(ITEM, STATE, 0));
    const store = await NdjsonStore.open(path);
    expect(await store.state()).toEqual(STATE);
    for await (const batch of store.held())
      expect(batch).toEqual([{ id: 'a', lastupdated: STAMP, generation: 1 }]);
    await store.close();
  });
});
