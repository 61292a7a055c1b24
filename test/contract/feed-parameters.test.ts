import type { ProblemBody } from '../../src/platform/http/index.js';
import {
  expectProblem,
  FEED_PATHS,
  MAX_PATHS,
  pathFor,
  type Stored,
  type TestApplication,
  TestService,
  WARE_PATHS,
} from '../support/index.js';

const T = '2025-03-04T05:06:07.008Z';

let service: TestService;
let app: TestApplication;
let record: Stored;
beforeAll(async () => {
  service = await TestService.withWares();
  app = await service.application();
  record = await app.product({ lastupdated: new Date(T), channels: ['web'] });
});
afterAll(() => service.stop());

const PATHS = [...FEED_PATHS, ...WARE_PATHS];

type Query = Record<string, string | string[] | undefined>;

/** The sentence that a 400 has for its only wrong parameter. */
async function refusal(query: Query, path = 'product/default/updates'): Promise<[string, string]> {
  const body = expectProblem(await app.get(path, { query }), 400, 'invalid-request');
  const errors = body.errors as { parameter: string; detail: string }[];
  expect(errors.length).toBe(1);
  expect(body.detail).toBe(`Not valid: ${errors[0]?.parameter}.`);
  return [errors[0]?.parameter ?? '', errors[0]?.detail ?? ''];
}

function dateOf(year: string): string[] {
  return [`${year}-01-01`, `${year}-12-31T23:59:59.999Z`];
}

describe('to and from: RFC 3339 date-time (Z or ±hh:mm, 0 to 9 fraction digits, cut to ms) or a date (midnight UTC)', () => {
  it.each([
    ['2025-03-04T05:06:07Z', '2025-03-04T05:06:07.000Z'],
    ['2025-03-04T05:06:07.1Z', '2025-03-04T05:06:07.100Z'],
    ['2025-03-04T05:06:07.12Z', '2025-03-04T05:06:07.120Z'],
    ['2025-03-04T05:06:07.123Z', '2025-03-04T05:06:07.123Z'],
    ['2025-03-04T05:06:07.1239Z', '2025-03-04T05:06:07.123Z'],
    ['2025-03-04T05:06:07.12399Z', '2025-03-04T05:06:07.123Z'],
    ['2025-03-04T05:06:07.123999Z', '2025-03-04T05:06:07.123Z'],
    ['2025-03-04T05:06:07.0009999Z', '2025-03-04T05:06:07.000Z'],
    ['2025-03-04T05:06:07.12345678Z', '2025-03-04T05:06:07.123Z'],
    ['2025-03-04T05:06:07.999999999Z', '2025-03-04T05:06:07.999Z'],
    ['2025-03-04t05:06:07.008z', '2025-03-04T05:06:07.008Z'],
    ['2025-03-04T05:06:07.008+00:00', '2025-03-04T05:06:07.008Z'],
    ['2025-03-04T05:06:07.008-00:00', '2025-03-04T05:06:07.008Z'],
    ['2025-03-04T05:06:07+01:30', '2025-03-04T03:36:07.000Z'],
    ['2025-03-04T05:06:07-01:30', '2025-03-04T06:36:07.000Z'],
    ['2025-03-01T00:00:00+23:59', '2025-02-28T00:01:00.000Z'],
    ['2024-02-28T23:59:59-00:01', '2024-02-29T00:00:59.000Z'],
    ['2025-03-04', '2025-03-04T00:00:00.000Z'],
    ['2024-02-29', '2024-02-29T00:00:00.000Z'],
    ['2000-02-29T00:00:00Z', '2000-02-29T00:00:00.000Z'],
    ['0000-01-01', '0000-01-01T00:00:00.000Z'],
    ['1969-12-31T23:59:59.999Z', '1969-12-31T23:59:59.999Z'],
  ])('%s', async (to, used) => {
    const answer = await app.get('product/default/updates', { query: { to } });
    expect([answer.status, answer.headers.get('tidemark-to')]).toEqual([200, used]);
  });

  it.each([...dateOf('0000'), T, '2025-03-04T06:06:07.008+01:00', '2025-03-04'])(
    'from takes %s too',
    async (from) => {
      const answer = await app.get('product/default/updates', { query: { from, to: T } });
      expect(answer.status).toBe(200);
    },
  );

  it.each(dateOf('9999'))('%s is a date too, ahead of everything that the database knows', async (from) => {
    const answer = await app.get('product/default/updates', { query: { from, to: T } });
    expectProblem(answer, 410, 'source-restored');
  });

  it('an offset is part of the edge', async () => {
    const feed = app.feed('product');
    expect((await feed.page({ to: '2025-03-04T06:06:07.008+01:00' })).ids).toEqual([record['id']]);
    expect((await feed.page({ to: '2025-03-04T06:06:07.007+01:00' })).ids).toEqual([]);
    expect((await feed.page({ from: '2025-03-04T04:06:07.008-01:00' })).ids).toEqual([]);
    expect((await feed.page({ from: '2025-03-04T04:06:07.007-01:00' })).ids).toEqual([record['id']]);
  });
});

describe('anything else, or an impossible date: 400 that names the parameter, shows what came and an example', () => {
  const wrong = [
    ...['', ' ', 'garbage', 'now', '0', '5', '2025', '2025-03', '1741064767', '20250304', '20250304T050607Z'],
    ...[
      '2025-02-29',
      '1900-02-29',
      '2025-02-30T00:00:00Z',
      '2025-04-31',
      '2025-13-01',
      '2025-00-01',
      '2025-01-00',
    ],
    ...['2025-03-04T24:00:00Z', '2025-03-04T05:60:00Z', '2025-03-04T05:06:60Z', '2025-03-04T99:99:99Z'],
    ...['2025-03-04T05:06:07', '2025-03-04T05:06Z', '2025-03-04T05Z', '2025-03-04T', '2025-03-04Z'],
    ...['2025-03-04T05:06:07.Z', '2025-03-04T05:06:07,5Z', '2025-03-04T05:06:07.1234567890Z'],
    ...['2025-03-04T05:06:07+1:00', '2025-03-04T05:06:07+0100', '2025-03-04T05:06:07+01'],
    ...['2025-03-04T05:06:07+24:00', '2025-03-04T05:06:07+01:60', '2025-03-04T05:06:07Z+01:00'],
    ...['2025-03-04 05:06:07Z', '2025-03-04 05:06', ' 2025-03-04', '2025-03-04 ', '2025-03-04\n'],
    ...['25-03-04', '2025-3-4', '+2025-03-04', '-2025-03-04', '+012025-03-04T05:06:07Z', '２０２５-03-04'],
    ...['Tue, 04 Mar 2025 05:06:07 GMT', '03/04/2025', '{"$gt":""}', '2025-W10-2', 'null', 'undefined'],
  ];

  it.each(wrong)('to=%j', async (to) => {
    expect(await refusal({ to })).toEqual([
      'to',
      `"${to}" is not a date. Send one such as 2026-11-20T10:00:00.000Z or 2026-11-20.`,
    ]);
  });

  it.each(['garbage', '', '2025-02-29'])('from=%j', async (from) => {
    expect(await refusal({ to: T, from })).toEqual([
      'from',
      `"${from}" is not a date. Send one such as 2026-11-20T10:00:00.000Z or 2026-11-20.`,
    ]);
  });

  it.each(['0000-01-01T00:00:00+00:01', '9999-12-31T23:59:59-00:01'])(
    'a year out of range: %s',
    async (to) => {
      const [parameter, detail] = await refusal({ to });
      expect(parameter).toBe('to');
      expect(detail).toContain(`"${to}" lies outside the years 0000 to 9999`);
      expect(detail).toContain('2026-11-20T10:00:00.000Z');
    },
  );

  it('what came is shown in part where it is long', async () => {
    const [, detail] = await refusal({ to: 'x'.repeat(5000) });
    expect(detail).toMatch(/^"x{80}…" is not a date\. /);
  });
});

describe('a blank where a + must have been: 400 that says "encode + as %2B"', () => {
  it.each(['2025-03-04T05:06:07 01:00', '2025-03-04t05:06:07.123 00:00'])('%s', async (text) => {
    for (const query of [{ to: text }, { to: T, from: text }] as Query[]) {
      const [parameter, detail] = await refusal(query);
      expect(parameter).toBe('from' in query ? 'from' : 'to');
      expect(detail).toBe(`"${text}" has a blank where a + must have been: encode + as %2B.`);
    }
  });

  it('a + that was not encoded arrives as a blank', async () => {
    const path = `${service.url}/${app.organizationid}/${app.appid}/api/v1/product/default/updates`;
    const answer = await app.getUrl(`${path}?to=2025-03-04T06:06:07.008+01:00`);
    const body: ProblemBody = expectProblem(answer, 400, 'invalid-request');
    expect(body.errors?.[0]?.detail).toContain('encode + as %2B');
    expect((await app.getUrl(`${path}?to=2025-03-04T06:06:07.008%2B01:00`)).status).toBe(200);
  });
});

describe('a parameter given twice: 400', () => {
  it.each(['to', 'from', 'lastoffsetid', 'limit'])('%s', async (parameter) => {
    const right: Record<string, string> = { to: T, from: T, lastoffsetid: '', limit: '5' };
    const twice = [right[parameter] ?? '', right[parameter] ?? ''];
    expect(await refusal({ to: T, [parameter]: twice })).toEqual([
      parameter,
      'is given more than once. Send it once.',
    ]);
  });
});

describe('to (required)', () => {
  it.each(PATHS)('missing: 400 on %s', async (path) => {
    const [parameter, detail] = await refusal({ from: T }, pathFor(path));
    expect(parameter).toBe('to');
    expect(detail).toBe('is missing. Send the offset of max, such as to=2026-11-20T10:00:00.000Z.');
  });

  it('all that is wrong is told at once', async () => {
    const query = { to: 'x', from: 'y', lastoffsetid: 'z', limit: '0' };
    const body = expectProblem(await app.get('product/default/updates', { query }), 400, 'invalid-request');
    expect(body.detail).toBe('Not valid: to, from, lastoffsetid, limit.');
    expect(body.errors?.map((error) => 'parameter' in error && error.parameter)).toEqual([
      'to',
      'from',
      'lastoffsetid',
      'limit',
    ]);
  });
});

describe('parameters not listed are ignored; max takes none', () => {
  const junk = { 'to[$gt]': '', $where: 'true', filter: '{}', TO: 'x', sort: '-_id', __proto__x: 'y' };

  it.each(PATHS)('%s', async (path) => {
    const plain = await app.get(pathFor(path), { query: { to: T } });
    const odd = await app.get(pathFor(path), { query: { ...junk, to: T, sort: ['a', 'b'] } });
    expect([odd.status, odd.text]).toEqual([200, plain.text]);
  });

  it.each([...MAX_PATHS, 'ware/max'])('%s', async (path) => {
    const plain = await app.get(path);
    const odd = await app.get(path, { query: { ...junk, to: 'garbage', from: ['1', '2'], limit: '0' } });
    expect([odd.status, odd.text]).toEqual([200, plain.text]);
  });
});
