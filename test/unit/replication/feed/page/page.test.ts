import { feedPage } from '../../../../../src/replication/feed/page/pages.js';
import type { Window } from '../../../../../src/replication/feed/query/window.js';
import { idOf, pageFrom, type StoredPage } from '../stored.js';

const window: Window = { to: new Date('2025-03-04T05:06:07.008Z'), limit: 2 };
const quick = { replyHolds: 100, mostSlow: 5, isListed: false, sizes: 100 };
const records = (count: number) => Array.from({ length: count }, () => ({ isMatch: true, isSlow: false }));
const linkTo = (query: string) => ({ Link: `<?${query}>; rel="next"` });
const item = (index: number) => `{"id":"r${index}","lastUpdated":"1970-01-01T00:00:00.00${index}Z"}`;

async function written(page: StoredPage | undefined, asked = window) {
  const { reader, reading } = page ?? pageFrom([], quick);
  const source = { reader, budget: reading.budget, reading: page?.reading };
  const { headers, length, body } = await feedPage(source, { window: asked });
  const pieces: Buffer[] = [];
  for await (const piece of body) pieces.push(piece);
  const text = Buffer.concat(pieces).toString();
  if (length !== undefined) expect(Buffer.byteLength(text)).toBe(length);
  return { headers, text, isWhole: length !== undefined };
}

describe('feedPage', () => {
  it('an empty page', async () => {
    const empty = { headers: {}, text: '{"result":[],"nextoffsetid":""}\n', isWhole: true };
    expect(await written(pageFrom([], quick))).toEqual(empty);
    expect(await written(undefined)).toEqual(empty);
  });

  it('a page that is not full has no Link', async () => {
    const text = `{"result":[${item(0)}],"nextoffsetid":"${idOf(0).toHexString()}"}\n`;
    expect(await written(pageFrom(records(1), quick))).toEqual({ headers: {}, text, isWhole: true });
  });

  it('a full page links to the next one', async () => {
    const { headers, text } = await written(pageFrom(records(2), quick));
    const last = idOf(1).toHexString();
    expect(text).toBe(`{"result":[${item(0)},${item(1)}],"nextoffsetid":"${last}"}\n`);
    expect(headers).toEqual(linkTo(`to=2025-03-04T05%3A06%3A07.008Z&limit=2&lastoffsetid=${last}`));
  });

  it('the link keeps from, and drops the lastoffsetid that was sent', async () => {
    const sent = { ...window, from: new Date(0), lastoffsetid: idOf(0) };
    const to = 'from=1970-01-01T00%3A00%3A00.000Z&to=2025-03-04T05%3A06%3A07.008Z';
    const { headers } = await written(pageFrom(records(3), quick), sent);
    expect(headers).toEqual(linkTo(`${to}&limit=2&lastoffsetid=${idOf(2).toHexString()}`));
  });

  it('a page in several replies has commas in the right places', async () => {
    const asked = { ...window, limit: 5 };
    for (const sizes of [1, 2, 3, 5]) {
      const { text } = await written(pageFrom(records(7), { ...quick, sizes }), asked);
      const ids = (JSON.parse(text) as { result: { id: string }[] }).result.map(({ id }) => id);
      expect(ids).toEqual(['r0', 'r1', 'r2', 'r3', 'r4']);
    }
  });
});
