import { type ChildProcess, execFile, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import type { IncomingMessage } from 'node:http';
import { get } from 'node:https';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { promisify } from 'node:util';
import { mongo } from 'mongoose';
import { libraryFolder, programs } from '../../scripts/deploy-tools.mjs';
import { eventually } from '../support/eventually.js';
import { type OwnMongod, startOwn } from '../support/own-mongod.js';
import { ServiceProcess } from '../support/process.js';
import { RENEWED } from '../support/certificates.js';
import { freePort } from './free-port.js';

/** The examples of docs/deploying.md; names, ports and paths are those of this machine. */
jest.setTimeout(120_000);

const PAGE = readFileSync('docs/deploying.md', 'utf8');
const INSTANCES = ['127.0.0.4', '127.0.0.5'];
const OF_SHOP = ['--org', 'acme', '--app', 'shop'];
const FEED = '/acme/shop/api/v1/product';
const RECORDS = 3000;

const folder = mkdtempSync(join(tmpdir(), 'tidemark-proxies-'));
const services: ServiceProcess[] = [];
let mongod: OwnMongod;
let port: number;
let authorization: string;

/** The example in a language, with the instances and the certificate of this test. */
function example(language: string, listens: [from: string, to: string]): string {
  const [, found] = new RegExp(`^\`\`\`${language}\\n(.*?)^\`\`\`$`, 'ms').exec(PAGE) ?? [];
  const certificate = join(folder, 'tidemark');
  return INSTANCES.reduce(
    (said, address, index) => said.replaceAll(`tidemark-${index + 1}:3000`, `${address}:${port}`),
    found!.replace(...listens).replaceAll(/\/etc\/(?:nginx|haproxy)\/tidemark/g, certificate),
  );
}

const PROXIES = {
  nginx: (listening: number) => {
    const config = join(folder, 'nginx.conf');
    const settings = `pid ${folder}/nginx.pid; daemon off; error_log stderr; events {}
      http { access_log off; ${temporary()} ${example('nginx', ['listen 443', `listen 127.0.0.1:${listening}`])} }`;
    writeFileSync(config, settings);
    return spawn(programs.nginx, ['-p', folder, '-c', config, '-e', 'stderr'], { stdio: 'ignore' });
  },
  haproxy: (listening: number) => {
    const config = join(folder, 'haproxy.cfg');
    writeFileSync(config, example('haproxy', ['bind :443', `bind 127.0.0.1:${listening}`]));
    const env = { ...process.env, LD_LIBRARY_PATH: libraryFolder() };
    execFileSync(programs.haproxy, ['-c', '-f', config], { env });
    return spawn(programs.haproxy, ['-f', config], { env, stdio: 'ignore' });
  },
};

function temporary(): string {
  const names = ['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'];
  return names.map((name) => `${name}_temp_path ${folder}/${name};`).join(' ');
}

function start(address: string): Promise<ServiceProcess> {
  const environment = { MONGODB_URI: mongod.uri, HOST: address, PORT: String(port), TRUST_PROXY: '1' };
  return ServiceProcess.start({ dataDir: join(folder, address), environment });
}

async function admin(...words: string[]): Promise<string> {
  const env = { ...process.env, MONGODB_URI: mongod.uri };
  return (await promisify(execFile)(process.execPath, ['dist/cli.js', ...words], { env })).stdout;
}

beforeAll(async () => {
  for (const [name, content] of Object.entries({ crt: RENEWED.cert, key: RENEWED.key }))
    writeFileSync(join(folder, `tidemark.${name}`), content);
  writeFileSync(join(folder, 'tidemark.pem'), RENEWED.cert + RENEWED.key);
  [mongod, port] = [await startOwn(), await freePort()];
  services.push(...(await Promise.all(INSTANCES.map(start))));
  await admin('application', 'create', ...OF_SHOP);
  const issued = await admin(
    'credential',
    'issue',
    '--username',
    'ann',
    '--level',
    'read',
    '--json',
    ...OF_SHOP,
  );
  const { password } = JSON.parse(issued) as { password: string };
  authorization = `Basic ${Buffer.from(`ann:${password}`).toString('base64')}`;
  await insert(RECORDS);
});
afterAll(async () => {
  await Promise.all(services.map((service) => service.stop('SIGKILL')));
  await mongod?.stop();
  rmSync(folder, { recursive: true });
});

async function insert(count: number): Promise<void> {
  const client = await new mongo.MongoClient(mongod.uri).connect();
  const records = Array.from({ length: count }, (_, n) => ({
    ...{ organizationid: 'acme', appid: 'shop', id: `${n} ${Date.now()}`, type: 'product' },
    ...{ lastupdated: new Date(), data: { text: 'x'.repeat(1000) } },
  }));
  await client.db().collection('products').insertMany(records);
  await client.close();
}

describe.each(['nginx', 'haproxy'] as const)('%s, as docs/deploying.md configures it', (name) => {
  let proxy: ChildProcess;
  let listening: number;

  const open = (path: string, more: Record<string, string> = {}) =>
    new Promise<IncomingMessage>((resolve, reject) => {
      const headers = { authorization, ...more };
      // The certificate is of no authority that Node knows.
      const options = {
        host: '127.0.0.1',
        port: listening,
        path,
        headers,
        rejectUnauthorized: false,
        agent: false,
      };
      get(options, resolve).once('error', reject);
    });
  const status = async (path: string) => {
    const answer = await open(path);
    await text(answer);
    return answer.statusCode;
  };

  beforeAll(async () => {
    listening = await freePort();
    proxy = PROXIES[name](listening);
    await eventually(async () => (await status('/health/ready').catch(() => 0)) === 200);
  });
  afterAll(async () => {
    const exit = once(proxy, 'exit');
    proxy.kill();
    await exit;
  });

  it('passes on pages and whole windows', async () => {
    const lines = await eventuallyWhole();
    expect(lines.filter((line) => line.includes('"op":"upsert"')).length).toBeGreaterThanOrEqual(RECORDS);
    expect(await status(`${FEED}/max`)).toBe(200);
  });

  it('passes on events as they come, before the stream ends', async () => {
    const stream = await open(`${FEED}/events`);
    let said = '';
    stream.setEncoding('utf8').on('data', (piece: string) => (said += piece));
    await eventually(() => said.includes('event: max'));
    const before = said.length;
    await insert(1);
    await eventually(() => said.slice(before).includes('event: max'));
    expect(stream.complete).toBe(false);
    stream.destroy();
  });

  it('no read fails while an instance stops and comes back, but for a 503 of the service itself', async () => {
    const seen: (number | string | undefined)[] = [];
    let isOver = false;
    const asking = (async () => {
      while (!isOver) {
        const answer = await open(`${FEED}/max`);
        const said = await text(answer);
        // While no instance leads, it says so, and when to ask again; a proxy says neither.
        const isOfService = answer.statusCode === 503 && answer.headers['retry-after'] !== undefined;
        if (!isOfService) seen.push(answer.statusCode === 200 ? 200 : said);
      }
    })();
    await services[0]!.stop();
    services[0] = await start(INSTANCES[0]!);
    isOver = true;
    await asking;
    expect(seen.length).toBeGreaterThan(5);
    expect(new Set(seen)).toEqual(new Set([200]));
  });

  async function eventuallyWhole(): Promise<string[]> {
    let lines: string[] = [];
    await eventually(async () => {
      const answer = await open(`${FEED}/default/changes`, { accept: 'application/x-ndjson' });
      lines = (await text(answer)).trim().split('\n');
      return answer.statusCode === 200 && lines.length > RECORDS;
    });
    return lines;
  }
});
