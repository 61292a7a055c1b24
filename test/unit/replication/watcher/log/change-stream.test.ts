import mongoose from 'mongoose';
import { batchOf, sizeBehind } from '../../../../../src/replication/watcher/log/change-stream.js';

describe('where events are rare, a batch is full with the first; where they are many, it grows to 1,000', () => {
  it.each([
    [0, 1],
    [1, 2],
    [2, 4],
    [499, 998],
    [500, 1000],
    [1000, 1000],
  ])('behind %i events %i are asked for', (events, size) => {
    expect(sizeBehind(events)).toBe(size);
  });
});

describe('a batch with fewer events than were asked for is the last that the log had', () => {
  const stranger = { operationType: 'something new', clusterTime: new mongoose.mongo.Timestamp(1n) };
  it.each([
    [0, 1, true],
    [1, 1, false],
    [1, 2, true],
    [2, 2, false],
  ])('%i where %i were asked for, strangers among them: %s', (count, asked, isLast) => {
    const nextBatch = Array.from({ length: count }, () => stranger);
    const postBatchResumeToken = { _data: '826B03178A000000022B0229296E04' };
    expect(batchOf({ id: 1n, nextBatch, postBatchResumeToken }, asked, undefined).isLast).toBe(isLast);
  });
});

describe('where the server tells no token of a batch', () => {
  const token = (seconds: number) => ({
    _data: `82${seconds.toString(16).padStart(8, '0')}000000022B0229296E04`,
  });
  const justBefore = (seconds: number) => new mongoose.mongo.Timestamp({ t: seconds, i: 1 });
  const event = (seconds: number) => ({ _id: token(seconds), operationType: 'something new' });

  it('the log is read up to its last event', () => {
    const batch = batchOf({ id: 1n, nextBatch: [event(7), event(8)] }, 2, token(5));
    expect(batch).toMatchObject({ token: token(8), until: justBefore(8) });
  });

  it('and without events no further than with the batch before', () => {
    const batch = batchOf({ id: 1n, nextBatch: [] }, 2, token(5));
    expect(batch).toMatchObject({ token: token(5), until: justBefore(5) });
  });

  it('a stream that never had one is given up', () => {
    expect(() => batchOf({ id: 1n, firstBatch: [] }, 1, undefined)).toThrow('without a resume token');
  });
});
