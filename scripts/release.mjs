/**
 * `npm run release -- 0.2.0`: gives the packages that version, dates the changelog, commits and tags, and writes the archives, the
 * pages as a site, a bill of materials (CycloneDX) and checksums into `release/`. Pushes and publishes nothing. With `--dry-run`
 * it changes nothing, and says what it would do. `npm run release -- --files` only writes the files of the commit that is checked
 * out.
 */
import { spawnSync } from 'node:child_process';
import { createHash } from 'node:crypto';
import { mkdirSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { parseArgs } from 'node:util';
import semver from 'semver';
import { billOf } from './release/bill.mjs';
import { dated, unreleased } from './release/changelog.mjs';
import { withVersion } from './release/versions.mjs';

const folder = 'release';
const packages = ['tidemark', 'tidemark-client', 'tidemark-conformance'];

class Refusal extends Error {}

try {
  const asked = readArguments();
  if (asked.isFilesOnly) buildFiles(JSON.parse(readFileSync('package.json', 'utf8')).version);
  else release(asked);
} catch (error) {
  if (!(error instanceof Refusal)) throw error;
  console.error(error.message);
  process.exitCode = 1;
}

function readArguments() {
  const options = { 'dry-run': { type: 'boolean' }, files: { type: 'boolean' } };
  const { values, positionals } = parseArgs({ options, allowPositionals: true });
  const [version = ''] = positionals;
  if (values.files === true && positionals.length === 0) return { isFilesOnly: true };
  if (positionals.length !== 1 || semver.valid(version) !== version)
    throw new Refusal('Name the version, such as: npm run release -- 0.2.0 [--dry-run]');
  return { version, isDry: values['dry-run'] === true };
}

function release({ version, isDry }) {
  const { version: old } = JSON.parse(readFileSync('package.json', 'utf8'));
  const changelog = readFileSync('CHANGELOG.md', 'utf8');
  refuseUnless(version, old, changelog);
  const files = withVersion('.', old, version);
  files['CHANGELOG.md'] = dated(changelog, version, new Date().toISOString().slice(0, 10));
  const changed = Object.keys(files).filter((name) => files[name] !== readFileSync(name, 'utf8'));
  if (isDry) {
    console.log(`Version ${version} instead of ${old} in ${changed.join(', ')}.`);
    console.log(
      `Then a commit and the tag v${version}; archives of ${packages.join(', ')}, the pages, a bill of materials and`,
    );
    console.log(`checksums in ${folder}/. The section of the changelog:\n\n${unreleased(changelog)}`);
    return;
  }
  for (const name of changed) writeFileSync(name, files[name]);
  run(process.execPath, 'scripts/build.mjs');
  run(process.execPath, 'scripts/interface.mjs', '--write');
  git('add', ...changed, 'docs/interface.txt');
  git('commit', '--quiet', '--message', `chore(release): ${version}`);
  git('tag', '--annotate', `v${version}`, '--message', `Tidemark ${version}`);
  // Built after the commit, which the programs tell.
  buildFiles(version);
  console.log(
    `Committed and tagged v${version}. To publish it: git push --follow-tags, and npm publish ${folder}/*.tgz`,
  );
}

function refuseUnless(version, old, changelog) {
  if (git('status', '--porcelain') !== '')
    throw new Refusal('There are changes that are not committed: a release is made of a commit.');
  if (git('tag', '--list', `v${version}`) !== '') throw new Refusal(`There is a tag v${version} already.`);
  if (semver.lt(version, old)) throw new Refusal(`${version} is before ${old}, the version of the packages.`);
  if (unreleased(changelog) === '') throw new Refusal('CHANGELOG.md has nothing below "## [Unreleased]".');
}

/** The archives, the site of the pages, the bill of materials, and the checksums of all, in an empty folder. */
function buildFiles(version) {
  run(process.execPath, 'scripts/build.mjs');
  rmSync(folder, { recursive: true, force: true });
  mkdirSync(folder);
  const workspaces = packages.slice(1).flatMap((name) => ['--workspace', name]);
  run('npm', 'pack', '--silent', '--pack-destination', folder, '--include-workspace-root', ...workspaces);
  writeSite(version);
  const bill = JSON.stringify(billOfRelease(version), null, 2);
  writeFileSync(join(folder, `tidemark-${version}.cdx.json`), `${bill}\n`);
  const sums = readdirSync(folder)
    .sort()
    .map(
      (name) =>
        `${createHash('sha256')
          .update(readFileSync(join(folder, name)))
          .digest('hex')}  ${name}\n`,
    );
  writeFileSync(join(folder, 'SHA256SUMS'), sums.join(''));
}

/** Named unlike the packages, which `npm publish` takes by their ending. */
function writeSite(version) {
  const name = `tidemark-docs-${version}`;
  const site = join(folder, name);
  run(process.execPath, 'scripts/docs.mjs', '--out', site);
  run('tar', '-czf', `${site}.tar.gz`, '-C', folder, name);
  rmSync(site, { recursive: true });
}

function billOfRelease(version) {
  const everything = JSON.parse(run('npm', 'sbom', '--sbom-format=cyclonedx', '--package-lock-only'));
  const { dependencies } = JSON.parse(readFileSync('package.json', 'utf8'));
  const needed = Object.entries(dependencies).map(([name, one]) => `${name}@${one}`);
  return billOf(everything, bundledPackages(), { version, needed });
}

function bundledPackages() {
  const lists = ['dist/bundled/packages.json', 'dist/administration/console/packages/packages.json'];
  const listed = lists.flatMap((path) => JSON.parse(readFileSync(path, 'utf8')));
  // What is copied as it is, and not bundled.
  const { version } = JSON.parse(readFileSync('node_modules/swagger-ui-dist/package.json', 'utf8'));
  return [...listed, { name: 'swagger-ui-dist', version }].map(({ name, version: one }) => `${name}@${one}`);
}

function git(...words) {
  return run('git', ...words).trim();
}

function run(command, ...words) {
  const { status, stdout } = spawnSync(command, words, {
    encoding: 'utf8',
    maxBuffer: 2 ** 28,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0)
    throw new Refusal(`${[command, ...words].join(' ')} failed. What was done before it remains.`);
  return stdout;
}
