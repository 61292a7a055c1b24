import mongoose from 'mongoose';
import { batchOf, sizeBehind } from '../../../../src/replication/log/change-stream.js';

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
    expect(batchOf({ id: 1n, nextBatch, postBatchResumeToken }, asked).isLast).toBe(isLast);
  });
});
