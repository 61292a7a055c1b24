import { randomUUID } from 'node:crypto';
import { type Answer, send, type SendOptions, type TestApplication, TestService } from '../support/index.js';
import { AdminConsole } from './admin-console.js';

const DAY_MS = 86_400_000;

let service: TestService;
let app: TestApplication;
let root: string;
let console_: AdminConsole;

beforeAll(async () => {
  service = await TestService.shared();
  console_ = new AdminConsole(service.uri);
  app = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
});

const admin = (method: string, path: string, options: SendOptions = {}): Promise<Answer> =>
  send(`${service.url}/admin/v1/${path}`, method, { user: root, ...options });
const max = async (user: string, password: string) =>
  (await app.get('product/max', { user, password })).status;
const inDays = (days: number) => new Date(Date.now() + days * DAY_MS).toISOString();
const stored = (username: string) => service.db.collection('credentials').findOne({ username });

interface Made {
  username: string;
  password: string;
}

async function made(more: object = {}): Promise<Made> {
  const body = { username: `made-${randomUUID().slice(0, 8)}`, level: 'read', scopes: [app.tenant], ...more };
  const { json } = await admin('POST', 'credentials', { body });
  await service.heard();
  return json as Made;
}

async function rotated(username: string, body?: object): Promise<Answer & { password: string }> {
  const answer = await admin('POST', `credentials/${username}/rotate`, body && { body });
  await service.heard();
  return { ...answer, password: (answer.json as Made).password };
}

describe('A rotation', () => {
  it('without more ends the old password at once', async () => {
    const { username, password } = await made();
    const { password: next } = await rotated(username);
    expect([await max(username, password), await max(username, next)]).toEqual([401, 200]);
  });

  it('can keep the old password until a time: both work, and then the new one only', async () => {
    const { username, password } = await made();
    expect(await max(username, password)).toBe(200);
    const { password: next, json, text } = await rotated(username, { keepOldUntil: inDays(1) });
    expect(json).toMatchObject({ oldexpiresAt: expect.stringMatching(/^\d{4}-/) as string, state: 'valid' });
    expect(text).not.toMatch(/argon2|passwordhash/);
    expect([await max(username, password), await max(username, next)]).toEqual([200, 200]);
    expect(await max(username, `${next}x`)).toBe(401);
    await service.db
      .collection('credentials')
      .updateOne({ username }, { $set: { oldexpiresAt: new Date(Date.now() - 1) } });
    await service.heard();
    expect([await max(username, password), await max(username, next)]).toEqual([401, 200]);
  });

  it('ends the password before the one before', async () => {
    const { username, password } = await made();
    const { password: second } = await rotated(username, { keepOldUntil: inDays(1) });
    const { password: third } = await rotated(username, { keepOldUntil: inDays(1) });
    const found = [await max(username, password), await max(username, second), await max(username, third)];
    expect(found).toEqual([401, 200, 200]);
    await rotated(username);
    expect(await max(username, second)).toBe(401);
    expect(await stored(username)).not.toHaveProperty('oldpasswordhash');
  });

  it('the old password can be retired at once', async () => {
    const { username, password } = await made();
    const { password: next } = await rotated(username, { keepOldUntil: inDays(1) });
    expect((await admin('DELETE', `credentials/${username}/oldpassword`)).status).toBe(204);
    await service.heard();
    expect([await max(username, password), await max(username, next)]).toEqual([401, 200]);
    expect((await admin('DELETE', `credentials/nobody/oldpassword`)).status).toBe(404);
  });

  it('a credential that is disabled opens nothing with either password', async () => {
    const { username, password } = await made();
    const { password: next } = await rotated(username, { keepOldUntil: inDays(1) });
    await admin('PATCH', `credentials/${username}`, { body: { disabled: true } });
    await service.heard();
    expect([await max(username, password), await max(username, next)]).toEqual([401, 401]);
  });

  it.each<[string, object, string]>([
    ['a time that is past', { keepOldUntil: '2020-01-01' }, 'keepOldUntil is in the past'],
    ['a time that is none', { keepOldUntil: 'soon' }, 'is not a date'],
    ['another property', { keep: true }, 'is an unknown property'],
  ])('with %s is a 400, and the password stays', async (_name, body, sentence) => {
    const { username, password } = await made();
    const answer = await admin('POST', `credentials/${username}/rotate`, { body });
    expect(answer).toMatchObject({ status: 400 });
    expect(answer.text).toContain(sentence);
    expect(await max(username, password)).toBe(200);
  });

  it('an old hash that operators wrote with no time, or of another sort, opens nothing', async () => {
    const { username, password } = await made();
    const { passwordhash } = (await stored(username))!;
    const { password: next } = await rotated(username);
    for (const $set of [
      { oldpasswordhash: passwordhash },
      { oldpasswordhash: passwordhash, oldexpiresAt: '2999-01-01' },
      { oldpasswordhash: password, oldexpiresAt: new Date('2999-01-01') },
    ]) {
      await service.db.collection('credentials').updateOne({ username }, { $set });
      await service.heard();
      expect([await max(username, password), await max(username, next)]).toEqual([401, 200]);
    }
  });

  it('a session that began with the old password lives as long as that', async () => {
    const { username, password } = await made({ level: 'admin' });
    const login = { body: { username, password }, headers: { 'tidemark-console': 'use' } };
    const { headers } = await send(`${service.url}/admin/v1/session`, 'POST', login);
    const cookie = headers.getSetCookie()[0]!.split(';')[0]!;
    const status = async () => {
      const sent = { cookie, 'tidemark-console': 'use' };
      return (await send(`${service.url}/admin/v1/session`, 'GET', { headers: sent })).status;
    };
    await rotated(username, { keepOldUntil: inDays(1) });
    expect(await status()).toBe(200);
    await admin('DELETE', `credentials/${username}/oldpassword`);
    await service.heard();
    expect(await status()).toBe(401);
  });

  it('by the commands: rotate --keep-old-until, retire, change', async () => {
    const { username, password } = await made();
    const words = `credential rotate --username ${username} --keep-old-until 2999-01-01`;
    const { output } = await console_.run(words);
    expect(output).toContain('has a new password; the old one works until 2999-01-01T00:00:00.000Z.');
    await service.heard();
    expect(await max(username, password)).toBe(200);
    expect((await console_.run('credential list')).output).toContain('old password until 2999-01-01');
    const retire = `credential retire --username ${username}`;
    expect((await console_.run(retire)).output).toContain('no longer works');
    expect((await console_.run(retire)).output).toContain('has no old password');
    await service.heard();
    expect(await max(username, password)).toBe(401);
    expect(await console_.failure(words.replace('2999', '2020'))).toContain('is in the past');

    const change = `credential change --username ${username}`;
    await console_.run(`${change} --disable --level write --expires 2999-01-01`);
    expect(await stored(username)).toMatchObject({
      disabled: true,
      level: 'write',
      expiresAt: new Date('2999-01-01'),
    });
    await console_.run(`${change} --enable --expires never`);
    expect(await stored(username)).toMatchObject({ disabled: false, level: 'write' });
    expect(await stored(username)).not.toHaveProperty('expiresAt');
    expect(await console_.failure(change)).toContain('Give --level, --expires, --disable or --enable.');
    expect(await console_.failure(`${change} --enable --disable`)).toContain('not both');
  });
});
