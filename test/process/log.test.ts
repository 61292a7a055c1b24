import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { connect } from 'node:net';
import { platform } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { mongo } from 'mongoose';
import { eventually } from '../support/eventually.js';
import { builtCommit, VERSION } from '../support/build.js';
import { freshDataDir, removeDataDir, ServiceProcess } from '../support/process.js';

jest.setTimeout(300_000);

const PATIENCE_MS = 100_000;

let dataDir: string;
let service: ServiceProcess;
let logins: Record<'read' | 'write' | 'admin', { username: string; password: string }>;

beforeAll(async () => {
  dataDir = await freshDataDir();
  service = await ServiceProcess.start({ dataDir, environment: { LOG_LEVEL: 'info', RECEIVE_MS: '1000' } });
  await service.prints('All endpoints');
  logins = JSON.parse(await readFile(join(dataDir, 'demo-credentials.json'), 'utf8')) as typeof logins;
});
afterAll(async () => {
  await service.stop();
  await removeDataDir(dataDir);
});

const feeds = () => `${service.url}/demo/shop/api/v1`;

/** The line of a request, which it is found again by its id. */
async function lineOf(url: string, options: RequestInit & { level?: keyof typeof logins } = {}) {
  const { level = 'read', headers, ...more } = options;
  const { username, password } = logins[level];
  const id = `request-${Math.random().toString(36).slice(2)}`;
  const authorization = `Basic ${btoa(`${username}:${password}`)}`;
  const sent = { authorization, 'x-request-id': id, ...headers } as Record<string, string>;
  const answer = await fetch(url, { ...more, headers: sent });
  await answer.text();
  await service.prints(id);
  const line = service.logged.find((one) => one.includes(id)) ?? '';
  for (const secret of [password, btoa(`${username}:${password}`)]) expect(line).not.toContain(secret);
  return JSON.parse(line) as Record<string, unknown>;
}

describe('the log', () => {
  it('is alone on stdout, as JSON with ISO times and levels as words; people are told on stderr', () => {
    expect(JSON.parse(service.logged[0]!)).toMatchObject({
      level: 'info',
      msg: `Tidemark ${VERSION} (commit ${builtCommit()}, Node ${process.version}) starts`,
    });
    for (const line of service.logged)
      expect(JSON.parse(line)).toMatchObject({
        level: expect.stringMatching(/^(info|warn)$/),
        time: expect.stringMatching(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/),
        msg: expect.any(String),
      });
    expect(service.logged.length).toBeGreaterThan(0);
    expect(service.said.filter((line) => line.startsWith('{'))).toEqual([]);
    expect(service.said.slice(0, 2)).toEqual([
      expect.stringMatching(/^Using mongod /),
      expect.stringMatching(/^Tidemark listens at http:/),
    ]);
    expect(service.said.filter((line) => line.startsWith('curl '))).not.toEqual([]);
  });
});

describe('the line of a request names', () => {
  it('the user', async () => {
    expect(await lineOf(`${feeds()}/product/max`)).toMatchObject({
      req: { method: 'GET', url: '/demo/shop/api/v1/product/max' },
      res: { statusCode: 200 },
      user: 'demo-reader',
    });
  });

  it('of a page the user, the items and the window that was used', async () => {
    const from = '2000-01-01';
    const line = await lineOf(`${feeds()}/product/default/updates?from=${from}&to=2999-01-01&limit=7`);
    expect(line).toMatchObject({ user: 'demo-reader', items: 7, from: '2000-01-01T00:00:00.000Z' });
    expect(Date.parse(String(line['to']))).toBeLessThan(Date.parse('2999-01-01'));
    const first = await lineOf(`${feeds()}/product/harddeletes?to=2999-01-01`);
    expect(first).toMatchObject({ user: 'demo-reader', items: 3, to: expect.any(String) });
    expect(first).not.toHaveProperty('from');
  });

  it('of a write the user and nothing of what was written', async () => {
    const body = JSON.stringify({ accountnumber: '4711', email: 'hidden@example.org' });
    const headers = { 'content-type': 'application/json' };
    const url = `${service.url}/demo/shop/api/v0.1/member`;
    const line = await lineOf(url, { level: 'write', method: 'POST', body, headers });
    expect(line).toMatchObject({ user: 'demo-writer', res: { statusCode: 201 } });
    expect(JSON.stringify(line)).not.toContain('hidden');
  });

  it('nobody where nobody has proven to be somebody', async () => {
    const authorization = `Basic ${btoa('demo-reader:wrong')}`;
    const line = await lineOf(`${feeds()}/product/max`, { headers: { authorization } });
    expect(line).toMatchObject({ res: { statusCode: 401 } });
    expect(line).not.toHaveProperty('user');
  });

  it('who reads as another user in the console, and what a page asks for by itself is left out', async () => {
    const session = await fetch(`${service.url}/admin/v1/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'tidemark-console': 'use' },
      body: JSON.stringify(logins.admin),
    });
    const cookie = session.headers.getSetCookie()[0]?.split(';')[0] ?? '';
    const poll = { cookie, 'tidemark-console': 'poll', 'x-request-id': 'a-poll' };
    expect((await fetch(`${service.url}/admin/v1/figures`, { headers: poll })).status).toBe(200);
    const as = { cookie, 'tidemark-console': 'use', 'tidemark-as': 'demo-reader' };
    const line = await lineOf(`${feeds()}/product/max`, { headers: as });
    expect(line).toMatchObject({ res: { statusCode: 200 }, user: 'demo-reader', by: 'demo-admin' });
    expect(service.logged.filter((one) => one.includes('a-poll'))).toEqual([]);
  });
});

/** What the service answers to these bytes until it ends the connection. */
async function answerTo(sent: string): Promise<string> {
  const { hostname, port } = new URL(service.url!);
  const socket = connect(Number(port), hostname);
  await once(socket, 'connect');
  socket.write(sent);
  return text(socket);
}

const HEAD = 'HTTP/1.1\r\nHost: x\r\n';
const HALF = 'Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{"username"';

it.each([
  ['400', () => 'EHLO example.com\r\n\r\n'],
  ['408', () => `POST /admin/v1/session ${HEAD}${HALF}`],
  ['417', () => `GET /docs ${HEAD}Expect: 200-ok\r\n\r\n`],
  ['431', () => `GET /docs ${HEAD}X-Long: ${'x'.repeat(20_000)}\r\n\r\n`],
])('has the requestId of a %s that ends its connection', async (status, sent) => {
  const answer = await answerTo(sent());
  expect(answer).toContain(`HTTP/1.1 ${status} `);
  const [, requestId = ''] = /"requestId":"([^"]+)"/.exec(answer) ?? [];
  expect(requestId).not.toBe('');
  await service.prints(requestId);
  expect(service.logged.filter((line) => line.includes(requestId)).join('\n')).toContain(status);
});

/** A service of its own in a terminal, or without one, its log in lines, until Ctrl-C. */
class Shown {
  output = '';
  private readonly closed: Promise<unknown>;

  private constructor(
    private readonly child: ChildProcess,
    private readonly isTerminal: boolean,
  ) {
    for (const stream of [child.stdout, child.stderr])
      stream?.setEncoding('utf8').on('data', (piece: string) => (this.output += piece));
    // A terminal that was killed takes no Ctrl-C.
    child.stdin?.on('error', () => undefined);
    this.closed = once(child, 'close').then(([code]: unknown[]) => code);
  }

  static start(MONGODB_URI: string, isTerminal: boolean): Shown {
    const command = `exec ${process.execPath} dist/main.js`; // dash would stay in between, and die of Ctrl-C
    const terminal =
      platform() === 'linux' ? ['-qec', command, '/dev/null'] : ['-q', '/dev/null', 'sh', '-c', command];
    const environment = { MONGODB_URI, PORT: '0', LOG_LEVEL: 'info' };
    const child = isTerminal
      ? spawn('script', terminal, { env: { ...process.env, ...environment } })
      : spawn('sh', ['-c', command], {
          env: { ...process.env, ...environment, LOG_FORMAT: 'lines' },
        });
    return new Shown(child, isTerminal);
  }

  ready(): Promise<void> {
    return eventually(async () => {
      const [, url] = /^Tidemark listens at (http:\S+)/m.exec(this.output) ?? [];
      return url !== undefined && (await fetch(`${url}/health/ready`)).status === 200;
    }, PATIENCE_MS);
  }

  shows(pattern: RegExp): Promise<void> {
    return eventually(() => pattern.test(this.output), PATIENCE_MS);
  }

  closeTerminal(): void {
    this.child.kill('SIGKILL');
  }

  /** Its exit code. */
  async ctrlC(): Promise<unknown> {
    if (this.child.exitCode === null && this.isTerminal) this.child.stdin?.write('\x03');
    else this.child.kill('SIGINT');
    return this.closed;
  }
}

describe('for people the log is lines', () => {
  let shown: Shown | undefined;
  afterEach(() => shown?.ctrlC());

  const databaseOf = async (name: string) => {
    const uri = new URL(await service.mongodbUri());
    uri.pathname = `/${name}`;
    return uri.href;
  };

  it.each([
    ['on a terminal', true],
    ['with LOG_FORMAT=lines', false],
  ])('%s: local time, level as a word, and nothing that a terminal acts on', async (name, isTerminal) => {
    const uri = await databaseOf(isTerminal ? 'terminal' : 'lines');
    shown = Shown.start(uri, isTerminal);
    await shown.ready();
    const client = await new mongo.MongoClient(uri).connect();
    const _id = `\x1b[2J\x9b31m ${name}`;
    const products = client
      .db()
      .collection<{ _id: unknown; organizationid: string; appid: string }>('products');
    await products.insertOne({ _id, organizationid: 'acme', appid: 'shop' });
    await client.close();
    await shown.shows(/are ignored/);
    expect(await shown.ctrlC()).toBe(0);

    const lines = shown.output.split(/\r?\n/).filter((line) => line !== '' && line !== '^C');
    expect(lines[0]).toMatch(/ info {2}Start: Tidemark \S+ \(commit \S+, Node v\S+\) starts$/);
    expect(lines[1]).toMatch(/^Tidemark listens at http:\S+$/);
    expect(lines.slice(-2)).toEqual(['Stopping. Ctrl-C again ends at once.', 'Stopped.']);
    for (const line of lines.slice(2, -2))
      expect(line).toMatch(/^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\.\d{3} (info|warn) {2}\w+: \S/);
    expect(lines.at(-3)).toContain(`\\u001b[2J\\u009b31m ${name}`);
  });

  it('that its terminal is closed ends the service in good order, though nobody reads its last lines', async () => {
    const uri = await databaseOf('closed');
    shown = Shown.start(uri, true);
    await shown.ready();
    const client = await new mongo.MongoClient(uri).connect();
    const lease = () => client.db().collection('tidemark.leases').findOne();
    expect((await lease())?.['expires']).not.toEqual(new Date(0));
    shown.closeTerminal();
    await eventually(async () => ((await lease())!['expires'] as Date).getTime() === 0, PATIENCE_MS);
    await client.close();
  });
});
