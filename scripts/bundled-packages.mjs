/** The packages whose code a bundle holds: their licences ask to be told, and a bill of materials has to name them. */
import { mkdirSync, readdirSync, readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';

const PACKAGE = /^(.*\/node_modules\/(?:@[^/]+\/)?[^/]+)\//;
const TEXT = /^(licen[cs]e|copying|notice)/i;

/** The packages that modules belong to, by their paths, in the order of their names. */
export function packagesOf(moduleIds) {
  const folders = new Set(
    moduleIds.flatMap((id) => PACKAGE.exec(id.replaceAll('\\', '/').replace(/^\0/, ''))?.[1] ?? []),
  );
  const packages = [...folders].map((folder) => {
    const { name, version, license } = JSON.parse(readFileSync(join(folder, 'package.json'), 'utf8'));
    return { name, version, license, folder };
  });
  return packages.sort((a, b) => (a.name + a.version < b.name + b.version ? -1 : 1));
}

/** Writes `packages.json` and `LICENSES.txt` into a folder. */
export function writePackages(folder, packages) {
  mkdirSync(folder, { recursive: true });
  const listed = packages.map(({ name, version }) => ({ name, version }));
  writeFileSync(join(folder, 'packages.json'), `${JSON.stringify(listed, null, 2)}\n`);
  writeFileSync(join(folder, 'LICENSES.txt'), `${packages.map(noticeOf).join(`\n${'-'.repeat(80)}\n\n`)}`);
}

function noticeOf({ name, version, license, folder }) {
  const files = readdirSync(folder).filter((file) => TEXT.test(file));
  const texts = files.map((file) => readFileSync(join(folder, file), 'utf8').trim());
  return [`${name} ${version} (${license})`, ...texts].join('\n\n').concat('\n');
}
