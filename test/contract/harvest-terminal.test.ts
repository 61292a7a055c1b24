import { type ChildProcess, spawn } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, openSync } from 'node:fs';
import { createServer } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';
import Database from 'libsql';
import { type CopyPlace, sqliteCopies } from '../support/copies/index.js';
import { PASSWORD, type TestApplication, TestService } from '../support/index.js';
import { bike, BIKES } from './harvest-client.js';
import { beginHarvest, ended } from './harvest-program.js';

/** ESC, OSC with its end, C1 and an override of the direction, and how they are written out. */
const HOSTILE = '\u001b[2J\u001b]0;mine\u0007\u009b31m\u202egnp';
const SHOWN = '\\u001b[2J\\u001b]0;mine\\u0007\\u009b31m\\u202egnp';
/** What a terminal acts on, and what changes the order of text; lines end with U+000A. */
const ACTED_ON = /[\p{Cc}\p{Bidi_Control}]/u;

let service: TestService;
let app: TestApplication;
let place: CopyPlace;
beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  await app.filter('product', BIKES, { 'data.category': BIKES });
  await app.product(bike(HOSTILE));
  await service.watcher.caughtUp();
});
beforeEach(async () => {
  place = await sqliteCopies().fresh();
});
afterEach(() => place.remove());

async function run(words: string[], of: TestApplication = app) {
  const { code, output, errors } = await ended(beginHarvest(of, words));
  expect((output + errors).replaceAll('\n', '')).not.toMatch(ACTED_ON);
  return { code, text: output + errors };
}

describe('`tidemark-harvest` writes out what a terminal acts on', () => {
  it('in the text of a problem, whatever answers in place of the service', async () => {
    const problem = { type: 'urn:x', title: HOSTILE, status: 403, detail: HOSTILE, requestId: 'x' };
    const server = createServer((_request, response) =>
      response.writeHead(403, { 'content-type': 'application/problem+json' }).end(JSON.stringify(problem)),
    ).listen(0, '127.0.0.1');
    await once(server, 'listening');
    const { port } = server.address() as AddressInfo;
    const { organizationid, appid } = app;
    const elsewhere = {
      organizationid,
      appid,
      user: () => 'reader',
      service: { url: `http://127.0.0.1:${port}` },
    };
    try {
      const of = elsewhere as unknown as TestApplication;
      const people = await run(['--to', place.to], of);
      expect(people).toEqual({ code: 3, text: expect.stringContaining(SHOWN) as string });
      const { text } = await run(['--to', place.to, '--json'], of);
      const { error } = JSON.parse(text) as { error: { message: string } };
      expect(error.message).toContain(HOSTILE);
    } finally {
      server.close();
    }
  });

  it('in `to`', async () => {
    const folder = `/nowhere/${HOSTILE}`;
    const { code, text } = await run(['--to', `${folder}/copy.sqlite`]);
    expect([code, text]).toEqual([5, expect.stringContaining(SHOWN)]);
  });

  it('in the `id` of a record that the copy cannot hold, and in the reason', async () => {
    await (await place.open()).close();
    const user = new Database(place.to);
    user.exec(`CREATE TRIGGER own BEFORE INSERT ON products BEGIN SELECT RAISE(ABORT, '${HOSTILE}'); END`);
    user.close();
    for (const words of [[], ['verify']]) {
      const people = await run([...words, '--to', place.to]);
      expect(people.code).toBe(6);
      expect(people.text).toMatch(/\n\S*gnp: 20\S*Z, \S*gnp\n$/);
      expect(people.text.split(SHOWN)).toHaveLength(3);
      const { text } = await run([...words, '--to', place.to, '--json']);
      expect(JSON.parse(text)).toMatchObject({ unfit: [{ id: HOSTILE, reason: HOSTILE }] });
    }
  });
});

describe('whose reader has ended, as behind `| head`, a command goes on', () => {
  const ending = async (child: ChildProcess) => {
    child.stdout!.destroy();
    const [[code], errors] = await Promise.all([
      once(child, 'exit') as Promise<[number]>,
      text(child.stderr!),
    ]);
    return { code, errors };
  };

  it('`tidemark-harvest`, with the code that says how it ended', async () => {
    for (const words of [[], ['verify'], ['verify', '--json']])
      expect(await ending(beginHarvest(app, [...words, '--to', place.to]))).toEqual({ code: 0, errors: '' });
    expect((await place.records()).size).toBe(1);
  });

  it('`tidemark-conformance` too', async () => {
    const child = spawn(process.execPath, ['conformance/dist/cli.js', '--help'], { stdio: 'pipe' });
    expect(await ending(child)).toEqual({ code: 0, errors: '' });
  });
});

describe('whose result the disk has no room for, a command has an exit code of its own, and one line says why', () => {
  const UNWRITTEN = 'The result cannot be written to stdout: ENOSPC: no space left on device, write.';

  async function full(program: string, words: string[]) {
    const disk = openSync('/dev/full', 'w');
    const env = { ...process.env, TIDEMARK_USERNAME: app.user('read'), TIDEMARK_PASSWORD: PASSWORD };
    const child = spawn(process.execPath, [program, ...words], { env, stdio: ['ignore', disk, 'pipe'] });
    closeSync(disk);
    const [[code], errors] = await Promise.all([
      once(child, 'exit') as Promise<[number]>,
      text(child.stderr!),
    ]);
    return { code, errors };
  }
  const HARVEST = 'client/dist/command/main.js';

  it('`tidemark-harvest`: 8, not 1, which says that the copy differs', async () => {
    const { organizationid, appid } = app;
    const of = ['--url', service.url, '--org', organizationid, '--app', appid, '--kind', 'product'];
    const words = [...of, '--service', BIKES, '--to', place.to];
    expect(await full(HARVEST, words)).toEqual({ code: 8, errors: `tidemark-harvest: ${UNWRITTEN}\n` });
    const error = { message: UNWRITTEN, exitCode: 8 };
    expect(await full(HARVEST, ['verify', ...words, '--json'])).toEqual({
      ...{ code: 8, errors: `${JSON.stringify({ error })}\n` },
    });
    expect((await full(HARVEST, ['verify', ...of, '--service', BIKES])).code).toBe(2);
  });

  it('`tidemark-conformance`: 2, not 1, which says that a rule is broken', async () => {
    expect(await full('conformance/dist/cli.js', ['--version'])).toEqual({
      code: 2,
      errors: `${UNWRITTEN}\n`,
    });
  });
});
