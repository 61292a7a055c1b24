import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { CHECKS } from '../../../conformance/src/checks/index.js';
import { HELP } from '../../../conformance/src/command-line.js';

const page = readFileSync(join(__dirname, '..', '..', '..', 'docs', 'conformance.md'), 'utf8');
const ROW = /^\| `([a-z-]+)` +\| (.+?) +\|$/gm;
const OPTION = /--[a-z][a-z-]*/g;

describe('docs/conformance.md', () => {
  it('lists every check with its sentence, in the order in which they are made', () => {
    const listed = [...page.matchAll(ROW)].map(([, id, sentence]) => [id, sentence]);
    expect(listed).toEqual(CHECKS.map(({ id, sentence }) => [id, sentence]));
  });

  it('tells of no option that the command does not have', () => {
    const known: string[] = HELP.match(OPTION) ?? [];
    expect((page.match(OPTION) ?? []).filter((option) => !known.includes(option))).toEqual([]);
  });
});

it('each check has a name of its own', () => {
  const ids = CHECKS.map(({ id }) => id);
  expect(new Set(ids).size).toBe(ids.length);
});
