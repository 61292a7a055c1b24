import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { cpSync, existsSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { Agent, get } from 'node:https';
import { tmpdir } from 'node:os';
import { join, resolve } from 'node:path';
import { text } from 'node:stream/consumers';
import { mongo } from 'mongoose';
import { parse } from 'yaml';
import { programs } from '../../scripts/deploy-tools.mjs';
import { eventually } from '../support/eventually.js';
import { ServiceProcess } from '../support/process.js';
import { freePort } from './free-port.js';
import { type Members, startMembers } from './replica-set.js';

/**
 * The files of deploy/compose, without containers: the members of the replica set have ports instead of names, and the instances
 * addresses. METRICS_PORT is not set here, so health and metrics are where everything is.
 */
jest.setTimeout(180_000);

const FOLDER = 'deploy/compose';
const INSTANCES = ['127.0.0.2', '127.0.0.3'];

const folder = mkdtempSync(join(tmpdir(), 'tidemark-stack-'));
const secret = (name: string) => join(folder, 'secrets', name);
const running: ChildProcess[] = [];
const services: ServiceProcess[] = [];
let members: Members;
let port: number;
let caddyPort: number;
let prometheus: string;

/** What ends with the test. */
function begin(name: keyof typeof programs, args: string[], env: NodeJS.ProcessEnv = {}): void {
  running.push(spawn(programs[name], args, { env: { ...process.env, ...env }, stdio: 'ignore' }));
}

/** Not synchronously: the members write logs meanwhile, which have to be read. */
async function setUp(): Promise<{ code: unknown; said: string }> {
  const environment = {
    ...{ MEMBERS: members.hosts.join(','), URI_FILE: secret('mongodb_uri') },
    ROOT_PASSWORD_FILE: secret('mongodb_root_password'),
  };
  const args = ['--quiet', '--nodb', `${FOLDER}/mongodb/setup.js`];
  const env = { ...process.env, HOME: folder, ...environment };
  const child = spawn(programs.mongosh, args, { env, stdio: ['ignore', 'pipe', 'pipe'] });
  const exit = once(child, 'exit') as Promise<[unknown]>;
  const [[code], ...outputs] = await Promise.all([exit, text(child.stdout), text(child.stderr)]);
  return { code, said: outputs.join('').trim() };
}

/** A file of the stack, as it has to be here. */
function adapted(path: string): string {
  const text = readFileSync(join(FOLDER, path), 'utf8').replaceAll('9464', String(port));
  return INSTANCES.reduce((said, address, index) => {
    const name = `tidemark-${index + 1}`;
    return said.replaceAll(`${name}:3000`, `${address}:${port}`).replaceAll(name, address);
  }, text);
}

/** Through Caddy, whose own authority signs its certificate. */
function ask(path: string): Promise<number> {
  const ca = readFileSync(join(folder, 'caddy/pki/authorities/local/root.crt'));
  const agent = new Agent({ ca });
  return new Promise((answered, failed) => {
    get(`https://localhost:${caddyPort}${path}`, { agent }, (answer) => {
      answer.resume().once('end', () => answered(answer.statusCode!));
    }).once('error', failed);
  });
}

interface Result {
  status: string;
  data: { result: { metric: Record<string, string>; value: [number, string] }[] };
}
const query = async (expression: string) =>
  (await (
    await fetch(`${prometheus}/api/v1/query?query=${encodeURIComponent(expression)}`)
  ).json()) as Result;

beforeAll(async () => {
  cpSync(join(FOLDER, 'secrets.sh'), join(folder, 'secrets.sh'));
  execFileSync('sh', [join(folder, 'secrets.sh')]);
  members = await startMembers(secret('mongodb_key'), readFileSync(secret('mongodb_root_password'), 'utf8'));
  const uri = readFileSync(secret('mongodb_uri'), 'utf8');
  writeFileSync(secret('mongodb_uri'), uri.replace('mongodb-1,mongodb-2,mongodb-3', members.hosts.join(',')));
  [port, caddyPort] = [await freePort(), await freePort()];
});

afterAll(async () => {
  await Promise.all(services.map((service) => service.stop()));
  for (const child of running) {
    const exit = once(child, 'exit');
    child.kill();
    await exit;
  }
  await members.stop();
  rmSync(folder, { recursive: true });
});

it('setup.js makes the replica set and the user, and changes nothing when it runs again', async () => {
  const made = {
    code: 0,
    said: 'The replica set has a primary, and the user tidemark may use the database tidemark.',
  };
  expect(await setUp()).toEqual(made);
  expect(await setUp()).toEqual(made);
  const client = new mongo.MongoClient(readFileSync(secret('mongodb_uri'), 'utf8'));
  const { members: states } = (await client.db('admin').command({ replSetGetStatus: 1 })) as {
    members: unknown[];
  };
  expect(states).toHaveLength(3);
  await expect(client.db('admin').command({ createUser: 'more', pwd: 'more', roles: [] })).rejects.toThrow(
    'not authorized',
  );
  await client.close();
});

it('two instances serve with that user, and one of them leads', async () => {
  const MONGODB_URI = readFileSync(secret('mongodb_uri'), 'utf8');
  const start = (HOST: string) =>
    ServiceProcess.start({
      dataDir: join(folder, HOST),
      environment: { MONGODB_URI, HOST, PORT: String(port), TRUST_PROXY: '1', NODE_ENV: 'production' },
    });
  services.push(...(await Promise.all(INSTANCES.map(start))));
  const leads = async (address: string) =>
    /^tidemark_watcher_leads 1$/m.test(await (await fetch(`http://${address}:${port}/metrics`)).text());
  await eventually(async () => (await Promise.all(INSTANCES.map(leads))).filter(Boolean).length === 1);
});

it('Prometheus reads both, loads the alerts, and answers every expression of the dashboard', async () => {
  const config = join(folder, 'prometheus.yml');
  const settings = adapted('prometheus/prometheus.yml').replace(
    '/etc/prometheus/alerts.yml',
    resolve('docs/alerts.yml'),
  );
  writeFileSync(config, settings.replaceAll('15s', '1s'));
  prometheus = `http://127.0.0.1:${await freePort()}`;
  const where = [
    `--web.listen-address=${new URL(prometheus).host}`,
    `--storage.tsdb.path=${folder}/prometheus`,
  ];
  begin('prometheus', [`--config.file=${config}`, ...where]);
  const isUp = async () => (await query('sum(up)').catch(() => undefined))?.data.result[0]?.value[1] === '2';
  await eventually(isUp);
  const rules = (await (await fetch(`${prometheus}/api/v1/rules`)).json()) as {
    data: { groups: { rules: unknown[] }[] };
  };
  const { groups } = parse(readFileSync('docs/alerts.yml', 'utf8')) as typeof rules.data;
  expect(rules.data.groups[0]!.rules).toHaveLength(groups[0]!.rules.length);

  const { panels } = JSON.parse(readFileSync('deploy/grafana/tidemark.json', 'utf8')) as {
    panels: { targets?: { expr: string }[] }[];
  };
  const expressions = panels.flatMap(({ targets = [] }) => targets.map(({ expr }) => expr));
  const filled = expressions.map((one) =>
    one.replaceAll('$instance', '.*').replaceAll('$__rate_interval', '1m'),
  );
  for (const one of filled) expect([one, (await query(one)).status]).toEqual([one, 'success']);
  const valueOf = async (one: string) => Number((await query(one)).data.result[0]?.value[1]);
  expect(filled).toEqual(
    expect.arrayContaining(['sum(tidemark_watcher_leads)', 'min(tidemark_oplog_window_seconds)']),
  );
  expect(await valueOf('sum(tidemark_watcher_leads)')).toBe(1);
  // The user of the stack may ask for it.
  expect(await valueOf('min(tidemark_oplog_window_seconds)')).toBeGreaterThan(0);
});

it('Caddy serves by TLS, and goes on when an instance stops', async () => {
  const options = '{\n\tadmin off\n\tauto_https disable_redirects\n\tskip_install_trust\n}\n';
  const config = join(folder, 'Caddyfile');
  writeFileSync(config, options + adapted('caddy/Caddyfile'));
  const environment = { SITE: `localhost:${caddyPort}`, XDG_DATA_HOME: folder, XDG_CONFIG_HOME: folder };
  begin('caddy', ['run', '--adapter', 'caddyfile', '--config', config], environment);
  await eventually(() => existsSync(join(folder, 'caddy/pki/authorities/local/root.crt')));
  await eventually(async () => (await ask('/health/ready').catch(() => 0)) === 200);
  await services.shift()!.stop();
  for (let asked = 0; asked < 20; asked += 1) expect(await ask('/health/live')).toBe(200);
});
