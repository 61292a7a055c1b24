import { mongo } from 'mongoose';
import {
  concernedBy,
  type Filter,
  hiddenFilterFault,
  type ShownFields,
  shownFieldsFault,
  shownFieldsOf,
  type StoredFields,
} from '../../../src/application/index.js';

const MANY = Array.from({ length: 201 }, (_, index) => `data.n${index}`);
const ELEVEN = 'data.a.b.c.d.e.f.g.h.i.j';

describe('The fields in a service', () => {
  it.each<[StoredFields, ShownFields | undefined]>([
    [{}, undefined],
    [{ fields: null, hash: null, allowHiddenFilter: null }, undefined],
    [{ fields: {} }, undefined],
    [{ fields: { except: [] } }, undefined],
    [{ fields: { only: [] } }, { only: [] }],
    [{ fields: { only: ['data.b', 'data.a', 'data.b'] } }, { only: ['data.a', 'data.b'] }],
    [{ fields: { except: ['createdBy', 'channels'] } }, { except: ['channels', 'createdBy'] }],
    [{ hash: ['data.a'] }, { hash: ['data.a'] }],
    [{ fields: { only: ['data.b'], hash: ['data.a'] } }, { only: ['data.b'], hash: ['data.a'] }],
    [{ fields: { hash: ['data.a'] }, hash: ['data.b'] }, { hash: ['data.a', 'data.b'] }],
    [{ fields: { except: MANY.slice(1) } }, { except: MANY.slice(1).sort() }],
    [{ fields: { except: [ELEVEN.slice(0, -2)] } }, { except: [ELEVEN.slice(0, -2)] }],
    [{ allowHiddenFilter: true }, undefined],
  ])('%j are %j', (stored, fields) => {
    expect(shownFieldsFault(stored)).toBeUndefined();
    expect(shownFieldsOf(stored)).toEqual(fields);
  });

  it.each<[StoredFields, string, string]>([
    [{ fields: ['data.a'] }, '/fields', 'is not a document such as {"except": ["data.email"]}.'],
    [{ fields: new Date(0) }, '/fields', 'is not a document such as {"except": ["data.email"]}.'],
    [{ fields: new mongo.MaxKey() }, '/fields', 'is not a document such as {"except": ["data.email"]}.'],
    [{ fields: 'data.a' }, '/fields', 'is not a document such as {"except": ["data.email"]}.'],
    [{ fields: { exept: [] } }, '/fields/exept', 'is an unknown property; write {"except": ["data.email"]}.'],
    [{ fields: { only: [], except: [] } }, '/fields', 'has both "only" and "except"; keep one of them.'],
    [{ fields: { only: 'data.a' } }, '/fields/only', 'is not a list of paths such as ["data.email"].'],
    [{ fields: { except: MANY } }, '/fields/except', 'has 201 paths; at most 200 are allowed.'],
    [{ hash: MANY }, '/hash', 'has 201 paths; at most 200 are allowed.'],
    [{ hash: {} }, '/hash', 'is not a list of paths such as ["data.email"].'],
    [
      { fields: { except: ['data.a', 5] } },
      '/fields/except/1',
      'is not a path; write one such as "data.email".',
    ],
    [
      { fields: { except: ['data.\0'] } },
      '/fields/except/0',
      'is not a path; write one such as "data.email".',
    ],
    [
      { fields: { except: ['\ud800'] } },
      '/fields/except/0',
      'is not a path; write one such as "data.email".',
    ],
    [{ allowHiddenFilter: 'yes' }, '/allowHiddenFilter', 'is not true or false.'],
    [
      { fields: { except: ['data.a'], hash: ['data.a.b'] } },
      '/hash',
      'has "data.a.b", and "except" has "data.a"; keep one of them.',
    ],
    [
      { fields: { except: ['data.a.b'] }, hash: ['data.a'] },
      '/hash',
      'has "data.a", and "except" has "data.a.b"; keep one of them.',
    ],
    [
      { fields: { except: [ELEVEN] } },
      '/fields/except/0',
      'has 11 parts; at most 10 are allowed. Name a field around it, such as "data.a.b".',
    ],
  ])('%j are not valid', (stored, pointer, detail) => {
    expect(shownFieldsFault(stored)).toEqual({ pointer, detail });
  });

  it.each(['', 'data', 'data.', 'data..a', '.data', 'name', 'createdBy.a', 'channels.0'])(
    'have no path %j',
    (path) => {
      expect(shownFieldsFault({ fields: { except: [path] } })?.detail).toMatch(
        /, which is not a path; write/,
      );
    },
  );

  it.each(['id', '_id', 'type', 'createDate', 'lastupdated', 'op', 'reason', 'id.a'])(
    'cannot hide %j, which stays',
    (path) => {
      const [fault, other] = [
        shownFieldsFault({ fields: { only: [path] } }),
        shownFieldsFault({ hash: [path] }),
      ];
      for (const one of [fault, other])
        expect(one?.detail).toBe(`is "${path}", which stays in every item; take it out of the list.`);
    },
  );

  it('take less than 64 KiB', () => {
    expect(shownFieldsFault({ fields: { only: [`data.${'x'.repeat(70_000)}`] } })).toEqual({
      pointer: '/fields',
      detail: 'takes 70042 bytes with "hash"; it must be smaller than 65536 (64 KiB).',
    });
  });

  it.each(['data.0', 'data.rows.0', 'data.rows.12.price'])('has no number, as %j', (path) => {
    expect(shownFieldsFault({ fields: { except: [path] } })).toEqual({
      pointer: '/fields/except/0',
      detail: `is "${path}", which contains a number, and a path applies to all elements of a list; leave the number out, as in "data.rows.price".`,
    });
  });

  it('has no name that begins with "$"', () => {
    expect(shownFieldsFault({ hash: ['data.$a'] })).toEqual({
      pointer: '/hash/0',
      detail: 'is "data.$a", with a name that begins with "$"; name the field around it.',
    });
  });
});

describe('A filter on a hidden field', () => {
  const EXCEPT = { except: ['data.email', 'data.rows.price', 'createdBy'], hash: ['data.number'] };
  const ONLY = { only: ['data.name', 'channels'] };

  it.each<[ShownFields, Filter, string]>([
    [EXCEPT, { 'data.email': 'a@b.de' }, 'data.email'],
    [EXCEPT, { 'data.email.domain': 'b.de' }, 'data.email.domain'],
    [EXCEPT, { 'data.number': 5 }, 'data.number'],
    [EXCEPT, { createdBy: 'erp' }, 'createdBy'],
    [EXCEPT, { data: {} }, 'data'],
    [EXCEPT, { 'data.rows.3.price': 1 }, 'data.rows.3.price'],
    [EXCEPT, { $or: [{ 'data.x': 1 }, { 'data.rows': { $elemMatch: { price: 1 } } }] }, '$or[1].data.rows'],
    [EXCEPT, { 'data.rows': { $size: 3 } }, 'data.rows'],
    [ONLY, { 'data.datasource': 'erp' }, 'data.datasource'],
    [ONLY, { createdBy: { $exists: true } }, 'createdBy'],
    [{ only: [] }, { 'data.0': 1 }, 'data.0'],
  ])('%j: %j is named', (fields, filter, place) => {
    expect(hiddenFilterFault(filter, fields)).toBe(
      `The filter uses ${place}, which the service hides, so the records in the feed would reveal its values. Remove the field from the filter, or allow it with "allowHiddenFilter": true (--allow-hidden-filter).`,
    );
  });

  it.each<[ShownFields, Filter]>([
    [EXCEPT, { 'data.name': 'Ann', 'data.rows.sku': 'A', channels: 'web', id: 'A-1' }],
    [EXCEPT, { 'data.rows.0.sku': 'A', 'data.emails': 1 }],
    [ONLY, { 'data.name': 'Ann', 'data.name.first': 'A', channels: 'web', lastupdated: { $exists: true } }],
    [{ hash: ['createdBy'] }, { data: {} }],
  ])('%j: %j looks at none', (fields, filter) => {
    expect(hiddenFilterFault(filter, fields)).toBeUndefined();
  });
});

describe('The records that an edit of fields concerns', () => {
  const concerned = (before: ShownFields | undefined, after: ShownFields | undefined, isRekeyed = false) =>
    concernedBy({ before, after, isRekeyed });
  const having = (path: string) => ({ [path]: { $exists: true } });

  it.each<[ShownFields | undefined, ShownFields | undefined]>([
    [undefined, undefined],
    [{ except: ['data.a'] }, { except: ['data.a', 'data.a.b'] }],
    [{ only: ['data.a'] }, { only: ['data.a', 'data.a.b'] }],
    [{ hash: ['data.a'] }, { hash: ['data.a', 'data.a.b'] }],
  ])('%j and %j: none', (before, after) => {
    expect(concerned(before, after)).toBeUndefined();
    expect(concerned(after, before)).toBeUndefined();
  });

  it('many fields of one object are looked for with one condition on the object', () => {
    const except = Array.from({ length: 50 }, (_, index) => `data.a.b.f${index}`);
    const queries = concerned(undefined, { except })!['$or'] as object[];
    expect(queries.filter((query) => !Object.keys(query)[0]!.startsWith('data.a.b.f'))).toHaveLength(4);
  });

  it.each<[ShownFields | undefined, ShownFields | undefined, object[]]>([
    [undefined, { except: ['data.a'] }, [having('data.a')]],
    [{ except: ['data.a'] }, { hash: ['data.a'] }, [having('data.a')]],
    [{ except: ['data.a'] }, { except: ['data.b'] }, [having('data.a'), having('data.b')]],
    [{ except: ['data.a'] }, { except: ['data.a.b'] }, [having('data.a')]],
    [
      undefined,
      { except: ['data.a.b'] },
      [
        having('data.a.b'),
        { 'data.a': { $elemMatch: { $type: 'array' } } },
        // MongoDB does not look at a second `data.a`.
        { $expr: { $anyElementTrue: expect.any(Array) as unknown } },
      ],
    ],
  ])('%j and %j: those that have a changed field', (before, after, queries) => {
    expect(concerned(before, after)).toEqual({ $or: queries });
    expect(concerned(after, before)?.['$or']).toEqual(expect.arrayContaining(queries));
  });

  it('have another field in "data", if only some are shown from now on', () => {
    const query = concerned(undefined, { only: ['data.a', 'createdBy', 'channels'] }) as { $or: unknown[] };
    expect(query.$or).toHaveLength(1);
    expect(JSON.stringify(query.$or[0])).toContain('{"$literal":["a"]}');
  });

  it.each<[ShownFields | undefined, ShownFields]>([
    [undefined, { hash: ['createdBy'] }],
    [undefined, { except: ['channels'] }],
    [undefined, { only: ['data.a', 'createdBy'] }],
    [{ only: ['data.a'] }, { only: ['data.a', 'channels'] }],
  ])('%j and %j: all, because every item has these fields', (before, after) => {
    expect(concerned(before, after)).toEqual({});
    expect(concerned(after, before)).toEqual({});
  });

  it('have a hashed field, if the key of the hashes changes', () => {
    const fields = { except: ['data.b'], hash: ['data.a'] };
    expect(concerned(fields, fields, true)).toEqual({ $or: [having('data.a')] });
    expect(concerned({ except: ['data.b'] }, { except: ['data.b'] }, true)).toBeUndefined();
  });
});
