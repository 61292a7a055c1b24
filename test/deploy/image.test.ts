import { type ChildProcess, execFileSync, spawn } from 'node:child_process';
import { once } from 'node:events';
import { existsSync, mkdtempSync, readdirSync, readFileSync, rmdirSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { text } from 'node:stream/consumers';
import { builtImage, type Image } from '../../scripts/image.mjs';
import { eventually } from '../support/eventually.js';
import { startLocked } from '../support/own-mongod.js';
import { freePort } from './free-port.js';

const BUILD_MS = 20 * 60_000;
jest.setTimeout(120_000);

const SAMPLE = 'docs/samples/products.ndjson';
const roles = [
  { role: 'readWrite', db: 'tidemark' },
  { role: 'clusterMonitor', db: 'admin' },
];

let image: Image;
let mongod: Awaited<ReturnType<typeof startLocked>>;
let environment: string[];
let url: string;

beforeAll(async () => {
  image = await builtImage();
  mongod = await startLocked([{ name: 'tidemark', roles }]);
  const port = await freePort();
  url = `http://127.0.0.1:${port}`;
  environment = [`MONGODB_URI=${mongod.as('tidemark')}`, `PORT=${port}`];
}, BUILD_MS);
afterAll(async () => {
  await mongod.stop();
  image.leave();
});

/** Programs that have not ended. */
const running = new Set<ChildProcess>();
afterEach(() => running.forEach((child) => process.kill(firstOf(child), 'SIGKILL')));

/**
 * A program in the image, as a runtime of containers starts it: with processes of its own, a root file system that is only
 * read, the image's user, no capability and no way to gain one.
 */
function contained(command: string[], stdin: 'ignore' | 'pipe' = 'ignore'): ChildProcess {
  const { User: user, WorkingDir: folder, Env: env } = image.config;
  const root = mkdtempSync(join(tmpdir(), 'tidemark-root-'));
  const mount = 'mount --bind "$0" "$1" && mount -o remount,bind,ro "$1" && mount -t proc proc "$1/proc"';
  const [uid = '', gid = ''] = user.split(':');
  const rights = ['--reuid', uid, '--regid', gid, '--clear-groups', '--no-new-privs', '--bounding-set=-all'];
  const started = ['env', '-i', '-C', folder, ...env, ...environment, ...command];
  const inside = ['chroot', root, 'setpriv', ...rights, '--inh-caps=-all', ...started];
  const apart = ['--mount', '--pid', '--fork', '--kill-child'];
  const script = `${mount} && shift && exec "$@"`;
  const child = spawn('unshare', [...apart, 'sh', '-c', script, image.root, root, ...inside], {
    stdio: [stdin, 'pipe', 'pipe'],
  });
  running.add(child);
  child.once('exit', () => {
    running.delete(child);
    rmdirSync(root);
  });
  return child;
}

async function ended(child: ChildProcess): Promise<{ code: unknown; output: string; errors: string }> {
  const exit = once(child, 'exit') as Promise<[unknown]>;
  const [[code], output, errors] = await Promise.all([exit, text(child.stdout!), text(child.stderr!)]);
  return { code, output, errors };
}

async function admin(words: string, input = ''): Promise<string> {
  const child = contained(['node', 'dist/cli.js', ...words.split(' ')], 'pipe');
  child.stdin!.end(input);
  const { code, output, errors } = await ended(child);
  expect({ words, code, errors }).toEqual({ words, code: 0, errors: '' });
  return output;
}

/** The process that unshare has started: the first of its own. */
const firstOf = ({ pid }: ChildProcess) =>
  Number(readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim());

/** Asks until the watcher has seen what was written. */
async function harvested(authorization: string): Promise<string[]> {
  const feed = `${url}/acme/shop/api/v1/product`;
  const ask = async (path: string) => {
    const answer = await fetch(`${feed}/${path}`, { headers: { authorization } });
    return {
      status: answer.status,
      body: (await answer.json()) as { offset?: string; result?: { id: string }[] },
    };
  };
  let ids: string[] = [];
  await eventually(async () => {
    const { body: max } = await ask('max');
    const { status, body } = await ask(`default/updates?to=${max.offset}`);
    ids = (body.result ?? []).map(({ id }) => id);
    return status === 200 && ids.length > 0;
  });
  return ids;
}

it('has what production needs, of which the user of the service can change nothing', () => {
  const modules = readdirSync(join(image.root, 'app', 'node_modules')).filter(
    (name) => name !== '.package-lock.json',
  );
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8')) as { dependencies: object };
  expect(modules).toEqual(Object.keys(dependencies).map((name) => name.split('/')[0]));
  expect(readdirSync(join(image.root, 'app')).sort()).toEqual([
    'LICENSE',
    'dist',
    'node_modules',
    'package.json',
  ]);
  const changeable = ['app', '-not', '-type', 'l', '(', '-not', '-uid', '0', '-o', '-perm', '-o+w', ')'];
  expect(execFileSync('find', changeable, { cwd: image.root, encoding: 'utf8' })).toBe('');
});

it('keeps nothing of the machine that built it', () => {
  expect(image.config.Env.map((line) => line.split('=')[0]).sort()).toEqual([
    ...['HOST', 'LOG_FORMAT', 'NODE_ENV', 'PATH'],
  ]);
  expect(
    existsSync(join(image.root, 'root', '.npmrc')) &&
      readFileSync(join(image.root, 'root', '.npmrc'), 'utf8'),
  ).toBeFalsy();
});

it('serves a harvest from a database with authentication, without rights and without writing a file', async () => {
  const service = contained(image.config.Cmd);
  const end = ended(service);
  await eventually(() =>
    fetch(`${url}/health/ready`).then(
      ({ ok }) => ok,
      () => false,
    ),
  );

  const status = readFileSync(`/proc/${firstOf(service)}/status`, 'utf8');
  expect(status).toMatch(/^Uid:\t1000\t1000\t1000\t1000$/m);
  expect(status).toMatch(/^NoNewPrivs:\t1$/m);
  expect(status.match(/^Cap(Inh|Prm|Eff|Bnd|Amb):\t0+$/gm)).toHaveLength(5);
  expect(readFileSync(`/proc/${firstOf(service)}/mountinfo`, 'utf8')).toMatch(/ \/ ro[, ]/);

  await admin('application create --org acme --app shop');
  const issued = await admin('credential issue --username search --org acme --app shop --level read --json');
  const { password } = JSON.parse(issued) as { password: string };
  const sample = readFileSync(SAMPLE, 'utf8');
  await admin('import --org acme --app shop --kind product -', sample);
  const lines = sample
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { id: string });
  expect(await harvested(`Basic ${btoa(`search:${password}`)}`)).toEqual(lines.map(({ id }) => id));

  const [form, ...health] = image.health;
  expect(form).toBe('CMD');
  expect(await ended(contained(health))).toEqual({ code: 0, output: '', errors: '' });

  process.kill(firstOf(service), 'SIGTERM');
  expect(await end).toMatchObject({ code: 0, output: expect.stringContaining('"msg":"Stopped."') });
  expect(await ended(contained(health))).toMatchObject({ code: 1 });
});
