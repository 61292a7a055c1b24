import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { parse } from 'yaml';
import { Metrics } from '../../../src/platform/observability/index.js';
import { askedBy, registeredAs } from '../../support/promql.js';

const ROOT = join(__dirname, '..', '..', '..');
const read = (path: string) => readFileSync(join(ROOT, path), 'utf8');

interface Rule {
  alert: string;
  expr: string;
  for?: string;
  labels: { severity: string };
  annotations: { summary: string; action: string; runbook: string };
}

interface PromtoolTest {
  alert_rule_test: { alertname: string; exp_alerts: unknown[] }[];
}

const { groups } = parse(read('docs/alerts.yml')) as { groups: { rules: Rule[] }[] };
const rules = groups.flatMap((group) => group.rules);
const inRules = rules.map((rule) => ({
  ...{ alert: rule.alert, expr: rule.expr, minutes: Number((rule.for ?? '0m').replace(/m$/, '')) },
  ...{ severity: rule.labels.severity, summary: rule.annotations.summary, action: rule.annotations.action },
}));

const SECTION =
  /^## (\w+)\n\n`([^`]+)`(?: for (\d+) min)? \((\w+)\)\n\n\*\*Meaning\.\*\* ([^]+?)\n\n\*\*What to do\.\*\* ([^]+?)\n(?=\n|$)/gm;
const plain = (markdown: string) => markdown.replaceAll('`', '').replaceAll('\n', ' ');

const page = read('docs/alerts.md');
const inPage = [...page.matchAll(SECTION)].map(
  ([, alert = '', expr = '', minutes = '0', severity = '', summary = '', action = '']) => ({
    ...{ alert, expr, minutes: Number(minutes), severity },
    ...{ summary: plain(summary), action: plain(action) },
  }),
);

it('the alerts of docs/alerts.md are those that Prometheus loads, in the same words', () => {
  expect(inPage).toEqual(inRules);
  expect(inRules.length).toBeGreaterThan(10);
});

it('each has a name of its own, and says how bad it is', () => {
  expect(new Set(rules.map(({ alert }) => alert)).size).toBe(rules.length);
  expect(rules.filter(({ alert }) => !/^Tidemark\w+$/.test(alert))).toEqual([]);
  expect(inRules.filter(({ severity }) => !/^(critical|warning)$/.test(severity))).toEqual([]);
});

it('each leads to its section of the page', () => {
  const headings = [...page.matchAll(/^## (.+)$/gm)].map(([, heading]) => heading!.toLowerCase());
  expect(headings).toHaveLength(rules.length);
  for (const { alert, annotations } of rules) {
    expect(headings).toContain(alert.toLowerCase());
    expect(annotations.runbook).toBe(`docs/alerts.md#${alert.toLowerCase()}`);
  }
});

it('they ask for metrics that the service has', () => {
  const metrics = new Metrics().registry.getMetricsAsArray().map(({ name }) => name);
  const asked = rules.flatMap(({ expr }) => askedBy(expr).metrics.map((name) => registeredAs(name, metrics)));
  expect(asked.filter((name) => !metrics.includes(name))).toEqual([]);
});

it('promtool is shown series that make each of them fire, and series that do not', () => {
  const { tests } = parse(read('test/metrics/alerts.yml'), { merge: true }) as { tests: PromtoolTest[] };
  const shown = tests.flatMap((test) => test.alert_rule_test);
  for (const { alert } of rules) {
    const ends = shown
      .filter(({ alertname }) => alertname === alert)
      .map(({ exp_alerts: all }) => all.length);
    expect({ alert, quiet: ends.includes(0), firing: ends.some((count) => count > 0) }).toEqual({
      alert,
      quiet: true,
      firing: true,
    });
  }
});
