import { Harvester, sourceOf } from '../../../client/src/harvest/index.js';
import { json, Served } from '../client/served.js';
import { MemoryCopy } from './memory-copy.js';

const AT = '2026-11-20T10:00:00.000Z';
const FEED = { org: 'acme', app: 'shop', kind: 'product', service: 'bikes' } as const;
const WHOLE = { op: 'upsert', id: 'a', lastupdated: AT };

let served: Served;
afterEach(() => served.stop());

it.each([
  ['op', { ...WHOLE, op: undefined }],
  ['a known op', { ...WHOLE, op: 'replace' }],
  ['id', { ...WHOLE, id: undefined }],
  ['lastupdated', { op: 'delete', id: 'a', lastUpdated: AT }],
  ['everything', null],
])('a page with a change that lacks %s is not stored, and moves no cursor', async (_what, change) => {
  const page = { result: [{ ...WHOLE, id: 'b' }, change], to: AT, nextoffsetid: '', cursor: 'c1' };
  served = await Served.start(json(page), json({ ...page, result: [] }));
  const copy = new MemoryCopy();
  const harvester = new Harvester(sourceOf(served.client(), FEED), copy);
  await expect(harvester.harvest()).rejects.toThrow('an item lacks op, id or lastupdated');
  expect([copy.records.size, await copy.state()]).toEqual([0, undefined]);
});
