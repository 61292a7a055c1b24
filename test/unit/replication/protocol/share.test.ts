import { mongo } from 'mongoose';
import { progressOf, progressOfAll } from '../../../../src/replication/protocol/progress.js';
import { ALL, inShare, isIn, isPartial } from '../../../../src/replication/protocol/place.js';

const SHOP = { organizationid: 'acme', appid: 'shop' };
const ERP = { organizationid: 'acme', appid: 'erp' };
const at = (i: number) => new mongo.Timestamp({ t: 1, i });

describe('the share of a loop', () => {
  it('is all, or all but some, or one', () => {
    expect([ALL, { but: [SHOP] }, { only: SHOP }].map(isPartial)).toEqual([false, true, true]);
    expect([ALL, { but: [SHOP] }, { only: SHOP }].map((share) => isIn(share, SHOP))).toEqual([
      true,
      false,
      true,
    ]);
    expect([ALL, { but: [SHOP] }, { only: SHOP }].map((share) => isIn(share, ERP))).toEqual([
      true,
      true,
      false,
    ]);
  });

  it('what names no application is in that of all but some', () => {
    expect(isIn({ but: [SHOP] }, {})).toBe(true);
    expect(isIn({ only: SHOP }, { organizationid: 'acme' })).toBe(false);
  });

  it('queries ask for it', () => {
    expect(inShare(ALL)).toEqual({});
    expect(inShare({ only: SHOP }, '_id.')).toEqual({ '_id.organizationid': 'acme', '_id.appid': 'shop' });
    expect(inShare({ but: [SHOP, ERP] })).toEqual({ $nor: [SHOP, ERP] });
  });
});

describe('how far the watcher has come', () => {
  const state = { watched: at(9), since: at(1), aside: [{ ...SHOP, watched: at(3) }] };

  it('with an application that is aside, and with any other', () => {
    expect(progressOf(state, SHOP)).toEqual({ watched: at(3), since: at(1) });
    expect(progressOf(state, ERP)).toEqual({ watched: at(9), since: at(1) });
  });

  it('with all of them', () => {
    expect(progressOfAll(state).watched).toEqual(at(3));
    expect(progressOfAll({ watched: at(2), aside: state.aside }).watched).toEqual(at(2));
    expect(progressOfAll({ since: at(1) }).watched).toBeUndefined();
  });
});
