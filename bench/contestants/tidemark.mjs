/** This service, as `npm run build` has built it, or as it stands where TIDEMARK_MAIN says. */
import { CREDENTIAL } from '../data/operator.mjs';
import { freePort, HOST } from '../machine/ports.mjs';
import { Process, temporaryDirectory } from '../machine/processes.mjs';
import { Server } from '../machine/server.mjs';
import { until } from '../machine/until.mjs';
import { memberChanges, productChanges, productPages } from './replication-api.mjs';

const PASS_MS = 30 * 60_000;
const LAST_LINE_OF_THE_DEMO = 'All endpoints';

export const tidemark = {
  name: 'tidemark',
  title: 'this service',
  layout: 'records',
  install: () => Promise.resolve(),

  /** `main` is the program of another build. */
  async start({ uri, settings = {}, main }) {
    const port = await freePort();
    const server = serverOf(port, { MONGODB_URI: uri, NODE_ENV: 'production', ...settings }, main);
    await server.ready('/health/ready', PASS_MS);
    return server;
  },

  ...productPages,
  changes: memberChanges,
  foreignChanges: productChanges,
};

/** The same where no instance follows what it knows: it reads everything each time. */
export const unknowing = {
  ...tidemark,
  title: 'this service with KNOWLEDGE_MS=0',
  start: ({ uri }) => tidemark.start({ uri, settings: { KNOWLEDGE_MS: '0' } }),
};

/** The service on its embedded database, as a newcomer starts it, when it has made its demo. */
export async function startDemo() {
  const own = { MONGODB_URI: '', NODE_ENV: '', DATA_DIR: temporaryDirectory() };
  const server = serverOf(await freePort(), own);
  const isMade = () => {
    server.process.assertRuns();
    return server.process.lines.some((line) => line.startsWith(LAST_LINE_OF_THE_DEMO));
  };
  await until(isMade, { what: 'the demo' });
  return server;
}

/** All consumers of a measure share one credential. */
const OF_ONE_CREDENTIAL = '1000';

function serverOf(port, environment, main = globalThis.process.env.TIDEMARK_MAIN ?? 'dist/main.js') {
  const process = new Process(globalThis.process.execPath, [main], {
    env: { HOST, PORT: String(port), LOG_LEVEL: 'warn', CREDENTIAL_PAGES: OF_ONE_CREDENTIAL, ...environment },
  });
  return new Server(process, { port, ...CREDENTIAL });
}
