import { once } from 'node:events';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import http, { createServer, request, type Server } from 'node:http';
import { createServer as createTlsServer } from 'node:https';
import { type AddressInfo, connect, type Socket } from 'node:net';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { type CopyPlace, sqliteCopies } from '../support/copies/index.js';
import { type TestApplication, TestService } from '../support/index.js';
import { TLS_IDENTITY } from '../support/tls-identity.js';
import { bike, BIKES, bikesIn, stampsIn } from './harvest-client.js';
import { beginHarvest, ended } from './harvest-program.js';

let service: TestService;
let app: TestApplication;
let place: CopyPlace;
beforeAll(async () => {
  service = await TestService.shared();
});
beforeEach(async () => {
  app = await service.application();
  await app.filter('product', BIKES, { 'data.category': BIKES });
  await app.products(30, (n) => bike(`b${n}`));
  await service.watcher.caughtUp();
  place = await sqliteCopies().fresh();
});
afterEach(() => place.remove());

/** Node before 26 uses no proxy by itself (client/README.md): a harvest says so, and sends its requests to the host itself. */
const CANNOT_USE_PROXY = !('setGlobalProxyFromEnv' in http);

/** The exit code of a harvest that cannot reach the service. */
const UNREACHABLE = 4;

function expectIgnored(child: { code: number | null; errors: string }, name: string, code: number): void {
  expect(child.code).toBe(code);
  expect(child.errors).toContain(`${name} is ignored: `);
  if (code !== 0) expect(child.errors).toContain('The service cannot be reached');
}

const run = (words: string[], environment: Record<string, string>) =>
  ended(beginHarvest(app, words, environment));

describe('behind a proxy', () => {
  let proxy: Server;
  let passed: string[];
  beforeEach(async () => {
    passed = [];
    const { hostname, port } = new URL(service.url);
    proxy = createServer((asked, response) => {
      const { host, pathname, search } = new URL(asked.url!, `https://${asked.headers.host}`);
      passed.push(host);
      const { method, headers } = asked;
      const onwards = request({ hostname, port, method, headers, path: `${pathname}${search}` }, (answer) => {
        response.writeHead(answer.statusCode!, answer.headers);
        answer.pipe(response);
      });
      asked.pipe(onwards);
    });
    await once(proxy.listen(0, '127.0.0.1'), 'listening');
  });
  afterEach(() => void proxy.close());
  const address = () => `http://127.0.0.1:${(proxy.address() as AddressInfo).port}`;
  const unreachable = ['--url', 'http://feeds.invalid'];

  it.each(['HTTP_PROXY', 'http_proxy'])('that %s names, its requests go through it', async (name) => {
    const child = await run([...unreachable, '--to', place.to], { [name]: address() });
    if (CANNOT_USE_PROXY) return expectIgnored(child, name, UNREACHABLE);
    expect(child).toMatchObject({ code: 0, errors: '' });
    expect(new Set(passed)).toEqual(new Set(['feeds.invalid']));
    expect(await stampsIn(place)).toEqual(await bikesIn(app));
  });

  it('a host that NO_PROXY names is asked itself', async () => {
    const child = await run(['--to', place.to], { HTTP_PROXY: address(), NO_PROXY: '127.0.0.1' });
    expect(child).toMatchObject({ code: 0, errors: '' });
    expect(passed).toEqual([]);
  });

  it('for URLs of another scheme, its requests do not go through it', async () => {
    const child = await run(['--to', place.to], { HTTPS_PROXY: address() });
    expect(child).toMatchObject({ code: 0, errors: '' });
    expect(passed).toEqual([]);
  });

  it('a service behind TLS is reached through a tunnel of the proxy', async () => {
    const tls = createTlsServer(TLS_IDENTITY, (asked, response) => proxy.emit('request', asked, response));
    await once(tls.listen(0, '127.0.0.1'), 'listening');
    const tunnels: string[] = [];
    const opened: Socket[] = [];
    proxy.on('connect', ({ url }, client: Socket) => {
      tunnels.push(url!);
      const server = connect((tls.address() as AddressInfo).port, '127.0.0.1', () => {
        client.write('HTTP/1.1 200 Connection established\r\n\r\n');
        client.pipe(server).pipe(client);
      });
      opened.push(client, server);
      for (const socket of [client, server]) socket.on('error', () => undefined);
    });
    const trusted = join(await mkdtemp(join(tmpdir(), 'tidemark-trusted-')), 'trusted.pem');
    await writeFile(trusted, TLS_IDENTITY.cert);
    try {
      const environment = { HTTPS_PROXY: address(), NODE_EXTRA_CA_CERTS: trusted };
      const child = await run(['--url', 'https://feeds.example', '--to', place.to], environment);
      if (CANNOT_USE_PROXY) return expectIgnored(child, 'HTTPS_PROXY', UNREACHABLE);
      expect(child).toMatchObject({ code: 0, errors: '' });
      expect(new Set(tunnels)).toEqual(new Set(['feeds.example:443']));
      expect(await stampsIn(place)).toEqual(await bikesIn(app));
    } finally {
      for (const socket of opened) socket.destroy();
      tls.close();
      await rm(dirname(trusted), { recursive: true });
    }
  });

  it('that is not a URL: 2, and the variable', async () => {
    const child = await run(['--to', place.to], { HTTP_PROXY: 'not a url' });
    if (CANNOT_USE_PROXY) return expectIgnored(child, 'HTTP_PROXY', 0);
    expect(child.code).toBe(2);
    expect(child.errors).toContain('HTTP_PROXY is not the URL of a proxy.');
  });

  it.each([
    ['for people', [], /^tidemark-harvest: HTTP_PROXY is ignored: this version of Node cannot use it\..*\n$/],
    ['for machines', ['--json'], /^\{"warning":"HTTP_PROXY is ignored: .*\}\n$/],
  ])('that this version of Node cannot use, a line says so, %s', async (_for, words, line) => {
    const older =
      "data:text/javascript,import http from 'node:http'; delete http.setGlobalProxyFromEnv; " +
      "Object.defineProperty(process, 'versions', { value: { ...process.versions, node: '20.0.0' } });";
    const environment = { HTTP_PROXY: address(), NODE_OPTIONS: `--import "${older}"` };
    const child = await run([...words, '--to', place.to], environment);
    expect(child.code).toBe(0);
    expect(child.errors).toMatch(line);
  });
});
