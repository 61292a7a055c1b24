import { existsSync } from 'node:fs';
import { join } from 'node:path';
import { chromiumPath } from '../../scripts/chromium.mjs';
import { Clone } from './clone.js';
import type { Demo } from './demo.js';
import { runsJest } from './jest-command.js';

interface Place {
  clone: Clone;
  demo: Demo;
}

/** How commands of one sort are run: as they stand, or in a small form where they would take long. */
interface Way {
  of: RegExp;
  run: (command: string, place: Place) => Promise<unknown>;
}

const CONNECTORS = process.env['CONNECTORS'] ?? join(process.cwd(), '.cache/connectors');
const PROMTOOL = process.env['PROMTOOL'] ?? join(process.cwd(), '.cache/promtool/promtool');

const PICTURES = 'npm run pictures -- --watch 1';

/** Begins what takes long, mostly waits and touches nothing that others do: it goes on beside the commands that follow. */
export function beginLongOnes(clone: Clone): void {
  clone.output(PICTURES).catch(() => undefined);
}

/**
 * Every sort of command that the documents name, the first that fits. The one exception are those that run this very test:
 * that `npm test` begins and ends well in a fresh clone is what `.ci/run` shows, and the quick loop is a part of that. Here
 * they only have to be what they say.
 */
export const WAYS: Way[] = [
  {
    of: /^(npm ci && )?npm start$/,
    run: (command, { demo }) => Promise.resolve(expect(command.replace('npm ci && ', '')).toBe(demo.command)),
  },
  {
    of: /^npm ci$/,
    run: (_command, { clone }) =>
      Promise.resolve(expect(clone.read('.ci/run')).toContain('\nnpm ci && npm test\n')),
  },
  {
    of: /^(npm ci && )?npm test$|^npm run (check|test:quick)$|^npx jest --selectProjects documents$/,
    run: (_command, { clone }) => isTestCommand(clone),
  },
  { of: /^npm ci --include=dev && npm run build && npm prune --omit=dev$/, run: servesWithoutTools },
  {
    of: /^npm run test:unit$/,
    run: (command, { clone }) => clone.output(`${command} -- --testPathPatterns unit/platform/common`),
  },
  { of: /^npm run dev$|^node dist\/main\.js$/, run: (command, { clone }) => clone.listens(command) },
  { of: /^npm run -s openapi$/, run: (command, { clone }) => writesOpenApi(command, clone) },
  { of: /^npm run docs$/, run: (command, { clone }) => clone.output(command) },
  { of: /^npm run -s phrases$/, run: (command, { clone }) => clone.output(command) },
  { of: /^npm run build$/, run: (command, { clone }) => clone.output(command) },
  { of: /^npm run -w client generate$/, run: (command, { clone }) => clone.output(command) },
  {
    of: /^npm run test:long( |$)/,
    run: (command, { clone }) => clone.output(having(command, '--list')),
  },
  // It would change the clone: `test/unit/scripts/release.test.ts` and `test/release/` show it.
  {
    of: /^npm run release -- (0\.2\.0 --dry-run|--files)$/,
    run: (_command, { clone }) =>
      Promise.resolve(expect(clone.read('package.json')).toContain('"release": "node scripts/release.mjs"')),
  },
  {
    of: /^npm run test:seeded-faults$/,
    run: (command, { clone }) => clone.output(`${command} -- --list`),
  },
  { of: /^npm run test:(browser|metrics)$/, run: (command, { clone }) => listsWherePossible(command, clone) },
  { of: /^npm run test:connectors( |$)/, run: (command, { clone }) => listsConnectors(command, clone) },
  { of: /^npm run pictures$/, run: (_command, { clone }) => takesPictures(clone) },
  // What this shows is what `test/process/packs.test.ts` shows: here the archives have to be those of the version.
  {
    of: /^npm (pack|sbom)$|^npm pack --include-workspace-root |^npm install \.\/tidemark-\S+\.tgz |^npx tidemark(-harvest|-conformance)?$/,
    run: (command, { clone }) => Promise.resolve(isOfVersion(command, clone)),
  },
  { of: /^npx tidemark admin COMMAND$/, run: helps },
  { of: /^npx tidemark admin$/, run: (command, place) => helps(`${command} --help`, place) },
  { of: /^npx tidemark (admin )?check$/, run: (command, { clone }) => clone.output(command) },
  { of: /^npx tidemark --help$/, run: (command, { clone }) => clone.output(command) },
  { of: /^npx tidemark-admin$/, run: (command, place) => helps(`${command} --help`, place) },
  {
    of: /^npx tidemark-conformance --url /,
    run: (command, { clone, demo }) => conforms(command, clone, demo),
  },
  {
    of: /^npm install --install-links \.\.\/tidemark\/client libsql$|^npx tidemark-harvest /,
    run: (command, { clone, demo }) => copies(command, clone, demo),
  },
  { of: /^npx jest /, run: (command, { clone }) => runsJest(command, clone) },
  {
    of: /^npm run test:(model|faults)( |$)/,
    run: (command, { clone }) => listsTests(command.replace(/ N$/, ' 1'), clone),
  },
  { of: /^npm run bench( |$)/, run: (command, { clone }) => benches(command, clone) },
  { of: /^(npm run -s admin --|node dist\/cli\.js)( COMMAND \[OPTIONS\])?$/, run: helps },
  // It is for a database without an instance: `test/contract/restored-source.test.ts` shows it.
  { of: /^npm run -s admin -- restored$/, run: (command, { clone }) => clone.output(`${command} --help`) },
  { of: /^npm run -s admin -- record erase /, run: (command, { clone }) => erases(command, clone) },
  { of: /^npm run -s admin -- import /, run: (command, { clone }) => imports(command, clone) },
  { of: /^npm run -s admin -- kind create /, run: (command, { clone }) => createsKind(command, clone) },
  { of: /^npm run -s admin -- /, run: (command, { clone }) => clone.output(command) },
  {
    of: /^admin /,
    run: (command, { clone }) => clone.output(command.replace(/^admin/, 'npm run -s admin --')),
  },
  { of: /^curl /, run: pastes },
];

async function writesOpenApi(command: string, clone: Clone): Promise<void> {
  expect(JSON.parse(await clone.output(command))).toMatchObject({ openapi: expect.stringMatching(/^3\./) });
}

/** In a clone of its own, which loses its development packages by it. What `npm ci` brings is taken from here. */
async function servesWithoutTools(command: string): Promise<void> {
  const clone = Clone.make();
  try {
    await clone.output(`NODE_ENV=production ${command.replace('npm ci --include=dev && ', '')}`);
    expect(clone.has('node_modules/typescript-7')).toBe(false);
    // The programs have all that they run inside, but for machine code.
    expect(clone.has('node_modules/mongoose')).toBe(false);
    expect(clone.has('node_modules/@node-rs/argon2')).toBe(true);
    await clone.listens('node dist/main.js');
    await clone.output('npm run build');
  } finally {
    await clone.remove();
  }
}

/** The exit code is 3 while a consumer is open, such as one of another command, or the watcher is behind. */
async function erases(command: string, clone: Clone): Promise<void> {
  const typed = clone.type(`${command} --wait 10`);
  expect([0, 3]).toContain(await typed.ended());
  expect(typed.lines[0]).toMatch(
    /^The (erasure of the )?member "member-0042" of demo\/shop is (erased|not complete)\. Receipt [0-9a-f]{24}\.$/,
  );
}

/** The options behind those that a command has: of two that differ, the last one counts. */
function having(command: string, options: string): string {
  return command.includes(' -- ') ? `${command} ${options}` : `${command} -- ${options}`;
}

/** The archives that a command names are those that `npm pack` makes. */
function isOfVersion(command: string, clone: Clone): void {
  const manifests = ['.', 'client', 'conformance'].map(
    (folder) => JSON.parse(clone.read(join(folder, 'package.json'))) as { name: string; version: string },
  );
  const archives = manifests.map(({ name, version }) => `./${name}-${version}.tgz`);
  const named = command.split(' ').filter((word) => word.endsWith('.tgz'));
  expect(archives).toEqual(expect.arrayContaining(named));
}

function isTestCommand(clone: Clone): Promise<void> {
  const { scripts } = JSON.parse(clone.read('package.json')) as { scripts: Record<string, string> };
  expect(scripts).toMatchObject({
    ...{ test: 'node scripts/test.mjs', check: 'npm test' },
    'test:quick': 'node scripts/test-quick.mjs',
  });
  expect(clone.read('.ci/run')).toContain('\nnpm ci && npm test\n');
  return Promise.resolve();
}

/** What the bench measures is shown by `test/bench`; here every option that the documents name is taken. */
async function benches(command: string, clone: Clone): Promise<void> {
  expect(await clone.output(having(command, '--plan'))).toContain('"items":');
}

/** What these tests show is what `npm test` shows. */
async function listsTests(command: string, clone: Clone): Promise<void> {
  expect(await clone.output(having(command, '--listTests'))).toContain('.test.ts');
}

/** The same, where they can run; where they cannot, the command says so. */
async function listsWherePossible(command: string, clone: Clone): Promise<void> {
  if (existsSync(command.includes('browser') ? chromiumPath() : PROMTOOL))
    return listsTests(`PROMTOOL=${PROMTOOL} ${command}`, clone);
  await expect(clone.output(command)).rejects.toThrow('CANNOT RUN HERE');
}

/** With the tools that `npm test` has installed here, or will. */
async function listsConnectors(command: string, clone: Clone): Promise<void> {
  const listed = await clone.output(`CONNECTORS=${CONNECTORS} ${having(command, '--listTests')}`);
  expect(listed).toContain('airbyte.test.ts');
}

/** Where there is no browser, it says so. */
async function takesPictures(clone: Clone): Promise<void> {
  if (!existsSync(chromiumPath())) return expect(clone.output(PICTURES)).rejects.toThrow('CANNOT RUN HERE');
  const taken = await clone.output(PICTURES);
  for (const [picture] of clone.read('docs/first-feed.md').matchAll(/pictures\/[\w-]+\.png/g))
    expect(taken).toContain(`docs/${picture}`);
}

async function helps(command: string, { clone }: Place): Promise<void> {
  expect(await clone.output(command.replace(/COMMAND( \[OPTIONS\])?$/, '--help'))).toContain('status');
}

/** All that the demo has data for holds. */
async function conforms(command: string, clone: Clone, demo: Demo): Promise<void> {
  const lines = (await clone.output(demo.asReader(command))).split('\n');
  expect(lines.at(-1)).toMatch(/^\d+ hold, 0 broken, 1 not judged; /);
  expect(lines.filter((line) => line.startsWith('–'))).toEqual([
    expect.stringContaining('uncovered-application'),
  ]);
}

/** In an empty folder, word for word; the last of them is `verify`, which fails where the copy is not equal. */
async function copies(command: string, clone: Clone, demo: Demo): Promise<void> {
  const typed = command.replace('../tidemark/client', join(clone.directory, 'client'));
  await clone.output(`mkdir -p ${clone.elsewhere} && cd ${clone.elsewhere} && ${demo.asReader(typed)}`);
}

/** The sample is imported, line for line. */
async function imports(command: string, clone: Clone): Promise<void> {
  const lines = clone.read(command.split(' ').at(-1)!).trim().split('\n').length;
  expect(await clone.output(command)).toBe(
    `${lines} lines: ${lines} created, 0 changed, 0 unchanged, 0 bad.`,
  );
}

/** Until its records have been read once: the commands that follow read its feeds. */
async function createsKind(command: string, clone: Clone): Promise<void> {
  const [, name = ''] = / --name (\S+)/.exec(command) ?? [];
  expect(await clone.output(command)).toContain(`The kind ${name} is created.`);
  for (let tries = 0; tries < 60; tries += 1) {
    // Each time another command: the output of one is remembered.
    const kinds = await clone.output(`npm run -s admin -- kind list --json${' '.repeat(tries)}`);
    const { state } = (JSON.parse(kinds) as { name: string; state: string }[]).find(
      (one) => one.name === name,
    )!;
    if (state === 'ready') return;
    await new Promise((resolve) => setTimeout(resolve, 500));
  }
  throw new Error(`The kind ${name} is not served.`);
}

/** The answer is the JSON that is promised, and a page has items. */
async function pastes(command: string, { clone, demo }: Place): Promise<void> {
  const answer = JSON.parse(await clone.output(await demo.filledIn(command))) as { result?: unknown[] };
  if (/updates|deletes/.test(command)) expect(answer.result?.length).toBeGreaterThan(0);
  else expect(answer).toEqual(expect.objectContaining({}));
}
