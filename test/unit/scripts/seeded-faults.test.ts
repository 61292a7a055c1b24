import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';

interface Fault {
  name: string;
  file: string;
  from: string;
  to: string;
  tests: string[];
}
const { FAULTS } = jest.requireActual<{ FAULTS: Fault[] }>('../../../scripts/seeded-faults/faults.mjs');
const { rooms } = jest.requireActual<{ rooms: string[] }>('../../../rooms.mjs');

const ROOT = join(__dirname, '..', '..', '..');

describe('the seeded faults', () => {
  it.each(FAULTS)('$name: its place is in $file, once', ({ file, from, to }) => {
    expect(readFileSync(join(ROOT, file), 'utf8').split(from)).toHaveLength(2);
    expect([from, to].filter((text) => text.includes('\n'))).toEqual([]);
    expect(to).not.toBe(from);
  });

  it('have names of their own', () => {
    const names = FAULTS.map(({ name }) => name);
    expect(new Set(names).size).toBe(names.length);
    expect(names.filter((name) => !/^[a-z0-9]+(-[a-z0-9]+)*$/.test(name))).toEqual([]);
  });

  it('are looked for by tests that are there', () => {
    const tests = FAULTS.flatMap((fault) => fault.tests);
    expect(tests.filter((test) => !existsSync(join(ROOT, 'test', `${test}.test.ts`)))).toEqual([]);
    expect(FAULTS.filter((fault) => fault.tests.length === 0)).toEqual([]);
  });

  it.each([
    ...rooms.map((room) => `src/${room.replace(/\/import$/, '')}/`),
    ...['console/src/', 'client/src/', 'client/src/stores/', 'conformance/src/'],
    'src/replication/transcode/assembly/',
  ])('there is one in %s', (folder) => {
    expect(FAULTS.filter(({ file }) => file.startsWith(folder))).not.toEqual([]);
  });
});
