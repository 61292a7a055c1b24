import { Pages } from '../../../../../src/replication/feed/page/pages.js';
import { OutdatedServiceError } from '../../../../../src/replication/filters/index.js';

type Parts = ConstructorParameters<typeof Pages>;

const ask = {
  application: { organizationid: 'acme', appid: 'shop' },
  request: { path: '/', window: { to: new Date(0), limit: 1 } },
  share: {},
} as unknown as Parameters<Pages['open']>[0];
const feed = { kind: 'product', shows: 'updates', by: { service: 'busy' } } as const;

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
  const selector = { select: () => Promise.resolve({}) };
  const [none] = [undefined as never];
  const pages = new Pages(
    selector as unknown as Parts[0],
    moments as unknown as Parts[1],
    none,
    none,
    none,
    none,
  );
  return { pages, begun };
}

describe('where no moment serves, a page waits at most MARK_WAIT; after that the answer is 503 `not-watched`', () => {
  it('also where the filter is edited again and again', async () => {
    const { pages, begun } = editedAgainAndAgain();
    await expect(pages.open(ask, feed)).rejects.toMatchObject({ status: 503, slug: 'not-watched' });
    expect(begun.length).toBeGreaterThan(1);
  });

  it('counted from the first look on, however often the page is begun anew', async () => {
    const { pages, begun } = editedAgainAndAgain();
    await expect(pages.open(ask, feed)).rejects.toBeDefined();
    expect(begun[0]).toEqual(expect.any(Number));
    expect(new Set(begun).size).toBe(1);
  });
});
