import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Metrics } from '../../../src/platform/observability/index.js';

const ROOT = join(__dirname, '..', '..', '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface Alert {
  expr: string;
  minutes: number;
  summary: string;
  action: string;
}

/** A row of `docs/alerts.md`: `` | `expr` for 1 min | what it means | what to do | ``. */
const ROW = /^\| `([^`]*tidemark_[^`]*)`(?: for (\d+) min)? +\| (.+?) +\| (.+?) +\|$/gm;
const plain = (markdown: string) => markdown.replaceAll('`', '');

const inPage = [...read('docs/alerts.md').matchAll(ROW)].map(
  ([, expr = '', minutes = '0', summary = '', action = '']): Alert => ({
    ...{ expr, minutes: Number(minutes) },
    ...{ summary: plain(summary), action: plain(action) },
  }),
);

/** The value of a key on one line, in quotes or not. */
function valueIn(rule: string, key: string): string | undefined {
  const value = new RegExp(`^ +${key}: (.*)$`, 'm').exec(rule)?.[1];
  return value?.startsWith("'") ? value.slice(1, -1).replaceAll("''", "'") : value?.replace(/^"(.*)"$/, '$1');
}

const rules = read('docs/alerts.yml')
  .split(/^ +- alert: /m)
  .slice(1);
const inRules = rules.map((rule): Alert => ({
  expr: valueIn(rule, 'expr') ?? '',
  minutes: Number((valueIn(rule, 'for') ?? '0m').replace(/m$/, '')),
  summary: valueIn(rule, 'summary') ?? '',
  action: valueIn(rule, 'action') ?? '',
}));

it('the alerts of docs/alerts.md are those that Prometheus loads, in the same words', () => {
  expect(inPage).toEqual(inRules);
  expect(inRules.length).toBeGreaterThan(10);
});

it('each has a name of its own, and says how bad it is', () => {
  const names = rules.map((rule) => /^Tidemark\w+$/m.exec(rule)?.[0]);
  expect(new Set(names).size).toBe(rules.length);
  expect(
    rules.map((rule) => valueIn(rule, 'severity')).filter((one) => !/^(critical|warning)$/.test(one!)),
  ).toEqual([]);
});

it('they ask for metrics that the service has', () => {
  const metrics = new Metrics().registry.getMetricsAsArray().map(({ name }) => name);
  const asked = inRules.flatMap(({ expr }) => expr.match(/tidemark_\w+/g) ?? []);
  expect(asked.filter((name) => !metrics.includes(name))).toEqual([]);
});
