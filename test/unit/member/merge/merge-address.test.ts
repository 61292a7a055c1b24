import mongoose from 'mongoose';
import { decode } from '../../../../src/member/stored-member.js';
import type { PatchAddress } from '../../../../src/member/bodies.js';
import { mergeAddress } from '../../../../src/member/merge.js';

const changesOf = (record: object, patch: PatchAddress) =>
  mergeAddress(decode(mongoose.mongo.BSON.serialize(record)), patch);

const FULL = { address: 'Main Street 1', address2: '', zipcode: '1010', city: 'Vienna', country: 'AT' };

describe('address', () => {
  it('where there was none, all five are created, empty but for those given', () => {
    const value = new Map(
      Object.entries({ address: '', address2: '', zipcode: '', city: 'Vienna', country: '' }),
    );
    const [change, ...more] = changesOf({ data: {} }, { city: 'Vienna', zipcode: null });
    expect(change).toEqual({ path: ['data', 'address'], value });
    expect([...(change!.value as Map<string, string>).keys()]).toEqual(Object.keys(FULL));
    expect(more).toEqual([]);
  });

  it.each([null, 'text', [FULL]])('where it is %j, there was none', (address) => {
    expect(changesOf({ data: { address } }, { city: 'x' })).toMatchObject([{ path: ['data', 'address'] }]);
  });

  it.each([undefined, null, 'text', [FULL]])('where data is %j, there was none', (data) => {
    const record = data === undefined ? {} : { data };
    const address = new Map(
      Object.entries({ address: '', address2: '', zipcode: '', city: 'x', country: '' }),
    );
    expect(changesOf(record, { city: 'x' })).toEqual([
      { path: ['data'], value: new Map([['address', address]]) },
    ]);
  });

  it('only the fields present change', () => {
    expect(changesOf({ data: { address: FULL } }, { city: 'Graz', country: 'AT' })).toEqual([
      { path: ['data', 'address', 'city'], value: 'Graz' },
    ]);
  });

  it.each([null, ''])('deleting one with %j makes it ""', (nothing) => {
    expect(changesOf({ data: { address: FULL } }, { city: nothing })).toEqual([
      { path: ['data', 'address', 'city'], value: '' },
    ]);
  });

  it.each([null, ''])('deleting one that is stored as null with %j makes it ""', (nothing) => {
    expect(changesOf({ data: { address: { ...FULL, city: null } } }, { city: nothing })).toEqual([
      { path: ['data', 'address', 'city'], value: '' },
    ]);
  });

  it('a patch that changes nothing', () => {
    expect(changesOf({ data: { address: FULL } }, { ...FULL, address2: null })).toEqual([]);
    expect(changesOf({ data: { address: { city: 'Vienna' } } }, { zipcode: null, country: '' })).toEqual([]);
    expect(changesOf({ data: {} }, {})).toEqual([]);
    expect(changesOf({}, {})).toEqual([]);
  });
});
