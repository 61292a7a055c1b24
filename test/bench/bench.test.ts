import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtemp, readFile, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/** Twice what it takes on two cores. */
const MOST_MS = 20 * 60_000;
const ALL = [
  ...[
    'harvest',
    'fields',
    'floor',
    'plans',
    'changes',
    'copies',
    'max',
    'writes',
    'lost',
    'memory',
    'stalled',
  ],
  ...[
    'neighbours',
    'watcher',
    'events',
    'control',
    'idle',
    'first-start',
    'restamps',
    'preview',
    'orders',
    'sizing',
  ],
];
/**
 * Those that count something, and one that drives each contestant: the harvest of `changes`, and the load of `writes`. Every
 * measure is taken where `npm run test:long` sets BENCH_MEASURES=all.
 */
const MEASURES =
  process.env['BENCH_MEASURES'] === 'all'
    ? ALL
    : ['plans', 'changes', 'writes', 'lost', 'preview', 'orders', 'sizing'];

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
  const words = ['run', '-s', 'bench', '--', '--small', '--only', MEASURES.join(','), '--json', file];
  const bench = spawn('npm', words, { stdio: 'inherit', detached: true });
  const timer = setTimeout(() => process.kill(-bench.pid!, 'SIGKILL'), MOST_MS);
  [code] = (await once(bench, 'exit')) as unknown[];
  clearTimeout(timer);
  const figures = await readFile(file, 'utf8').catch(() => '{"rows":[]}');
  rows = (JSON.parse(figures) as { rows: Row[] }).rows;
  await rm(directory, { recursive: true });
}, MOST_MS + 10_000);

it('`npm run bench -- --small` takes the measures, and exits 0', () => {
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
