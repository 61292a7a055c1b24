import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { NdjsonStore } from '../../../client/src/stores/ndjson/ndjson-store.js';
import { byId, type CopiedRecord, type CopyPlace, type CopyPlaces } from './copy-place.js';

export const ndjsonCopies = (): CopyPlaces => ({ fresh, end: () => Promise.resolve() });

async function fresh(): Promise<CopyPlace> {
  const folder = await mkdtemp(join(tmpdir(), 'tidemark-copy-'));
  const to = join(folder, 'copy.ndjson');
  return {
    to,
    table: 'products',
    open: () => NdjsonStore.open(to),
    records: async () => byId(held(await readFile(to, 'utf8'))),
    remove: () => rm(folder, { recursive: true }),
  };
}

type Line = CopiedRecord & { op: string; generation: number };

/** As the page of the client says how to read it: the last line of an id holds, behind the last state nothing does. */
function held(text: string): CopiedRecord[] {
  const lines = text
    .split('\n')
    .slice(0, -1)
    .map((line) => JSON.parse(line) as Line);
  const records = new Map<string, Line>();
  for (const line of lines.slice(
    0,
    lines.findLastIndex(({ op }) => op === 'state'),
  )) {
    if (line.op === 'upsert') records.set(line.id, line);
    else if (line.op === 'sweep')
      for (const [id, { generation }] of records) {
        if (generation < line.generation) records.delete(id);
      }
    else records.delete(line.id);
  }
  return [...records.values()].map(({ op: _op, generation: _generation, ...record }) => record);
}
