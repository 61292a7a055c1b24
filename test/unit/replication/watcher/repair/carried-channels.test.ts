import { mongo } from 'mongoose';
import { channelsOf } from '../../../../../src/replication/watcher/repair/present-record.js';
import { channelsGot } from '../../../../../src/replication/protocol/learn.js';
import { changed, deleted, TENANT, whole } from '../../protocol/written.js';

const [A, B] = [new mongo.ObjectId(), new mongo.ObjectId()];
const identity = { ...TENANT, id: 'x' };
const known = (channel: string, appid = 'shop') => ({ ...TENANT, appid, channel });

const tooLarge = { email: false, channels: false };

describe('the channels that these products carry', () => {
  it('those of records that can be delivered', () => {
    const product = { _id: A, ...TENANT, id: 'x', isStamped: true, emailkey: null, email: null, tooLarge };
    const products = [
      { ...product, channels: ['a', 'b'] },
      { ...product, appid: false as const, channels: ['ignored'] },
      { ...product, channels: [] },
    ];
    expect(channelsOf(products)).toEqual([known('a'), known('b')]);
  });
});

describe('the channels that products got in these events', () => {
  const owned = new Map([[A.toHexString(), [{ kind: 'product' as const, ...identity }]]]);

  it('in the application that the ledger knows', () => {
    expect(channelsGot([changed(1, A, {}, ['a'])], owned)).toEqual([known('a')]);
  });

  it('in the application that each product was in then', () => {
    const events = [
      changed(1, A, {}, ['before']),
      changed(2, A, { appid: 'erp' }, ['with']),
      changed(3, A, {}, ['after']),
      whole(4, A, identity, ['back']),
      deleted(5, A),
    ];
    expect(channelsGot(events, owned)).toEqual([
      known('before'),
      known('with', 'erp'),
      known('after', 'erp'),
      known('back'),
    ]);
  });

  it('none of products that belong to nobody', () => {
    const events = [
      changed(1, B, {}, ['unknown']),
      whole(2, B, { ...identity, appid: false }, ['odd']),
      whole(3, 'text', identity, ['text']),
    ];
    expect(channelsGot(events, owned)).toEqual([]);
  });
});
