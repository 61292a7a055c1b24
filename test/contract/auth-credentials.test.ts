import { hashPassword } from '../../src/auth/index.js';
import { expectProblem, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
});

const statusOf = async (user: string, password?: string) =>
  (await app.get('product/max', password === undefined ? { user } : { user, password })).status;
async function change(username: string, update: object): Promise<void> {
  await service.db.collection('credentials').updateOne({ username }, update);
  await service.heard();
}
const HOUR = 3_600_000;

describe('`disabled`, an expired credential: as if it were not there', () => {
  it.each<[string, object]>([
    ['disabled', { disabled: true }],
    ['disabled by any value that means yes', { disabled: 'yes' }],
    ['expired', { expiresAt: new Date(Date.now() - HOUR) }],
    ['an expiresAt that is a text, even of a day to come', { expiresAt: '2999-01-01' }],
    ['an expiresAt that is a number', { expiresAt: Date.now() + HOUR }],
    ['a level that nobody knows', { level: 'owner' }],
    ['a level of another type', { level: ['read'] }],
    ['a password hash that is not argon2id', { passwordhash: 'correct horse battery staple' }],
    ['a password hash that cannot be read', { passwordhash: '$argon2id$broken' }],
    ['a password hash of another type', { passwordhash: 5 }],
  ])('%s: 401', async (_name, fields) => {
    const user = await app.credential(fields);
    const answer = await app.get('product/max', { user });
    expectProblem(answer, 401, 'unauthorized');
    expect(answer.headers.get('www-authenticate')).toBe('Basic realm="tidemark", charset="UTF-8"');
  });

  it.each<[string, object]>([
    ['disabled: false', { disabled: false }],
    ['an expiresAt to come', { expiresAt: new Date(Date.now() + HOUR) }],
    ['an expiresAt that is null', { expiresAt: null }],
  ])('%s: 200', async (_name, fields) => {
    expect(await statusOf(await app.credential(fields))).toBe(200);
  });
});

it('services of one process know the credentials of their own databases only', async () => {
  const other = await TestService.start();
  try {
    expect([await statusOf(app.user('read')), await statusOf('unknown')]).toEqual([200, 401]);
    const seen = await app.seenBy(other).get('product/max');
    expectProblem(seen, 401, 'unauthorized');
  } finally {
    await other.stop();
  }
  expect(await statusOf(app.user('read'))).toBe(200);
});

describe('a change of a credential takes effect with the next request, though its check was cached', () => {
  it('disabled, and enabled again', async () => {
    const user = await app.credential();
    expect(await statusOf(user)).toBe(200);
    await change(user, { $set: { disabled: true } });
    expect(await statusOf(user)).toBe(401);
    await change(user, { $unset: { disabled: '' } });
    expect(await statusOf(user)).toBe(200);
  });

  it('expiresAt', async () => {
    const user = await app.credential({ expiresAt: new Date(Date.now() + HOUR) });
    expect(await statusOf(user)).toBe(200);
    await change(user, { $set: { expiresAt: new Date(Date.now() - 1) } });
    expect(await statusOf(user)).toBe(401);
  });

  it('the password: the new one opens, the old one does not', async () => {
    const user = await app.credential({ passwordhash: await hashPassword('old') });
    expect(await statusOf(user, 'old')).toBe(200);
    await change(user, { $set: { passwordhash: await hashPassword('new') } });
    expect(await statusOf(user, 'old')).toBe(401);
    expect(await statusOf(user, 'new')).toBe(200);
  });

  it('the level', async () => {
    const user = await app.credential({ level: 'write' });
    const write = () => app.send('POST', 'api/v0.1/member', { user, raw: 'no json' });
    expectProblem(await write(), 415, 'not-json');
    await change(user, { $set: { level: 'read' } });
    expectProblem(await write(), 403, 'level-missing');
  });

  it('the scopes', async () => {
    const user = await app.credential();
    expect(await statusOf(user)).toBe(200);
    await change(user, { $set: { scopes: [] } });
    expect(await statusOf(user)).toBe(404);
  });

  it('a credential that is removed, and one that is new', async () => {
    const user = await app.credential();
    expect(await statusOf(user)).toBe(200);
    await service.db.collection('credentials').deleteOne({ username: user });
    await service.heard();
    expect(await statusOf(user)).toBe(401);
    await app.credential({ username: user });
    expect(await statusOf(user)).toBe(200);
  });
});

describe('Each level includes those before it: read, write, admin', () => {
  it.each([
    ['read', 403],
    ['write', 415],
    ['admin', 415],
  ] as const)('%s reads, and answers %i to a write without JSON', async (level, status) => {
    const user = app.user(level);
    expect(await statusOf(user)).toBe(200);
    expect((await app.send('POST', 'api/v0.1/member', { user, raw: 'x' })).status).toBe(status);
  });
});

it('User names are unique', async () => {
  await app.credential({ username: 'twice' });
  await expect(app.credential({ username: 'twice' })).rejects.toMatchObject({ code: 11000 });
});
