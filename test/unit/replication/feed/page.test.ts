import fc from 'fast-check';
import { mongo } from 'mongoose';
import { pageOf } from '../../../../src/replication/feed/page.js';
import type { Window } from '../../../../src/replication/feed/window.js';

const PATH = '/acme/webshop/api/v1/product/default/updates';
const window: Window = { to: new Date('2025-03-04T05:06:07.008Z'), limit: 2 };
const itemText = ({ id }: mongo.Document) => JSON.stringify({ id });
const ids = ['6740a1b2c3d4e5f601234567', '6740a1b2c3d4e5f601234568'];
const documents = ids.map((hex, index) => ({ _id: new mongo.ObjectId(hex), id: `p${index}` }));

describe('pageOf', () => {
  it('an empty page', () => {
    expect(pageOf([], itemText, window, PATH)).toEqual({
      body: '{"result":[],"nextoffsetid":""}',
      headers: { 'Tidemark-To': '2025-03-04T05:06:07.008Z' },
    });
  });

  it('a page that is not full has no Link', () => {
    expect(pageOf(documents.slice(0, 1), itemText, window, PATH)).toEqual({
      body: `{"result":[{"id":"p0"}],"nextoffsetid":"${ids[0]}"}`,
      headers: { 'Tidemark-To': '2025-03-04T05:06:07.008Z' },
    });
  });

  it('a full page links to the next one', () => {
    const { body, headers } = pageOf(documents, itemText, window, PATH);
    expect(body).toBe(`{"result":[{"id":"p0"},{"id":"p1"}],"nextoffsetid":"${ids[1]}"}`);
    expect(headers['Link']).toBe(
      `<${PATH}?to=2025-03-04T05%3A06%3A07.008Z&limit=2&lastoffsetid=${ids[1]}>; rel="next"`,
    );
  });

  it('the link keeps from, and drops the lastoffsetid that was sent', () => {
    const sent = { ...window, from: new Date(0), lastoffsetid: new mongo.ObjectId(ids[0]) };
    expect(pageOf(documents, itemText, sent, PATH).headers['Link']).toBe(
      `<${PATH}?from=1970-01-01T00%3A00%3A00.000Z&to=2025-03-04T05%3A06%3A07.008Z&limit=2&lastoffsetid=${ids[1]}>; rel="next"`,
    );
  });

  it('the link leads back to the same path, whatever the channel', () => {
    const channel = fc.oneof(fc.string(), fc.constantFrom('<', '>; rel="x"', '%', '/', '"', 'ü', '..%2F'));
    fc.assert(
      fc.property(channel, (name) => {
        const path = `/acme/webshop/api/v1/productbychannel/x${encodeURIComponent(name)}<>"/updates`;
        const link = pageOf(documents, itemText, window, path).headers['Link'] ?? '';
        const target = /^<([^<>"]+)>; rel="next"$/.exec(link)?.[1] ?? '';
        const { pathname } = new URL(target, 'http://localhost');
        expect(decodeURIComponent(pathname)).toBe(decodeURIComponent(path));
      }),
    );
  });
});
