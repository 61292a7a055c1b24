import { once } from 'node:events';
import { type AddressInfo, createServer, type Server } from 'node:net';
import mongoose, { type mongo } from 'mongoose';
import { wrongSetAtStart } from '../../../../src/platform/database/server-check.js';

const { MongoClient, MongoServerSelectionError } = mongoose.mongo;

/** A replica set has at most 50 members. */
const MOST_MEMBERS = 50;

let server: Server;
let connections = 0;
beforeAll(async () => {
  server = createServer((socket) => {
    connections += 1;
    socket.destroy();
  }).listen(0, '127.0.0.1');
  await once(server, 'listening');
});
beforeEach(() => (connections = 0));
afterAll(() => server.close());

const unchosen = new MongoServerSelectionError('none', { servers: new Map() } as never);
/** A client to which DNS has told this many hosts. */
const clientOf = (hosts: number) => {
  const { port } = server.address() as AddressInfo;
  const { options } = new MongoClient(`mongodb://127.0.0.1:${port}/?replicaSet=own`);
  const told = Array.from({ length: hosts }, () => options.hosts[0]!);
  return { options: { ...options, hosts: told } } as mongo.MongoClient;
};

it('servers are asked for the set that they belong to, each once and no more of them than a set can have', async () => {
  const asked = clientOf(3);
  expect(await wrongSetAtStart(unchosen, asked, 'mongodb+srv://db.tidemark.test/')).toBe(unchosen);
  expect(connections).toBeGreaterThanOrEqual(3);
  connections = 0;
  expect(await wrongSetAtStart(unchosen, clientOf(500), 'mongodb+srv://db.tidemark.test/')).toBe(unchosen);
  expect(connections).toBeLessThanOrEqual(MOST_MEMBERS);
});
