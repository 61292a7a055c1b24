import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { text } from 'node:stream/consumers';
import {
  CannotJudgeError,
  CHECKS,
  judge,
  type JudgedCheck,
  type JudgeOptions,
} from '../../conformance/src/index.js';
import type { Kind } from '../../src/kinds/index.js';
import { KINDS_AND_WARES, PASSWORD, type TestApplication, TestService } from '../support/index.js';
import { FAULTS } from './conformance/faults.js';
import { fill } from './conformance/fill.js';
import { BOUNDS, boundsFor, withoutChannel } from './conformance/runs.js';
import { WrongServer } from './conformance/wrong-server.js';

const OF_MANY = 'changes-lines-cursor';

let service: TestService;
let app: TestApplication;
let other: TestApplication;
/** Of more items than one stretch of lines has. */
let large: TestApplication;
let wrong: WrongServer;

beforeAll(async () => {
  service = await TestService.withWares({ LOGIN_FAILURES: '10000' });
  app = await service.application();
  other = await service.application();
  large = await service.application();
  await large.products(1001);
  wrong = await WrongServer.before(service.url);
  for (const kind of KINDS_AND_WARES) {
    await app.filter(kind, 'bikes', { 'data.category': 'bikes' });
    await fill(service, app, kind);
  }
});
afterAll(async () => {
  await wrong.stop();
  await service.stop();
});

function options(kind: Kind, changed: Partial<JudgeOptions> = {}): JudgeOptions {
  return {
    target: {
      ...{ url: wrong.url, ...app.tenant, kind, services: ['bikes'] },
      ...(kind === 'product' && { channel: 'web' }),
      uncovered: `${other.organizationid}/${other.appid}`,
    },
    login: { username: app.user('write'), password: PASSWORD },
    parts: ['seed', 'changes', 'digest', 'events', 'writes'],
    ...{ only: [], bounds: BOUNDS, pages: 20 },
    ...changed,
  };
}

/**
 * Each fault is in the feeds of a service as well as in those of a channel: one of them is enough. More items than come in
 * lines without a cursor between them are there for the only check that needs so many.
 */
function optionsFor(id: string): JudgeOptions {
  const all = options(id.startsWith('write-') ? 'member' : 'product', { only: [id] });
  const usual = { ...all, target: withoutChannel(all.target) };
  if (id !== OF_MANY) return usual;
  const target = { url: wrong.url, ...large.tenant, kind: 'product' as const, services: [] };
  return { ...usual, target, login: { username: large.user('read'), password: PASSWORD } };
}

const notHolding = (checks: JudgedCheck[]) => checks.filter(({ outcome }) => outcome !== 'holds');

describe('against this service', () => {
  it.each(KINDS_AND_WARES)('everything holds, and everything is judged (%s)', async (kind) => {
    wrong.plant({});
    const { verdict, checks } = await judge(options(kind));
    expect(notHolding(checks)).toEqual([expect.objectContaining({ id: OF_MANY, outcome: 'not judged' })]);
    expect(verdict).toBe('holds');
    const isMeant = (part: string) => kind === 'member' || part !== 'writes';
    expect(checks.map(({ id }) => id)).toEqual(
      CHECKS.filter(({ part }) => isMeant(part)).map(({ id }) => id),
    );
  });

  it('a service that leaves out createdBy and hashes channels holds only if that is allowed', async () => {
    wrong.plant({});
    const fields = { fields: { except: ['createdBy'] }, hash: ['channels'] };
    await app.filter('product', 'some', { 'data.category': 'bikes' }, fields);
    const target = { ...withoutChannel(options('product').target), services: ['some'] };
    const parts: JudgeOptions['parts'] = ['seed', 'changes', 'digest'];
    const strict = await judge({ ...options('product', { parts }), target });
    const broken = strict.checks.filter(({ outcome }) => outcome === 'broken').map(({ id }) => id);
    expect(broken).toEqual(['update-item', 'changes-item']);
    const allowed = await judge({ ...options('product', { parts }), target: { ...target, hasFields: true } });
    expect([allowed.verdict, notHolding(allowed.checks).map(({ id }) => id)]).toEqual(['holds', [OF_MANY]]);
  });

  it('a long feed in lines holds as well', async () => {
    wrong.plant({});
    expect((await judge(optionsFor(OF_MANY))).checks).toEqual([
      expect.objectContaining({ outcome: 'holds' }),
    ]);
  });

  it('where there are no data, it says what could not be judged', async () => {
    wrong.plant({});
    const login = { username: other.user('read'), password: PASSWORD };
    const named = withoutChannel(options('product').target);
    const uncovered = `${app.organizationid}/${app.appid}`;
    const target = { ...named, ...other.tenant, services: [], uncovered };
    const { verdict, checks } = await judge({ ...options('product'), target, login });
    expect(checks.filter(({ outcome }) => outcome === 'broken')).toEqual([]);
    expect(verdict).toBe('holds');
    const { lacks } = checks.find(({ id }) => id === 'hard-delete-item')!;
    expect(lacks).toEqual(['no items in product/harddeletes']);
  });

  it('where hard deletes have expired, nothing is taken for broken', async () => {
    const ofRecords = '2026';
    wrong.plant({
      answer: (answer, { url }) => {
        const from = url.searchParams.get('from') ?? ofRecords;
        if (answer.status !== 200 || from >= ofRecords || !/\/(harddeletes|changes)$/.test(url.pathname))
          return;
        answer.status = 410;
        answer.body = { type: 'urn:tidemark:problem:history-expired' };
      },
    });
    const { verdict, checks } = await judge(options('product', { parts: ['seed', 'changes'] }));
    expect(checks.filter(({ outcome }) => outcome === 'broken')).toEqual([]);
    expect(verdict).toBe('holds');
    const { lacks } = checks.find(({ id }) => id === 'changes-equal')!;
    expect(lacks).toContain('product/default/changes: 410 to a window from that time');
  });

  it('and while others write, nothing is taken for broken', async () => {
    const products = service.db.collection('products');
    const written: Promise<unknown>[] = [];
    const write = () => {
      const which = { ...app.tenant, id: `b${1 + (written.length % 3)}` };
      const change = { $set: { 'data.n': written.length }, $currentDate: { lastupdated: true as const } };
      written.push(products.updateOne(which, change));
    };
    wrong.plant({ request: write });
    const { verdict, checks, requests } = await judge(
      options('product', { parts: ['seed', 'changes', 'digest', 'events'] }),
    );
    await Promise.all(written);
    expect(checks.filter(({ outcome }) => outcome === 'broken')).toEqual([]);
    expect([verdict, written.length]).toEqual(['holds', requests]);
  });
});

describe('a wrong server is found out by the check that is meant for it', () => {
  beforeAll(() => wrong.remember());
  afterAll(() => wrong.forget());

  it.each(FAULTS)('$finds: $what', async ({ finds, ...fault }) => {
    wrong.plant(fault);
    const { verdict, checks } = await judge({ ...optionsFor(finds), bounds: boundsFor(fault.what) });
    expect(checks).toEqual([expect.objectContaining({ id: finds, outcome: 'broken' })]);
    expect(verdict).toBe('broken');
  });

  it('there is a fault for each check', () => {
    const ids = CHECKS.map(({ id }) => id);
    expect(ids.filter((id) => !FAULTS.some(({ finds }) => finds === id))).toEqual([]);
    expect(FAULTS.filter(({ finds }) => !ids.includes(finds))).toEqual([]);
  });
});

describe('what cannot be judged', () => {
  it.each<[string, () => Partial<JudgeOptions>, RegExp]>([
    [
      'wrong credentials',
      () => ({ login: { username: 'nobody', password: 'x' } }),
      /refuses the credentials/,
    ],
    [
      'an unknown application',
      () => ({ target: { ...options('product').target, appid: 'nobody' } }),
      /application is unknown/,
    ],
    [
      'a server that is not there',
      () => ({ target: { ...options('product').target, url: 'http://127.0.0.1:1' } }),
      /No answer to GET http:\/\/127\.0\.0\.1:1\//,
    ],
  ])('%s', async (_name, changed, message) => {
    const judged = judge(options('product', changed()));
    await expect(judged).rejects.toThrow(message);
    await expect(judged).rejects.toBeInstanceOf(CannotJudgeError);
  });

  it('what lies behind a bound is cut off, and told', async () => {
    wrong.plant({});
    const bounds = { ...BOUNDS, requests: 5 };
    const { verdict, checks, requests } = await judge(options('product', { bounds }));
    expect([verdict, requests]).toEqual(['cut off', 5]);
    expect(checks.at(-1)).toMatchObject({
      outcome: 'not judged',
      lacks: [expect.stringContaining('--requests')],
    });
  });
});

describe('npx tidemark-conformance', () => {
  async function run(...words: string[]): Promise<{ code: number; output: string; errors: string }> {
    const env = { ...process.env, TIDEMARK_USERNAME: app.user('read'), TIDEMARK_PASSWORD: PASSWORD };
    const place = ['--url', wrong.url, '--org', app.organizationid, '--app', app.appid];
    const program = ['conformance/bin/tidemark-conformance.mjs', ...place, ...words];
    const child = spawn(process.execPath, program, { env, stdio: ['ignore', 'pipe', 'pipe'] });
    const [[code], output, errors] = await Promise.all([
      once(child, 'exit'),
      text(child.stdout),
      text(child.stderr),
    ]);
    return { code: code as number, output, errors };
  }

  it('0 where everything holds, with a line for each check and one at the end', async () => {
    wrong.plant({});
    const { code, output, errors } = await run('--only', 'from-exclusive', '--only', 'head');
    expect([code, errors]).toEqual([0, '']);
    const lines = output.trimEnd().split('\n');
    expect(lines.map((line) => line.slice(0, 16))).toEqual([
      '✓ from-exclusive',
      '✓ head          ',
      '2 hold, 0 broken',
    ]);
  });

  it('ends though the streams that it looks at have no end', async () => {
    wrong.plant({});
    const { code, output } = await run('--events', '--only', 'events-stream', '--only', 'events-known');
    expect([code, output]).toEqual([0, expect.stringContaining('2 hold, 0 broken, 0 not judged')]);
  });

  it('1 where something is broken, with what was expected, what came, and a line that shows it', async () => {
    wrong.plant(FAULTS.find(({ finds }) => finds === 'empty-page')!);
    const { code, output } = await run('--only', 'empty-page');
    expect(code).toBe(1);
    const [check, expected, came, curl] = output.split('\n');
    expect(check).toMatch(/^✗ empty-page /);
    expect(expected).toBe('    expected: product/default/updates: "nextoffsetid": "" on an empty page');
    expect(came).toBe('    came:     200 {"result":[],"nextoffsetid":null}');
    expect(curl).toMatch(
      /^ {4}curl -sS -i -u "\$TIDEMARK_USERNAME:\$TIDEMARK_PASSWORD" 'http:.*updates\?to=.*'$/,
    );
    expect(output).not.toContain(PASSWORD);
  });

  it('2 where it could not be judged, in one line', async () => {
    const { code, output, errors } = await run('--username', 'nobody');
    expect([code, output]).toEqual([2, '']);
    expect(errors).toMatch(/^The server refuses the credentials \(401\)\. .*\n$/);
  });

  it('--json', async () => {
    wrong.plant(FAULTS.find(({ finds }) => finds === 'empty-page')!);
    const { code, output } = await run(
      '--json',
      '--only',
      'empty-page',
      '--only',
      'envelope',
      '--only',
      'link',
    );
    expect(code).toBe(1);
    expect(JSON.parse(output)).toMatchObject({
      ...{ verdict: 'broken', ...app.tenant, kind: 'product', holds: 1, broken: 2, notJudged: 0 },
      checks: [
        { id: 'envelope', outcome: 'broken' },
        { id: 'empty-page', outcome: 'broken' },
        { id: 'link' },
      ],
    });
  });
});
