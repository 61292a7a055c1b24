import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { Metrics } from '../../../src/platform/observability/index.js';

const page = readFileSync(join(__dirname, '..', '..', '..', 'docs', 'operating.md'), 'utf8');
const ROW = /^\| ((?:`tidemark_\w+`(?:, )?)+) +\| .+ \|$/gm;

it('docs/operating.md explains every metric of the service, once, and no other', () => {
  const explained = [...page.matchAll(ROW)].flatMap(([, names]) => names!.match(/tidemark_\w+/g) ?? []);
  const registered = new Metrics().registry.getMetricsAsArray().map(({ name }) => name);
  expect(explained.sort()).toEqual(registered.sort());
});
