/** express-restify-mongoose with lean documents. */
import { URLSearchParams } from 'node:url';
import { CREDENTIAL } from '../data/operator.mjs';
import { freePort } from '../machine/ports.mjs';
import { Process } from '../machine/processes.mjs';
import { Server } from '../machine/server.mjs';
import { npmInstalled } from './install.mjs';

const PACKAGES = [
  'express-restify-mongoose@9.0.13',
  'mongoose@8.24.10',
  'express@4.22.3',
  'method-override@3.0.0',
];
const PATH = '/api/v1/Product';

export const restify = {
  name: 'restify',
  title: 'express-restify-mongoose 9, lean',
  layout: 'records',
  install: () => npmInstalled('restify', PACKAGES),

  async start({ uri, installed }) {
    const port = await freePort();
    const { username, password } = CREDENTIAL;
    const process = new Process(globalThis.process.execPath, ['bench/servers/restify.mjs'], {
      env: {
        ...{ INSTALLED: installed, MONGODB_URI: uri, PORT: String(port), NODE_ENV: 'production' },
        ...{ API_USERNAME: username, API_PASSWORD: password },
      },
    });
    const server = new Server(process, { port, ...CREDENTIAL });
    await server.ready(`${PATH}?limit=1`);
    return server;
  },

  pagePath,
  itemsOf: (items) => items,
  nextOf,
  changes: {
    create: (number) => ({ method: 'POST', path: PATH, body: { id: String(number), data: { version: 1 } } }),
    createdKey: ({ _id }) => _id,
    patch: (key) => ({ method: 'PATCH', path: `${PATH}/${key}`, body: { data: { version: 2 } } }),
    newestPath: `${PATH}?${new URLSearchParams({ sort: '-lastupdated', limit: '1' })}`,
    newestOf: ([newest]) => newest?.lastupdated,
    pagePath,
    itemsOf: (items) => items.map(({ _id, data }) => ({ key: _id, version: data.version })),
    nextOf,
  },
};

function pagePath({ from, to, lastoffsetid, limit }) {
  const query = {
    lastupdated: { ...(from && { $gt: from }), $lte: to },
    ...(lastoffsetid !== '' && { _id: { $gt: lastoffsetid } }),
  };
  return `${PATH}?${new URLSearchParams({ query: JSON.stringify(query), sort: '_id', limit: String(limit) })}`;
}

function nextOf(items) {
  return items.at(-1)?._id ?? '';
}
