import { readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Package {
  version?: string;
  name?: string;
  integrity?: string;
  /** The folder of a workspace. */
  resolved?: string;
  link?: boolean;
  /** It is part of another package's archive. */
  inBundle?: boolean;
}

const text = readFileSync(join(__dirname, '..', '..', 'package-lock.json'), 'utf8');
const { packages } = JSON.parse(text) as { packages: Record<string, Package> };
/** Workspaces are folders of this repository, and links to them. */
const installed = Object.entries(packages).filter(
  ([path, { link, inBundle }]) => path.includes('node_modules/') && link !== true && inBundle !== true,
);
const names = (found: [string, Package][]) => found.map(([path, { version }]) => `${path}@${version}`);

describe('package-lock.json', () => {
  it('has a digest of every package, so that npm ci refuses one that was tampered with', () => {
    expect(installed.length).toBeGreaterThan(500);
    const without = installed.filter(
      ([, { integrity }]) => !/^sha512-[A-Za-z0-9+/]{86}==$/.test(integrity ?? ''),
    );
    expect(names(without)).toEqual([]);
  });

  it('names no registry', () => {
    const withAddress = Object.entries(packages).filter(([, { resolved }]) => resolved?.includes(':'));
    expect(names(withAddress)).toEqual([]);
  });

  it('has no package that reports its installation', () => {
    const reporting = installed.filter(([path, { name = path }]) => name.endsWith('@scarf/scarf'));
    expect(names(reporting)).toEqual([]);
  });
});
