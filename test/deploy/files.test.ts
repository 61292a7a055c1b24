import { readFileSync } from 'node:fs';
import { CONTENT, run } from './program.js';

describe('Dockerfile', () => {
  it('hadolint has nothing against it', () => {
    expect(run('hadolint', ['Dockerfile'])).toEqual(CONTENT);
  });

  it('it has something against one that is wrong', () => {
    const wrong = readFileSync('Dockerfile', 'utf8').replace('["node", "dist/main.js"]', 'node dist/main.js');
    expect(run('hadolint', ['-'], wrong)).toMatchObject({
      status: 1,
      said: expect.stringContaining('DL3025'),
    });
  });
});

describe('deploy/compose', () => {
  const folder = 'deploy/compose';

  it('compose.yaml fits the schema of Compose', () => {
    const schema = ['--builtin-schema', 'vendor.compose-spec'];
    expect(run('check-jsonschema', [...schema, `${folder}/compose.yaml`])).toMatchObject({ status: 0 });
    const wrong = readFileSync(`${folder}/compose.yaml`, 'utf8').replace(
      'read_only: true',
      'read_only: maybe',
    );
    expect(run('check-jsonschema', [...schema, '-'], wrong)).toMatchObject({ status: 1 });
  });

  it('Caddy can load its configuration', () => {
    const config = ['--adapter', 'caddyfile', '--config', `${folder}/caddy/Caddyfile`];
    expect(run('caddy', ['validate', ...config])).toMatchObject({ status: 0 });
    const text = readFileSync(`${folder}/caddy/Caddyfile`, 'utf8').trim();
    expect(run('caddy', ['fmt', `${folder}/caddy/Caddyfile`])).toEqual({ status: 0, said: text });
  });

  it('Prometheus can load its configuration', () => {
    const config = ['--syntax-only', `${folder}/prometheus/prometheus.yml`];
    expect(run('promtool', ['check', 'config', ...config])).toMatchObject({ status: 0 });
  });
});

describe('deploy/systemd/tidemark.service', () => {
  const unit = 'deploy/systemd/tidemark.service';

  it('systemd-analyze verify has nothing against it', () => {
    expect(run('systemd-analyze', ['verify', unit])).toEqual(CONTENT);
  });

  it('is exposed by 1.1 of 10, as systemd-analyze security rates it', () => {
    const rated = run('systemd-analyze', [
      'security',
      '--offline=true',
      '--threshold=11',
      '--no-pager',
      unit,
    ]);
    expect(rated).toEqual({
      status: 0,
      said: expect.stringContaining('Overall exposure level for tidemark.service: 1.1 OK'),
    });
    expect(run('systemd-analyze', ['security', '--offline=true', '--threshold=10', unit]).status).toBe(1);
  });
});

describe('what a host of the repository reads', () => {
  it.each([
    ['github-workflows', ['.github/workflows/ci.yml', '.github/workflows/release.yml']],
    ['github-issue-forms', ['.github/ISSUE_TEMPLATE/fault.yml', '.github/ISSUE_TEMPLATE/wish.yml']],
    ['github-issue-config', ['.github/ISSUE_TEMPLATE/config.yml']],
    ['renovate', ['renovate.json']],
  ])('fits the schema of %s', (schema, files) => {
    const { status, said } = run('check-jsonschema', ['--builtin-schema', `vendor.${schema}`, ...files]);
    expect({ status, said }).toEqual({ status: 0, said: expect.stringContaining('ok') });
  });

  it('actionlint has nothing against the workflows', () => {
    expect(run('actionlint', ['-no-color'])).toEqual(CONTENT);
  });

  it('every file has a license, as the specification of REUSE wants it', () => {
    expect(run('reuse', ['lint', '--quiet'])).toEqual(CONTENT);
    expect(readFileSync('LICENSES/Apache-2.0.txt', 'utf8')).toBe(readFileSync('LICENSE', 'utf8'));
  });
});
