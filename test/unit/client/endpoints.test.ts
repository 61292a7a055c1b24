import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import type { ChangesOptions, FeedWindow, Tidemark } from '../../../client/src/index.js';
import type {
  ListProductChangesData,
  ListProductUpdatesData,
} from '../../../client/src/generated/types.gen.js';
import { json, Served } from './served.js';

const TYPES = readFileSync(join(__dirname, '../../../client/src/generated/types.gen.ts'), 'utf8');

/** True, or no type at all: a parameter that only one side knows is an error of the compiler. */
type Same<One, Other> = [One] extends [Other] ? ([Other] extends [One] ? true : never) : never;
type ParametersOf<Data extends { query?: object }> = keyof NonNullable<Data['query']>;

it('the client takes each parameter of a feed', () => {
  const ofFeed: Same<keyof FeedWindow, ParametersOf<ListProductUpdatesData> | 'signal'> = true;
  const ofChanges: Same<
    keyof ChangesOptions | 'lastoffsetid',
    ParametersOf<ListProductChangesData> | 'signal'
  > = true;
  expect([ofFeed, ofChanges]).toEqual([true, true]);
});

async function first(items: AsyncIterable<unknown>): Promise<void> {
  for await (const _item of items) return;
}

const to = '2026-11-20';
const CALLS: ((tidemark: Tidemark) => Promise<unknown>)[] = [
  ...(['member', 'product'] as const).flatMap((kind) => [
    (tidemark: Tidemark) => tidemark.max(kind),
    (tidemark: Tidemark) => first(tidemark.events(kind)),
    (tidemark: Tidemark) => first(tidemark.updates(kind, '{service}')),
    (tidemark: Tidemark) => first(tidemark.softdeletes(kind, '{service}')),
    (tidemark: Tidemark) => first(tidemark.harddeletes(kind)),
    (tidemark: Tidemark) => first(tidemark.changes(kind, '{service}')),
    (tidemark: Tidemark) => tidemark.digest(kind, '{service}', { to }),
    (tidemark: Tidemark) => tidemark.schema(kind, '{service}'),
  ]),
  (tidemark) => first(tidemark.channel('{channel}').updates()),
  (tidemark) => first(tidemark.channel('{channel}').softdeletes()),
  (tidemark) => first(tidemark.channel('{channel}').changes()),
  ({ member }) => member.create({ accountnumber: '1', email: 'a@b' }),
  ({ member }) => member.get('{memberid}'),
  ({ member }) => member.patch('{memberid}', {}),
  ({ member }) => member.patchAddress('{memberid}', {}),
];

it('the client has a call for each endpoint of the document', async () => {
  const served = await Served.start(...CALLS.map(() => json({ result: [], nextoffsetid: '' })));
  const tidemark = served.client({ retries: { times: 0 } });
  for (const call of CALLS) await call(tidemark).catch(() => undefined);
  await served.stop();
  const called = served.paths.map((path) => `/{org}/{app}/${decodeURIComponent(path.replace(/\?.*/, ''))}`);
  const told = [...TYPES.matchAll(/^ {4}url: '(.+)';$/gm)].map(([, url]) => url!);
  expect(told.length).toBeGreaterThan(15);
  expect(told.filter((url) => !called.includes(url))).toEqual([]);
  expect(called.length).toBe(CALLS.length);
});
