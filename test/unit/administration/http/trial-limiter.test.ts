import { TrialLimiter } from '../../../../src/administration/http/administration.js';

const here = new AbortController().signal;
const soon = () => new Promise((resolve) => setImmediate(resolve));

let places: TrialLimiter;
let begun: string[];
let ends: (() => void)[];
beforeEach(() => {
  places = new TrialLimiter();
  begun = [];
  ends = [];
});

/** A preview that lasts until the test ends it, whatever becomes of its signal. */
const preview = (organization: string, gone = here) =>
  places.during(organization, gone, () => {
    begun.push(organization);
    return new Promise<object>((resolve) => ends.push(() => resolve({})));
  });

it('two of an organization work at a time, and the first of each waits for nobody else', async () => {
  places.waitMs = 30_000;
  const all = ['a', 'a', 'a', 'b', 'b', 'c', 'c', 'd'].map((name) => preview(name));
  await soon();
  // Beside the first of each, two of all: the second of c waits for them, the third of a for its own.
  expect(begun).toEqual(['a', 'a', 'b', 'b', 'c', 'd']);
  for (let ended = 0; ended < all.length; ended += 1) {
    ends[ended]?.();
    await soon();
  }
  expect(begun.toSorted().join('')).toBe('aaabbccd');
  expect(await Promise.all(all)).toHaveLength(8);
});

it('one whose turn does not come in time is told that others are at work', async () => {
  places.waitMs = 1;
  const working = [preview('a'), preview('a')];
  await expect(preview('a')).rejects.toMatchObject({ status: 503, slug: 'busy' });
  const other = preview('b');
  await soon();
  expect(begun).toEqual(['a', 'a', 'b']);
  for (const end of ends) end();
  await Promise.all([...working, other]);
});

it('where the time is over nothing is answered, and the place is taken until MongoDB has done with it', async () => {
  Object.assign(places, { wholeMs: 1, waitMs: 1 });
  expect(await Promise.all([preview('a'), preview('a')])).toEqual([undefined, undefined]);
  places.wholeMs = 30_000;
  await expect(preview('a')).rejects.toMatchObject({ slug: 'busy' });
  for (const end of ends) end();
  await soon();
  const next = preview('a');
  await soon();
  ends.at(-1)?.();
  expect(await next).toEqual({});
});

it('whose client has gone is done no more', async () => {
  places.waitMs = 30_000;
  const working = [preview('a'), preview('a')];
  const gone = new AbortController();
  const waiting = preview('a', gone.signal);
  gone.abort();
  expect(await waiting).toBeUndefined();
  for (const end of ends) end();
  await Promise.all(working);
  expect(begun).toEqual(['a', 'a']);
});

it('whose client had gone before is not begun', async () => {
  expect(await preview('a', AbortSignal.abort())).toBeUndefined();
  expect(begun).toEqual([]);
});

it('what the work throws is thrown', async () => {
  const broken = new Error('broken');
  await expect(places.during('a', here, () => Promise.reject(broken))).rejects.toBe(broken);
});

it('its timers end with it', async () => {
  const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
  const before = timers();
  const work = () => Promise.resolve({ during: timers() - before });
  expect(await places.during('a', here, work)).toEqual({ during: 2 });
  expect(timers()).toBe(before);
});
