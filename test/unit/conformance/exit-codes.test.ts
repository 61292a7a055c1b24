import { createServer, type Server } from 'node:http';
import type { AddressInfo } from 'node:net';
import { Readable } from 'node:stream';
import { VERSION } from '../../../conformance/src/version.js';
import { runConformance } from '../../../conformance/src/run.js';

/** What a server answers to `max`, the only thing that it knows. */
let answer: { status: number; body: string };
let server: Server;
let authorization: string | undefined;
let given: string[] | Readable = [];

beforeAll((done) => {
  server = createServer((request, response) => {
    ({ authorization } = request.headers);
    response.writeHead(answer.status, { 'content-type': 'application/json' }).end(answer.body);
  }).listen(0, '127.0.0.1', done);
});
afterAll((done) => void server.close(done));

async function run(...words: string[]): Promise<{ code: number; output: string; errors: string }> {
  const { port } = server.address() as AddressInfo;
  const place = ['--url', `http://127.0.0.1:${port}`, '--org', 'acme', '--app', 'shop'];
  const [printed, complained]: [string[], string[]] = [[], []];
  const code = await runConformance({
    words: [...place, ...words],
    input: given instanceof Readable ? given : Readable.from(given),
    print: (line) => printed.push(line),
    complain: (line) => complained.push(line),
    hasColours: false,
    environment: { TIDEMARK_USERNAME: 'ann', TIDEMARK_PASSWORD: 'secret' },
  });
  return { code, output: printed.join('\n'), errors: complained.join('\n') };
}

const RIGHT = { status: 200, body: '{"offset":"2026-11-20T10:00:00.000Z"}' };

describe('the exit code of `npx tidemark-conformance`, by which scripts go', () => {
  it('0: everything that was judged holds', async () => {
    answer = RIGHT;
    expect(await run('--only', 'max-shape')).toMatchObject({ code: 0, errors: '' });
  });

  it.each([[], ['--json']])('1: something is broken %j', async (...words) => {
    answer = { status: 200, body: '{"offset":"soon"}' };
    const { code, output } = await run('--only', 'max-shape', ...words);
    expect([code, output]).toEqual([1, expect.stringContaining('broken')]);
  });

  it('2: a bound kept a check from being made', async () => {
    answer = RIGHT;
    const { code, output } = await run('--only', 'max-shape', '--requests', '1');
    expect([code, output]).toEqual([2, expect.stringContaining('--requests')]);
  });

  it('2: the server does not let the credentials in', async () => {
    answer = { status: 401, body: '{}' };
    const { code, output, errors } = await run();
    expect([code, output, errors]).toEqual([2, '', expect.stringContaining('401')]);
  });

  it('0: the password is the first line of stdin, whatever follows', async () => {
    answer = RIGHT;
    given = ['se', 'cret\r\n', 'a note\n'];
    expect((await run('--only', 'max-shape', '--password-stdin')).code).toBe(0);
    expect(authorization).toBe(`Basic ${Buffer.from('ann:secret').toString('base64')}`);
  });

  it('0: it tells its version', async () => {
    expect(await run('--version')).toEqual({ code: 0, output: VERSION, errors: '' });
  });

  it('2: the password cannot be read', async () => {
    given = new Readable({ read: (): void => undefined }).destroy(new Error('EISDIR: it is a directory'));
    const { code, errors } = await run('--password-stdin');
    expect([code, errors]).toEqual([2, 'EISDIR: it is a directory']);
  });

  it('2: the command line is wrong', async () => {
    expect((await run('--only', 'nothing')).code).toBe(2);
  });
});
