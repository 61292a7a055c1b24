import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expectProblem, send, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';
import { commandsDuring, nameOf } from './profiler.js';

interface Exported {
  applications: { appid: string; services: { name: string }[] }[];
  credentials: { username: string }[];
  leftOut: string[];
}

const MOST = 1000;
/** Of BSON; three of them are more than an application may have. */
const LARGE = 'x'.repeat(1_500_000);

let service: TestService;
let folder: string;
beforeAll(async () => {
  service = await TestService.start();
  folder = await mkdtemp(join(tmpdir(), 'tidemark-listed-'));
});
afterAll(async () => {
  await service?.stop();
  await rm(folder, { recursive: true, force: true });
});

/** As other programs store them: without a limit. They are off, so that none has to be brought into force. */
const store = (app: TestApplication, documents: object[]) =>
  service.db.collection('services').insertMany(
    documents.map((one, index) => ({
      ...{ ...app.tenant, kind: 'product', name: `s${String(index).padStart(4, '0')}`, enabled: false },
      ...{ filter: { 'data.n': 1 }, ...one },
    })),
  );
const configuration = (app: TestApplication, query = '') =>
  send(`${service.url}/admin/v1/configuration${query}`, 'GET', { user: app.user('admin') });
const naming = ({ organizationid, appid }: TestApplication) =>
  `?organizationid=${organizationid}&appid=${appid}`;
const commandLine = () => new AdminConsole(service.uri);
const words = (app: TestApplication, command: string) => [
  ...command.split(' '),
  ...['--org', app.organizationid, '--app', app.appid],
];

describe('Services that are beyond the limits of their application', () => {
  let app: TestApplication;
  let other: TestApplication;
  const told = () => `2 services of ${app.organizationid}/${app.appid}`;
  beforeAll(async () => {
    app = await service.application();
    other = await service.application();
    await store(app, [{ note: LARGE }, { note: LARGE }, { note: LARGE }, {}, { note: LARGE }]);
    await store(
      other,
      Array.from({ length: MOST + 3 }, () => ({})),
    );
  });
  const fitting = ['s0000', 's0001', 's0003'];

  it('are no part of the configuration, which says how many they are', async () => {
    const { status, json } = await configuration(app);
    expect(status).toBe(200);
    const { applications, leftOut } = json as Exported;
    expect(applications.map(({ services }) => services.map(({ name }) => name))).toEqual([fitting]);
    expect(leftOut).toEqual([expect.stringContaining(`${told()}: `)]);
    const { leftOut: many } = (await configuration(other)).json as Exported;
    expect(many).toEqual([expect.stringContaining(`3 services of ${other.organizationid}/${other.appid}: `)]);
  });

  it('are no part of an exported file, which leaves them alone when it is applied with --prune', async () => {
    const { output } = await commandLine().run(words(app, 'config export'));
    expect(output).toContain(`# Not part of it: ${told()}: `);
    const file = join(folder, 'exported.yaml');
    await writeFile(file, output);
    const { changes } = await commandLine().json<{ changes: object[] }>([
      ...words(app, 'config plan'),
      ...['--prune', file],
    ]);
    expect(changes).toEqual([]);
  });

  it('are read within a time limit, which the database keeps', async () => {
    const path = `applications/${app.organizationid}/${app.appid}/services`;
    const commands = await commandsDuring(service.db, async () => {
      await configuration(app);
      expect((await send(`${service.url}/admin/v1/${path}`, 'GET', { user: app.user('admin') })).status).toBe(
        200,
      );
    });
    // A `getmore` goes on within the limit of its cursor.
    const reads = commands.filter(
      ({ op, command }) => command['comment'] === 'tidemark list' && op !== 'getmore',
    );
    expect(new Set(reads.map(nameOf))).toEqual(
      new Set([
        ...['aggregate services', 'find services', 'aggregate applications', 'find applications'],
        ...['aggregate credentials', 'find credentials'],
      ]),
    );
    expect(reads.filter(({ command }) => !(Number(command['maxTimeMS']) > 0))).toEqual([]);
  });

  it('are not listed by a command, which says so and ends with 1', async () => {
    const { code, output, errors } = await commandLine().run([...words(app, 'service list'), '--json']);
    expect((JSON.parse(output) as { name: string }[]).map(({ name }) => name)).toEqual(fitting);
    expect(code).toBe(1);
    expect(errors.join()).toContain(told());
  });
});

describe('The configuration of many applications with many services', () => {
  let apps: TestApplication[];
  let reader: string;

  beforeAll(async () => {
    apps = [];
    for (let number = 0; number < 3; number += 1) {
      const app = await service.application();
      await store(app, [{ note: LARGE }, { note: LARGE }]);
      apps.push(app);
    }
    const scopes = apps.map(({ tenant }) => tenant);
    reader = await apps[0]!.credential({ level: 'admin', scopes });
  });
  const ask = (method: string, path: string, body?: object) =>
    send(`${service.url}/admin/v1/configuration${path}`, method, { user: reader, body });

  it('is not answered, planned or applied in one piece: 409 says how to get it', async () => {
    for (const answer of [
      await ask('GET', ''),
      await ask('POST', '/plan', { applications: [apps[0]!.tenant] }),
      await ask('POST', '/apply', { applications: [apps[0]!.tenant] }),
    ]) {
      expectProblem(answer, 409, 'configuration-too-large');
      expect(answer.text).toContain('at most 8,388,608 bytes');
      expect(answer.text).toContain('?organizationid=…&appid=…');
    }
  });

  it('is answered, planned and applied one application at a time', async () => {
    const [app, other] = apps as [TestApplication, TestApplication];
    const { status, json } = await ask('GET', naming(app));
    expect(status).toBe(200);
    const { leftOut, ...exported } = json as Exported;
    expect(leftOut).toEqual([]);
    expect(exported.applications.map(({ appid, services }) => [appid, services.length])).toEqual([
      [app.appid, 2],
    ]);
    const wanted = { applications: [{ ...app.tenant, title: 'Anew', services: [] }], prune: true };
    const planned = await ask('POST', `/plan${naming(app)}`, wanted);
    expect(planned.json).toMatchObject({ untold: [] });
    expectProblem(await ask('POST', `/apply${naming(other)}`, wanted), 404, 'unknown-application');
    expect((await ask('POST', `/apply${naming(app)}`, { ...wanted, prune: false })).status).toBe(200);
    expect(await service.db.collection('services').countDocuments(other.tenant)).toBe(2);
  });

  it('names both of an application that the caller covers, or none', async () => {
    const stranger = await service.application();
    expectProblem(await ask('GET', naming(stranger)), 404, 'unknown-application');
    expectProblem(await ask('GET', `?appid=${apps[0]!.appid}`), 400, 'invalid-request');
    expectProblem(await ask('GET', `${naming(apps[0]!)}&appid=another`), 400, 'invalid-request');
  });
});
