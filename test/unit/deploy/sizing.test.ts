import { parse } from 'yaml';
import { read } from './files.js';

const page = read('docs/sizing.md');
const recommended = page.split('## Recommended values')[1]!.split('\n## ')[0]!;
/** What the row of a file recommends. */
const rowOf = (name: string) =>
  recommended.split('\n').find((line) => line.startsWith(`| ${name}`)) ?? `no row for ${name}`;
const unit = read('deploy/systemd/tidemark.service');

interface Resources {
  resources: { requests: { cpu: string; memory: string }; limits: { memory: string } };
}

describe('docs/sizing.md recommends what is set in', () => {
  it('the chart', () => {
    const { resources } = parse(read('deploy/helm/tidemark/values.yaml')) as Resources;
    const { requests, limits } = resources;
    expect(rowOf('chart')).toContain(`request \`${requests.memory}\`, limit \`${limits.memory}\``);
    expect(rowOf('chart')).toContain(`request \`${requests.cpu}\`, no limit`);
    expect(Object.keys(limits)).toEqual(['memory']);
  });

  it.each(['MemoryHigh', 'MemoryMax', 'CPUWeight'])('the unit: %s', (key) => {
    const value = new RegExp(`^${key}=(\\S+)$`, 'm').exec(unit)?.[1];
    expect(rowOf('unit')).toContain(`\`${key}=${value}\``);
  });

  it('the Compose file', () => {
    const { 'x-tidemark': service } = parse(read('deploy/compose/compose.yaml')) as {
      'x-tidemark': { mem_limit: string };
    };
    expect(rowOf('Compose')).toContain(`\`mem_limit: ${service.mem_limit}\``);
  });
});

it.each([
  'deploy/helm/tidemark/values.yaml',
  'deploy/systemd/tidemark.service',
  'deploy/compose/compose.yaml',
])('%s names the page', (file) => {
  expect(read(file)).toContain('docs/sizing.md');
});
