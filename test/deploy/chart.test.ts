import { parseAllDocuments } from 'yaml';
import { run } from './program.js';

jest.setTimeout(120_000);

interface Resource {
  kind: string;
  metadata: { name: string; labels: Record<string, string> };
  spec: {
    ports?: { name: string; targetPort: string }[];
    template?: { metadata: { labels: Record<string, string> }; spec: PodSpec };
    selector?: Record<string, unknown>;
    groups?: { rules: unknown[] }[];
  };
}

interface PodSpec {
  serviceAccountName: string;
  containers: { env: { name: string; value: string }[]; ports: { name: string }[] }[];
  volumes: unknown[];
}

const CHART = 'deploy/helm/tidemark';
const SECRET = ['--set', 'mongodb.existingSecret=mongodb'];
const ALL = [
  '-f',
  'test/deploy/all-values.yaml',
  '--set-file',
  'metrics.prometheusRule.rules=docs/alerts.yml',
];
/** A helm that `go install` compiles believes itself to be in front of an old Kubernetes. */
const template = (...args: string[]) =>
  run('helm', ['template', 'feeds', CHART, '--kube-version', '1.33.0', ...args]);

function resources(...args: string[]): Map<string, Resource> {
  const { status, said } = template(...args);
  expect({ status, said: status === 0 ? '' : said }).toEqual({ status: 0, said: '' });
  const all = parseAllDocuments(said).map((document) => document.toJS() as Resource);
  return new Map(all.map((one) => [`${one.kind} ${one.metadata.name}`, one]));
}

it('helm lint has nothing against the chart', () => {
  for (const values of [SECRET, ALL])
    expect(run('helm', ['lint', '--strict', CHART, ...values])).toMatchObject({ status: 0 });
});

it.each([
  ['the fewest values', SECRET],
  ['every value', ALL],
])('what it makes of %s fits the schemas of Kubernetes', (_name, values) => {
  const { said: manifests } = template(...values);
  for (const version of ['1.27', '1.37']) {
    const check = ['--strict', '--quiet', '--no-warn', '--kubernetes-version', version, '-'];
    expect(run('kubernetes-validate', check, manifests)).toEqual({ status: 0, said: '' });
  }
});

it('a manifest that is wrong does not fit them', () => {
  const { said } = template(...SECRET);
  const wrong = said.replace('readOnlyRootFilesystem', 'readonlyRootFilesystem');
  const { status, said: fault } = run('kubernetes-validate', ['--strict', '--quiet', '-'], wrong);
  expect([status === 0, fault]).toEqual([false, expect.stringContaining('readonlyRootFilesystem')]);
});

it('without a Secret of the connection string, with an unknown value or a number as a setting, it says what is wrong', () => {
  expect(template()).toMatchObject({ said: expect.stringContaining('mongodb.existingSecret is missing') });
  expect(template(...SECRET, '--set', 'replicas=3')).toMatchObject({
    said: expect.stringContaining('Additional property replicas is not allowed'),
  });
  expect(template(...SECRET, '--set', 'settings.FEED_MEMORY=50331648')).toMatchObject({
    said: expect.stringContaining('Expected: string, given: integer'),
  });
  expect(template(...SECRET, '--set', 'ingress.enabled=true')).toMatchObject({
    said: expect.stringContaining('ingress.host is missing'),
  });
});

it('settings reach the pods as they were written', () => {
  const made = resources(...SECRET, '--set-string', 'settings.FEED_MEMORY=50331648');
  const [container] = made.get('Deployment feeds-tidemark')!.spec.template!.spec.containers;
  expect(container!.env).toEqual([
    { name: 'MONGODB_URI_FILE', value: '/run/secrets/mongodb/uri' },
    { name: 'PORT', value: '3000' },
    { name: 'METRICS_PORT', value: '9464' },
    { name: 'FEED_MEMORY', value: '50331648' },
  ]);
});

it('labels and the name of the ServiceAccount are text, also where they consist of digits', () => {
  const account = ['--set-string', 'serviceAccount.name=5678'];
  const args = ['template', '1234', CHART, '--kube-version', '1.33.0', ...SECRET, ...account];
  const { said } = run('helm', args);
  for (const document of parseAllDocuments(said)) {
    const { kind, metadata, spec } = document.toJS() as Resource;
    const labels = { ...metadata.labels, ...spec?.template?.metadata.labels };
    for (const [name, value] of Object.entries(labels))
      expect([name, typeof value]).toEqual([name, 'string']);
    expect(labels['app.kubernetes.io/instance']).toBe('1234');
    if (kind === 'ServiceAccount') expect(metadata.name).toBe('5678');
    if (kind === 'Deployment') expect(spec.template!.spec.serviceAccountName).toBe('5678');
  }
});

it('the Services, the budget, the policy and the monitor select what they are for', () => {
  const made = resources(...ALL);
  const deployment = made.get('Deployment feeds-tidemark')!.spec;
  const labels = deployment.template!.metadata.labels;
  const selecting = [
    ...['Service feeds-tidemark', 'Service feeds-tidemark-metrics'],
    ...['PodDisruptionBudget feeds-tidemark', 'NetworkPolicy feeds-tidemark'],
  ];
  for (const name of selecting) {
    const spec = made.get(name)!.spec as { selector?: object; podSelector?: object };
    const selector = (spec.selector ?? spec.podSelector) as { matchLabels?: object };
    expect(labels).toMatchObject(selector.matchLabels ?? selector);
  }
  const monitored = made.get('ServiceMonitor feeds-tidemark')!.spec.selector!['matchLabels'];
  expect(made.get('Service feeds-tidemark-metrics')!.metadata.labels).toMatchObject(monitored as object);
  expect(made.get('Service feeds-tidemark')!.metadata.labels).not.toMatchObject(monitored as object);
  expect(made.get('PrometheusRule feeds-tidemark')!.spec.groups![0]!.rules.length).toBeGreaterThan(10);
});
