import { Metrics } from '../../../src/platform/observability/index.js';
import { askedBy, registeredAs } from '../../support/promql.js';
import { read } from './files.js';

interface Panel {
  id: number;
  type: string;
  title: string;
  description?: string;
  datasource?: { uid: string };
  gridPos: { x: number; y: number; w: number; h: number };
  targets?: { expr: string; legendFormat: string; datasource: { uid: string } }[];
}

interface Dashboard {
  panels: Panel[];
  templating: { list: { name: string; query: string | { query: string } }[] };
}

const dashboard = JSON.parse(read('deploy/grafana/tidemark.json')) as Dashboard;
const panels = dashboard.panels.filter(({ type }) => type !== 'row');
const targets = panels.flatMap(({ title, targets: some = [] }) =>
  some.map((target) => ({ title, ...target })),
);

/** Every metric of a service, with the labels that its code gives it. */
async function registered(): Promise<Map<string, string[]>> {
  const metrics = new Metrics();
  metrics.collectProcess();
  const names = (await metrics.registry.getMetricsAsJSON()).map(({ name }) => name);
  const labelsOf = (name: string) =>
    (metrics.registry.getSingleMetric(name) as unknown as { labelNames: string[] }).labelNames;
  return new Map(names.map((name) => [name, labelsOf(name)]));
}
/** Labels that Prometheus and histograms add. */
const ADDED = ['instance', 'job', 'le'];

describe('the dashboard', () => {
  it('asks only for metrics that the service has, by labels that these have', async () => {
    const known = await registered();
    const faults = targets.flatMap(({ title, expr }) => {
      const { metrics, labels } = askedBy(expr);
      const names = metrics.map((metric) => registeredAs(metric, [...known.keys()]));
      const having = [...ADDED, ...names.flatMap((name) => known.get(name) ?? [])];
      const unknown = [
        ...names.filter((name) => !known.has(name)),
        ...labels.filter((label) => !having.includes(label)),
      ];
      return unknown.map((name) => `${title}: ${name}`);
    });
    expect(faults).toEqual([]);
  });

  it('shows every metric of the service', async () => {
    const known = [...(await registered()).keys()];
    const shown = targets.flatMap(({ expr }) =>
      askedBy(expr).metrics.map((metric) => registeredAs(metric, known)),
    );
    const own = known.filter((name) => name.startsWith('tidemark_'));
    expect(own.length).toBeGreaterThan(30);
    expect(own.filter((name) => !shown.includes(name))).toEqual([]);
  });

  it('names in each legend labels that its expression leaves', () => {
    const lost = targets.filter(({ expr, legendFormat }) => {
      const kept =
        /\bby \(([^)]*)\)/.exec(expr)?.[1]?.split(', ') ?? (/^\w+\{|^rate\(/.test(expr) ? ADDED : []);
      return [...legendFormat.matchAll(/\{\{(\w+)\}\}/g)].some(([, label]) => !kept.includes(label!));
    });
    expect(lost.map(({ title, legendFormat }) => `${title}: ${legendFormat}`)).toEqual([]);
  });

  it('takes the data source and the instances that its reader chooses', () => {
    const names = dashboard.templating.list.map(({ name }) => name);
    expect(names).toEqual(['datasource', 'instance']);
    const uids = [...panels, ...targets].map(({ datasource }) => datasource?.uid);
    expect(new Set(uids)).toEqual(new Set(['${datasource}']));
    expect(targets.some(({ expr }) => expr.includes('instance=~"$instance"'))).toBe(true);
  });

  it('says on each panel what it shows; panels have ids of their own and do not overlap', () => {
    expect(panels.filter(({ title, description }) => !title || !description)).toEqual([]);
    expect(new Set(dashboard.panels.map(({ id }) => id)).size).toBe(dashboard.panels.length);
    const cells = dashboard.panels.flatMap(({ gridPos: { x, y, w, h } }) =>
      Array.from({ length: w * h }, (_, cell) => `${x + (cell % w)} ${y + Math.floor(cell / w)}`),
    );
    expect(new Set(cells).size).toBe(cells.length);
    expect(Math.max(...dashboard.panels.map(({ gridPos: { x, w } }) => x + w))).toBe(24);
  });
});

describe('what is not PromQL', () => {
  it.each(['sum(a', 'rate(a[5m)', 'a by (b)', '{'])('%s is found', (expression) => {
    expect(() => askedBy(expression)).toThrow('is not PromQL');
  });
});
