import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

const MINUTES = 60_000;
const MEASURES = [
  ...['harvest', 'floor', 'plans', 'changes', 'max', 'writes', 'lost', 'memory', 'stalled', 'neighbours'],
  ...['control', 'idle', 'first-start', 'restamps', 'preview'],
];

interface Row {
  measure: string;
  figure: string;
  value?: number;
  atMost?: number;
  isCount?: boolean;
  failure?: string;
}

let rows: Row[] = [];
let code: unknown;

/** As anybody runs it, with its progress and its table as they come. */
beforeAll(async () => {
  const directory = await mkdtemp(join(tmpdir(), 'tidemark-bench-'));
  const file = join(directory, 'figures.json');
  const bench = spawn('npm', ['run', '-s', 'bench', '--', '--small', '--json', file], { stdio: 'inherit' });
  [code] = (await once(bench, 'exit')) as unknown[];
  const figures = await readFile(file, 'utf8').catch(() => '{"rows":[]}');
  rows = (JSON.parse(figures) as { rows: Row[] }).rows;
  await rm(directory, { recursive: true });
}, 10 * MINUTES);

it('`npm run bench -- --small` takes every measure, and exits 0', () => {
  expect([...new Set(rows.map(({ measure }) => measure))]).toEqual(MEASURES);
  expect(code).toBe(0);
});

/** A time or a size in memory is shown, never judged: it depends on the machine. */
it.each(MEASURES)('the measure `%s` gives its figures, and counts what it should', (measure) => {
  const own = rows.filter((row) => row.measure === measure);
  expect(own.length).toBeGreaterThan(0);
  expect(own.filter(({ failure }) => failure !== undefined)).toEqual([]);
  for (const { value, atMost } of own.filter(({ isCount }) => isCount)) {
    expect(value).toBeLessThanOrEqual(atMost ?? Infinity);
  }
});
