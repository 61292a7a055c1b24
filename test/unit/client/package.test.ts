import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import tsc from 'typescript';
import { VERSION } from '../../../client/src/version.js';

const ROOT = join(__dirname, '../../..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');
const manifest = (path: string) => JSON.parse(read(path)) as Record<string, unknown>;

/** All files that a program loads with this one. */
function loadedWith(path: string, seen = new Map<string, string>()): Map<string, string> {
  if (seen.has(path)) return seen;
  const source = read(path);
  seen.set(path, source);
  for (const { fileName } of tsc.preProcessFile(source).importedFiles) {
    expect([path, fileName]).toEqual([path, expect.stringMatching(/^\.{1,2}\//)]);
    loadedWith(join(path, '..', fileName.replace(/\.js$/, '.ts')), seen);
  }
  return seen;
}

describe('the package tidemark-client', () => {
  it('has the version and the license of the service', () => {
    const { version, license, engines } = manifest('package.json');
    expect(manifest('client/package.json')).toMatchObject({ version, license, engines });
    expect(VERSION).toBe(version);
    expect(read('client/LICENSE')).toBe(read('LICENSE'));
  });

  it('needs no other package', () => {
    expect(manifest('client/package.json')).not.toHaveProperty('dependencies');
  });

  it('what its entry loads runs in browsers too: nothing of Node, no other package', () => {
    const files = loadedWith('client/src/index.ts');
    expect(files.size).toBeGreaterThan(10);
    for (const [path, source] of files)
      expect([path, /\b(?:Buffer|process|require|setImmediate)\b[.(]/.exec(source)]).toEqual([path, null]);
  });
});
