import { mongo } from 'mongoose';
import { reached, timeOf } from '../../../../../src/replication/watcher/log/change-stream.js';
import { watchedEvent } from '../../../../../src/replication/watcher/log/event-pipeline.js';
import { at, TENANT } from '../../protocol/written.js';

const _id = new mongo.ObjectId();
const PLACE = '65A1B2C3000000012B022C01002B0C6E5A10040A';
const when = { at: at(1), place: PLACE };

/** An event as the pipeline projects it. */
const raw = (operationType: string, fields: object = {}) => ({
  operationType,
  clusterTime: at(1),
  _id: { _data: `82${PLACE}5A1004` },
  ns: { coll: 'products' },
  owner: _id,
  ...fields,
});
const identity = { ...TENANT, id: 'x' };
const STAMP = new Date(5);
const stored = { ...identity, stamp: STAMP };
const written = {
  type: 'written',
  ...when,
  kind: 'product',
  owner: _id,
  channels: [],
  isKeyOnly: false,
  isStampOnly: false,
};

describe('what an event tells', () => {
  it('an insert and a replacement: the record as a whole', () => {
    const expected = { ...written, identity, whole: true, stamp: STAMP };
    expect(watchedEvent(raw('insert', { stored, changed: {} }))).toEqual({ ...expected, isNew: true });
    expect(watchedEvent(raw('replace', { stored, changed: {} }))).toEqual(expected);
  });

  it('an update: only what was changed, and what was taken away', () => {
    const update = raw('update', {
      stored: {},
      changed: { appid: 'erp', id: null, organizationid: null },
      removed: ['id'],
    });
    expect(watchedEvent(update)).toEqual({
      ...written,
      identity: { appid: 'erp', id: false },
      whole: false,
    });
    const other = watchedEvent(raw('update', { stored: {}, changed: {}, removed: null }));
    expect(other).toEqual({ ...written, identity: {}, whole: false });
  });

  it.each<[string, object, object]>([
    ['a whole record without a stamp', raw('insert', { stored: identity, changed: {} }), { stamp: null }],
    ['one that is not a date', raw('insert', { stored: { stamp: false }, changed: {} }), { stamp: null }],
    ['a change that sets it', raw('update', { stored: {}, changed: { stamp: STAMP } }), { stamp: STAMP }],
    ['one that spoils it', raw('update', { stored: {}, changed: { stamp: false } }), { stamp: null }],
    [
      'one that removes it',
      raw('update', { stored: {}, changed: {}, removed: ['lastupdated'] }),
      { stamp: null },
    ],
  ])('the stamp: %s', (_name, event, expected) => {
    expect(watchedEvent(event)).toMatchObject(expected);
  });

  it.each<[string, object, boolean]>([
    ['a whole record', raw('insert', { stored, changed: {}, isShown: true }), true],
    [
      'a change of other fields',
      raw('update', { stored: {}, changed: { stamp: STAMP }, isShown: true }),
      true,
    ],
    ['what the server does not show whole', raw('insert', { stored, changed: {}, isShown: false }), false],
    ['one without a stamp', raw('insert', { stored: identity, changed: {}, isShown: true }), false],
    ['one that leaves the stamp', raw('update', { stored: {}, changed: {}, isShown: true }), false],
    [
      'one without an id',
      raw('insert', { stored: { ...TENANT, stamp: STAMP }, changed: {}, isShown: true }),
      false,
    ],
    [
      'one with a number as id',
      raw('insert', { stored: { ...stored, isNumber: true }, changed: {}, isShown: true }),
      false,
    ],
    [
      'one with an id that cannot be read',
      raw('insert', { stored: { ...stored, id: 'x\uFFFD' }, changed: {}, isShown: true }),
      false,
    ],
  ])('whether a record is in order: %s', (_name, event, expected) => {
    expect((watchedEvent(event) as { isInOrder?: true }).isInOrder === true).toBe(expected);
  });

  it('the stamp: a change that leaves it alone', () => {
    expect(watchedEvent(raw('update', { stored: {}, changed: { stamp: null } }))).not.toHaveProperty('stamp');
  });

  it('a raise of a mark, whether it shows the document or only what changed', () => {
    const mark = { ...TENANT, kind: 'product' };
    const fence = new Date('2026-11-20T10:00:00.000Z');
    const text = `${fence.toISOString()} 7`;
    for (const shown of [
      { announced: text, raised: null },
      { announced: null, raised: text },
    ]) {
      const event = raw('update', { ns: { coll: 'tidemark.marks' }, mark, ...shown });
      expect(watchedEvent(event)).toEqual({ type: 'announced', ...when, mark, fence });
    }
    expect(
      watchedEvent(raw('insert', { ns: { coll: 'tidemark.marks' }, mark, announced: 'other' })),
    ).toBeUndefined();
  });

  it('a tombstone, and a change of services', () => {
    const event = raw('update', { ns: { coll: 'tidemark.ledger' }, changed: { stamp: STAMP } });
    expect(watchedEvent(event)).toEqual({ type: 'tombstone', ...when, entry: _id, stamp: STAMP });
    const services = { ns: { coll: 'services' } };
    expect(watchedEvent(raw('delete', services))).toEqual({ type: 'services', ...when, id: _id });
    const other = { ...services, owner: { type: 'string' } };
    expect(watchedEvent(raw('delete', other))).toEqual({ type: 'services', ...when });
    expect(watchedEvent(raw('drop', services))).toEqual({ type: 'services', ...when });
  });

  it('a delete: only which record it was', () => {
    expect(watchedEvent(raw('delete'))).toEqual({ type: 'deleted', ...when, kind: 'product', owner: _id });
  });

  it('the kind is that of the collection', () => {
    expect(watchedEvent(raw('delete', { ns: { coll: 'members' } }))).toMatchObject({ kind: 'member' });
  });

  it.each(['drop', 'rename', 'dropDatabase', 'invalidate'])(
    '%s: no record by itself, but a pass is needed',
    (type) => {
      expect(watchedEvent(raw(type, { owner: undefined }))).toEqual({
        type: 'collectionLost',
        ...when,
        what: type,
        collection: 'products',
      });
    },
  );

  it.each(['create', 'createIndexes', 'modify'])('%s: nothing', (type) => {
    expect(watchedEvent(raw(type, { owner: undefined }))).toBeUndefined();
  });

  it('records in other collections: nothing', () => {
    expect(watchedEvent(raw('insert', { ns: { coll: 'others' }, stored, changed: {} }))).toBeUndefined();
  });
});

describe('the channels that a record got', () => {
  const channelsOf = (fields: object) => watchedEvent(raw('update', { stored: {}, changed: {}, ...fields }));

  it.each<[string, object, string[]]>([
    ['set as a whole', { channels: ['a', 'b'] }, ['a', 'b']],
    ['single places', { channels: [], placed: [{ k: 'channels.1', v: 'a' }] }, ['a']],
    ['none', { channels: null, placed: null }, []],
  ])('%s', (_name, fields, channels) => {
    expect(channelsOf(fields)).toMatchObject({ channels });
  });
});

it('a token begins with its cluster time', () => {
  const time = timeOf({ _data: '826B013D5B000000062B0229296E04' });
  expect([time.getHighBits(), time.getLowBits()]).toEqual([0x6b013d5b, 6]);
});

describe('the cluster time that is worked through with a batch', () => {
  const event = (type: 'services' | 'announced') =>
    watchedEvent(
      type === 'services'
        ? raw('insert', { ns: { coll: 'services' } })
        : raw('insert', {
            ns: { coll: 'tidemark.marks' },
            mark: {},
            announced: '2026-11-20T10:00:00.000Z 1',
          }),
    );

  it.each<[string, ReturnType<typeof event>, number]>([
    ['just before the last event: others of its transaction may follow', event('services'), 0],
    ['its own, where it is an announcement', event('announced'), 1],
    ['just before where the log stands, without events', undefined, 0],
  ])('%s', (_name, last, place) => {
    expect(reached(at(1), last)).toEqual(at(place));
  });

  it('an announcement that is not the last thing in the log counts no more than others', () => {
    expect(reached(at(2), event('announced'))).toEqual(at(1));
  });
});
