/**
 * `npm run -w client generate`: types of what the service takes and answers, from its own OpenAPI document. They are written
 * to the folder that is given, or to `src/generated`.
 */
import { spawnSync } from 'node:child_process';
import { dirname, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@hey-api/openapi-ts';

const here = dirname(fileURLToPath(import.meta.url));
const target = resolve(process.argv[2] ?? `${here}/src/generated`);

await createClient({
  input: endpoints(documentOfService()),
  output: { path: target, module: { extension: '.js' } },
  plugins: ['@hey-api/typescript'],
  logs: { level: 'error' },
});

function documentOfService() {
  const command = ['run', '-s', 'openapi'];
  const { status, stdout } = spawnSync('npm', command, {
    cwd: resolve(here, '..'),
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
    stdio: ['ignore', 'pipe', 'inherit'],
  });
  if (status !== 0) throw new Error('The service has not told its OpenAPI document.');
  return JSON.parse(stdout);
}

/** Feeds and members: those of an application. */
function endpoints(document) {
  const ofApplications = Object.entries(document.paths).filter(([path]) => path.startsWith('/{org}/{app}/'));
  return { ...document, paths: Object.fromEntries(ofApplications) };
}
