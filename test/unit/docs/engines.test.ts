import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Package {
  engines?: { node?: string };
  optional?: boolean;
}

/** It brings no types. */
const { minVersion, satisfies } = jest.requireActual<{
  minVersion: (range: string) => { version: string };
  satisfies: (version: string, range: string) => boolean;
}>('semver');

const ROOT = join(__dirname, '..', '..', '..');
const read = (name: string) => readFileSync(join(ROOT, name), 'utf8');
const { engines } = JSON.parse(read('package.json')) as { engines: { node: string } };
const { packages } = JSON.parse(read('package-lock.json')) as { packages: Record<string, Package> };
const lowest = minVersion(engines.node).version;

describe('the Node that the service needs', () => {
  it('is what every package that is always installed can do with', () => {
    const wanting = Object.entries(packages).filter(
      ([, { engines: needed, optional }]) => optional !== true && !satisfies(lowest, needed?.node ?? '*'),
    );
    expect(wanting.map(([path, { engines: needed }]) => `${path} needs ${needed?.node}`)).toEqual([]);
  });

  it('is the one that the README names', () => {
    expect(read('README.md')).toContain(`Tidemark needs Node ${lowest.replace(/\.0$/, '')} or later.`);
  });
});
