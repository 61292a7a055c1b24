import { mongo } from 'mongoose';
import { countByTenant, type EventsByTenant, heaviest } from '../../../../src/replication/protocol/counts.js';
import { announced, changed, deleted, knowing, named, TENANT, tombstoneSeen, whole } from './written.js';

const [A, B, ENTRY] = [new mongo.ObjectId(), new mongo.ObjectId(), new mongo.ObjectId()];
const OTHER = { ...TENANT, appid: 'erp' };

const knowledge = knowing({
  owned: new Map([[A.toHexString(), [named('x')]]]),
  tombstones: new Map([[ENTRY.toHexString(), named('x', OTHER)]]),
});

function counted(...events: Parameters<typeof countByTenant>[1]): EventsByTenant {
  const counts: EventsByTenant = new Map();
  countByTenant(counts, events, knowledge);
  return counts;
}

const byApp = (counts: EventsByTenant) =>
  Object.fromEntries([...counts.values()].map(({ tenant, count }) => [tenant.appid, count]));

describe('how many events of a batch are about each application', () => {
  it('by what the event tells, or else by what is known of its record', () => {
    const own = [changed(1, A, {}), deleted(2, A), announced(3, new Date())];
    const others = [
      whole(4, B, named('y', OTHER)),
      tombstoneSeen(5, ENTRY, null),
      changed(6, A, { appid: 'erp' }),
    ];
    expect(byApp(counted(...own, ...others))).toEqual({ shop: 3, erp: 3 });
  });

  it('not those of which nothing is known', () => {
    expect(counted(changed(1, B, {}), deleted(2, B), whole(3, B, { appid: 'erp' })).size).toBe(0);
  });

  it('adds to those before', () => {
    const counts = counted(deleted(1, A));
    countByTenant(counts, [deleted(2, A)], knowledge);
    expect(byApp(counts)).toEqual({ shop: 2 });
  });
});

describe('the application that most are about', () => {
  const counts = () => counted(deleted(1, A), deleted(2, A), whole(3, B, named('y', OTHER)));

  it('if these are enough', () => {
    expect(heaviest(counts(), 2)).toEqual(TENANT);
    expect(heaviest(counts(), 3)).toBeUndefined();
  });

  it('none of none', () => {
    expect(heaviest(new Map(), 0)).toBeUndefined();
  });
});
