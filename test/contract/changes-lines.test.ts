import { Authenticator } from '../../src/auth/index.js';
import { ConsumerNotes, PageReader } from '../../src/replication/feed/index.js';
import { eventually, expectProblem, PASSWORD, type TestApplication, TestService } from '../support/index.js';
import { onceServed } from '../support/patience.js';
import { type ChangeItem, changesOf } from './changes-feed.js';
import { SlowClient } from './slow-client.js';

const NDJSON = 'application/x-ndjson';
/** Items between two cursors. */
const STRETCH = 1000;

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start();
});
beforeEach(async () => {
  app = await withBikes();
});
afterEach(() => jest.restoreAllMocks());
afterAll(() => service.stop());

async function withBikes(): Promise<TestApplication> {
  const made = await service.application();
  await made.filter('product', 'bikes', { 'data.category': 'bikes' });
  return made;
}

type Line = ChangeItem | { op: 'cursor'; cursor: string } | { op: 'end'; to: string; cursor: string };

const isItem = (line: Line): line is ChangeItem => line.op === 'upsert' || line.op === 'delete';
const items = (lines: Line[]) => lines.filter(isItem);

function ask(query: Record<string, string> = {}, headers: Record<string, string> = {}) {
  const path = 'product/bikes/changes';
  return onceServed(() => app.get(path, { query, headers: { Accept: NDJSON, ...headers } }));
}

async function linesOf(query: Record<string, string> = {}, headers: Record<string, string> = {}) {
  const answer = await ask(query, headers);
  expect(answer.status).toBe(200);
  expect(answer.headers.get('content-type')).toMatch(new RegExp(`^${NDJSON}`));
  expect(answer.text.endsWith('\n')).toBe(true);
  return answer.text
    .slice(0, -1)
    .split('\n')
    .map((line) => JSON.parse(line) as Line);
}

/** The body of an answer, to be read piece by piece. */
async function opened(): Promise<ReadableStreamDefaultReader<Uint8Array>> {
  const Authorization = `Basic ${Buffer.from(`${app.user('read')}:${PASSWORD}`).toString('base64')}`;
  const url = `${service.url}/${app.organizationid}/${app.appid}/api/v1/product/bikes/changes`;
  const { body } = await fetch(url, {
    headers: { Accept: NDJSON, 'Accept-Encoding': 'identity', Authorization },
  });
  return body!.getReader();
}

async function textUntilBroken(): Promise<string> {
  const reader = await opened();
  const pieces: Uint8Array[] = [];
  const whole = (async () => {
    for (let piece = await reader.read(); !piece.done; piece = await reader.read()) pieces.push(piece.value);
  })();
  await expect(whole).rejects.toThrow('terminated');
  return Buffer.concat(pieces).toString();
}

/** Which harvest of the consumer ended last, as operators are told. */
async function endedOf(): Promise<unknown> {
  await service.app.get(ConsumerNotes, { strict: false }).flush();
  const [consumer] = await service.db
    .collection('tidemark.consumers')
    .find({ '_id.appid': app.appid })
    .toArray();
  return consumer?.['ended'];
}

/** Of every five products one leaves the filter, and one is gone. */
async function fill(app: TestApplication, count: number): Promise<void> {
  const category = (index: number) => (index % 5 === 1 ? 'tents' : 'bikes');
  await app.products(count, (index) => ({ id: `p${index}`, data: { category: category(index), n: index } }));
  await service.watcher.caughtUp();
  await service.db.collection('products').deleteMany({ ...app.tenant, id: /[49]$/ });
  await service.watcher.caughtUp();
}

describe('changes with Accept: application/x-ndjson', () => {
  let ofThreeStretches: TestApplication;
  beforeAll(async () => {
    ofThreeStretches = await withBikes();
    await fill(ofThreeStretches, 3 * STRETCH);
  });

  it('one item a line, a cursor after every 1,000 items, and an end: the items of the pages, in one answer', async () => {
    app = ofThreeStretches;
    const to = (await app.max('product')).toISOString();
    const paged: ChangeItem[] = [];
    for (let query: object = { to, limit: 700 }; ;) {
      const page = await changesOf(app, 'product/bikes', query);
      paged.push(...page.result);
      if (page.next === undefined) break;
      query = { cursor: page.cursor, limit: 700 };
    }
    const lines = await linesOf({ to, limit: '7' });
    expect(items(lines)).toEqual(paged);
    expect(lines.at(-1)).toEqual({ op: 'end', to, cursor: expect.any(String) as string });
    const places = lines.flatMap(({ op }, index) => (op === 'cursor' ? [index] : []));
    expect(paged).toHaveLength(3 * STRETCH);
    expect(places).toEqual([STRETCH, 2 * STRETCH + 1, 3 * STRETCH + 2]);
  });

  it('each cursor goes on behind the items before it, also through the records that left and those that are gone', async () => {
    app = ofThreeStretches;
    const whole = await linesOf();
    const end = whole.at(-1);
    for (const [index, line] of whole.entries()) {
      if (line.op !== 'cursor') continue;
      const rest = await linesOf({ cursor: line.cursor });
      expect(items(rest)).toEqual(items(whole.slice(index)));
      expect(rest.at(-1)).toEqual(end);
    }
    const next = await linesOf({ cursor: (end as { cursor: string }).cursor });
    expect(next).toEqual([
      { op: 'end', to: expect.any(String) as string, cursor: expect.any(String) as string },
    ]);
  });

  it('is compressed for whoever takes that, and JSON is for whoever takes both or something else', async () => {
    await fill(app, 50);
    expect(items(await linesOf({}, { 'Accept-Encoding': 'gzip' }))).toHaveLength(50);
    for (const Accept of [
      '*/*',
      `application/json, ${NDJSON}`,
      `${NDJSON};q=0.5, application/json`,
      'text/html',
    ]) {
      const answer = await ask({}, { Accept });
      expect(answer.headers.get('content-type')).toBe('application/json; charset=utf-8');
      expect(answer.headers.get('vary')).toMatch(/(^|, )Accept($|,)/);
    }
  });

  it('what is wrong is told as everywhere', async () => {
    expectProblem(await ask({ cursor: 'wrong' }), 400, 'invalid-request');
    await app.filter('product', 'broken', { 'data.n': { $regex: '(' } });
    const headers = { Accept: NDJSON };
    expectProblem(await app.get('product/broken/changes', { headers }), 500, 'service-misconfigured');
    expectProblem(await app.get('product/unknown/changes', { headers }), 404, 'unknown-service');
  });

  it('an answer that breaks off has no end, and its last cursor goes on', async () => {
    app = ofThreeStretches;
    const whole = await linesOf();
    const reader = service.app.get(PageReader, { strict: false });
    const read = reader.items.bind(reader);
    let readings = 0;
    jest.spyOn(reader, 'items').mockImplementation(async function* (...asked) {
      readings += 1;
      if (readings === 4) throw new Error('the database is gone');
      yield* read(...asked);
    });
    const ended = await endedOf();
    const text = await textUntilBroken();
    expect(await endedOf()).toEqual(ended);
    jest.restoreAllMocks();
    const lines = text
      .slice(0, text.lastIndexOf('\n'))
      .split('\n')
      .map((line) => JSON.parse(line) as Line);
    expect(lines.some(({ op }) => op === 'end')).toBe(false);
    expect(lines.filter(({ op }) => op === 'cursor').length).toBeGreaterThan(0);
    const last = lines.findLastIndex(({ op }) => op === 'cursor');
    const { cursor } = lines[last] as { cursor: string };
    expect([...items(lines.slice(0, last)), ...items(await linesOf({ cursor }))]).toEqual(items(whole));
  });
});

describe('a feed of large records', () => {
  let large: TestApplication;
  beforeAll(async () => {
    large = await withBikes();
    const text = 'x'.repeat(20_000);
    await large.products(3 * STRETCH, (index) => ({ id: `p${index}`, data: { category: 'bikes', text } }));
    await service.watcher.caughtUp();
  });
  beforeEach(() => {
    app = large;
  });

  it('a client that goes away in mid-stream costs nothing further', async () => {
    const reading = jest.spyOn(service.app.get(PageReader, { strict: false }), 'items');
    const body = await opened();
    await body.read();
    await body.cancel();
    await eventually(async () => (await service.metric('tidemark_page_bytes_in_flight')) === 0);
    const readings = reading.mock.calls.length;
    reading.mockClear();
    await linesOf();
    expect(readings).toBeLessThan(reading.mock.calls.length);
  });

  it('lines go on where the proof of the login was forgotten right after the request was let in', async () => {
    const path = 'product/bikes/changes';
    await onceServed(() => app.get(path, { query: { limit: '1' } }));
    const authenticator = service.app.get(Authenticator, { strict: false });
    const { proven } = authenticator as unknown as { proven: { hashOf: (name: string) => unknown } };
    const hashOf = proven.hashOf.bind(proven);
    jest.spyOn(proven, 'hashOf').mockImplementationOnce(hashOf).mockReturnValue(undefined);
    const client = await SlowClient.open(app, path, { user: app.user('read'), accept: NDJSON });
    const { text, isWhole } = await client.rest();
    expect([isWhole, text.includes('{"op":"end"')]).toEqual([true, true]);
  });

  describe('lines break off where the next page would be refused (§4: within 2 s)', () => {
    afterEach(async () => {
      await service.db
        .collection('services')
        .updateOne({ ...app.tenant, name: 'bikes' }, { $unset: { enabled: '', fields: '' } });
      await service.watcher.caughtUp();
    });

    it.each<[string, number, (user: string) => Promise<unknown>]>([
      [
        'the login is revoked',
        401,
        (username) => service.db.collection('credentials').deleteOne({ username }),
      ],
      [
        'the login is kept from this application',
        404,
        (username) => service.db.collection('credentials').updateOne({ username }, { $set: { scopes: [] } }),
      ],
      [
        'the service is switched off',
        404,
        () =>
          service.db
            .collection('services')
            .updateOne({ ...app.tenant, name: 'bikes' }, { $set: { enabled: false } }),
      ],
    ])('%s', async (_name, status, close) => {
      const user = await app.credential();
      const path = 'product/bikes/changes';
      await onceServed(() => app.get(path, { user, query: { limit: '1' } }));
      const client = await SlowClient.open(app, path, { user, accept: NDJSON });
      await close(user);
      await eventually(async () => (await app.get(path, { user, query: { limit: '1' } })).status === status);
      const { text, isWhole } = await client.rest();
      expect([isWhole, text.includes('{"op":"end"')]).toEqual([false, false]);
      expect(text.split('{"op":"cursor"').length - 1).toBeLessThan(3);
    });

    it('the application hides the password hashes (§2)', async () => {
      const replicate = async (replicatepasswordhash: boolean) => {
        const $set = { settings: { replicatepasswordhash } };
        await service.db.collection('applications').updateOne(app.tenant, { $set });
        await service.heard();
      };
      await replicate(true);
      const path = 'product/bikes/changes';
      await onceServed(() => app.get(path, { query: { limit: '1' } }));
      const client = await SlowClient.open(app, path, { user: app.user('read'), accept: NDJSON });
      await replicate(false);
      await onceServed(() => app.get(path, { query: { limit: '1' } }));
      const { text, isWhole } = await client.rest();
      expect([isWhole, text.includes('{"op":"end"')]).toEqual([false, false]);
    });

    it('the fields of the service are edited (§7)', async () => {
      const path = 'product/bikes/changes';
      const first = () => onceServed(() => app.get(path, { query: { limit: '1' } }));
      const client = await SlowClient.open(app, path, { user: app.user('read'), accept: NDJSON });
      const fields = { except: ['data.text'] };
      await service.db
        .collection('services')
        .updateOne({ ...app.tenant, name: 'bikes' }, { $set: { fields } });
      await service.watcher.caughtUp();
      await eventually(async () => (await first()).text.includes('"data":{"category":"bikes"}'));
      const { text, isWhole } = await client.rest();
      expect([isWhole, text.includes('{"op":"end"')]).toEqual([false, false]);
    });
  });
});
