import { defaultMaxListeners } from 'node:events';
import type { IncomingMessage, ServerResponse } from 'node:http';
import { type Answer, send, type SendOptions, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

let service: TestService;
let app: TestApplication;
let root: string;
let commands: AdminConsole;
beforeAll(async () => {
  service = await TestService.start();
  commands = new AdminConsole(service.uri);
  app = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
});
afterAll(() => service.stop());

const admin = (method: string, path: string, options: SendOptions = {}): Promise<Answer> =>
  send(`${service.url}/admin/v1/${path}`, method, { user: root, ...options });
const stored = (username: string) => service.db.collection('credentials').findOne({ username });
const create = (username: string) =>
  admin('POST', 'credentials', { body: { username, level: 'read', scopes: [app.tenant] } });
const issue = (username: string) =>
  commands.run(
    `credential issue --username ${username} --org ${app.organizationid} --app ${app.appid} --level read`,
  );
const opens = async (user: string, { json }: Answer) => {
  await service.heard();
  const { password } = json as { password: string };
  return (await app.get('product/max', { user, password })).status;
};

describe('A password is in force only if it is shown', () => {
  const validate = (validator: object) =>
    service.db.command({ collMod: 'tidemark.audittrail', validator, validationLevel: 'moderate' });
  const noEntryOf = (username: string) => validate({ target: { $ne: `credential ${username}` } });
  afterEach(() => validate({}));

  it('a credential whose entry of the audit trail cannot be written is not stored', async () => {
    await noEntryOf('new');
    expect((await create('new')).status).toBe(500);
    expect(await issue('new')).toMatchObject({ code: 1, output: '' });
    expect(await stored('new')).toBeNull();
    await validate({});
    const created = await create('new');
    expect(created.status).toBe(201);
    expect(await opens('new', created)).toBe(200);
  });

  it('a rotation whose entry of the audit trail cannot be written keeps the password', async () => {
    const created = await create('kept');
    const before = await stored('kept');
    await noEntryOf('kept');
    expect((await admin('POST', 'credentials/kept/rotate')).status).toBe(500);
    expect(await commands.run('credential rotate --username kept')).toMatchObject({ code: 1, output: '' });
    expect(await stored('kept')).toEqual(before);
    expect(await opens('kept', created)).toBe(200);
  });

  it('it is shown even if the last use of the credential cannot be read', async () => {
    await create('shown');
    const uses = 'tidemark.credentialuses';
    await service.db.collection(uses).drop();
    const pipeline = [{ $project: { at: { $divide: [1, 0] } } }];
    await service.db.createCollection(uses, { viewOn: 'credentials', pipeline });
    const rotated = await admin('POST', 'credentials/shown/rotate');
    const created = await create('shown-2');
    await service.db.collection(uses).drop();
    expect(rotated).toMatchObject({ status: 200, json: { username: 'shown', lastUsed: null } });
    expect(rotated.headers.get('etag')).toBe((await admin('GET', 'credentials/shown')).headers.get('etag'));
    expect(await opens('shown', rotated)).toBe(200);
    expect(created).toMatchObject({ status: 201, json: { username: 'shown-2', lastUsed: null } });
    expect(await opens('shown-2', created)).toBe(200);
  });
});

describe('Two changes of one credential at a time', () => {
  it('one issue of two of the same name is refused, and every rotation shows what it stored', async () => {
    const statuses = (await Promise.all([create('twin'), create('twin')])).map(({ status }) => status);
    expect(statuses.sort()).toEqual([201, 409]);
    const rotations = await Promise.all([1, 2, 3].map(() => admin('POST', 'credentials/twin/rotate')));
    expect(rotations.map(({ status }) => status)).toEqual([200, 200, 200]);
    const works = await Promise.all(rotations.map((rotation) => opens('twin', rotation)));
    expect(works.filter((status) => status === 200)).toHaveLength(1);
  });

  it('a change without If-Match is no 412: that is for an ETag that does not match', async () => {
    await create('often');
    const ends = Array.from({ length: 8 }, (_, day) => `2100-01-0${day + 1}T00:00:00.000Z`);
    const change = (expiresAt: string) => admin('PATCH', 'credentials/often', { body: { expiresAt } });
    const server = service.app.getHttpServer();
    const listeners: number[] = [];
    const count = (_request: IncomingMessage, answer: ServerResponse) =>
      answer.on('finish', () => listeners.push(answer.listenerCount('close')));
    server.on('request', count);
    const statuses = (await Promise.all(ends.map(change))).map(({ status }) => status);
    server.off('request', count);
    expect(statuses).toEqual(ends.map(() => 200));
    // However often it was repeated: Node warns of more than these.
    expect(Math.max(...listeners)).toBeLessThanOrEqual(defaultMaxListeners);
    expect(
      (await Promise.all([1, 2].map(() => admin('DELETE', 'credentials/often'))))
        .map(({ status }) => status)
        .sort(),
    ).toEqual([204, 404]);
  });
});
