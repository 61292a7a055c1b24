import { spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { freshDataDir, removeDataDir, ServiceProcess } from '../support/process.js';

jest.setTimeout(300_000);

/** Taken out of Debian's package by `npm run test:metrics`; PROMTOOL names another. */
const PROMTOOL = process.env['PROMTOOL'] ?? join('.cache', 'promtool', 'promtool');

/** What promtool complains of, and whether it is content. */
function promtool(words: string, input = ''): { isContent: boolean; said: string } {
  const { status, stdout, stderr, error } = spawnSync(PROMTOOL, words.split(' '), {
    input,
    encoding: 'utf8',
  });
  if (error !== undefined) throw error;
  return { isContent: status === 0, said: `${stdout}${stderr}` };
}

it('`promtool check metrics` is clean for what a service tells that has a demo and has been asked', async () => {
  const dataDir = await freshDataDir();
  const service = await ServiceProcess.start({ dataDir });
  try {
    await service.prints('All endpoints');
    const [, login = ''] = /-u (demo-reader:\S+)/.exec(service.said.join('\n')) ?? [];
    const feed = `${service.url}/demo/shop/api/v1/product/default/updates?to=2999-01-01`;
    const page = await fetch(feed, { headers: { authorization: `Basic ${btoa(login)}` } });
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('product-0001')]);
    const metrics = await (await fetch(`${service.url}/metrics`)).text();
    expect(metrics).toContain('tidemark_items_total{feed="updates"} 1000');
    expect(promtool('check metrics', metrics)).toEqual({ isContent: true, said: '' });
  } finally {
    await service.stop();
    await removeDataDir(dataDir);
  }
});

it('it complains of what is wrong, so that its silence means something', () => {
  const wrong = '# HELP a_total A.\n# TYPE a_total gauge\na_total 1\n';
  expect(promtool('check metrics', wrong)).toEqual({
    isContent: false,
    said: expect.stringContaining('non-counter metrics should not have "_total" suffix'),
  });
});

it('Prometheus can load the alerts', () => {
  expect(promtool('check rules docs/alerts.yml')).toMatchObject({ isContent: true });
});

it('they fire when they should, and only then', () => {
  const { isContent, said } = promtool('test rules test/metrics/alerts.yml');
  expect([isContent, said]).toEqual([true, expect.stringContaining('SUCCESS')]);
});
