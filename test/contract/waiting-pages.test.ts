import { PageTurns, ReadSlots } from '../../src/replication/feed/index.js';
import {
  type Answer,
  eventually,
  expectProblem,
  type TestApplication,
  TestService,
} from '../support/index.js';
import { MemberClient } from './member-client.js';
import { askSchema } from './told-schema.js';

/** More than the requests that may wait for an answer. */
const PAGES = 510;
/** Fewer than that: a page waits with all others until it is known what it is of. */
const AT_ONCE = 170;
const POOL = 4;
/** Reads of pages that a pool of this size has at a time. */
const READS = 3;

let first: TestService;
let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  first = await TestService.start();
  service = await first.another({
    CREDENTIAL_PAGES: String(PAGES),
    MONGODB_URI: `${first.uri}${first.uri.includes('?') ? '&' : '?'}maxPoolSize=${POOL}`,
  });
  app = (await first.application()).seenBy(service);
});
afterAll(async () => {
  await service.leave();
  await first.stop();
});

describe('pages that wait for the database', () => {
  it('leave `max` and member writes their places, however many they are', async () => {
    await app.product({ id: 'p1' });
    await first.watcher.caughtUp();
    const to = (await app.max('product')).toISOString();
    const turns = service.app.get(PageTurns, { strict: false });
    const free = await takeAllReads();
    const pages: Promise<Answer>[] = [];
    try {
      while (pages.length < PAGES) {
        const some = Array.from({ length: AT_ONCE }, () =>
          app.get(`product/default/updates?limit=1&to=${to}`),
        );
        pages.push(...some);
        await eventually(() => turns.of(app.user('read')) === pages.length);
      }
      await eventually(async () => (await app.get('product/max')).status === 200);
      await new MemberClient(app).born();
    } finally {
      free();
    }
    for (const page of await Promise.all(pages)) expect(page.status).toBe(200);
  });

  it('and so do the examples of a schema, for a bounded time: 503 `busy`, since the database is not away', async () => {
    await app.filter('product', 'erp', {}, { schemaExamples: true });
    expect((await askSchema(app, 'erp')).status).toBe(200);
    const free = await takeAllReads();
    try {
      expectProblem(await app.get('product/erp/schema'), 503, 'busy');
    } finally {
      free();
    }
    expect((await askSchema(app, 'erp')).status).toBe(200);
  });

  it('and so does the first sample of a schema, for a bounded time: 503 `busy`', async () => {
    const free = await takeAllReads();
    try {
      await eventually(async () => {
        // The watcher of the other instance may take the first sample.
        await first.db.collection('tidemark.schemas').deleteMany({ ...app.tenant });
        const answer = await app.get('product/default/schema');
        if (answer.status === 200) return false;
        expectProblem(answer, 503, 'busy');
        return true;
      });
    } finally {
      free();
    }
    expect((await askSchema(app)).status).toBe(200);
  });
});

/** Takes every place that pages have for their reads, until the function that it returns is called. */
async function takeAllReads(): Promise<() => void> {
  const places = service.app.get(ReadSlots, { strict: false });
  const gone = new AbortController().signal;
  let free = () => {};
  const over = new Promise<void>((resolve) => (free = resolve));
  let begun = 0;
  const held = () => {
    begun += 1;
    return over;
  };
  for (let place = 0; place < READS; place += 1)
    void places.read({ limit: 1, owner: `holder${place}`, gone }, held);
  await eventually(() => begun === READS);
  return free;
}
