/** The places that hold the version of the packages. */
import { readFileSync } from 'node:fs';
import { join } from 'node:path';

const manifests = ['package.json', 'client/package.json', 'conformance/package.json', 'console/package.json'];
/** Programs tell it, and a page names the archives. */
const others = ['client/src/version.ts', 'conformance/src/version.ts', 'docs/operating.md'];

/** By default, the chart installs the image of its version. */
const chart = 'deploy/helm/tidemark/Chart.yaml';

/** The new texts of the files in a folder that hold the version, by their names. */
export function withVersion(folder, old, version) {
  const read = (name) => readFileSync(join(folder, name), 'utf8');
  const texts = manifests.map((name) => [
    name,
    replaced(name, read(name), inManifest(old), inManifest(version)),
  ]);
  for (const name of others) texts.push([name, inTexts(name, read(name), old, version)]);
  texts.push([chart, replaced(chart, read(chart), inChart(old), inChart(version))]);
  texts.push(['package-lock.json', inLockfile(read('package-lock.json'), version)]);
  return Object.fromEntries(texts);
}

const inManifest = (version) => `\n  "version": "${version}",\n`;

const inChart = (version) => `\nversion: ${version}\nappVersion: ${version}\n`;

function inTexts(name, text, old, version) {
  const place = name.endsWith('.ts') ? [`'${old}'`, `'${version}'`] : [`-${old}.tgz`, `-${version}.tgz`];
  return replaced(name, text, ...place);
}

function replaced(name, text, from, to) {
  if (!text.includes(from)) throw new Error(`${name} does not hold the version: ${from.trim()}`);
  return text.replaceAll(from, to);
}

function inLockfile(text, version) {
  const lockfile = JSON.parse(text);
  for (const [path, one] of Object.entries(lockfile.packages))
    if (!path.includes('node_modules/')) one.version = version;
  return `${JSON.stringify({ ...lockfile, version }, null, 2)}\n`;
}
