import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { VERSION as ofClient } from '../../client/src/version.js';
import { VERSION as ofConformance } from '../../conformance/src/version.js';

const read = (...path: string[]) => readFileSync(join(__dirname, '..', '..', ...path), 'utf8');
const { version, workspaces } = JSON.parse(read('package.json')) as { version: string; workspaces: string[] };
const { packages } = JSON.parse(read('package-lock.json')) as {
  packages: Record<string, { version: string }>;
};

describe('all packages have the version of the service', () => {
  it.each(workspaces)('%s', (folder) => {
    expect(JSON.parse(read(folder, 'package.json'))).toMatchObject({ version });
    expect(packages[folder]?.version).toBe(version);
  });

  it('the lockfile, and the programs that tell it', () => {
    expect([packages['']?.version, ofClient, ofConformance]).toEqual([version, version, version]);
  });
});
