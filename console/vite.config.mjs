import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';
import { packagesOf, writePackages } from '../scripts/bundled-packages.mjs';

/** In development the service answers under its usual port. */
const service = process.env.TIDEMARK_URL ?? 'http://127.0.0.1:3000';
const CONSOLE = '/console/';

/** The service tells each page where the console is (src/administration/console/pages.ts); in development it is always at the same place. */
const atItsPlace = {
  name: 'tidemark-console',
  apply: 'serve',
  transformIndexHtml: (html) => html.replace('__CONSOLE__', CONSOLE),
};

/** Lists the packages that the page contains in a file beside it, for `npm run release` and for their licences. */
const toldPackages = {
  name: 'tidemark-packages',
  apply: 'build',
  writeBundle(_options, output) {
    const modules = Object.values(output).flatMap(({ moduleIds = [] }) => moduleIds);
    writePackages('../dist/administration/console/packages', packagesOf(modules));
  },
};

export default defineConfig(({ command }) => ({
  base: command === 'build' ? './' : CONSOLE,
  plugins: [react(), atItsPlace, toldPackages],
  html: { cspNonce: '__NONCE__' },
  server: { proxy: { '^/(?!console(/|$))': service } },
  build: {
    outDir: '../dist/administration/console/pages',
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    reportCompressedSize: false,
  },
}));
