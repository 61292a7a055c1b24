import { request } from 'node:http';
import { PASSWORD, type SendOptions, TestService } from '../support/index.js';
import { MemberClient, newEmail, slugOf } from './member-client.js';

const LIMIT = 256 * 1024;
const JSON_TYPE = { 'content-type': 'application/json' };
const TOO_LARGE = ' '.repeat(LIMIT + 1);

let service: TestService;
let members: MemberClient;
let known: string;

beforeAll(async () => {
  service = await TestService.shared();
  members = new MemberClient(await service.application());
  known = await members.born();
});

describe.each([
  ['POST', 'member', ''],
  ['PATCH', 'member/{memberid}', ''],
  ['PATCH', 'member/{memberid}', '/address'],
])('%s /%s%s', (method, path, suffix) => {
  const ask = (options: SendOptions, id = known) =>
    members.app.send(method, `api/v0.1/${path.replace('{memberid}', id)}${suffix}`, options);
  const outcome = async (options: SendOptions, id = known) => {
    const answer = await ask(options, id);
    expect(answer.headers.get('content-type')).toContain('application/problem+json');
    expect(answer.json).toMatchObject({
      status: answer.status,
      requestId: answer.headers.get('x-request-id'),
    });
    return [answer.status, slugOf(answer)];
  };
  /** Wrong in every way at once, but for what a case repairs. */
  const wrong = { raw: `{${TOO_LARGE}`, headers: { 'content-type': 'text/plain', 'if-match': '"x"' } };

  afterEach(async () => {
    expect(await members.count()).toBe(1);
    expect((await members.stored(known))?.['data']).toEqual(before?.['data']);
  });
  let before: Awaited<ReturnType<MemberClient['stored']>>;
  beforeAll(async () => {
    before = await members.stored(known);
  });

  it('401 no or wrong credentials, with WWW-Authenticate', async () => {
    expect(await outcome({ ...wrong, user: null })).toEqual([401, 'unauthorized']);
    const answer = await ask({ ...wrong, password: 'wrong' });
    expect(answer.status).toBe(401);
    expect(answer.headers.get('www-authenticate')).toBe('Basic realm="tidemark", charset="UTF-8"');
  });

  it('404 application before 403', async () => {
    const stranger = await (await service.application()).credential({ level: 'read' });
    expect(await outcome({ ...wrong, user: stranger })).toEqual([404, 'unknown-application']);
  });

  it('403 level write missing, before 415, 413 and 400: no byte of a body is parsed before', async () => {
    const user = members.app.user('read');
    expect(await outcome({ ...wrong, user })).toEqual([403, 'level-missing']);
    expect(await outcome({ user, raw: TOO_LARGE, headers: JSON_TYPE })).toEqual([403, 'level-missing']);
    expect(await outcome({ user, raw: '{', headers: JSON_TYPE })).toEqual([403, 'level-missing']);
    expect(await outcome({ user, body: {} }, 'nobody')).toEqual([403, 'level-missing']);
  });

  it('415 body not JSON, before 413', async () => {
    expect(await outcome(wrong)).toEqual([415, 'not-json']);
    const types = [
      '',
      'json',
      'text/json',
      'application/xml',
      'application/jsonx',
      'multipart/form-data; boundary=x',
    ];
    for (const type of [...types, 'application/json; charset=latin1', 'application/json; charset=utf-16']) {
      const answer = await outcome({ raw: TOO_LARGE, headers: { 'content-type': type } });
      expect([type, ...answer]).toEqual([type, 415, 'not-json']);
    }
    const encoded = { ...JSON_TYPE, 'content-encoding': 'compress' };
    expect(await outcome({ raw: TOO_LARGE, headers: encoded })).toEqual([415, 'not-json']);
  });

  it('415 without a content type, also without a body', async () => {
    expect(await outcome({ raw: new TextEncoder().encode('{}') })).toEqual([415, 'not-json']);
    expect(await outcome({})).toEqual([415, 'not-json']);
  });

  it('413 body over BODY_LIMIT (256 KiB), before 400', async () => {
    expect(await outcome({ raw: `{${TOO_LARGE}`, headers: JSON_TYPE })).toEqual([413, 'body-too-large']);
    expect(await chunked(method, `api/v0.1/${path.replace('{memberid}', known)}${suffix}`)).toBe(413);
    const fits = ' '.repeat(LIMIT - 1);
    expect(await outcome({ raw: `{${fits}`, headers: JSON_TYPE })).toEqual([400, 'invalid-request']);
  });

  it('413 at once where Content-Length tells it, and the connection ends', async () => {
    const answer = await announced(method, `api/v0.1/${path.replace('{memberid}', known)}${suffix}`);
    expect(answer).toEqual([413, 'close']);
  });

  it.each(['', ' ', '{', '[]', '[{}]', 'null', '"text"', '1', '{"a": 1,}', '{} {}', "{'a': 1}", '\ufeff'])(
    '400 with a clear sentence: %j',
    async (raw) => {
      const answer = await ask({ raw, headers: JSON_TYPE });
      expect(answer.status).toBe(400);
      expect(answer.json).toMatchObject({
        errors: [{ pointer: '', detail: expect.stringContaining('Send one object, such as') }],
      });
    },
  );

  it('400 where the bytes are not UTF-8', async () => {
    const raw = Uint8Array.of(...Buffer.from('{"contactname": "'), 0xff, ...Buffer.from('"}'));
    expect(await outcome({ raw, headers: JSON_TYPE })).toEqual([400, 'invalid-request']);
  });

  it('400 before 404 member, 412 and 409', async () => {
    const headers = { 'if-match': '"x"' };
    expect(await outcome({ headers, body: { nick: 'x' } }, 'nobody')).toEqual([400, 'invalid-request']);
  });

  it('a JSON type of another name is JSON', async () => {
    const raw = '{"nick": 1}';
    for (const type of ['application/merge-patch+json', 'Application/JSON; charset="UTF-8"; v=1']) {
      expect(await outcome({ raw, headers: { 'content-type': type } })).toEqual([400, 'invalid-request']);
    }
  });
});

describe.each(['', '/address'])('PATCH /member/{memberid}%s', (suffix) => {
  const body = suffix === '' ? { contactname: 'x' } : { city: 'x' };

  it('404 member before 412', async () => {
    const path = `api/v0.1/member/nobody${suffix}`;
    const answer = await members.app.send('PATCH', path, { body, headers: { 'if-match': '"x"' } });
    expect([answer.status, slugOf(answer)]).toEqual([404, 'unknown-member']);
  });
});

describe('PATCH /member/{memberid}', () => {
  it('412 before 409', async () => {
    const email = newEmail();
    await members.born({ email });
    const conflict = await members.patch(known, { email }, { headers: { 'if-match': '"x"' } });
    expect([conflict.status, slugOf(conflict)]).toEqual([412, 'precondition-failed']);
    expect(slugOf(await members.patch(known, { email }))).toBe('email-conflict');
  });

  it('a compressed body counts unpacked', async () => {
    const { gzipSync } = await import('node:zlib');
    const headers = { ...JSON_TYPE, 'content-encoding': 'gzip' };
    const packed = (text: string) => Uint8Array.from(gzipSync(text));
    const large = await members.patch(known, {}, { raw: packed(`{${TOO_LARGE}}`), headers });
    expect([large.status, slugOf(large)]).toEqual([413, 'body-too-large']);
    expect((await members.patch(known, {}, { raw: packed('{"contactname": "zip"}'), headers })).status).toBe(
      200,
    );
    expect((await members.patch(known, {}, { raw: '{}', headers })).status).toBe(400);
  });
});

/** Announces a body over the limit and sends nothing of it; status and `Connection` of the answer. */
function announced(method: string, path: string): Promise<unknown[]> {
  const { organizationid, appid } = members.app.tenant;
  const auth = `${members.app.user('write')}:${PASSWORD}`;
  const headers = { ...JSON_TYPE, 'content-length': LIMIT + 1 };
  return new Promise((resolve, reject) => {
    const url = `${service.url}/${organizationid}/${appid}/${path}`;
    const sending = request(url, { method, auth, headers }, (response) => {
      resolve([response.statusCode, response.headers.connection]);
      sending.destroy();
    }).on('error', reject);
    sending.flushHeaders();
  });
}

/** Sends a body over the limit in chunks, so that no header tells its length; the status. */
function chunked(method: string, path: string): Promise<number | undefined> {
  const { organizationid, appid } = members.app.tenant;
  const auth = `${members.app.user('write')}:${PASSWORD}`;
  return new Promise((resolve, reject) => {
    const url = `${service.url}/${organizationid}/${appid}/${path}`;
    const sending = request(url, { method, auth, headers: JSON_TYPE }, (response) => {
      response.resume().on('end', () => resolve(response.statusCode));
    }).on('error', reject);
    for (let sent = 0; sent <= LIMIT; sent += 64 * 1024) sending.write(TOO_LARGE.slice(0, 64 * 1024));
    sending.end();
  });
}
