import { ObjectId } from 'bson';
import { controlEvent, idName } from '../../../../src/platform/control/change.js';

const ns = { db: 'd', coll: 'credentials' };

describe('what an event of the control stream says', () => {
  const id = new ObjectId();

  it('a document that is new or replaced, with the whole of its fields that are told', () => {
    for (const operationType of ['insert', 'replace'])
      expect(controlEvent({ operationType, ns, id, whole: { stamp: 1 }, removed: [] })).toEqual({
        type: 'changed',
        collection: 'credentials',
        change: { id, what: operationType, fields: { stamp: 1 }, removed: [] },
      });
  });

  it('an update: what changed, and what was removed', () => {
    const raw = { operationType: 'update', ns, id, whole: { a: 1 }, changed: { b: 2 }, removed: ['c'] };
    expect(controlEvent(raw)).toEqual({
      type: 'changed',
      collection: 'credentials',
      change: { id, what: 'update', fields: { b: 2 }, removed: ['c'] },
    });
  });

  it('one whose _id is too large to be told', () => {
    const event = controlEvent({ operationType: 'delete', ns });
    expect(event).toEqual({
      type: 'changed',
      collection: 'credentials',
      change: { what: 'delete', fields: {}, removed: [] },
    });
  });

  it('a collection that is gone, or has another name, or has taken the place of one', () => {
    expect(controlEvent({ operationType: 'drop', ns })).toEqual({
      type: 'lost',
      collections: ['credentials'],
    });
    const to = { db: 'd', coll: 'applications' };
    expect(controlEvent({ operationType: 'rename', ns, to })).toEqual({
      type: 'lost',
      collections: ['credentials', 'applications'],
    });
  });

  it.each(['dropDatabase', 'invalidate'])('%s: the stream is at its end', (operationType) => {
    expect(controlEvent({ operationType })).toEqual({ type: 'ended' });
  });

  it('nothing of what concerns nobody', () => {
    expect(controlEvent({ operationType: 'createIndexes', ns })).toBeUndefined();
  });
});

describe('the name of an _id', () => {
  it('is the same for the same _id, and another for any other', () => {
    const id = new ObjectId();
    expect(idName(id)).toBe(idName(new ObjectId(id.toHexString())));
    const all = [id, id.toHexString(), 1, '1', 1.5, { a: 1, b: 2 }, { b: 2, a: 1 }, new Date(1), null];
    expect(new Set(all.map(idName)).size).toBe(all.length);
  });
});
