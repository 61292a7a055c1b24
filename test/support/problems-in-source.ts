import { readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const SOURCE = join(__dirname, '..', '..', 'src');
/** Each problem is made by one of these two, with its status and its slug as they are sent. */
const MADE = /new Problem\(\s*(\d+),\s*'([\w-]+)'/g;
const UNKNOWN = /\bunknown\('([\w-]+)',/g;

/** The problems that the source can answer, such as `404 unknown-service`. */
export function problemsInSource(): Set<string> {
  const found = new Set<string>();
  for (const name of readdirSync(SOURCE, { recursive: true }) as string[]) {
    if (!name.endsWith('.ts')) continue;
    const text = readFileSync(join(SOURCE, name), 'utf8');
    const made = [...text.matchAll(MADE)];
    const all = text.match(/new Problem\(/g)?.length ?? 0;
    const byThing = [...text.matchAll(UNKNOWN)];
    if (made.length + Math.min(byThing.length, 1) !== all)
      throw new Error(`${name} makes a problem whose status or slug is no literal`);
    for (const [, status, slug] of made) found.add(`${status} ${slug}`);
    for (const [, thing] of byThing) found.add(`404 unknown-${thing}`);
  }
  return found;
}
