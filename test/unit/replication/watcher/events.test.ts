import { mongo } from 'mongoose';
import { watchedEvent } from '../../../../src/replication/watcher/events.js';
import { timeOf } from '../../../../src/replication/watcher/source.js';
import { at, TENANT } from './written.js';

const _id = new mongo.ObjectId();

/** An event as the pipeline projects it. */
const raw = (operationType: string, fields: object = {}) => ({
  operationType,
  clusterTime: at(1),
  ns: { coll: 'products' },
  owner: _id,
  ...fields,
});
const stored = { ...TENANT, id: 'x' };
const written = { type: 'written', at: at(1), kind: 'product', owner: _id, channels: [] };

describe('what an event tells', () => {
  it('an insert and a replacement: the record as a whole', () => {
    const expected = { ...written, identity: stored, whole: true };
    expect(watchedEvent(raw('insert', { stored, changed: {} }))).toEqual(expected);
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

  it('a delete: only which record it was', () => {
    expect(watchedEvent(raw('delete'))).toEqual({ type: 'deleted', at: at(1), kind: 'product', owner: _id });
  });

  it('the kind is that of the collection', () => {
    expect(watchedEvent(raw('delete', { ns: { coll: 'members' } }))).toMatchObject({ kind: 'member' });
  });

  it.each(['drop', 'rename', 'dropDatabase', 'invalidate'])(
    '%s: no record by itself, but a pass is needed',
    (type) => {
      expect(watchedEvent(raw(type, { owner: undefined }))).toEqual({
        type: 'upheaval',
        at: at(1),
        what: type,
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
