import { cp, readFile, rm, writeFile } from 'node:fs/promises';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..');

/**
 * Copies the build into a folder, as a version that knows other storage formats, such as `{ oldest: 1, newest: 2 }`. Answers
 * its `dist`. The copy has no bundled programs: its entries are `main.entry.js` and `cli.entry.js`.
 */
export async function copyVersion(folder: string, formats: string): Promise<string> {
  const bundled = join(ROOT, 'dist', 'bundled');
  const copy = join(folder, 'dist');
  await rm(folder, { recursive: true, force: true });
  await cp(join(ROOT, 'dist'), copy, { recursive: true, filter: (from) => !from.startsWith(bundled) });
  await cp(join(ROOT, 'package.json'), join(folder, 'package.json'));
  const file = join(copy, 'replication', 'store', 'storage-format.js');
  const known = await readFile(file, 'utf8');
  const changed = known.replace(/(STORAGE_FORMATS = )\{[^}]*\}/, `$1${formats}`);
  if (changed === known) throw new Error(`${file} does not declare STORAGE_FORMATS as it did.`);
  await writeFile(file, changed);
  return copy;
}
