import { mongo } from 'mongoose';
import { bsonTypeOf, isObjectId } from '../../../src/record/record.js';

const ID = new mongo.ObjectId();

it('a value of a BSON class has its name', () => {
  expect([ID, new mongo.Int32(1), new mongo.UUID(), new mongo.MinKey()].map(bsonTypeOf)).toEqual([
    'ObjectId',
    'Int32',
    'Binary',
    'MinKey',
  ]);
});

it.each([
  ['a text', ID.toHexString()],
  ['null', null],
  ['nothing', undefined],
  ['a date', new Date()],
  ['a document', { _id: ID }],
  ['a document with a field of that name', { _bsontype: 'ObjectId' }],
])('%s is of none', (_name, value) => {
  expect([bsonTypeOf(value), isObjectId(value)]).toEqual([undefined, false]);
});

it('only an ObjectId is one, whichever copy of the class made it', () => {
  class OtherCopy {
    get _bsontype() {
      return 'ObjectId';
    }
  }
  expect([ID, new OtherCopy(), new mongo.Long(1)].map(isObjectId)).toEqual([true, true, false]);
});
