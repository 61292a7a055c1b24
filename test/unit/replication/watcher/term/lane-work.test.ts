import type { WatchedEvent } from '../../../../../src/replication/protocol/index.js';
import { LaneWork } from '../../../../../src/replication/watcher/term/stream-work.js';

let now: number;
beforeEach(() => {
  now = 1000;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
});
afterEach(() => jest.restoreAllMocks());

const many = (count: number, event: object) => Array.from({ length: count }, () => event as WatchedEvent);
const deletes = (count: number) => many(count, { type: 'deleted' });
const tombstones = (count: number) => many(count, { type: 'tombstone' });
const none = { changes: 0, echoes: 0 };

function work(counts = { read: none, done: none }) {
  const lane = new LaneWork(counts);
  const through = (events: WatchedEvent[], seconds = 1) => {
    lane.begin(events);
    now += seconds * 1000;
    lane.end();
  };
  return { lane, through };
}

describe('how much a lane has to read', () => {
  it('what the main stream has read comes to the lane as well', () => {
    const { lane, through } = work();
    lane.expect(deletes(1000), false);
    through(deletes(250));
    expect(lane.progress()).toMatchObject({
      done: 250,
      total: 1000,
      pace: { seconds: 1, done: 250, added: 0 },
    });
  });

  it('of the changes that are left, as many echoes are expected as those before had, each a quarter of a change', () => {
    const { lane, through } = work();
    lane.expect(deletes(1000), false);
    through(deletes(250));
    lane.expect(tombstones(250), true);
    expect(lane.progress()).toMatchObject({ done: 250, total: 1250, pace: { done: 250, added: 0 } });
    through(deletes(750), 3);
    lane.expect(tombstones(750), true);
    expect(lane.progress()).toMatchObject({
      done: 1000,
      total: 1250,
      pace: { seconds: 4, done: 1000, added: 0 },
    });
    through(tombstones(1000), 1);
    expect(lane.progress()).toMatchObject({ done: 1250, total: 1250 });
  });

  it('echoes of the batch under way count as its own', () => {
    const { lane } = work();
    lane.expect(deletes(1000), false);
    lane.begin(deletes(500));
    lane.expect(tombstones(500), true);
    expect(lane.progress()).toMatchObject({ done: 0, total: 1250 });
  });

  it('stamps and keys that the watcher adds are echoes, two of a change at most', () => {
    const { lane, through } = work();
    const updates = many(10, { type: 'written', isStampOnly: false, isKeyOnly: false });
    lane.expect(updates, false);
    through(updates.slice(0, 5));
    lane.expect(many(5, { type: 'written', isStampOnly: true }), true);
    lane.expect(many(5, { type: 'written', isKeyOnly: true }), true);
    expect(lane.progress()).toMatchObject({ done: 5, total: 15 });
    lane.expect(many(500, { type: 'written', isStampOnly: true }), true);
    expect(lane.progress()).toMatchObject({ done: 5, total: 140 });
  });

  it('what is written meanwhile is added, with the echoes that it will have; what the log had before is not', () => {
    const { lane, through } = work();
    lane.expect(deletes(100), false);
    through(deletes(100));
    lane.expect(tombstones(100), true);
    lane.expect(deletes(50), true);
    expect(lane.progress()).toMatchObject({ done: 100, total: 187.5, pace: { done: 100, added: 62.5 } });
  });

  it('a lane that is ahead of the main stream has nothing left', () => {
    const { lane, through } = work();
    lane.expect(deletes(10), true);
    through(deletes(12));
    expect(lane.progress()).toMatchObject({ done: 12, total: 12 });
  });

  it('the lane of the next term goes on counting', () => {
    const { lane, through } = work();
    lane.expect(deletes(1000), false);
    through(deletes(250));
    lane.expect(tombstones(250), true);
    const next = work(lane.progress().counts);
    expect(next.lane.progress()).toMatchObject({
      done: 250,
      total: 1250,
      pace: { seconds: 0, done: 0, added: 0 },
    });
  });
});
