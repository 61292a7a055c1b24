import fc from 'fast-check';
import type { Filter } from '../../../../../src/application/index.js';
import {
  carries,
  matching,
  notMatching,
  tombstones,
} from '../../../../../src/replication/feed/query/selection.js';
import { pageQuery, windowQuery } from '../../../../../src/replication/feed/query/window.js';

const tenant = { organizationid: 'acme', appid: 'webshop' };
const window = { from: new Date(0), to: new Date(1), limit: 10 };
const anyFilter = fc.dictionary(
  fc.constantFrom('organizationid', 'appid', 'lastupdated', '_id', 'id', '$or', '$nor', '$and', 'data.n'),
  fc.jsonValue(),
) as fc.Arbitrary<Filter>;

describe('selections', () => {
  it('records live in the collection of their kind, tombstones in the ledger', () => {
    expect(matching(tenant, 'member')).toMatchObject({ collection: 'members', scope: tenant });
    expect(notMatching(tenant, 'product', {})).toMatchObject({ collection: 'products', scope: tenant });
    expect(tombstones(tenant, 'member')).toEqual({
      collection: 'tidemark.ledger',
      scope: { ...tenant, kind: 'member', alive: false },
      records: 'members',
    });
  });

  it('take nothing but the names from the tenant', () => {
    const application = { ...tenant, settings: { replicatepasswordhash: true }, _id: 5 };
    for (const { scope } of [matching(application, 'member'), notMatching(application, 'member', {})])
      expect(scope).toEqual(tenant);
    expect(tombstones(application, 'member').scope).toEqual({ ...tenant, kind: 'member', alive: false });
  });

  it('what matches, and what does not, whatever the filter', () => {
    fc.assert(
      fc.property(anyFilter, (filter) => {
        expect(matching(tenant, 'product').filter).toBeUndefined();
        expect(matching(tenant, 'product', filter).filter).toEqual(filter);
        expect(notMatching(tenant, 'product', filter).filter).toEqual({ $nor: [filter] });
      }),
    );
  });

  it('a channel is compared with, never interpreted', () => {
    for (const channel of ['web', '$web', '/web/', '{"$ne":1}'])
      expect(carries(channel)).toEqual({ channels: { $eq: channel } });
  });
});

describe('pageQuery', () => {
  it('no filter can widen what a page is taken from', () => {
    fc.assert(
      fc.property(anyFilter, (filter) => {
        const selection = matching(tenant, 'product', filter);
        const query = pageQuery(selection, windowQuery(window));
        expect(Object.keys(query)).toEqual(['$and']);
        expect(query['$and']).toEqual([{ ...tenant, ...windowQuery(window) }, selection.filter]);
      }),
    );
  });

  it('tombstones need no filter', () => {
    const selection = tombstones(tenant, 'product');
    expect(pageQuery(selection, windowQuery(window))).toEqual({ ...selection.scope, ...windowQuery(window) });
  });
});
