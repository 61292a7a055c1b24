import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** In development the service answers under its usual port. */
const service = process.env.TIDEMARK_URL ?? 'http://127.0.0.1:3000';
const CONSOLE = '/console/';

/** The service tells each page where the console is (src/administration/console/pages.ts); in development it is always at the same place. */
const atItsPlace = {
  name: 'tidemark-console',
  apply: 'serve',
  transformIndexHtml: (html) => html.replace('__CONSOLE__', CONSOLE),
};

export default defineConfig(({ command }) => ({
  base: command === 'build' ? './' : CONSOLE,
  plugins: [react(), atItsPlace],
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
