import { once } from 'node:events';
import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { request, type RequestOptions } from 'node:https';
import { connect as connectPlainly, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { connect, type TLSSocket } from 'node:tls';
import { eventually, PASSWORD, type TestApplication, TestService } from '../support/index.js';
import { CLIENT, RENEWED } from '../support/certificates.js';
import { TLS_IDENTITY } from '../support/tls-identity.js';

const MOST = 12;
/** Of those without a login. */
const STRANGERS = 9;
const TRUSTED = { servername: 'feeds.example', ca: TLS_IDENTITY.cert };

let folder: string;
let service: TestService;
let app: TestApplication;
const sockets: Socket[] = [];

beforeAll(async () => {
  folder = mkdtempSync(join(tmpdir(), 'tidemark-tls-'));
  service = await TestService.start({ ...tls(), RECEIVE_MS: '1000', BODY_LIMIT: '1024' });
  app = await service.application();
});
afterEach(leaveAll);
afterAll(async () => {
  await service.stop();
  rmSync(folder, { recursive: true });
});

function leaveAll(): void {
  sockets.splice(0).forEach((socket) => socket.destroy());
}

const at = (name: string) => join(folder, name);

/** Settings for TLS. The tests ask for readiness on the port beside. */
function tls(identity = TLS_IDENTITY): Record<string, string> {
  put(identity);
  writeFileSync(at('ca'), CLIENT.authority);
  return { TLS_CERT: at('cert'), TLS_KEY: at('key'), METRICS_PORT: '0' };
}

function put({ cert, key }: { cert: string; key: string }): void {
  writeFileSync(at('cert'), cert);
  writeFileSync(at('key'), key);
}

const address = (of: TestService) => {
  const { port, hostname } = new URL(of.url);
  return { port: Number(port), host: hostname };
};

interface Answered {
  status: number | undefined;
  headers: IncomingMessage['headers'];
  body: string;
}

async function ask(path: string, options: RequestOptions = {}, body = '', of = service): Promise<Answered> {
  const asked = request({ ...address(of), ...TRUSTED, agent: false, path, ...options });
  asked.end(body);
  const [answer] = (await once(asked, 'response')) as [IncomingMessage];
  return { status: answer.statusCode, headers: answer.headers, body: await text(answer) };
}

const pathOf = (end: string) => `/${app.organizationid}/${app.appid}/api/v1/${end}`;
const login = () => ({ auth: `${app.user('read')}:${PASSWORD}` });

/** A connection whose handshake has ended. */
async function open(of = service, options: object = {}): Promise<TLSSocket> {
  const socket = connect({ ...address(of), ...TRUSTED, ...options });
  sockets.push(socket.on('error', () => undefined));
  await once(socket, 'secureConnect');
  return socket;
}

/** A connection without TLS. */
async function openPlainly(of: TestService): Promise<Socket> {
  const socket = connectPlainly(address(of));
  sockets.push(socket.on('error', () => undefined).resume());
  await once(socket, 'connect');
  return socket;
}

/** All that comes back until the connection ends. */
async function exchange(socket: Socket, sent: string): Promise<string> {
  socket.write(sent);
  return text(socket);
}

describe('With `TLS_CERT` and `TLS_KEY` the service speaks HTTPS alone, TLS 1.2 or later', () => {
  it('feeds and pages are served, and tell browsers to stay with HTTPS', async () => {
    const { status, headers, body } = await ask(pathOf('product/max'), login());
    expect([status, body]).toEqual([200, expect.stringContaining('offset')]);
    expect(headers['strict-transport-security']).toBe('max-age=31536000');
    expect((await ask('/docs')).headers['strict-transport-security']).toBe('max-age=31536000');
    expect((await ask('/nowhere')).headers['strict-transport-security']).toBe('max-age=31536000');
  });

  it('the cookie of the console is for HTTPS only', async () => {
    const root = await service.db.collection('credentials').findOne({ username: app.user('admin') });
    const options = {
      method: 'POST',
      headers: { 'content-type': 'application/json', 'tidemark-console': '1' },
    };
    const { status, headers } = await ask(
      '/admin/v1/session',
      options,
      JSON.stringify({ username: root?.['username'], password: PASSWORD }),
    );
    expect(status).toBeLessThan(300);
    expect(headers['set-cookie']?.[0]).toMatch(/; Secure/);
  });

  it.each([
    ['TLSv1.2', 200],
    ['TLSv1.3', 200],
  ] as const)('%s', async (version, status) => {
    expect((await ask('/docs', { minVersion: version, maxVersion: version })).status).toBe(status);
  });

  it('an older TLS is refused, and so is HTTP', async () => {
    const old = { minVersion: 'TLSv1.1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await expect(ask('/docs', old)).rejects.toThrow(/alert protocol version/);
    expect(await exchange(await openPlainly(service), 'GET /docs HTTP/1.1\r\nHost: x\r\n\r\n')).toBe('');
  });
});

describe('over TLS requests have the same bounds', () => {
  it('the size of the head', async () => {
    const { status, body } = await ask('/docs', { headers: { 'x-much': 'x'.repeat(17_000) } });
    expect([status, body]).toEqual([431, expect.stringContaining('headers-too-large')]);
  });

  it('the size of a body: the answer reaches a client that still sends', async () => {
    const options = {
      method: 'POST',
      auth: `${app.user('write')}:${PASSWORD}`,
      headers: { 'content-type': 'application/json' },
    };
    const { status, headers } = await ask(
      pathOf('member').replace('/v1/', '/v0.1/'),
      options,
      `{"a": "${'x'.repeat(900_000)}"}`,
    );
    expect([status, headers.connection]).toEqual([413, 'close']);
  });

  it('the time in which a request arrives', async () => {
    const answer = await exchange(await open(), 'POST /admin/v1/session HTTP/1.1\r\nHost: x\r\nContent-Le');
    expect(answer).toMatch(/^HTTP\/1\.1 408 [^]*request-timeout/);
  });

  it('what is no request', async () => {
    expect(await exchange(await open(), 'nonsense\r\n\r\n')).toMatch(/^HTTP\/1\.1 400 [^]*not a valid HTTP/);
  });

  it('a request for another protocol is answered as any other', async () => {
    const asked = 'GET /docs HTTP/1.1\r\nHost: x\r\nConnection: Upgrade, close\r\nUpgrade: h2c\r\n\r\n';
    expect(await exchange(await open(), asked)).toMatch(/^HTTP\/1\.1 200 /);
  });

  it('connections: strangers keep nobody out, with a handshake, half of one or none, and close none with a login', async () => {
    const small = await service.another({ ...tls(), MAX_CONNECTIONS: String(MOST) });
    try {
      const authorization = `Authorization: Basic ${btoa(login().auth)}`;
      const max = `GET ${pathOf('product/max')} HTTP/1.1\r\nHost: x\r\n${authorization}\r\n\r\n`;
      const member = await open(small);
      const answered = async () => {
        member.write(max);
        const [piece] = (await once(member, 'data')) as [Buffer];
        expect(String(piece)).toMatch(/^HTTP\/1\.1 200 /);
      };
      await answered();
      for (let count = 0; count < 2 * MOST; count += 1) {
        await openPlainly(small);
        (await openPlainly(small)).write('\u0016\u0003\u0001');
        (await open(small)).resume().write('GET /docs HTTP/1.1\r\nHost: x\r\nX-Half: ');
        if (count % MOST === 0) await answered();
      }
      expect((await ask('/docs', {}, '', small)).status).toBe(200);
      expect((await ask(pathOf('product/max'), login(), '', small)).status).toBe(200);
      await answered();
      await eventually(() => sockets.filter(({ closed }) => !closed).length <= STRANGERS + 1);
    } finally {
      leaveAll();
      await small.leave();
    }
  });
});

it('With `TLS_CLIENT_CA` a client also needs a certificate', async () => {
  const strict = await service.another({ ...tls(), TLS_CLIENT_CA: at('ca') });
  try {
    const max = (options: RequestOptions) => ask(pathOf('product/max'), options, '', strict);
    const own = { cert: CLIENT.cert, key: CLIENT.key };
    expect((await max({ ...own, ...login() })).status).toBe(200);
    expect((await max(own)).status).toBe(401);
    await expect(max(login())).rejects.toThrow(/certificate required|ECONNRESET|socket hang up/);
    const strangers = { cert: RENEWED.cert, key: RENEWED.key };
    await expect(max({ ...strangers, ...login() })).rejects.toThrow(/ECONNRESET|socket hang up|unknown ca/);
  } finally {
    await strict.leave();
  }
});

it('follows its files without a restart: connections of before go on, new ones get the new certificate', async () => {
  const other = await service.another(tls());
  try {
    const before = await open(other);
    const first = await other.metric('tidemark_certificate_expiry_timestamp_seconds');
    put(RENEWED);
    await eventually(async () => {
      const socket = await open(other, { ca: [TLS_IDENTITY.cert, RENEWED.cert] });
      return socket.getPeerX509Certificate()?.toString() === RENEWED.cert;
    });
    expect(await exchange(before, 'GET /docs HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n')).toMatch(
      /^HTTP\/1\.1 200 /,
    );
    await expect(ask('/docs', {}, '', other)).rejects.toThrow(/self-signed certificate/);
    expect((await ask('/docs', { ca: RENEWED.cert }, '', other)).status).toBe(200);
    expect(await other.metric('tidemark_certificate_expiry_timestamp_seconds')).toBeGreaterThan(first);
  } finally {
    leaveAll();
    await other.leave();
  }
});
