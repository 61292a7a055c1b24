import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile, rm, stat, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { Readable } from 'node:stream';
import { text } from 'node:stream/consumers';
import { pipeline } from 'node:stream/promises';
import { mongo } from 'mongoose';
import { eventually } from '../support/eventually.js';
import { freshDataDir, removeDataDir, ServiceProcess } from '../support/process.js';

jest.setTimeout(300_000);

let dataDir: string;
let service: ServiceProcess;

beforeAll(async () => {
  dataDir = await freshDataDir();
  service = await ServiceProcess.start({ dataDir });
  await service.prints('/address"');
});
afterAll(async () => {
  await service.stop();
  await removeDataDir(dataDir);
});

interface Ended {
  code: number | string;
  output: string;
  errors: string;
}

function begin(
  program: string,
  words: string[],
  environment: Record<string, string> = {},
  { detached = false } = {},
) {
  const env: NodeJS.ProcessEnv = { ...process.env, DATA_DIR: dataDir, ...environment };
  delete env['MONGODB_URI'];
  delete env['FORCE_COLOR'];
  const child = spawn(program, words, { env, detached, stdio: 'pipe' });
  const ended = Promise.all([once(child, 'exit'), text(child.stdout), text(child.stderr)]).then(
    ([[code, signal], output, errors]): Ended => ({
      code: (code ?? signal) as number | string,
      output,
      errors,
    }),
  );
  return { child, ended };
}

function admin(words: string, input = '', environment: Record<string, string> = {}): Promise<Ended> {
  const { child, ended } = begin(process.execPath, ['dist/cli.js', ...words.split(' ')], environment);
  child.stdin.end(input);
  return ended;
}

function* hundredMegabytes(): Generator<string> {
  for (let n = 0; n < 10_000; n += 1) {
    yield `${JSON.stringify({ id: `large-${n}`, data: { text: String(n).padEnd(9980, 'x') } })}\n`;
  }
}

const withDatabase = async <T>(work: (db: mongo.Db) => Promise<T>): Promise<T> => {
  const client = new mongo.MongoClient(await service.mongodbUri());
  try {
    return await work(client.db());
  } finally {
    await client.close();
  }
};

describe('`npm run -s admin -- …`', () => {
  it('finds a running embedded database by itself', async () => {
    const { code, output, errors } = await admin('status --json');
    expect([code, errors]).toEqual([0, '']);
    expect(JSON.parse(output)).toMatchObject({
      missingIndexes: [],
      documents: { products: 3000, members: 1000 },
    });
  });

  it('says so in one line where none runs', async () => {
    const { code, output, errors } = await admin('status', '', { DATA_DIR: join(dataDir, 'elsewhere') });
    expect([code, output]).toEqual([1, '']);
    expect(errors).toMatch(/^No embedded database runs on .*elsewhere: start the service first.*\n$/);
  });

  it('has the settings of the service, and its one line where a value is bad', async () => {
    const { code, errors } = await admin('status', '', { LIMIT_MAX: 'many' });
    expect([code, errors]).toEqual([1, expect.stringMatching(/^LIMIT_MAX "many" is not valid\..*\n$/)]);
  });

  it('helps without settings and without a database', async () => {
    const { code, output } = await admin('import --help', '', { LIMIT_MAX: 'many' });
    expect(code).toBe(0);
    expect(output).toContain('Usage: node dist/cli.js import --org ORG');
  });

  it('imports from stdin and from a file, and tells bad lines on stderr', async () => {
    const to = 'import --org demo --app shop --kind product --json';
    expect(JSON.parse((await admin(`${to} -`, '{"id":"x-1","data":{}}\n')).output)).toMatchObject({
      created: 1,
    });
    const file = join(dataDir, 'products.ndjson');
    await writeFile(file, '{"id":"x-1","data":{}}\n{"id":"x-2","data":{}}\nnothing\n');
    const { code, output, errors } = await admin(`${to} ${file}`);
    expect(JSON.parse(output)).toEqual({ lines: 3, created: 1, changed: 0, unchanged: 1, bad: 1 });
    expect([code, errors]).toEqual([
      1,
      '{"line":3,"error":"is not JSON"}\n{"error":"1 bad line left out."}\n',
    ]);
  });

  it('needs no more memory for a larger file', async () => {
    const heap = '--max-old-space-size=80';
    const words = `${heap} dist/cli.js import --org demo --app shop --kind product -`.split(' ');
    const { child, ended } = begin(process.execPath, words);
    await pipeline(Readable.from(hundredMegabytes()), child.stdin);
    const { code, output } = await ended;
    expect([code, output]).toEqual([0, '10,000 lines: 10,000 created, 0 changed, 0 unchanged, 0 bad.\n']);
  });

  /** How an import is interrupted, and whether npm started it. */
  const interruptions: [string, boolean, (pid: number) => void][] = [
    ['SIGINT', false, (pid) => process.kill(pid, 'SIGINT')],
    ['SIGTERM', false, (pid) => process.kill(pid, 'SIGTERM')],
    // Sent when the terminal is closed.
    ['SIGHUP', false, (pid) => process.kill(pid, 'SIGHUP')],
    // The terminal sends the signal to npm and to the command, and npm passes it on.
    ['Ctrl-C in the terminal of npm', true, (pid) => process.kill(-pid, 'SIGINT')],
  ];

  it.each(interruptions)('ends an import at %s in good order', async (how, isOfNpm, interrupt) => {
    const words = 'import --org demo --app shop --kind member --mirror -'.split(' ');
    const [program, ...before] = isOfNpm
      ? 'npm run -s admin --'.split(' ')
      : [process.execPath, 'dist/cli.js'];
    const { child, ended } = begin(program!, [...before, ...words], {}, { detached: true });
    const prefix = `s-${how.replaceAll(' ', '-')}`;
    for (let n = 0; n < 3000; n += 1) {
      const id = `${prefix}-${n}`;
      child.stdin.write(`${JSON.stringify({ id, data: { accountnumber: id } })}\n`);
    }
    const imported = () =>
      withDatabase((db) => db.collection('members').countDocuments({ id: { $regex: `^${prefix}-` } }));
    await eventually(async () => (await imported()) >= 1000);
    interrupt(child.pid!);
    const { code, errors } = await ended;
    expect([code, errors]).toEqual([
      1,
      expect.stringMatching(/The import is not complete: interrupted after line \d+\.\n$/),
    ]);
    expect(await withDatabase((db) => db.collection('tidemark.imports').countDocuments())).toBe(0);
    expect(await withDatabase((db) => db.collection('members').countDocuments({ id: /^member-/ }))).toBe(
      1000,
    );
    const [entry] = await withDatabase((db) =>
      db.collection('tidemark.audittrail').find({ action: 'record.import' }).sort({ _id: -1 }).toArray(),
    );
    expect(entry).toMatchObject({
      target: `members: ${(await imported()).toLocaleString('en')} created, 0 changed`,
    });
  });
});

/** Requests wait for the watcher so shortly that it is behind, as it is for long after a large import. */
const IMPATIENT = { MARK_WAIT: '10' };

describe('an output that is closed', () => {
  async function withClosed(closed: 'stdout' | 'stderr', words: string, input = '') {
    const program = ['dist/cli.js', ...words.split(' ')];
    const env = { ...process.env, DATA_DIR: dataDir, MONGODB_URI: '' };
    const child = spawn(process.execPath, program, { env, stdio: 'pipe' });
    child[closed].destroy();
    child.stdin.end(input);
    const other = text(child[closed === 'stdout' ? 'stderr' : 'stdout']);
    const [[code], said] = await Promise.all([once(child, 'exit'), other]);
    return { code: code as number, said };
  }

  it('a result that cannot be written is a failure in one line, whatever the command has done', async () => {
    const { code, said } = await withClosed('stdout', 'status');
    expect([code, said]).toEqual([
      1,
      'The result cannot be written to stdout: the program that reads it has ended.\n',
    ]);
    const machines = await withClosed('stdout', 'application list --json');
    expect([machines.code, JSON.parse(machines.said)]).toEqual([
      1,
      { error: 'The result cannot be written to stdout: the program that reads it has ended.' },
    ]);
  });

  it('a failure whose result cannot be written is one line, too', async () => {
    const words = 'import --org demo --app shop --kind product --json -';
    const { code, said } = await withClosed('stdout', words, 'nothing\n');
    expect(code).toBe(1);
    expect(
      said
        .trimEnd()
        .split('\n')
        .map((line) => JSON.parse(line) as object),
    ).toEqual([
      { line: 1, error: expect.any(String) as string },
      {
        error: expect.stringMatching(
          /^The result cannot be written to stdout: .* has ended\. 1 bad line left out\.$/,
        ) as string,
      },
    ]);
  });

  it('a notice that cannot be written ends no command', async () => {
    const words = 'import --org demo --app shop --kind product --json -';
    const { said } = await withClosed('stderr', words, 'nothing\n{"id":"c-1","data":{}}\n');
    expect(JSON.parse(said)).toMatchObject({ created: 1, bad: 1 });
  });
});

describe('the demo', () => {
  const printed = (from: ServiceProcess) => from.lines.filter((line) => line.includes('curl '));

  it('prints lines that work when they are pasted in a shell in order', async () => {
    const script = printed(service).map((line) => line.replaceAll('curl ', `curl -sSf -w '\\n' `));
    const { child, ended } = begin('sh', []);
    child.stdin.end(`${script.join('\n')}\n`);
    const { output, errors } = await ended;
    expect(errors).not.toContain('curl:');
    const answers = output
      .split('\n')
      .filter(Boolean)
      .map((line) => JSON.parse(line) as Record<string, unknown>);
    const [max, first, next, softDeletes, hardDeletes, channel, renamed, moved] = answers;
    expect(Object.keys(max ?? {})).toEqual(['offset']);
    for (const page of [first, next, softDeletes, hardDeletes, channel]) {
      expect(Object.keys(page ?? {})).toEqual(['result', 'nextoffsetid']);
      expect((page!['result'] as unknown[]).length).toBeGreaterThanOrEqual(2);
    }
    expect(renamed).toMatchObject({ data: { contactname: 'Ada' } });
    expect(moved).toMatchObject({ id: renamed?.['id'], data: { address: { city: 'Turku', country: 'FI' } } });
  });

  it('prints the same credentials at a second start, and keeps the data', async () => {
    const logins = (from: ServiceProcess) => printed(from).map((line) => /-u (\S+)/.exec(line)?.[1]);
    const before = logins(service);
    await admin('record delete --org demo --app shop --kind product --id product-0001');
    await service.stop();
    service = await ServiceProcess.start({ dataDir, environment: IMPATIENT });
    await service.prints('/address"');
    expect(logins(service)).toEqual(before);
    expect(await withDatabase((db) => db.collection('products').countDocuments({ id: 'product-0001' }))).toBe(
      0,
    );
  });

  it('keeps them in a file that only its owner can read; where it is lost, they get new passwords', async () => {
    const file = join(dataDir, 'demo-credentials.json');
    expect((await stat(file)).mode & 0o777).toBe(0o600);
    const before = JSON.parse(await readFile(file, 'utf8')) as { read: { password: string } };
    await service.stop();
    await rm(file);
    service = await ServiceProcess.start({ dataDir });
    await service.prints('/address"');
    const after = JSON.parse(await readFile(file, 'utf8')) as typeof before;
    const max = (password: string) =>
      fetch(`${service.url}/demo/shop/api/v1/product/max`, {
        headers: { authorization: `Basic ${btoa(`demo-reader:${password}`)}` },
      });
    expect((await max(before.read.password)).status).toBe(401);
    expect((await max(after.read.password)).status).toBe(200);
  });
});
