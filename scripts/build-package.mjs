/** Compiles one of the packages beside the service, and does nothing where nothing has changed, or where TypeScript is not installed. */
import { spawnSync } from 'node:child_process';
import { existsSync, readdirSync, statSync } from 'node:fs';
import { join } from 'node:path';

const compiler = 'node_modules/typescript-7/bin/tsc';

/** Whether the `dist/` of a folder is there and newer than its source, after compiling it where it was not. */
export function buildPackage(folder) {
  if (!existsSync(compiler) || isFresh(folder)) return true;
  return spawnSync(process.execPath, [compiler, '-p', folder], { stdio: 'inherit' }).status === 0;
}

function isFresh(folder) {
  const built = join(folder, 'dist', 'index.js');
  if (!existsSync(built)) return false;
  const sources = readdirSync(join(folder, 'src'), { recursive: true }).map((name) =>
    join(folder, 'src', name),
  );
  const others = [join(folder, 'package.json'), join(folder, 'tsconfig.json'), 'package-lock.json'];
  return [...sources, ...others].every((path) => statSync(path).mtimeMs <= statSync(built).mtimeMs);
}
