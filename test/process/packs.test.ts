import { execFile } from 'node:child_process';
import { readdir, readFile, rm } from 'node:fs/promises';
import { join, normalize } from 'node:path';
import { freshDataDir, removeDataDir, ServiceProcess } from '../support/process.js';
import { builtCommit, VERSION } from '../support/build.js';
import { install, neededIn, pack, type Packed } from './packed.js';

jest.setTimeout(300_000);

const ROOTS = { tidemark: '.', 'tidemark-client': 'client', 'tidemark-conformance': 'conformance' };

let packed: Packed;
/** An empty folder with the packages, as a user has it. */
let folder: string;

beforeAll(async () => {
  packed = await pack();
  folder = await install(packed);
});
afterAll(() => Promise.all([packed.folder, folder].map((one) => rm(one, { recursive: true }))));

interface Ended {
  code: number;
  output: string;
  errors: string;
}

/** Runs a command line in that folder. Nothing of npm, of Jest and of the settings of this run is in its environment. */
function type(command: string, environment: Record<string, string> = {}): Promise<Ended> {
  const { PATH, HOME } = process.env;
  const bin = join(folder, 'node_modules', '.bin');
  const env = { HOME, PATH: `${bin}:${PATH}`, npm_config_offline: 'true', ...environment };
  return new Promise((resolve) => {
    const [program, ...words] = command.split(' ');
    execFile(program!, words, { cwd: folder, env }, (error, output, errors) =>
      resolve({ code: error === null ? 0 : Number(error.code), output, errors }),
    );
  });
}

const missing = (needed: string[], files: string[]) => needed.filter((file) => !files.includes(file));

describe('a pack', () => {
  it.each(Object.entries(ROOTS))('%s has all that its programs load and serve', async (name, root) => {
    expect(missing(await neededIn(root), packed.files[name]!)).toEqual([]);
  });

  it.each(Object.entries(ROOTS))('%s has neither sources nor tests', (name) => {
    const surplus = /(^|\/)(src|test|bench|scripts|node_modules)\/|\.map$|(?<!\.d)\.ts$/;
    expect(packed.files[name]!.filter((path) => surplus.test(path))).toEqual([]);
    expect(packed.files[name]).toEqual(expect.arrayContaining(['LICENSE', 'README.md', 'package.json']));
  });

  it('tidemark has each page that docs/README.md lists for operators', async () => {
    const [, forOperators = ''] = (await readFile('docs/README.md', 'utf8')).split(
      /^## (?:Operators|Developers)$/m,
    );
    const pages = [...forOperators.matchAll(/\]\(([^)#]+)/g)].map(([, link]) => normalize(`docs/${link}`));
    expect(pages).toContain('docs/upgrading.md');
    expect(missing(pages, packed.files['tidemark']!)).toEqual([]);
  });

  it('without a file that is loaded or served is found out', async () => {
    const files = packed.files['tidemark']!;
    const needed = await neededIn('.');
    const without = (part: RegExp) =>
      missing(
        needed,
        files.filter((path) => !part.test(path)),
      );
    for (const part of [
      ...[/^dist\/tidemark\.js$/, /bundled\/main\.js$/, /bundled\/store\.js$/, /mongo_killer\.cjs$/],
      ...[/pages\/assets\/.+\.js$/, /pages\/index\.html$/, /swagger-ui\.css$/, /^dist\/commit$/],
    ])
      expect(without(part)).toEqual([expect.stringMatching(part)]);
  });
});

describe('installed in an empty folder', () => {
  it('there are no packages but machine code for passwords', async () => {
    const names = await readdir(join(folder, 'node_modules'));
    expect(names.filter((name) => !name.startsWith('.')).sort()).toEqual(['@node-rs', ...Object.keys(ROOTS)]);
    const packages = await readdir(join(folder, 'node_modules', '@node-rs'));
    expect(packages.filter((name) => !name.startsWith('argon2'))).toEqual([]);
  });

  it('the licences of the packages that are inside are told', async () => {
    const own = join(folder, 'node_modules', 'tidemark', 'dist');
    const [programs, page] = await Promise.all(
      ['bundled', 'administration/console/packages'].map((place) =>
        readFile(join(own, place, 'LICENSES.txt'), 'utf8'),
      ),
    );
    for (const name of ['mongoose', '@nestjs/core', 'mongodb', 'express'])
      expect(programs).toContain(`\n${name} `);
    expect(page).toMatch(/^react-dom [\d.]+ \(MIT\)\n\nMIT License$/m);
  });

  it('`npx tidemark --version` tells the version and the commit', async () => {
    expect(await type('npx tidemark --version')).toEqual({
      ...{ code: 0, errors: '' },
      output: `${VERSION} (commit ${builtCommit()}, Node ${process.version})\n`,
    });
  });

  it('`npx tidemark admin --help` names itself so', async () => {
    const { code, output } = await type('npx tidemark admin --help');
    expect([code, output.split('\n')[0]]).toEqual([0, 'Usage: npx tidemark admin COMMAND [OPTIONS]']);
  });

  it.each([
    ['tidemark nothing', 'Unknown command "nothing". All commands: tidemark --help\n'],
    ['tidemark admin nothing', 'Unknown command "nothing". All commands: tidemark admin help\n'],
    ['tidemark-harvest nothing', 'tidemark-harvest: '],
    ['tidemark-conformance --nothing', "Unknown option '--nothing'"],
  ])('a mistake in the command line ends with 2: %s', async (command, sentence) => {
    const { code, output, errors } = await type(command);
    expect([code, output]).toEqual([2, '']);
    expect(errors).toContain(sentence);
  });

  it.each(['tidemark-harvest', 'tidemark-conformance'])('`npx %s --version`', async (program) => {
    expect(await type(`npx ${program} --version`)).toEqual({ code: 0, output: `${VERSION}\n`, errors: '' });
  });
});

describe('the installed service, on the embedded database', () => {
  let dataDir: string;
  let service: ServiceProcess;
  let login: { TIDEMARK_USERNAME: string; TIDEMARK_PASSWORD: string };
  const place = () => `--url ${service.url} --org demo --app shop --kind product`;

  beforeAll(async () => {
    dataDir = await freshDataDir();
    const program = join(folder, 'node_modules', '.bin', 'tidemark');
    service = await ServiceProcess.start({ dataDir, program });
    await service.prints('All endpoints');
    const text = await readFile(join(dataDir, 'demo-credentials.json'), 'utf8');
    const { read } = JSON.parse(text) as { read: { username: string; password: string } };
    login = { TIDEMARK_USERNAME: read.username, TIDEMARK_PASSWORD: read.password };
  });
  afterAll(async () => {
    expect(await service.stop()).toBe(0);
    await removeDataDir(dataDir);
  });

  it('serves the console, and a page to try the API', async () => {
    const get = async (path: string) => {
      const answer = await fetch(`${service.url}${path}`);
      return { status: answer.status, text: await answer.text() };
    };
    const page = (await get('/console')).text;
    const [script] = /console\/assets\/index-[\w-]+\.js/.exec(page) ?? [];
    const paths = [
      `/${script}`,
      '/docs',
      '/docs/swagger-ui.css',
      '/docs/swagger-ui-bundle.js',
      '/openapi.json',
    ];
    for (const path of paths) expect([path, (await get(path)).status]).toEqual([path, 200]);
  });

  it('is administered, by its data directory', async () => {
    const { code, output } = await type('tidemark admin status --json', { DATA_DIR: dataDir });
    expect(code).toBe(0);
    expect(JSON.parse(output)).toMatchObject({ missingIndexes: [], documents: { products: 3000 } });
  });

  it('is harvested, and the copy is verified', async () => {
    const copy = await type(`tidemark-harvest ${place()} --to copy.ndjson`, login);
    expect([copy.code, copy.errors]).toEqual([0, '']);
    const verified = await type(`tidemark-harvest verify ${place()} --to copy.ndjson`, login);
    expect(verified.code).toBe(0);
  });

  it('keeps the contract', async () => {
    const { code, output } = await type(`tidemark-conformance ${place()} --only max-shape`, login);
    expect([code, output]).toEqual([0, expect.stringContaining('\n1 hold, 0 broken')]);
  });
});
