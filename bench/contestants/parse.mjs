/** parse-server with the master key. */
import { URLSearchParams } from 'node:url';
import { CREDENTIAL } from '../data/operator.mjs';
import { freePort } from '../machine/ports.mjs';
import { Process } from '../machine/processes.mjs';
import { Server } from '../machine/server.mjs';
import { npmInstalled } from './install.mjs';

const PACKAGES = ['parse-server@9.10.0', 'express@5.2.1'];
const PATH = '/parse/classes/Product';
const FIELDS = {
  name: 'String',
  organizationid: 'String',
  appid: 'String',
  data: 'Object',
  channels: 'Array',
  type: 'String',
  createdBy: 'String',
};

export const parse = {
  name: 'parse',
  title: 'parse-server 9',
  layout: 'parse',
  install: () => npmInstalled('parse', PACKAGES),

  async start({ uri, installed }) {
    const port = await freePort();
    const { username, password } = CREDENTIAL;
    const process = new Process(globalThis.process.execPath, ['bench/servers/parse.mjs'], {
      env: {
        ...{ INSTALLED: installed, MONGODB_URI: uri, PORT: String(port), NODE_ENV: 'production' },
        ...{ API_USERNAME: username, API_PASSWORD: password, PARSE_SERVER_LOGS_FOLDER: 'null' },
      },
    });
    const server = new Server(process, { port, ...CREDENTIAL });
    await server.ready('/parse/health');
    await makeClass(server);
    return server;
  },

  pagePath,
  itemsOf: ({ results }) => results.map(({ name, ...item }) => ({ ...item, id: name })),
  nextOf,
  changes: {
    create: (number) => ({
      method: 'POST',
      path: PATH,
      body: { name: String(number), data: { version: 1 } },
    }),
    createdKey: ({ objectId }) => objectId,
    patch: (key) => ({ method: 'PUT', path: `${PATH}/${key}`, body: { data: { version: 2 } } }),
    newestPath: `${PATH}?${new URLSearchParams({ order: '-updatedAt', limit: '1' })}`,
    newestOf: ({ results: [newest] }) => newest?.updatedAt,
    pagePath,
    itemsOf: ({ results }) => results.map(({ objectId, data }) => ({ key: objectId, version: data.version })),
    nextOf,
  },
};

function pagePath({ from, to, lastoffsetid, limit }) {
  const where = {
    updatedAt: { ...(from && { $gt: dateOf(from) }), $lte: dateOf(to) },
    ...(lastoffsetid !== '' && { objectId: { $gt: lastoffsetid } }),
  };
  return `${PATH}?${new URLSearchParams({ where: JSON.stringify(where), order: 'objectId', limit: String(limit) })}`;
}

function nextOf({ results }) {
  return results.at(-1)?.objectId ?? '';
}

function dateOf(iso) {
  return { __type: 'Date', iso };
}

/** A second instance finds it made already. */
async function makeClass(server) {
  const fields = Object.fromEntries(Object.entries(FIELDS).map(([name, type]) => [name, { type }]));
  const connection = server.connection();
  await connection.request({
    method: 'POST',
    path: '/parse/schemas/Product',
    body: { className: 'Product', fields },
  });
  connection.close();
}
