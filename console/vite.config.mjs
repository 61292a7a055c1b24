import react from '@vitejs/plugin-react';
import { defineConfig } from 'vite';

/** In development the service answers under its usual port. */
const service = process.env.TIDEMARK_URL ?? 'http://127.0.0.1:3000';

export default defineConfig({
  base: '/console/',
  plugins: [react()],
  html: { cspNonce: '__NONCE__' },
  server: { proxy: { '^/(?!console(/|$))': service } },
  build: {
    outDir: '../dist/console/pages',
    emptyOutDir: true,
    modulePreload: { polyfill: false },
    chunkSizeWarningLimit: 1000,
    reportCompressedSize: false,
  },
});
