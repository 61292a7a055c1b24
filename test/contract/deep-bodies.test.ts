import { type Answer, send, type TestApplication, TestService } from '../support/index.js';

/** Of an answer that says what is wrong. */
const MOST_BYTES = 3000;

let service: TestService;
let app: TestApplication;

beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
});

const json = { 'content-type': 'application/json' };
const admin = (method: string, path: string, raw: string): Promise<Answer> =>
  send(`${service.url}/admin/v1/${path}`, method, { user: app.user('admin'), raw, headers: json });
const nested = (levels: number, inner: string) => `${'['.repeat(levels)}${inner}${']'.repeat(levels)}`;

describe('However a body is made, what is wrong with it is told in a short answer, and nothing is stored', () => {
  it.each<[string, string]>([
    ['a number in 130,000 lists', `{"applications": ${nested(130_000, '1e999')}}`],
    ['a number below a name of 200,000 letters', `{"${'n'.repeat(200_000)}": 1e999}`],
    ['a number of 200,000 digits', `{"n": 1${'0'.repeat(200_000)}}`],
    ['130,000 lists', `{"applications": ${nested(130_000, '')}}`],
    ['lists without an end', '['.repeat(262_144)],
    ['objects without an end', '{"a":'.repeat(52_000)],
    ['a name of 200,000 letters', `{"${'n'.repeat(200_000)}": 1}`],
    ['20,000 unknown names', `{${Array.from({ length: 20_000 }, (_, index) => `"n${index}":1`).join(',')}}`],
    ['20,000 things that are none', `{"applications": [${Array(20_000).fill('1').join(',')}]}`],
    ['a name of JavaScript', '{"__proto__": {"applications": []}, "constructor": 1}'],
  ])('%s', async (_what, raw) => {
    for (const what of ['plan', 'apply']) {
      const answer = await admin('POST', `configuration/${what}`, raw);
      expect(answer.status).toBe(400);
      expect(Buffer.byteLength(answer.text)).toBeLessThan(MOST_BYTES);
    }
  });

  it('a filter that MongoDB refuses', async () => {
    const path = `applications/${app.organizationid}/${app.appid}/services/product/erp`;
    const raw = `{"filter": {"data.n": {"$type": "${'t'.repeat(60_000)}"}}}`;
    const answer = await admin('PUT', path, raw);
    expect(answer.status).toBe(400);
    expect(answer.text).toContain('data.n');
    expect(Buffer.byteLength(answer.text)).toBeLessThan(MOST_BYTES);
  });

  it('a member', async () => {
    for (const raw of [
      `{"extrafields": ${nested(120_000, '1e999')}}`,
      `{"accountnumber": "1", "email": "ann@example.com", "extrafields": ${nested(120_000, '')}}`,
    ]) {
      const answer = await app.send('POST', 'api/v0.1/member', { raw, headers: json });
      expect(answer.status).toBe(400);
      expect(Buffer.byteLength(answer.text)).toBeLessThan(MOST_BYTES);
    }
    expect(await service.db.collection('members').countDocuments(app.tenant)).toBe(0);
  });
});
