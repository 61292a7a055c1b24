/** The NestJS + mongoose service that most teams would write (`bench/plain`), and the same with `.lean()`. */
import { CREDENTIAL } from '../data/operator.mjs';
import { idAt } from '../data/products.mjs';
import { freePort } from '../machine/ports.mjs';
import { Process } from '../machine/processes.mjs';
import { Server } from '../machine/server.mjs';
import { compiled } from './install.mjs';
import { feedPath, memberChanges, productChanges, productPages } from './replication-api.mjs';

export const plain = contestant('plain', 'NestJS + mongoose, hydrated', 'hydrated');
export const plainLean = contestant('plain-lean', 'NestJS + mongoose, .lean()', 'lean');

function contestant(name, title, read) {
  return {
    name,
    title,
    layout: 'records',
    install: () => compiled('bench/plain'),
    start: ({ uri }) => start(uri, read),
    ...productPages,
    changes: memberChanges,
    foreignChanges: productChanges,
  };
}

async function start(uri, read) {
  const port = await freePort();
  const { username, password } = CREDENTIAL;
  const process = new Process(globalThis.process.execPath, ['.cache/bench/plain/main.js'], {
    env: {
      ...{ MONGODB_URI: uri, PORT: String(port), NODE_ENV: 'production', READ: read },
      ...{ API_USERNAME: username, API_PASSWORD: password },
    },
  });
  const server = new Server(process, { port, ...CREDENTIAL });
  const to = new Date().toISOString();
  await server.ready(feedPath('product', 'default/updates', { to, lastoffsetid: idAt(-1), limit: 1 }));
  return server;
}
