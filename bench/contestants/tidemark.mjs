/** This service, as `npm run build` has built it, or as it stands where TIDEMARK_MAIN says. */
import { CREDENTIAL } from '../data/operator.mjs';
import { freePort, HOST } from '../machine/ports.mjs';
import { Process } from '../machine/processes.mjs';
import { Server } from '../machine/server.mjs';
import { memberChanges, productChanges, productPages } from './replication-api.mjs';

const PASS_MS = 30 * 60_000;

export const tidemark = {
  name: 'tidemark',
  title: 'this service',
  layout: 'records',
  install: () => Promise.resolve(),

  async start({ uri }) {
    const port = await freePort();
    const process = new Process(
      globalThis.process.execPath,
      [globalThis.process.env.TIDEMARK_MAIN ?? 'dist/main.js'],
      {
        env: { MONGODB_URI: uri, HOST, PORT: String(port), NODE_ENV: 'production', LOG_LEVEL: 'warn' },
      },
    );
    const server = new Server(process, { port, ...CREDENTIAL });
    await server.ready('/health/ready', PASS_MS);
    return server;
  },

  ...productPages,
  changes: memberChanges,
  foreignChanges: productChanges,
};
