import {
  CopyTakenError,
  Harvester,
  type CopyState,
  type CopyStore,
  type ToldChange,
} from '../../client/src/harvest/index.js';
import type { CopyPlace, CopyPlaces } from '../support/copies/index.js';
import { OnePage } from './harvest-one-page.js';

const FIRST: CopyState = {
  feed: 'acme/shop/product/bikes',
  phase: 'following',
  generation: 1,
  isWithin: true,
  cursor: '1',
};
const at = (cursor: string, more: Partial<CopyState> = {}): CopyState => ({ ...FIRST, cursor, ...more });
const STAMPS = ['2026-01-01T00:00:00.000Z', '2026-01-02T00:00:00.000Z', '2026-01-03T00:00:00.000Z'] as const;
const [OLD, MID, NEW] = STAMPS;

/** Keys and texts that databases are particular about. */
const HARD = {
  $set: { 'a.b': 1 },
  '': 'empty',
  nul: 'a\u0000b',
  lines: 'x\u2028y\nz',
  quote: `'"\\{}`,
  deep: { list: [1, 2.5, -0.001, null, true, 'ü💧', {}] },
  large: 9007199254740991,
};

function told(id: string, lastupdated: string, more: object = {}): ToldChange {
  const fields = { type: 'product', createDate: OLD, createdBy: 'erp', data: {}, channels: ['web'] };
  return { op: 'upsert', id, lastupdated, ...fields, ...more };
}
const gone = (id: string, lastupdated: string): ToldChange => ({
  op: 'delete',
  id,
  lastupdated,
  reason: 'gone',
});

/** A record that a store has no place for, or that what its user has added refuses. */
export type Unfit = [what: string, id: string, more: object, add?: (place: CopyPlace) => Promise<void>];

/** Stores of UTF-8 cannot hold them. */
export const HALVES: Unfit[] = [
  ['an `id` with half of a surrogate pair', 'half\ud83d', {}],
  ['a text with half of a surrogate pair', 'half', { createdBy: '\ude00' }],
];

/** What the user of a store has added, so that records with `createdBy: 'kept'` are not removed, and no error is given. */
export type KeptAnyway = [what: string, add: (place: CopyPlace) => Promise<void>];

/** What every store keeps: the cases of this table, by a real database or file. */
export function storeContract(
  name: string,
  places: () => Promise<CopyPlaces>,
  unfit: Unfit[] = [],
  kept: KeptAnyway[] = [],
): void {
  describe(`a copy in ${name}`, () => {
    let all: CopyPlaces;
    let place: CopyPlace;
    let store: CopyStore;
    beforeAll(async () => {
      all = await places();
    });
    beforeEach(async () => {
      place = await all.fresh();
      store = await place.open();
    });
    afterEach(async () => {
      await store.close();
      await place.remove();
    });
    afterAll(() => all.end());

    const stamps = async () =>
      [...(await place.records()).values()].map(({ id, lastupdated }) => [id, lastupdated]).sort();
    const heldIn = async (one: CopyStore) => {
      const found: string[][] = [];
      for await (const batch of one.held())
        found.push(...batch.map(({ id, lastupdated }) => [id, lastupdated]));
      return found.sort();
    };
    const reopened = async () => {
      await store.close();
      store = await place.open();
      return store;
    };

    it('records of a service that leaves out or hashes their fields are kept', async () => {
      const page = [
        told('left out', OLD, { createdBy: undefined, channels: undefined }),
        told('hashed', MID, { createdBy: '2yU4_WNLbkh_6_KeSJU63A', channels: 'hf34KbEJz_UgpAGYwjcpfA' }),
      ];
      await store.apply({ changes: page, state: at('2') });
      expect(await stamps()).toEqual([
        ['hashed', MID],
        ['left out', OLD],
      ]);
      expect((await (await reopened()).state())?.cursor).toBe('2');
    });

    for (const [what, id, more, add] of unfit)
      it(`${what} is refused for itself, and a harvest goes on without it`, async () => {
        await add?.(place);
        const page = [told('a', OLD), told(id, MID, more), told('b', NEW)];
        const refusal = await store.apply({ changes: page, state: at('2') }).catch((error: unknown) => error);
        if (!store.isUnfit(refusal)) throw refusal;
        expect([await stamps(), await store.state()]).toEqual([[], undefined]);
        const source = new OnePage(FIRST.feed, page);
        await new Harvester(source, store).harvest();
        expect(await stamps()).toEqual([
          ['a', OLD],
          ['b', NEW],
        ]);
        expect((await store.state())?.unfit).toEqual([
          expect.objectContaining({ id: id.slice(0, 200), lastupdated: MID, reason: expect.any(String) }),
        ]);
        source.page = [told('c', NEW), gone(id, NEW)];
        await new Harvester(source, store).harvest();
        expect((await store.state())?.unfit ?? []).toEqual([]);
      });

    for (const [what, add] of kept)
      it(`${what} is refused for itself, by a page, by mending and by a sweep`, async () => {
        await add(place);
        await store.apply({
          changes: [told('own', OLD, { createdBy: 'kept' }), told('a', OLD)],
          state: FIRST,
        });
        const state = at('2', { generation: 2 });
        for (const attempt of [
          () => store.apply({ changes: [gone('own', NEW)], state }),
          () => store.mend({ upserts: [], removed: ['own'], state }),
          () => store.sweep(state),
        ]) {
          const refusal = await attempt().catch((error: unknown) => error);
          expect([refusal, store.isUnfit(refusal)]).toEqual([expect.any(RangeError), true]);
        }
        expect(await stamps()).toEqual([
          ['a', OLD],
          ['own', OLD],
        ]);
        await new Harvester(new OnePage(FIRST.feed, [gone('own', NEW), gone('a', NEW)]), store).harvest();
        expect(await stamps()).toEqual([['own', OLD]]);
        const noted = [expect.objectContaining({ id: 'own', lastupdated: NEW, isRemoval: true })];
        expect((await store.state())?.unfit).toEqual(noted);
      });

    it('a failure of its own is no record that it cannot hold', () => {
      for (const error of [new Error('connect ECONNREFUSED'), new CopyTakenError('here')])
        expect(store.isUnfit(error)).toBe(false);
    });

    it('begins empty', async () => {
      expect([await store.state(), await store.newestGeneration()]).toEqual([undefined, undefined]);
      expect(await heldIn(store)).toEqual([]);
    });

    it('keeps a page and its state, item for item, and finds both again', async () => {
      const { channels: _none, ...member } = told('m', OLD, { type: 'member' }) as { channels: unknown };
      const items = [
        told('i\'d \\ "ü"', OLD, { data: HARD }),
        told('', OLD, { channels: [] }),
        member as ToldChange,
      ];
      await store.apply({ changes: items, state: FIRST });
      expect(await (await reopened()).state()).toEqual(FIRST);
      expect(await store.newestGeneration()).toBe(1);
      const expected = items.map((item) => ({ ...item, op: undefined }));
      const records = [...(await place.records()).values()];
      expect(records.sort(one).map((record) => ({ ...record, op: undefined }))).toEqual(expected.sort(one));
    });

    it.each([
      ['a newer upsert is applied', [told('a', NEW)], [['a', NEW]]],
      ['the same once more changes nothing', [told('a', MID)], [['a', MID]]],
      ['an older upsert is not applied', [told('a', OLD)], [['a', MID]]],
      ['a delete that is newer is applied', [gone('a', NEW)], []],
      ['a delete of the same moment is applied', [gone('a', MID)], []],
      ['an older delete is not applied', [gone('a', OLD)], [['a', MID]]],
      ['a delete of what is not held changes nothing', [gone('b', NEW)], [['a', MID]]],
    ])('%s', async (_name, changes, expected) => {
      await store.apply({ changes: [told('a', MID)], state: FIRST });
      await store.state();
      await store.apply({ changes, state: at('2') });
      expect(await heldIn(store)).toEqual(expected);
      expect(await store.state()).toEqual(at('2'));
    });

    it('of a page of many, what is older is not applied, and marks', async () => {
      const ids = Array.from({ length: 45 }, (_, n) => `r${n + 10}`);
      await store.apply({ changes: [told('r15', NEW), told('r52', NEW)], state: FIRST });
      const starting = at('2', { phase: 'starting', generation: 2 });
      await store.apply({ changes: ids.map((id) => told(id, MID)), state: starting });
      await store.sweep(at('2', { generation: 2 }));
      const expected = ids.map((id) => [id, id === 'r15' || id === 'r52' ? NEW : MID]);
      expect(await heldIn(store)).toEqual(expected);
    });

    it('a sweep removes what a new start has not told of, whatever its stamp', async () => {
      const old = ['told', 'older', 'removed', 'untold'].map((id) => told(id, MID));
      await store.apply({ changes: old, state: FIRST });
      const starting = at('2', { phase: 'starting', generation: 2 });
      const again = [told('told', MID), told('older', OLD), gone('removed', NEW), told('new', NEW)];
      await store.apply({ changes: again, state: starting });
      expect(await store.newestGeneration()).toBe(2);
      await (await reopened()).state();
      const swept = at('2', { generation: 2 });
      expect([await store.sweep(swept), await store.sweep(swept)]).toEqual([1, 0]);
      expect(await heldIn(store)).toEqual([
        ['new', NEW],
        ['older', MID],
        ['told', MID],
      ]);
      expect(await (await reopened()).state()).toEqual(swept);
      expect(await heldIn(store)).toHaveLength(3);
    });

    it('mends without looking at stamps', async () => {
      await store.apply({ changes: [told('a', NEW), told('b', NEW), told('c', MID)], state: FIRST });
      const upserts = [told('a', OLD, { data: { n: 1 } }), told('d', OLD)] as Extract<
        ToldChange,
        { op: 'upsert' }
      >[];
      await store.mend({ upserts, removed: ['b'], state: FIRST });
      expect(await heldIn(store)).toEqual([
        ['a', OLD],
        ['c', MID],
        ['d', OLD],
      ]);
      expect(await stamps()).toEqual(await heldIn(store));
      expect((await place.records()).get('a')?.data).toEqual({ n: 1 });
    });

    it('mends no other record in place of one whose `id` has half of a surrogate pair', async () => {
      await store.apply({ changes: [told('half\ufffd', OLD)], state: FIRST });
      await store.mend({ upserts: [], removed: ['half\ud83d'], state: FIRST }).catch(() => undefined);
      expect(await heldIn(store)).toEqual([['half\ufffd', OLD]]);
    });

    it('takes what a new start tells, also where it holds a later state', async () => {
      const changes = [told('a', NEW), told('b', MID), told('c', OLD)];
      await store.apply({ changes, state: at('2', { isWithin: false }) });
      const page = [told('a', OLD, { data: { n: 1 } }), gone('b', OLD)];
      await new Harvester(new OnePage(FIRST.feed, page), store).harvest({ startsOver: true });
      expect(await heldIn(store)).toEqual([['a', OLD]]);
      expect((await place.records()).get('a')?.data).toEqual({ n: 1 });
    });

    it('tells that another harvest writes to it as well, and keeps what that one wrote', async () => {
      await store.apply({ changes: [told('a', MID)], state: FIRST });
      const other = await place.open();
      await other.state();
      await other.apply({ changes: [told('b', MID)], state: at('2') });
      await expect(store.apply({ changes: [told('c', MID)], state: at('3') })).rejects.toThrow(
        CopyTakenError,
      );
      await other.close();
      expect(await (await reopened()).state()).toEqual(at('2'));
      expect(await heldIn(store)).toEqual([
        ['a', MID],
        ['b', MID],
      ]);
    });

    it('tells whether a record is held by its `id`', async () => {
      await store.apply({ changes: ['a', 'nul', '\ufffd'].map((id) => told(id, MID)), state: FIRST });
      const held: string[] = [];
      for (const id of ['a', 'A', 'a ', '', 'nul\u0000b', '\ud83d', '\ufffd'])
        if (await store.has(id).catch((error: unknown) => !store.isUnfit(error))) held.push(id);
      expect(held).toEqual(['a', '\ufffd']);
    });

    it('holds more than one batch', async () => {
      const ids = Array.from({ length: 10_500 }, (_, n) => `r${n}`);
      await store.apply({ changes: ids.map((id) => told(id, MID)), state: FIRST });
      expect(await heldIn(store)).toEqual(ids.map((id) => [id, MID]).sort());
    });
  });
}

function one(first: { id: string }, second: { id: string }): number {
  return first.id < second.id ? -1 : 1;
}
