/** `npm run dev`: compiles on every change and starts the service again; Ctrl-C ends both. */
import { spawn, spawnSync } from 'node:child_process';
import { assemble } from './assemble.mjs';
import { copyAssets } from './build-assets.mjs';

const tsc = ['node_modules/typescript-7/bin/tsc', '-p', 'tsconfig.build.json'];
assemble();
copyAssets();
spawnSync(process.execPath, tsc, { stdio: 'inherit' });

const children = [
  spawn(process.execPath, [...tsc, '--watch', '--preserveWatchOutput'], { stdio: 'inherit' }),
  spawn(process.execPath, ['--watch', '--enable-source-maps', 'dist/main.entry.js'], { stdio: 'inherit' }),
];
for (const signal of ['SIGINT', 'SIGTERM']) {
  process.on(signal, () => children.forEach((child) => child.kill(signal)));
}
