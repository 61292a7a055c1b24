/** Copies the files of packages that the service serves or starts as they are, so that an installation needs no such package. */
import { copyFileSync, existsSync, mkdirSync, statSync } from 'node:fs';
import { dirname, join } from 'node:path';

const swagger = 'node_modules/swagger-ui-dist';
const swaggerFiles = ['swagger-ui.css', 'swagger-ui-bundle.js', 'favicon-32x32.png', 'LICENSE', 'NOTICE'];
const target = 'dist/platform/http/swagger-ui';

/** Whether the files are there, after copying those that were not. */
export function copyAssets() {
  if (!existsSync(swagger)) return existsSync(target);
  for (const name of swaggerFiles) copyIfOlder(join(swagger, name), join(target, name));
  return true;
}

function copyIfOlder(from, to) {
  const isFresh = existsSync(to) && statSync(to).mtimeMs >= statSync('package-lock.json').mtimeMs;
  if (isFresh) return;
  mkdirSync(dirname(to), { recursive: true });
  copyFileSync(from, to);
}
