import { mongo } from 'mongoose';
import { STAMP } from '../../../../src/record/index.js';
import { CLOCK } from '../../../../src/platform/database/index.js';
import {
  firstEntry,
  beginLaterLife,
  revivals,
  tombstones,
} from '../../../../src/replication/store/ledger-changes.js';
import type { Death, Life } from '../../../../src/replication/protocol/identity.js';
import { identityKey } from '../../../../src/replication/protocol/index.js';

const at = (n: number) => `place ${n}`;
const identity = (id: string, appid = 'shop') => ({
  kind: 'product' as const,
  organizationid: 'acme',
  appid,
  id,
});
const owner = new mongo.ObjectId();
const death = (id: string, n: number, more: Partial<Death> = {}): Death => ({
  identity: identity(id),
  at: at(n),
  alive: false,
  shortLived: false,
  ...more,
});

describe('an identity lives', () => {
  it('for the first time: alive with its owner, and nothing more', () => {
    const life = {
      identity: { ...identity('x'), _id: 'of an old entry' },
      at: at(1),
      alive: true as const,
      owner,
    };
    expect(firstEntry(life)).toEqual({ ...identity('x'), alive: true, owner, learned: at(1) });
  });

  it('again: its owner may be another, unless the ledger knows something newer', () => {
    const life: Life = { identity: identity('x'), at: at(5), alive: true, owner };
    const known = { id: { $eq: 'x' }, appid: { $eq: 'shop' }, learned: { $not: { $gt: at(5) } } };
    expect(beginLaterLife(life)).toMatchObject({
      updateOne: { filter: { ...known, alive: true }, update: { $set: { owner, learned: at(5) } } },
    });
  });

  it('from tombstones: one write for all of an application and kind, as of the latest of them', () => {
    const life = (id: string, n: number, more: Partial<Life> = {}): Life => ({
      identity: identity(id),
      at: at(n),
      alive: true,
      owner,
      ...more,
    });
    const lives = [
      life('a', 5),
      life('b', 7, { isNumber: true }),
      life('c', 6, { identity: identity('c', 'erp') }),
    ];
    const writes = revivals(lives);
    expect(writes).toHaveLength(2);
    expect(writes[0]).toMatchObject({
      updateMany: {
        filter: { appid: 'shop', id: { $in: ['a', 'b'] }, alive: false, learned: { $not: { $gt: at(7) } } },
        update: [{ $set: { alive: true, lastupdated: '$$REMOVE' } }],
      },
    });
  });
});

describe('an identity has no record any more', () => {
  const stateAt = (n: number) => ({
    alive: false,
    owner: '$$REMOVE',
    learned: { $literal: at(n) },
  });

  it('one write for all of an application and kind, as of the latest of them', () => {
    const writes = tombstones(
      [death('a', 1), death('b', 7), death('c', 3), death('d', 2, { identity: identity('d', 'erp') })],
      { hint: 'by identity' },
    );
    expect(writes).toHaveLength(2);
    expect(writes[0]).toMatchObject({
      updateMany: {
        filter: {
          appid: 'shop',
          id: { $in: ['a', 'b', 'c'] },
          alive: true,
          learned: { $not: { $gt: at(7) } },
        },
        update: [{ $set: { ...stateAt(7), lastupdated: CLOCK } }],
        hint: 'by identity',
      },
    });
    expect(writes[1]).toMatchObject({ updateMany: { filter: { appid: 'erp', id: { $in: ['d'] } } } });
  });

  it('where it lived too shortly to be written down: an entry of its own, its identity from the filter', () => {
    const [write, ...others] = tombstones([death('$lastupdated', 2, { shortLived: true })], {});
    expect(others).toEqual([]);
    expect(write).toMatchObject({
      updateOne: {
        upsert: true,
        filter: {
          id: { $eq: '$lastupdated' },
          $or: [{ learned: { $not: { $gte: at(2) } } }, { learned: at(2), alive: true }],
        },
        update: [{ $set: { ...stateAt(2), lastupdated: STAMP } }],
      },
    });
  });

  it('none of nothing', () => {
    expect(tombstones([], {})).toEqual([]);
  });
});

it('no two identities have the same key', () => {
  const keys = [
    identity('x'),
    identity('x', 'erp'),
    identity('a","b'),
    { ...identity('b'), appid: 'shop","a' },
    { ...identity('x'), kind: 'member' as const },
  ];
  expect(new Set(keys.map(identityKey)).size).toBe(keys.length);
  expect(identityKey({ ...identity('x'), owner } as never)).toBe(identityKey(identity('x')));
});
