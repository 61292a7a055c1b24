import { hashPassword } from '../../src/auth/index.js';
import { expectProblem, PASSWORD, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.start({ LOGIN_FAILURES: '1000' });
  app = await service.application();
});
afterAll(() => service.stop());

const max = (options: Parameters<TestApplication['get']>[1]) => app.get('product/max', options);
const withHeader = (authorization: string) => max({ headers: { authorization } });
const base64 = (text: string) => Buffer.from(text).toString('base64');

describe('401 no or wrong credentials, with `WWW-Authenticate: Basic realm="tidemark", charset="UTF-8"`', () => {
  it.each<[string, Parameters<typeof max>[0]]>([
    ['no credentials', { user: null }],
    ['an unknown user name', { user: 'nobody' }],
    ['a wrong password', { password: 'wrong' }],
    ['an empty password', { password: '' }],
    ['the right password and more', { password: `${PASSWORD} ` }],
    ['the right password with a colon and more', { password: `${PASSWORD}:x` }],
    ['another scheme', { headers: { authorization: 'Bearer abc' } }],
    ['no value', { headers: { authorization: 'Basic' } }],
    ['what is no base64', { headers: { authorization: 'Basic %%%' } }],
    ['no colon', { headers: { authorization: `Basic ${base64('read')}` } }],
    ['no user name', { headers: { authorization: `Basic ${base64(`:${PASSWORD}`)}` } }],
    ['two values', { headers: { authorization: `Basic ${base64('a:b')} ${base64('a:b')}` } }],
  ])('%s', async (_name, options) => {
    const answer = await max(options);
    expectProblem(answer, 401, 'unauthorized');
    expect(answer.headers.get('www-authenticate')).toBe('Basic realm="tidemark", charset="UTF-8"');
  });

  it('answers with the same words whether the user name exists or not', async () => {
    const unknown = expectProblem(await max({ user: 'nobody' }), 401, 'unauthorized');
    const wrong = expectProblem(await max({ password: 'wrong' }), 401, 'unauthorized');
    expect(wrong).toEqual({ ...unknown, requestId: wrong.requestId });
  });

  it.each<[string, Parameters<typeof max>[0], string]>([
    ['a wrong password', { password: 'wrong' }, 'The user name or the password is wrong, or the credential '],
    ['no credentials', { user: null }, 'Send the user name and password of a credential with HTTP Basic.'],
    ['another scheme', { headers: { authorization: 'Bearer abc' } }, 'Send the user name and password '],
  ])('the detail says whether a login was sent: %s', async (_name, options, detail) => {
    expect(expectProblem(await max(options), 401, 'unauthorized').detail).toContain(detail);
  });

  it('an empty body on HEAD, with the same header', async () => {
    const answer = await app.send('HEAD', 'api/v1/product/max', { user: null });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Basic realm="tidemark", charset="UTF-8"');
  });
});

describe('User name up to the first colon, password all that follows (RFC 7617), UTF-8', () => {
  it.each([
    ['colons in the password', 'colons', 'a:b:c'],
    ['a password that begins with a colon', 'first-colon', ':secret'],
    ['a password that ends with a colon', 'last-colon', 'secret:'],
    ['a password of nothing but colons', 'only-colons', ':::'],
    ['an empty password', 'empty', ''],
    ['a password in UTF-8', 'utf-8', 'pässwörd-密码-🔑'],
    ['a user name in UTF-8', 'Jürgen 密-🔑', 'secret'],
    ['a user name that looks like an operator', '$ne', 'secret'],
    ['blanks around both', ' blank ', ' secret '],
  ])('%s', async (_name, username, password) => {
    await app.credential({ username, passwordhash: await hashPassword(password) });
    expect((await max({ user: username, password })).status).toBe(200);
    expect((await max({ user: username, password: `${password}x` })).status).toBe(401);
    expect((await max({ user: username, password: password.split(':')[0] || 'x' })).status).toBe(
      password.includes(':') || password === '' ? 401 : 200,
    );
  });

  it.each([
    ['bAsIc', 'bAsIc '],
    ['BASIC', 'BASIC '],
    ['extra blanks', 'Basic    '],
  ])('the scheme in any case and with extra blanks: %s', async (_name, scheme) => {
    const login = base64(`${app.user('read')}:${PASSWORD}`);
    expect((await withHeader(`${scheme}${login}`)).status).toBe(200);
    expect((await withHeader(`${scheme}${login}   `)).status).toBe(200);
  });

  it('base64 without its padding', async () => {
    await app.credential({ username: 'unpadded' });
    const login = base64(`unpadded:${PASSWORD}`);
    expect(login).toMatch(/=$/);
    expect((await withHeader(`Basic ${login.replace(/=+$/, '')}`)).status).toBe(200);
  });

  it('user names differ by case', async () => {
    await app.credential({ username: 'Case' });
    expect((await max({ user: 'Case' })).status).toBe(200);
    expect((await max({ user: 'case' })).status).toBe(401);
  });
});
