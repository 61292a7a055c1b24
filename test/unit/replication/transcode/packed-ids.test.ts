import fc from 'fast-check';
import { MalformedBsonError, packedIds, tallyOf } from '../../../../src/replication/transcode/index.js';
import { batch, document, int32, list, objectId, text } from './raw-bson.js';
import { FIELDS } from './transcript.js';

const ids = fc.array(fc.uint8Array({ minLength: 12, maxLength: 12 }), { maxLength: 150 });
const covered = (id: Uint8Array) => document([['_id', objectId(Buffer.from(id).toString('hex'))]]);

describe('packedIds', () => {
  it('are the _ids of a batch, in order', () => {
    fc.assert(
      fc.property(ids, (list) => {
        expect(Buffer.from(packedIds(batch(...list.map(covered))))).toEqual(Buffer.concat(list));
      }),
    );
  });

  it('of whole documents are those too', () => {
    expect(packedIds(batch(document(Object.entries(FIELDS))))).toEqual(Uint8Array.from(FIELDS._id.bytes));
  });

  it('leave out documents whose _id is not an ObjectId, or is cut short', () => {
    const [first, last] = [covered(new Uint8Array(12)), covered(new Uint8Array(12).fill(9))];
    const short = document([['_id', objectId('00')]]);
    for (const odd of [document([]), document([['_id', int32(1)]]), document([['id', FIELDS._id]]), short])
      expect(packedIds(batch(first, odd, last))).toEqual(packedIds(batch(first, last)));
  });

  it('refuses what is malformed or cut after any byte', () => {
    const whole = batch(covered(new Uint8Array(12)), covered(new Uint8Array(12).fill(9)));
    for (let length = 0; length < whole.length; length++)
      expect(() => packedIds(whole.subarray(0, length))).toThrow(MalformedBsonError);
    expect(() => packedIds(list([text('x')]).bytes)).toThrow(MalformedBsonError);
  });
});

describe('tallyOf', () => {
  it('says how many documents there are, and the _id of the last', () => {
    fc.assert(
      fc.property(ids, (list) => {
        const { count, last } = tallyOf(batch(...list.map(covered)));
        expect([count, last?.toHexString()]).toEqual([
          list.length,
          list.length === 0 ? undefined : Buffer.from(list.at(-1)!).toString('hex'),
        ]);
      }),
    );
    expect(tallyOf(batch(document(Object.entries(FIELDS)))).count).toBe(1);
  });

  it('refuses what is malformed, cut after any byte, or ends with what has no ObjectId', () => {
    const whole = batch(covered(new Uint8Array(12)), covered(new Uint8Array(12).fill(9)));
    for (let length = 0; length < whole.length; length++)
      expect(() => tallyOf(whole.subarray(0, length))).toThrow(MalformedBsonError);
    expect(() => tallyOf(list([text('x')]).bytes)).toThrow(MalformedBsonError);
    expect(() => tallyOf(batch(document([['_id', int32(1)]])))).toThrow(MalformedBsonError);
  });
});
