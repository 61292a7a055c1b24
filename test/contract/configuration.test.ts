import { randomUUID } from 'node:crypto';
import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { freshDatabase, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

let service: TestService;
let folder: string;
let app: TestApplication;
let admin: AdminConsole;

beforeAll(async () => {
  service = await TestService.start();
  folder = await mkdtemp(join(tmpdir(), 'tidemark-configuration-'));
  admin = new AdminConsole(service.uri);
  app = await service.application();
  await app.products(20, (index) => ({ id: `p${index}`, data: { n: index } }));
  await app.filter('product', 'low', { 'data.n': { $lt: 10 } });
  await app.filter('member', 'dated', { createDate: { $gt: new Date('2026-01-01') } }, { description: 'x' });
  await service.watcher.caughtUp();
});
afterAll(async () => {
  await service.stop();
  await rm(folder, { recursive: true });
});

interface Wanted {
  applications: { organizationid: string; appid: string; title?: string; services: object[] }[];
  credentials: { username: string; level: string; scopes: object[]; disabled?: boolean }[];
}

const file = async (content: unknown): Promise<string> => {
  const path = join(folder, `${randomUUID()}.yaml`);
  await writeFile(path, typeof content === 'string' ? content : JSON.stringify(content));
  return path;
};
const exported = () => admin.json<Wanted>('config export');
const mine = ({ applications }: Wanted) => applications.find(({ appid }) => appid === app.appid)!;
const everything = () =>
  Promise.all(
    ['applications', 'services', 'credentials'].map((name) =>
      service.db
        .collection(name)
        .find({}, { sort: { _id: 1 } })
        .toArray(),
    ),
  );

describe('`config export`, `config plan`, `config apply`', () => {
  it('round trip: what is exported changes nothing, and has nothing secret', async () => {
    const { output } = await admin.run('config export');
    expect(output).toContain(`organizationid: ${app.organizationid}`);
    expect(output).not.toMatch(/passwordhash|argon2/);
    expect((await admin.run(['config', 'plan', await file(output)])).output).toBe('Nothing changes.');
    expect((await admin.run(['config', 'plan', '-'], { input: output })).output).toBe('Nothing changes.');
    const before = await everything();
    expect((await admin.run(['config', 'apply', await file(output), '--yes'])).output).toBe(
      'Nothing changes.',
    );
    expect(await everything()).toEqual(before);
  });

  it('round trip: an empty database becomes the same, with new passwords', async () => {
    const { uri, client, db } = await freshDatabase();
    const there = new AdminConsole(uri);
    const { output } = await admin.run('config export');
    const words = ['config', 'apply', await file(output), '--yes'];
    const { passwords } = await there.json<{ passwords: Record<string, string> }>(words);
    expect((await there.run('config export')).output).toBe(output);
    const { credentials } = await exported();
    expect(Object.keys(passwords).sort()).toEqual(credentials.map(({ username }) => username).sort());
    expect(new Set(Object.values(passwords)).size).toBe(credentials.length);
    const filter = { createDate: { $gt: new Date('2026-01-01') } };
    expect(await db.collection('services').findOne({ name: 'dated' })).toMatchObject({ filter });
    await db.dropDatabase();
    await client.close();
  });

  it('the plan tells each change in words, and what a changed filter does; apply does just that', async () => {
    const wanted = await exported();
    const own = mine(wanted);
    own.title = 'Shop';
    own.services = own.services.filter((one) => !JSON.stringify(one).includes('dated'));
    Object.assign(own.services[0]!, { filter: { 'data.n': { $lt: 13 } } });
    own.services.push({ kind: 'product', name: 'high', filter: { 'data.n': { $gte: 13 } } });
    wanted.credentials.push({ username: 'new-one', level: 'read', scopes: [app.tenant] });
    const path = await file(wanted);
    const place = `${app.organizationid}/${app.appid}`;
    const { output } = await admin.run(['config', 'plan', path]);
    expect(output.split('\n')).toEqual([
      `~ application ${place}: title`,
      `~ product service "low" of ${place}: filter`,
      '    13 of 20 match; 3 will be delivered again.',
      ...[10, 11, 12].map((n) => `    For example p${n}: would enter, with {"n":${n}}`),
      `+ product service "high" of ${place}`,
      '    7 of 20 match.',
      '+ credential "new-one"',
      '4 changes: 2 to create, 2 to change.',
      'Not in the file, and kept (--prune removes it):',
      `  member service "dated" of ${place}`,
    ]);

    const before = await everything();
    const refused = await admin.run(['config', 'apply', path], { input: 'no\n' });
    expect([refused.code, refused.output]).toEqual([1, 'Nothing is changed.']);
    expect(await everything()).toEqual(before);

    const done = await admin.run(['config', 'apply', path, '--prune'], { input: 'y\n' });
    expect(done.errors.join('\n')).toContain(`- member service "dated" of ${place}`);
    expect(done.output).toMatch(
      /Done\. 5 changes: 2 created, 2 changed, 1 removed\.\n.*\n {2}new-one: \S{20,}/,
    );
    const [, password] = / new-one: (\S+)/.exec(done.output)!;
    await service.heard();
    expect((await app.get('product/max', { user: 'new-one', password: password! })).status).toBe(200);
    expect(await service.db.collection('services').findOne({ name: 'low' })).toMatchObject({
      filter: { 'data.n': { $lt: 13 } },
    });
    expect(await service.db.collection('services').countDocuments({ name: 'dated' })).toBe(0);
    expect((await admin.run(['config', 'plan', path])).output).toBe('Nothing changes.');
    const trail = await service.db.collection('tidemark.audittrail').find().toArray();
    const deeds = trail.map((deed) =>
      ['action', 'target', 'via', 'changed'].map((name) => deed[name] as unknown),
    );
    for (const deed of [
      ['application.change', `application ${place}`, 'command', ['title']],
      ['service.set', 'product service low', 'command', ['filter']],
      ['service.set', 'product service high', 'command', undefined],
      ['service.remove', 'member service dated', 'command', undefined],
      ['credential.issue', 'credential new-one', 'command', undefined],
    ])
      expect(deeds).toContainEqual(deed);
    expect(JSON.stringify(trail)).not.toContain('argon2');
  });

  it('what a filter edit moves by a file is delivered to its consumers', async () => {
    const own = await service.application();
    await own.products(5, (index) => ({ id: `q${index}`, data: { n: index } }));
    await own.filter('product', 'some', { 'data.n': 0 });
    await service.watcher.caughtUp();
    const from = await own.max('product');
    const wanted = await exported();
    const place = wanted.applications.find(({ appid }) => appid === own.appid)!;
    Object.assign(place.services[0]!, { filter: { 'data.n': { $in: [3, 4] } } });
    await admin.run(['config', 'apply', await file(wanted), '--yes']);
    await service.watcher.caughtUp();
    const window = { from: from.toISOString() };
    const ids = async (feed: ReturnType<typeof own.feed>) =>
      (await feed.page(window)).items.map(({ id }) => id);
    expect(await ids(own.feed('product', 'some'))).toEqual(['q3', 'q4']);
    expect(await ids(own.softDeletes('product', 'some'))).toEqual(['q0']);
  });

  it.each<[string, (wanted: Wanted) => void, string]>([
    [
      'a filter that is not allowed',
      (wanted) => mine(wanted).services.push({ kind: 'product', name: 'x', filter: { $where: '1' } }),
      'The filter is not valid',
    ],
    [
      'a filter that MongoDB refuses',
      (wanted) => mine(wanted).services.push({ kind: 'product', name: 'x', filter: { a: { $regex: '(' } } }),
      'MongoDB refuses the filter',
    ],
    [
      'a reserved name',
      (wanted) => mine(wanted).services.push({ kind: 'product', name: 'max', filter: {} }),
      'is reserved',
    ],
  ])('with %s nothing at all is changed, and the line is told', async (_name, spoil, sentence) => {
    const wanted = await exported();
    mine(wanted).title = 'Never';
    spoil(wanted);
    const before = await everything();
    const path = await file(JSON.stringify(wanted, null, 1));
    const told = await admin.failure(['config', 'apply', path, '--yes']);
    expect(told).toContain(sentence);
    expect(told).toMatch(/^Line \d{2,}: \/applications\/\d+\/services\/\d+/);
    expect(await everything()).toEqual(before);
  });

  it('an application that still has records is not pruned, and nothing else is changed either', async () => {
    const wanted = await exported();
    wanted.applications = wanted.applications.filter(({ appid }) => appid !== app.appid);
    wanted.credentials[0]!.disabled = true;
    const before = await everything();
    const told = await admin.failure(['config', 'apply', await file(wanted), '--prune', '--yes']);
    expect(told).toContain('still has products');
    expect(await everything()).toEqual(before);
  });

  it('what opens nothing is left alone, and told of', async () => {
    const services = service.db.collection('services');
    await services.insertOne({ ...app.tenant, kind: 'product', name: 'odd', filter: { $where: '1' } });
    await services.insertOne({ ...app.tenant, kind: 'order', name: 'odder', filter: {} });
    const { output } = await admin.run('config export');
    expect(output).toMatch(/^# Not part of it: product service "odd" of .*: filter The filter is not valid/m);
    expect(output).toMatch(/^# Not part of it: order service "odder" of .*: kind is not one of/m);
    const { output: plan } = await admin.run(['config', 'plan', await file(output)]);
    expect(plan).toContain('Not part of the configuration, so left unchanged: product service "odd"');
    await services.deleteMany({ name: { $in: ['odd', 'odder'] } });
  });

  it('an application that is pruned takes with it what was not part of the configuration', async () => {
    const { tenant, appid } = await service.application();
    const services = service.db.collection('services');
    await services.insertOne({ ...tenant, kind: 'product', name: 'odd', filter: { $where: '1' } });
    const kept = await exported();
    kept.applications = kept.applications.filter((one) => one.appid !== appid);
    const path = await file(kept);
    const { output } = await admin.run(['config', 'plan', path, '--prune']);
    await admin.run(['config', 'apply', path, '--prune', '--yes']);
    expect(output).toContain('so removed only with its application: product service "odd"');
    expect(await services.countDocuments(tenant)).toBe(0);
  });

  it('a file may begin with a byte order mark', async () => {
    const { output } = await admin.run('config export');
    expect((await admin.run(['config', 'plan', await file(`\uFEFF${output}`)])).code).toBe(0);
  });

  it('an application with settings that say nothing is part of it', async () => {
    const bare = await service.application({ settings: {} });
    const { applications } = await exported();
    expect(applications.find(({ appid }) => appid === bare.appid)).toMatchObject({
      ...bare.tenant,
      settings: {},
    });
  });

  it('a file that cannot be read, and one from stdin that nobody confirms', async () => {
    expect(await admin.failure('config plan nothing.yaml')).toBe(
      'nothing.yaml cannot be read: there is no such file.',
    );
    const latin1 = await file('');
    await writeFile(
      latin1,
      Buffer.from('applications: [{organizationid: a, appid: b, title: Café}]', 'latin1'),
    );
    expect(await admin.failure(`config plan ${latin1}`)).toBe(`${latin1} cannot be read: it is not UTF-8.`);
    expect(await admin.failure('config apply -')).toContain('Give --yes');
    expect(await admin.failure('config plan')).toContain('FILE.yaml|- is missing');
  });
});
