import mongoose from 'mongoose';
import { MalformedBsonError, rawBatch } from '../../../../src/replication/transcode/index.js';
import { batch, document, int32, int64, list, text, type Value } from './raw-bson.js';
import { record } from './transcript.js';

const { BSON } = mongoose.mongo;
const documents = { type: 0x04, bytes: batch(record(), record()) };
const cursor = (fields: Record<string, Value>) => document(Object.entries(fields)).bytes;

describe('rawBatch', () => {
  it.each(['firstBatch', 'nextBatch'])('takes the documents of %s and the id', (name) => {
    const reply = cursor({ [name]: documents, id: int64(-5n), ns: text('db.members') });
    expect(rawBatch(reply)).toEqual({ documents: documents.bytes, cursorId: -5n });
  });

  it('gives a view, no copy', () => {
    const reply = cursor({ firstBatch: documents, id: int64(0n) });
    expect(rawBatch(reply).documents.buffer).toBe(reply.buffer);
  });

  it('passes over whatever else a reply has', () => {
    const more = {
      partialResultsReturned: false,
      atClusterTime: new BSON.Timestamp({ t: 1, i: 2 }),
      postBatchResumeToken: { _data: '8263' },
      when: new Date(),
      number: 1.5,
      binary: new BSON.Binary(Buffer.of(1, 2)),
      nothing: null,
      id: 7n,
      nextBatch: [{ a: 1 }],
      count: 3,
    };
    const { documents: found, cursorId } = rawBatch(BSON.serialize(more));
    expect(BSON.deserialize(found)).toEqual({ 0: { a: 1 } });
    expect(cursorId).toBe(7n);
  });

  it('refuses what is malformed, cut after any byte, or no such reply', () => {
    const whole = cursor({ firstBatch: documents, id: int64(0n), ns: text('db.members') });
    for (let length = 0; length < whole.length; length++)
      expect(() => rawBatch(whole.subarray(0, length))).toThrow(MalformedBsonError);
    for (const odd of [
      { firstBatch: documents },
      { id: int64(0n) },
      { firstBatch: documents, id: int32(0) },
      { firstBatch: document([]), id: int64(0n) },
      { otherBatch: list([]), id: int64(0n) },
    ])
      expect(() => rawBatch(cursor(odd))).toThrow(MalformedBsonError);
  });

  it('never takes lengths on trust', () => {
    const whole = cursor({ firstBatch: documents, id: int64(0n) });
    for (let at = 0; at < 40; at++)
      for (const wrong of [0, 0x7f, 0x80, 0xff]) {
        const broken = Buffer.from(whole);
        broken[at] = wrong;
        try {
          expect(rawBatch(broken).documents.length).toBeLessThan(whole.length);
        } catch (error) {
          expect(error).toBeInstanceOf(MalformedBsonError);
        }
      }
  });
});
