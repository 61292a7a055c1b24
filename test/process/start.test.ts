import { once } from 'node:events';
import { readFile, stat } from 'node:fs/promises';
import { type ClientRequest, type IncomingMessage, request } from 'node:http';
import { type AddressInfo, createServer, type Server } from 'node:net';
import { join } from 'node:path';
import { eventually } from '../support/eventually.js';
import { Gate } from '../support/gate.js';
import { startLocked, startOwn, startStandalone } from '../support/own-mongod.js';
import { freshDataDir, gone, removeDataDir, ServiceProcess } from '../support/process.js';

jest.setTimeout(300_000);

let dataDir: string;
let spawned: ServiceProcess[] = [];
let holders: Server[] = [];

beforeEach(async () => {
  dataDir = await freshDataDir();
});
afterEach(async () => {
  await Promise.all(spawned.map((service) => service.stop('SIGKILL')));
  spawned = [];
  for (const holder of holders) holder.close();
  holders = [];
  await removeDataDir(dataDir);
});

function spawn(environment: Record<string, string> = {}): ServiceProcess {
  const service = ServiceProcess.spawn({ dataDir, environment });
  spawned.push(service);
  return service;
}

/** What a start has said that has ended with exit code 1. */
async function failure(service: ServiceProcess): Promise<string[]> {
  expect(await service.exited).toBe(1);
  return service.lines;
}

describe('a port that is taken', () => {
  const isTaken = /^HOST "127\.0\.0\.1" with PORT \d+ cannot be used: .*EADDRINUSE.* Set PORT to a port/;
  const hold = async (port = 0): Promise<Server> => {
    const holder = createServer().listen(port, '127.0.0.1');
    await once(holder, 'listening');
    holders.push(holder);
    return holder;
  };
  const portOf = (holder: Server) => String((holder.address() as AddressInfo).port);

  it('is told in one line, before a database is begun', async () => {
    const holder = await hold();
    const lines = await failure(spawn({ PORT: portOf(holder), LOG_LEVEL: 'info' }));
    expect(lines).toEqual([expect.stringMatching(isTaken)]);
    await expect(stat(join(dataDir, 'mongod'))).rejects.toThrow('ENOENT');
  });

  it('is told in one line where it is taken meanwhile, and the database is ended', async () => {
    const free = await hold();
    const PORT = portOf(free);
    free.close();
    await once(free, 'close');
    const service = spawn({ PORT });
    await service.prints('Using mongod');
    await hold(Number(PORT));
    const lines = await failure(service);
    expect(lines.slice(1)).toEqual([expect.stringMatching(isTaken)]);
    expect(await readFile(join(dataDir, 'mongod', 'mongod.lock'), 'utf8')).toBe('');
  });
});

describe('a MONGODB_URI with another replicaSet than the server has ends the start with one line', () => {
  it('which says what is wrong and what is right', async () => {
    const mongod = await startOwn();
    try {
      const MONGODB_URI = `${mongod.uri}?replicaSet=wrong`;
      expect(await failure(spawn({ MONGODB_URI }))).toContain(
        `The server at ${new URL(MONGODB_URI).host} belongs to the replica set "own", and MONGODB_URI names "wrong". ` +
          'Write replicaSet=own there.',
      );
    } finally {
      await mongod.stop();
    }
  });

  it('also where the server belongs to none', async () => {
    const mongod = await startStandalone();
    try {
      const lines = await failure(spawn({ MONGODB_URI: `${mongod.uri}?replicaSet=wrong` }));
      expect(lines.at(-1)).toMatch(/^This MongoDB is a stand-alone server\./);
    } finally {
      await mongod.stop();
    }
  });
});

describe('a MONGODB_URI that leads nowhere says so before the service says that it listens', () => {
  const nowhere = async () => {
    const nobody = createServer().listen(0, '127.0.0.1');
    await once(nobody, 'listening');
    const { port } = nobody.address() as AddressInfo;
    nobody.close();
    return `127.0.0.1:${port}`;
  };

  it.each([
    ['where nobody listens', nowhere, /: the connection is refused\./],
    [
      'whose name is not known',
      () => Promise.resolve('no-such-host.invalid:27017'),
      /: that name (is not known|cannot be looked up)\./,
    ],
  ])('%s', async (_what, hostOf, why) => {
    const host = await hostOf();
    const service = spawn({
      MONGODB_URI: `mongodb://ann:s3cret@${host}/x?authSource=hidden`,
      LOG_LEVEL: 'info',
    });
    await service.prints('Tidemark listens');
    expect(service.said).toEqual([
      expect.stringMatching(/ Waiting for it; requests are answered 503 meanwhile\.$/),
      expect.stringMatching(/^Tidemark listens at http:/),
    ]);
    expect(service.said[0]).toContain(`The database at ${host} does not answer (MONGODB_URI)`);
    expect(service.said[0]).toMatch(why);
    expect((await fetch(`${service.url}/health/live`)).status).toBe(200);
    await eventually(() => service.logged.length > 0);
    expect(await service.stop()).toBe(0);
    expect(service.lines.join('\n')).not.toMatch(/ann|s3cret|hidden/);
  });

  it('and when it answers', async () => {
    const database = await startLocked([]);
    const gate = await Gate.to(database.as('root'));
    const service = spawn({ MONGODB_URI: gate.uri });
    await service.prints('does not answer');
    await gate.open();
    await service.prints('The database answers.');
    await eventually(() => service.isReady());
    expect(await service.stop()).toBe(0);
    await gate.shut();
    await database.stop();
  });
});

it('a user whom the database does not let in ends the start with one line', async () => {
  const database = await startLocked([{ name: 'stranger', roles: [{ role: 'read', db: 'elsewhere' }] }]);
  const [wrong, nobody, stranger] = await Promise.all(
    [database.as('root').replace('root@', 'wr0ng@'), database.uri, database.as('stranger')].map(
      (MONGODB_URI) => failure(spawn({ MONGODB_URI })),
    ),
  );
  const refused = /^The database at 127\.0\.0\.1:\d+ refuses the user name or the password in MONGODB_URI\. /;
  const another =
    /^The user in MONGODB_URI, if any, lacks rights on .*:\d+\. .* readWrite on the database tidemark\. /;
  expect(wrong).toEqual([expect.stringMatching(refused)]);
  expect(nobody).toEqual([expect.stringMatching(another)]);
  expect(stranger).toEqual([
    expect.stringMatching(
      /^The user in MONGODB_URI lacks actions .* needs: find, .* readWrite on the database /,
    ),
  ]);
  await database.stop();
});

/** A demo, and one request of it that has begun and waits for the rest of its body. */
async function demoWithRequest(): Promise<{ service: ServiceProcess; running: ClientRequest }> {
  const service = spawn({ LOG_LEVEL: 'info' });
  await service.prints('All endpoints');
  const file = await readFile(join(dataDir, 'demo-credentials.json'), 'utf8');
  const { write } = JSON.parse(file) as { write: { username: string; password: string } };
  const running = request(`${service.url}/demo/shop/api/v0.1/member`, {
    method: 'POST',
    auth: `${write.username}:${write.password}`,
    headers: { 'content-type': 'application/json', expect: '100-continue' },
  });
  running.on('error', () => undefined).flushHeaders();
  await once(running, 'continue');
  return { service, running };
}

describe('Ctrl-C says what it does', () => {
  it('how many requests end first, and when all has ended; nothing of it is in the log', async () => {
    const { service, running } = await demoWithRequest();
    const stopped = service.stop('SIGINT');
    await service.prints('Stopping');
    const answered = once(running, 'response') as Promise<[IncomingMessage]>;
    running.end('{"accountnumber": "1", "email": "a@example.com"}');
    expect((await answered)[0].statusCode).toBe(201);
    expect(await stopped).toBe(0);
    expect(service.said.slice(-2)).toEqual([
      'Stopping: 1 request ends first, 10 s at most. Ctrl-C again ends at once.',
      'Stopped.',
    ]);
    expect(service.logged.join('\n')).not.toContain('Stop');
  });

  it('pressed again it ends at once, and the next start finds everything in order', async () => {
    const { service } = await demoWithRequest();
    const pids = await service.pids();
    let how: number | string | undefined;
    void service.exited.then((code) => (how = code));
    await eventually(() => {
      if (how === undefined) process.kill(pids.node, 'SIGINT');
      return how !== undefined;
    });
    expect(how).toBe(130);
    expect(service.said.at(-1)).toMatch(/^Stopping: 1 request ends first/);
    await gone(pids.mongod);
    const next = spawn();
    await next.prints('All endpoints');
    expect(await next.stop()).toBe(0);
  });

  it('SIGTERM tells the log', async () => {
    const { service, running } = await demoWithRequest();
    const stopped = service.stop('SIGTERM');
    await service.prints('Stopping');
    running.destroy();
    expect(await stopped).toBe(0);
    const messages = service.logged.map((line) => (JSON.parse(line) as { msg: string }).msg);
    expect(messages.filter((text) => /stop/i.test(text))).toEqual([
      'Stopping on SIGTERM: 1 request ends first, 10 s at most.',
      'Stopped.',
    ]);
    expect(service.said.join('\n')).not.toContain('Stop');
  });
});
