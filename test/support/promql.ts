import { parser } from '@prometheus-io/lezer-promql';

/** What an expression asks for. */
interface Asked {
  /** Names of metrics, as Prometheus stores them. */
  metrics: string[];
  /** The labels that it selects or groups by. */
  labels: string[];
}

/** Throws where the expression is not PromQL. Variables of Grafana stand for a duration. */
export function askedBy(expression: string): Asked {
  const text = expression.replaceAll(/\$__\w+/g, '5m');
  const asked: Asked = { metrics: [], labels: [] };
  parser.parse(text).iterate({
    enter({ name, from, to, type }) {
      if (type.isError) throw new Error(`"${text}" is not PromQL at character ${from}.`);
      if (name === 'Identifier') asked.metrics.push(text.slice(from, to));
      if (name === 'LabelName') asked.labels.push(text.slice(from, to));
    },
  });
  return asked;
}

/** The metrics that a histogram or summary is stored as. */
const SERIES = /_(bucket|sum|count)$/;

/** The name under which a metric is registered, of one that Prometheus stores. */
export function registeredAs(metric: string, registered: string[]): string {
  return registered.includes(metric) ? metric : metric.replace(SERIES, '');
}
