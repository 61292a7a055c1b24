/** Nest, Express and Passport with an empty handler (`bench/servers/floor`). */
import { CREDENTIAL } from '../data/operator.mjs';
import { freePort } from '../machine/ports.mjs';
import { Process } from '../machine/processes.mjs';
import { Server } from '../machine/server.mjs';
import { compiled } from './install.mjs';
import { PRODUCT_MAX } from './replication-api.mjs';

export const floor = {
  name: 'floor',
  title: 'an empty handler of Nest, Express and Passport',
  layout: 'records',
  install: () => compiled('bench/servers/floor'),

  async start() {
    const port = await freePort();
    const { username, password } = CREDENTIAL;
    const env = {
      PORT: String(port),
      NODE_ENV: 'production',
      API_USERNAME: username,
      API_PASSWORD: password,
    };
    const process = new Process(globalThis.process.execPath, ['.cache/bench/floor/main.js'], { env });
    const server = new Server(process, { port, ...CREDENTIAL });
    await server.ready(PRODUCT_MAX);
    return server;
  },
};
