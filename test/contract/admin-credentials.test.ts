import { hashPassword } from '../../src/auth/index.js';
import { onceServed, PASSWORD, send, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';
import { EventClient } from './event-client.js';

let service: TestService;
let admin: AdminConsole;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.start();
  admin = new AdminConsole(service.uri);
  app = await service.application();
});
afterAll(() => service.stop());

const GIVEN = 'correct horse battery';

const issue = (username: string, more = '') =>
  `credential issue --username ${username} --org ${app.organizationid} --app ${app.appid} --level read ${more}`.trim();

async function login(
  user: string,
  password: string,
  path = `${app.organizationid}/${app.appid}`,
): Promise<number> {
  const url = `${service.url}/${path}/api/v1/product/max`;
  return (await onceServed(() => send(url, 'GET', { user, password }))).status;
}

interface Issued {
  username: string;
  password?: string;
}

describe('`credential issue|rotate|revoke|list --username --org --app --level [--expires] [--password-stdin]`', () => {
  it('issue prints a random password once, and it works', async () => {
    const { output, code } = await admin.run(issue('random'));
    expect(code).toBe(0);
    const password = /^Password, shown only now: (\S{20,})$/m.exec(output)?.[1] ?? '';
    expect(await login('random', password)).toBe(200);
    expect(await login('random', `${password}x`)).toBe(401);
    const other = await admin.json<Issued>(issue('random2'));
    expect(other.password).not.toBe(password);
  });

  it('issue takes a password from stdin, cuts one trailing line break, and does not print it', async () => {
    const { output, code } = await admin.run(issue('given', '--password-stdin'), { input: `${GIVEN}\n` });
    expect(code).toBe(0);
    expect(output).not.toContain(GIVEN);
    expect(await login('given', GIVEN)).toBe(200);
    const json = await admin.json<Issued>(issue('given2', '--password-stdin'), { input: GIVEN });
    expect(json).toEqual({ username: 'given2', level: 'read', scopes: [app.tenant] });
  });

  it.each([
    ['11 characters', 'x'.repeat(11)],
    ['257 characters', 'x'.repeat(257)],
  ])('issue refuses a given password of %s', async (_name, input) => {
    expect(await admin.failure(issue('refused', '--password-stdin'), { input })).toContain(
      '12 to 256 characters',
    );
    expect(await service.db.collection('credentials').countDocuments({ username: 'refused' })).toBe(0);
  });

  it('issue opens what its scopes say, with * for every one', async () => {
    const other = await service.application();
    const words = (username: string, org: string) => [
      ...['credential', 'issue', '--username', username, '--org', org, '--app', '*', '--level', 'read'],
    ];
    const all = await admin.json<Issued>(words('everywhere', '*'));
    const one = await admin.json<Issued>(words('one-org', app.organizationid));
    const otherPath = `${other.organizationid}/${other.appid}`;
    expect(await login('everywhere', all.password ?? '', otherPath)).toBe(200);
    expect(await login('one-org', one.password ?? '')).toBe(200);
    expect(await login('one-org', one.password ?? '', otherPath)).toBe(404);
  });

  it('issue gives the level and the expiry', async () => {
    const words = `credential issue --username until --org ${app.organizationid} --app ${app.appid} --level write --expires 2999-01-31`;
    expect((await admin.run(words)).output).toContain('with level write until 2999-01-31T00:00:00.000Z.');
    expect(await service.db.collection('credentials').findOne({ username: 'until' })).toMatchObject({
      ...{ level: 'write', expiresAt: new Date('2999-01-31') },
    });
  });

  it.each([
    ['an existing name', issueTwice, 'There is a credential "twice" already'],
    ['a level that is none', () => issue('x').replace('read', 'root'), '--level "root" is not known'],
    ['a date that is none', () => issue('x', '--expires soon'), '--expires "soon" is not a date'],
    ['a date that is past', () => issue('x', '--expires 2020-01-01'), '--expires 2020-01-01 is in the past'],
    ['a user name with a colon', () => issue('a:b'), '--username "a:b" is not valid'],
    ['an unknown application', () => issue('x').replace(app.appid, 'nowhere'), 'There is no application'],
  ])('issue refuses %s', async (_name, words, sentence) => {
    expect(await admin.failure(await words())).toContain(sentence);
  });

  it('rotate gives another password, by the user name only', async () => {
    const { password: first = '' } = await admin.json<Issued>(issue('rotated'));
    const { password: second = '' } = await admin.json<Issued>('credential rotate --username rotated');
    expect([await login('rotated', first), await login('rotated', second)]).toEqual([401, 200]);
    await admin.run('credential rotate --username rotated --password-stdin', { input: `${GIVEN}\r\n` });
    expect([await login('rotated', second), await login('rotated', GIVEN)]).toEqual([401, 200]);
    expect(await admin.failure('credential rotate --username nobody')).toContain(
      'There is no credential "nobody"',
    );
    expect(await admin.failure('credential rotate --username rotated --level admin')).toContain(
      'There is no option --level.',
    );
  });

  it('rotate with a password that the login has already keeps its hash, so that running answers continue', async () => {
    const user = await app.credential({ passwordhash: await hashPassword(PASSWORD) });
    const hashOf = async () =>
      (await service.db.collection('credentials').findOne({ username: user }))?.['passwordhash'] as string;
    const before = await hashOf();
    const stream = await EventClient.open(app, 'product', { user });
    const same = `credential rotate --username ${user} --password-stdin`;
    expect(await admin.run(same, { input: PASSWORD })).toMatchObject({ code: 0 });
    expect(await hashOf()).toBe(before);
    await service.heard();
    await app.product();
    await stream.hears(await app.max('product'));
    stream.leave();
    await admin.run(`${same} --keep-old-until 2100-01-01`, { input: GIVEN });
    await admin.run(same, { input: PASSWORD });
    expect(await hashOf()).toBe(before);
    expect([await login(user, PASSWORD), await login(user, GIVEN)]).toEqual([200, 401]);
  });

  it('rotate with a password that has expired gives it another hash, so that what had ended with it stays ended', async () => {
    const user = await app.credential();
    const credentials = service.db.collection('credentials');
    const before = await credentials.findOne({ username: user });
    const rotate = `credential rotate --username ${user} --password-stdin`;
    await admin.run(`${rotate} --keep-old-until 2100-01-01`, { input: GIVEN });
    await credentials.updateOne({ username: user }, { $set: { oldexpiresAt: new Date(0) } });
    expect(await admin.run(rotate, { input: PASSWORD })).toMatchObject({ code: 0 });
    const after = await credentials.findOne({ username: user });
    expect(after?.['passwordhash']).not.toBe(before?.['passwordhash']);
    expect(await login(user, PASSWORD)).toBe(200);
  });

  it('revoke ends it at once, and the name is free again', async () => {
    const { password = '' } = await admin.json<Issued>(issue('revoked'));
    expect(await login('revoked', password)).toBe(200);
    expect(await admin.run('credential revoke --username revoked')).toMatchObject({ code: 0 });
    expect(await login('revoked', password)).toBe(401);
    expect(await admin.failure('credential revoke --username revoked')).toContain('There is no credential');
    expect(await admin.run(issue('revoked'))).toMatchObject({ code: 0 });
  });

  it('list shows who may do what, and never a stored secret', async () => {
    await app.credential({ username: 'closed', disabled: true, expiresAt: new Date('2020-01-01') });
    await app.credential({ username: 'old', expiresAt: new Date('2020-01-01') });
    const { output } = await admin.run('credential list');
    expect(output).toMatch(
      new RegExp(`^old +read +${app.organizationid}/${app.appid} +expired 2020-01-01T`, 'm'),
    );
    expect(output).toMatch(/^closed .* disabled$/m);
    const json = await admin.run('credential list --json');
    for (const said of [output, json.output]) expect(said).not.toMatch(/argon2|passwordhash/);
  });
});

async function issueTwice(): Promise<string> {
  await admin.run(issue('twice'));
  return issue('twice');
}
