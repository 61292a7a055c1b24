/** Copies the files of packages that the service serves or starts as they are, so that an installation needs no such package. */
import { copyFileSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { basename, join } from 'node:path';

const swagger = 'node_modules/swagger-ui-dist';
const target = 'dist/platform/http/swagger-ui';
/** The page `/docs` has the console's colours. */
const own = [
  'console/src/palette.css',
  'console/public/assets/icon.svg',
  'src/platform/http/page/look.css',
  'src/platform/http/page/start.js',
  'src/platform/http/page/examples.json',
];
const swaggerFiles = ['swagger-ui.css', 'swagger-ui-bundle.js', 'LICENSE', 'NOTICE'];

/** Whether the files are there, after copying those that were not. */
export function copyAssets() {
  if (!existsSync(swagger)) return existsSync(target);
  mkdirSync(target, { recursive: true });
  for (const name of swaggerFiles) copyUnlessNewer(join(swagger, name), 'package-lock.json');
  for (const path of own) copyUnlessNewer(path, path);
  return true;
}

/** A copy is newer than what changes its source. */
function copyUnlessNewer(path, changedBy) {
  const copy = join(target, basename(path));
  const isFresh = existsSync(copy) && statSync(copy).mtimeMs >= statSync(changedBy).mtimeMs;
  if (!isFresh) copyFileSync(path, copy);
}
