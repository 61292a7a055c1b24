import { connect } from 'node:net';
import { text } from 'node:stream/consumers';
import { PASSWORD, type TestApplication, TestService } from '../support/index.js';
import { commandsDuring, nameOf } from './profiler.js';

const REQUESTS = 20;

let service: TestService;
let app: TestApplication;
beforeAll(async () => {
  service = await TestService.start({ KNOWLEDGE_MS: '0' });
  app = await service.application();
});
afterAll(() => service.stop());

const status = async (user: string) => (await app.get('product/max', { user })).status;

/** The statuses of requests that arrive all at once, since they come in one piece over one connection. */
async function statusesAtOnce(user: string): Promise<string[]> {
  const { hostname, port } = new URL(service.url);
  const lines = [
    `GET /${app.organizationid}/${app.appid}/api/v1/product/max HTTP/1.1`,
    `Host: ${hostname}`,
    `Authorization: Basic ${btoa(`${user}:${PASSWORD}`)}`,
  ];
  const request = (...more: string[]) => `${[...lines, ...more].join('\r\n')}\r\n\r\n`;
  const socket = connect(Number(port), hostname);
  socket.write(request().repeat(REQUESTS - 1) + request('Connection: close'));
  return (await text(socket)).match(/(?<=HTTP\/1\.1 )\d+/g) ?? [];
}

describe('requests that come at once share reads of their credential and application', () => {
  async function readsDuring(work: () => Promise<unknown>): Promise<{ [collection: string]: number }> {
    const names = (await commandsDuring(service.db, work)).map(nameOf);
    const count = (collection: string) => names.filter((name) => name === `find ${collection}`).length;
    return { credentials: count('credentials'), applications: count('applications') };
  }

  it.each([
    ['200', () => app.user('read')],
    ['404', () => app.credential({ scopes: [] })],
  ])('the first has a read of its own, all others share one: %s', async (expected, userOf) => {
    const user = await userOf();
    await status(user);
    let statuses: string[] = [];
    const { credentials, applications } = await readsDuring(
      async () => (statuses = await statusesAtOnce(user)),
    );
    expect(statuses).toEqual(Array(REQUESTS).fill(expected));
    expect(credentials).toBe(2);
    expect(applications).toBeLessThanOrEqual(3);
  });

  it('one who asks alone has reads of its own', async () => {
    const user = app.user('read');
    await status(user);
    expect(await readsDuring(() => status(user))).toEqual({ credentials: 1, applications: 1 });
  });

  it('what changed before a request came is known to it, however many others are asking', async () => {
    const user = await app.credential();
    expect(await status(user)).toBe(200);
    let busy = true;
    const others = Array.from({ length: 8 }, async () => {
      while (busy) await status(user);
    });
    const credentials = service.db.collection('credentials');
    for (let turn = 0; turn < 10; turn += 1) {
      await credentials.updateOne({ username: user }, { $set: { scopes: [] } });
      expect(await status(user)).toBe(404);
      await credentials.updateOne({ username: user }, { $set: { scopes: [app.tenant] } });
      expect(await status(user)).toBe(200);
    }
    busy = false;
    await Promise.all(others);
  });
});
