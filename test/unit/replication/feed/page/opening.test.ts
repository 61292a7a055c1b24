import { findMoment } from '../../../../../src/replication/feed/page/opening.js';
import type { PageMoment } from '../../../../../src/replication/feed/page/page-moment.js';
import { OutdatedServiceError } from '../../../../../src/replication/store/index.js';

const asked = {
  mark: { organizationid: 'acme', appid: 'shop', kind: 'product' },
  to: new Date(0),
  isFirst: true,
} as const;

/** More rounds than any page may take: a page that goes on for ever would never let a test end. */
const ENDLESS = 1000;

/** Pages of a service whose filter is edited again whenever the page has found its moment. */
function editedAgainAndAgain() {
  const begun: (number | undefined)[] = [];
  const moments = {
    find: (_wish: unknown, since?: number) => {
      begun.push(since);
      return Promise.reject(begun.length < ENDLESS ? new OutdatedServiceError() : new Error('Endless'));
    },
  };
  const open = () => findMoment(moments as unknown as PageMoment, asked, () => Promise.resolve({}));
  return { open, begun };
}

describe('where no moment serves, a page waits at most MARK_WAIT; after that the answer is 503 `not-watched`', () => {
  it('also where the filter is edited again and again', async () => {
    const { open, begun } = editedAgainAndAgain();
    await expect(open()).rejects.toMatchObject({ status: 503, slug: 'not-watched' });
    expect(begun.length).toBeGreaterThan(1);
  });

  it('counted from the first look on, however often the page is begun anew', async () => {
    const { open, begun } = editedAgainAndAgain();
    await expect(open()).rejects.toBeDefined();
    expect(begun[0]).toEqual(expect.any(Number));
    expect(new Set(begun).size).toBe(1);
  });
});
