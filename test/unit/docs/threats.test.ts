import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

const ROOT = join(__dirname, '..', '..', '..');
const model = readFileSync(join(ROOT, 'SECURITY.md'), 'utf8').split('## Threat model')[1]!.split('\n## ')[0]!;
const threats = model
  .split('\n')
  .filter((line) => line.startsWith('|'))
  .slice(2)
  .map((line) => line.split('|').map((cell) => cell.trim()));

describe('the threat model', () => {
  it('has a threat in each line, what stops it, and a test', () => {
    expect(threats.length).toBeGreaterThan(10);
    for (const [, , threat, stop, tests] of threats)
      expect([threat, stop, tests]).toEqual([
        expect.stringMatching(/\w/),
        expect.stringMatching(/\w/),
        expect.stringMatching(/^`[a-z-]+\.test\.ts`(, `[a-z-]+\.test\.ts`)*$/),
      ]);
  });

  it('names tests that exist', () => {
    const named = [...model.matchAll(/`([a-z-]+\.test\.ts)`/g)].map(([, name]) => name!);
    const isThere = (name: string) =>
      ['contract', 'process'].some((kind) => existsSync(join(ROOT, 'test', kind, name)));
    expect(named.filter((name) => !isThere(name))).toEqual([]);
  });
});
