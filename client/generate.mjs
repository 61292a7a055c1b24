/**
 * `npm run -w client generate`: types of what the service takes and answers, from its own OpenAPI document. They are written
 * to the folder that is given, or to `src/generated`.
 */
import { spawnSync } from 'node:child_process';
import { join, resolve } from 'node:path';
import { fileURLToPath } from 'node:url';
import { createClient } from '@hey-api/openapi-ts';

const root = fileURLToPath(new URL('..', import.meta.url));
const target = resolve(process.argv[2] ?? join(root, 'client/src/generated'));

await createClient({
  input: endpoints(documentOfService()),
  output: { path: target, entryFile: false, module: { extension: '.js' } },
  plugins: ['@hey-api/typescript'],
  parser: { filters: { orphans: false } },
  logs: { level: 'error' },
});

/** Of the service as it is now, whether the client goes with it already or not. */
function documentOfService() {
  spawnSync(process.execPath, ['scripts/build.mjs'], { cwd: root, stdio: 'inherit' });
  const { status, stdout } = spawnSync(process.execPath, ['scripts/openapi.mjs'], {
    cwd: root,
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
