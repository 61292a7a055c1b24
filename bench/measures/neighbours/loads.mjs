/** What another application, or a stranger, puts on the service. Each begins at once; what it answers ends it. */
import { setTimeout as wait } from 'node:timers/promises';
import { connect } from 'node:net';
import { feedPath } from '../../contestants/replication-api.mjs';
import { basic } from '../../machine/login.mjs';
import { HOST } from '../../machine/ports.mjs';

export const OWN = { organizationid: 'bench', appid: 'neighbour' };
export const LOGIN = { username: 'neighbour', password: 'neighbour-password' };

const AUTHORIZATION = basic(LOGIN.username, LOGIN.password);
const ADMINISTRATION = `/admin/v1/applications/${OWN.organizationid}/${OWN.appid}`;
const METHODS = [
  'ACL',
  'BIND',
  'CHECKOUT',
  'COPY',
  'LINK',
  'LOCK',
  'MERGE',
  'MKCOL',
  'MOVE',
  'PURGE',
  'REPORT',
  'UNLINK',
];
const SLOW_READERS = 150;
const IDLE = 2000;
const GUESSERS = 16;
const BULK = 338;
const LISTERS = 8;
const BULK_TEXT = 'x'.repeat(60_000);
const EVERY_MS = 100;
const LONGEST_END_MS = 5000;

/** Thirty alternatives that take long on the neighbour's long text, and one that the bound on patterns allows. */
const SLOW = { 'data.text': { $regex: Array.from({ length: 30 }, (_, n) => `a*a*[!?]${n}`).join('|') } };
const ALLOWED = { 'data.text': { $regex: 'a{1,40}[!?]' } };

export const loads = {
  none: () => Promise.resolve(() => Promise.resolve()),
  'previews and edits of slow filters': (server) =>
    inLoops(server, 4, AUTHORIZATION, (number) => {
      const filter = [SLOW, ALLOWED][number % 2];
      return number % 4 < 2
        ? { method: 'POST', path: `${ADMINISTRATION}/preview/product`, body: { filter } }
        : { method: 'PUT', path: `${ADMINISTRATION}/services/product/slow`, body: { filter } };
    }),
  'scrapes of /metrics behind unknown methods': async (server) => {
    const end = await inLoops(server, 1, null, (number) => ({
      method: METHODS[number % METHODS.length],
      path: ['/health/live', '/metrics', '/openapi.json', '/docs', ADMINISTRATION][number % 5],
    }));
    const endScrapes = await inLoops(server, 4, null, () => ({ path: '/metrics' }));
    return () => Promise.all([end(), endScrapes()]);
  },
  [`${SLOW_READERS} slow readers`]: async (server) => {
    const path = feedPath(
      ...['product', 'default/updates', { to: new Date().toISOString(), lastoffsetid: '', limit: 10_000 }],
      `/${OWN.organizationid}/${OWN.appid}/api`,
    );
    const readers = Array.from({ length: SLOW_READERS }, () => server.connection(AUTHORIZATION));
    for (const reader of readers) reader.hold(path).catch(() => undefined);
    await wait(EVERY_MS);
    return () => Promise.resolve(readers.forEach((reader) => reader.close()));
  },
  [`${IDLE} idle connections without a login`]: async (server) => {
    const idle = Array.from({ length: IDLE }, () => connect({ host: HOST, port: server.port }));
    for (const socket of idle) socket.on('error', () => undefined);
    await wait(EVERY_MS);
    return () => Promise.resolve(idle.forEach((socket) => socket.destroy()));
  },
  'log-ins with wrong passwords': (server) =>
    inLoops(server, GUESSERS, basic(LOGIN.username, 'wrong-password'), (number) => ({
      path: `/${OWN.organizationid}/${OWN.appid}/api/v1/product/max`,
      headers: `X-Forwarded-For: 203.0.113.77:${1024 + (number % 60_000)}\r\n`,
    })),
  [`${BULK} services of 64 KB at once, listed in ${LISTERS} loops`]: async (server, db) => {
    await db.collection('services').insertMany(
      Array.from({ length: BULK }, (_, n) => ({
        ...{ ...OWN, kind: 'product', name: `bulk-${n}`, filter: { 'data.text': { $ne: BULK_TEXT } } },
      })),
    );
    const end = await inLoops(server, LISTERS, AUTHORIZATION, () => ({ path: `${ADMINISTRATION}/services` }));
    return async () => {
      await end();
      await db.collection('services').deleteMany({ ...OWN, name: /^bulk-/ });
    };
  },
  'a filter that is edited in MongoDB ten times a second': async (_server, db) => {
    const key = { ...OWN, kind: 'product', name: 'edited' };
    return during(1, async (number) => {
      const filter = { 'data.number': { $mod: [100, number % 100] } };
      await db.collection('services').updateOne(key, { $set: { ...key, filter } }, { upsert: true });
      await wait(EVERY_MS);
    });
  },
};

/** Opens a number of connections and sends one request after the other on each, whatever the answers are. */
function inLoops(server, count, authorization, requestAt) {
  const connections = Array.from({ length: count }, () => server.connection(authorization));
  return during(
    count,
    async (number, place) => {
      await connections[place].request(requestAt(number)).catch(async () => {
        connections[place].close();
        await wait(EVERY_MS);
      });
    },
    () => connections.forEach((connection) => connection.close()),
  );
}

/** Repeats a task in a number of parallel loops. The function returned ends them. */
async function during(count, work, close = () => undefined) {
  let isOver = false;
  let number = 0;
  const loops = Array.from({ length: count }, async (_, place) => {
    while (!isOver) await work(number++, place);
  });
  for (const loop of loops) loop.catch(() => undefined);
  await wait(EVERY_MS);
  return async () => {
    isOver = true;
    close();
    await Promise.race([Promise.allSettled(loops), wait(LONGEST_END_MS)]);
  };
}
