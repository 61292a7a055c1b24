import { randomBytes, randomUUID } from 'node:crypto';
import { mongo } from 'mongoose';
import { CredentialUses } from '../../src/auth/index.js';
import {
  type Answer,
  PASSWORD,
  send,
  type SendOptions,
  type TestApplication,
  TestService,
} from '../support/index.js';
import { AdminConsole } from './admin-console.js';

const DAY_MS = 86_400_000;

let service: TestService;
let app: TestApplication;
let root: string;
let console_: AdminConsole;

beforeAll(async () => {
  service = await TestService.start();
  console_ = new AdminConsole(service.uri);
  app = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
});
afterAll(() => service.stop());

const admin = (method: string, path: string, options: SendOptions = {}): Promise<Answer> =>
  send(`${service.url}/admin/v1/${path}`, method, { user: root, ...options });
const max = async (user: string, password: string) =>
  (await app.get('product/max', { user, password })).status;
const stored = (username: string) => service.db.collection('credentials').findOne({ username });
const uses = () => service.db.collection<{ _id: string; at: Date; from?: string }>('tidemark.credentialuses');

/** An `_id` made at a time (milliseconds). */
const idMadeAt = (time: number) =>
  new mongo.ObjectId(
    Math.floor(time / 1000)
      .toString(16)
      .padStart(8, '0') + randomBytes(8).toString('hex'),
  );

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

describe('The last use of a credential', () => {
  const flush = () => service.app.get(CredentialUses, { strict: false }).flush();
  const listed = async (query: Record<string, string> = {}) => {
    const { json } = await admin('GET', 'credentials', { query });
    return json as { result: { username: string; lastUsed: string | null }[]; usesSince?: string };
  };
  const nameOf = ({ username }: { username: string }) => username;
  /** As if an old credential had been made so many days ago. */
  async function madeAgo(days: number, more: object = {}): Promise<string> {
    const _id = idMadeAt(Date.now() - days * DAY_MS);
    return app.credential({ _id, ...more });
  }

  it('is known to the minute, with the address; a failed login is none', async () => {
    const { username, password } = await made();
    const before = new Date();
    await max(username, 'wrong');
    await flush();
    expect((await admin('GET', `credentials/${username}`)).json).toMatchObject({
      ...{ lastUsed: null, lastUsedFrom: null },
    });
    await max(username, password);
    await flush();
    const { json } = await admin('GET', `credentials/${username}`);
    const { lastUsed, lastUsedFrom } = json as { lastUsed: string; lastUsedFrom: string };
    expect(lastUsedFrom).toBe('127.0.0.1');
    expect(new Date(lastUsed).getTime()).toBeGreaterThanOrEqual(before.getTime());
  });

  it('is not that of whoever had the name before', async () => {
    const { username, password } = await made();
    await max(username, password);
    await flush();
    await admin('DELETE', `credentials/${username}`);
    await made({ username });
    expect((await admin('GET', `credentials/${username}`)).json).toMatchObject({ lastUsedFrom: null });
  });

  it('is written once for many requests', async () => {
    const { username, password } = await made();
    for (let request = 0; request < 5; request += 1) await max(username, password);
    await flush();
    const first = await uses().findOne({ _id: username });
    await flush();
    expect(await uses().findOne({ _id: username })).toEqual(first);
  });

  it('who was not used for 90 days is listed, and revoked when that is confirmed', async () => {
    const old = await madeAgo(200);
    const used = await madeAgo(200);
    const young = await madeAgo(3);
    await max(used, PASSWORD);
    await flush();
    expect((await listed({ unusedfor: '90' })).result).toEqual([]);
    expect((await console_.run('credential list --unused-for 90')).output).toContain('it is not known yet');

    await uses().updateOne({ _id: '' }, { $set: { at: new Date(Date.now() - 100 * DAY_MS) } });
    const unused = (await listed({ unusedfor: '90' })).result.map(nameOf);
    expect(unused).toContain(old);
    for (const name of [used, young]) expect(unused).not.toContain(name);
    expect((await listed({ unusedfor: '300' })).result).toEqual([]);
    expect((await admin('GET', 'credentials', { query: { unusedfor: 'x' } })).status).toBe(400);

    const words = 'credential revoke --unused-for 90';
    const asked = await console_.run(words, { input: 'n\n' });
    expect(asked.code).toBe(1);
    expect(asked.errors.join('\n')).toContain(old);
    expect(await stored(old)).not.toBeNull();
    expect((await console_.run(words)).code).toBe(1);
    expect((await console_.run(words, { input: 'y\n' })).output).toContain(old);
    expect(await stored(old)).toBeNull();
    expect(await stored(used)).not.toBeNull();
    expect(await console_.json(`${words} --yes`)).toEqual({ revoked: [] });
    const entry = { action: 'credential.revoke', target: `credential ${old}` };
    expect(await service.db.collection('tidemark.audittrail').countDocuments(entry)).toBe(1);
    for (const wrong of ['', '--username x --unused-for 90'])
      expect(await console_.failure(`credential revoke ${wrong}`)).toContain('Give either');
  });

  it('a revocation that fails midway reports what is removed, and then the failure', async () => {
    await uses().updateOne({ _id: '' }, { $set: { at: new Date(Date.now() - 100 * DAY_MS) } });
    for (const username of ['midway-1', 'midway-2', 'midway-3']) await madeAgo(200, { username });
    const validate = (validator: object) =>
      service.db.command({ collMod: 'tidemark.audittrail', validator, validationLevel: 'moderate' });
    await validate({ target: { $ne: 'credential midway-2' } });
    const words = 'credential revoke --unused-for 90 --yes';
    const { code, output, errors } = await console_.run(`${words} --json`);
    await validate({});
    expect(code).toBe(1);
    // The second one is removed: only the entry of the audit trail is missing.
    expect(JSON.parse(output)).toEqual({ revoked: ['midway-1', 'midway-2'] });
    expect(errors).toEqual([JSON.stringify({ error: 'Unexpected error: Document failed validation' })]);
    expect(await stored('midway-3')).not.toBeNull();
    expect((await console_.run(words)).output).toBe('1 credential removed: midway-3.');
  });

  it('of another organization is nobody’s to see', async () => {
    const other = await service.application();
    const theirs = await other.credential({ _id: idMadeAt(0) });
    const user = await app.credential({ level: 'admin' });
    await service.heard();
    const { text } = await admin('GET', 'credentials', { user, query: { unusedfor: '1' } });
    expect(text).not.toContain(theirs);
  });
});
