/** Eve under gunicorn. */
import { URLSearchParams } from 'node:url';
import { join, resolve } from 'node:path';
import { CREDENTIAL } from '../data/operator.mjs';
import { freePort, HOST } from '../machine/ports.mjs';
import { Process } from '../machine/processes.mjs';
import { Server } from '../machine/server.mjs';
import { pipInstalled } from './install.mjs';

const PACKAGES = ['Eve==2.3.1', 'pymongo==4.20.0', 'Flask==3.1.3', 'Werkzeug==3.1.9', 'gunicorn==27.0.1'];
const PATH = '/products';
const THREADS = '16';

export const eve = {
  name: 'eve',
  title: 'Eve 2 on gunicorn',
  layout: 'records',
  install: () => pipInstalled('eve', PACKAGES),

  async start({ uri, installed }) {
    const port = await freePort();
    const { username, password } = CREDENTIAL;
    const place = ['--bind', `${HOST}:${port}`, '--chdir', resolve('bench/servers/eve')];
    const workers = [
      '--workers',
      '1',
      '--worker-class',
      'gthread',
      '--threads',
      THREADS,
      '--no-control-socket',
    ];
    const process = new Process(join(installed, 'bin', 'gunicorn'), [...place, ...workers, 'app:app'], {
      env: { MONGODB_URI: uri, API_USERNAME: username, API_PASSWORD: password, PYTHONDONTWRITEBYTECODE: '1' },
    });
    const server = new Server(process, { port, ...CREDENTIAL });
    await server.ready(`${PATH}?max_results=1`);
    return server;
  },

  pagePath,
  itemsOf: ({ _items }) => _items,
  nextOf,
  changes: {
    create: (number) => ({ method: 'POST', path: PATH, body: { id: String(number), data: { version: 1 } } }),
    createdKey: ({ _id }) => _id,
    patch: (key) => ({ method: 'PATCH', path: `${PATH}/${key}`, body: { data: { version: 2 } } }),
    newestPath: `${PATH}?${new URLSearchParams({ sort: '-lastupdated', max_results: '1' })}`,
    newestOf: ({ _items: [newest] }) => newest && new Date(newest.lastupdated).toISOString(),
    pagePath,
    itemsOf: ({ _items }) => _items.map(({ _id, data }) => ({ key: _id, version: data.version })),
    nextOf,
  },
};

function pagePath({ from, to, lastoffsetid, limit }) {
  const where = {
    lastupdated: { ...(from && { $gt: secondOf(from) }), $lte: secondOf(to) },
    ...(lastoffsetid !== '' && { _id: { $gt: lastoffsetid } }),
  };
  return `${PATH}?${new URLSearchParams({ where: JSON.stringify(where), sort: '_id', max_results: String(limit) })}`;
}

function nextOf({ _items }) {
  return _items.at(-1)?._id ?? '';
}

/** Eve knows stamps of whole seconds, in the form of RFC 1123. */
function secondOf(iso) {
  return new Date(iso).toUTCString();
}
