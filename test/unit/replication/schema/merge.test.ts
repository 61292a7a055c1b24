import { changesBetween, merged } from '../../../../src/replication/schema/merge.js';
import {
  countPlaces,
  MOST_NAMES,
  MOST_PLACES,
  nothingSeen,
  SampleCollector,
  type SeenItems,
} from '../../../../src/replication/schema/seen.js';

function seenOf(datas: unknown[]): SeenItems {
  const sample = new SampleCollector(undefined);
  for (const data of datas) sample.add(data);
  return sample.seen;
}

const times = <T>(count: number, value: T): T[] => Array.from({ length: count }, () => value);

describe('what a sample does not show remains, until enough records were read without it', () => {
  /** Merges samples of 500 records without the field until it is gone; the round of the walk ends with each tenth. */
  function samplesUntilGone(share: number): number {
    let seen = seenOf([...times(1000 * share, { a: 1, rare: 1 }), ...times(1000 - 1000 * share, { a: 1 })]);
    for (let samples = 1; samples < 1000; samples += 1) {
      seen = merged(seen, seenOf(times(500, { a: 1 })), Math.floor(samples / 10));
      if (!seen.data.fields.has('rare')) return samples;
    }
    return Infinity;
  }

  it.each([
    ['at once after a whole round of the walk, if all had it', 1, 20],
    ['the same if a tenth had it', 0.1, 20],
    ['later, if one of a thousand had it', 0.001, 32],
  ])('%s', (_, share, samples) => expect(samplesUntilGone(share)).toBe(samples));

  it('and begins anew when it is seen again', () => {
    const without = seenOf(times(500, { a: 1 }));
    let seen = seenOf(times(500, { a: 1, b: 1 }));
    seen = merged(seen, without, 1);
    expect(seen.data.fields.get('b')!.absence).toEqual({ share: 1, chances: 500, round: 1 });
    seen = merged(seen, seenOf([{ b: 1 }]), 2);
    expect(seen.data.fields.get('b')!.absence).toBeUndefined();
    expect(merged(seen, without, 3).data.fields.get('b')!.absence!.round).toBe(3);
  });

  it('a field within an object is missed only where the object is', () => {
    const before = seenOf(times(100, { address: { city: 'x', zip: '1' } }));
    const after = merged(before, seenOf(times(500, { a: 1 })), 1);
    const address = after.data.fields.get('address')!;
    expect(address.absence).toBeDefined();
    expect(address.fields.get('city')!.absence).toBeUndefined();
  });

  it('a type vanishes as a field does', () => {
    let seen = seenOf([...times(500, { a: 1 }), ...times(500, { a: 'x' })]);
    for (let samples = 1; samples <= 20; samples += 1)
      seen = merged(seen, seenOf(times(500, { a: 1 })), Math.floor(samples / 10));
    expect([...seen.data.fields.get('a')!.types.keys()]).toEqual(['integer']);
  });
});

it('earlier samples fade', () => {
  let seen = seenOf(times(1000, { a: 1 }));
  for (let sample = 0; sample < 100; sample += 1) seen = merged(seen, seenOf(times(1000, {})), 0);
  expect(seen.records).toBe(11_000);
  expect(seen.data.fields.get('a')!.count).toBeLessThan(1);
});

it('what is known stays within its bounds, and what it is made from stays as it was', () => {
  const fields = (first: number) =>
    Object.fromEntries(
      Array.from({ length: 6 }, (_, group) => [
        `g${first + group}`,
        Object.fromEntries(Array.from({ length: 100 }, (_x, index) => [`f${index}x`, 1])),
      ]),
    );
  const [before, sample] = [seenOf([fields(0)]), seenOf([fields(10)])];
  const copy = structuredClone(before);
  const after = merged(before, sample, 0);
  expect(countPlaces(after.data)).toBeLessThanOrEqual(MOST_PLACES);
  expect(after.data.fields.has('g0')).toBe(true);
  expect(before).toEqual(copy);

  const names = (from: number) =>
    seenOf([{ map: Object.fromEntries(Array.from({ length: 150 }, (_, at) => [`n${from + at}x`, 1])) }]);
  const map = merged(names(0), names(MOST_NAMES), 0).data.fields.get('map')!;
  expect([map.isMap, map.fields.size, map.values?.count]).toEqual([true, 0, 300]);
});

describe('the changes between two schemas', () => {
  const changes = (before: unknown[], after: unknown[]) => changesBetween(seenOf(before), seenOf(after));

  it('are the fields that appear, vanish or change their type', () => {
    expect(
      changes(
        [{ a: 1, gone: 'x', rows: [{ b: 1 }] }],
        [{ a: 'x', rows: [{ b: 1, c: true }], address: { city: 'x' } }],
      ),
    ).toEqual([
      { path: 'data.a', change: 'type', from: ['integer'], to: ['string'] },
      { path: 'data.address', change: 'appeared', to: ['object'] },
      { path: 'data.address.city', change: 'appeared', to: ['string'] },
      { path: 'data.gone', change: 'vanished', from: ['string'] },
      { path: 'data.rows[].c', change: 'appeared', to: ['boolean'] },
    ]);
  });

  it('are none where only counts or the order differ', () => {
    expect(changes([{ a: 1, b: 2 }, { a: 1 }], [{ b: 5, a: 7 }])).toEqual([]);
    expect(changes([{ a: 1 }, { a: 1.5 }], [{ a: 1.5 }])).toEqual([]);
    expect(changesBetween(nothingSeen(), nothingSeen())).toEqual([]);
  });

  it('name no members of what has become a map', () => {
    const map = (count: number) => [
      { map: Object.fromEntries(Array.from({ length: count }, (_, index) => [`k${index}`, 1])) },
    ];
    expect(changes(map(MOST_NAMES), map(MOST_NAMES + 1))).toEqual([
      { path: 'data.map.*', change: 'appeared', to: ['integer'] },
    ]);
  });
});
