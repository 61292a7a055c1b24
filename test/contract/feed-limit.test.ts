import type { Kind } from '../../src/kinds/index.js';
import { expectProblem, type TestApplication, type TestFeed, TestService, WARE } from '../support/index.js';

const NOW = '9999-01-01';

async function expectRefused(feed: TestFeed, parameter: string, sent: string, rule: string): Promise<void> {
  const answer = await feed.ask({ to: NOW, [parameter]: sent });
  expect(expectProblem(answer, 400, 'invalid-request').errors).toEqual([
    { parameter, detail: `"${sent}" is not ${rule}` },
  ]);
}

describe.each<Kind>(['product', WARE])('lastoffsetid and limit: %s', (kind) => {
  let service: TestService;
  let app: TestApplication;
  beforeAll(async () => {
    service = await TestService.withWares();
    app = await service.application();
    await app.put(kind, { id: 'one' });
  });
  afterAll(() => service.stop());

  describe('lastoffsetid: 24 hex digits; empty = omitted; else 400', () => {
    it.each(['', '000000000000000000000000', 'abcdefABCDEF0123456789ab'])(
      '200 for %j',
      async (lastoffsetid) => {
        const to = (await app.max(kind)).toISOString();
        expect((await app.feed(kind).ask({ to, lastoffsetid })).status).toBe(200);
      },
    );

    it('empty = omitted', async () => {
      expect((await app.feed(kind).page({ lastoffsetid: '' })).ids).toEqual(['one']);
    });

    const wrong = ['0', ' ', '0'.repeat(23), '0'.repeat(25), '0x0000000000000000000000', 'twelve bytes'];
    it.each([...wrong, 'x'.repeat(24)])('400 for %j', async (sent) => {
      const example = 'Send the nextoffsetid of the previous page, such as 6740a1b2c3d4e5f601234567.';
      await expectRefused(app.feed(kind), 'lastoffsetid', sent, `an offset id. ${example}`);
    });
  });

  describe('limit: integer 1..LIMIT_MAX (10000); else 400', () => {
    it.each(['1', '2', '1000', '9999', '10000'])('200 for %s', async (limit) => {
      expect((await app.feed(kind).ask({ to: NOW, limit })).status).toBe(200);
    });

    const wrong = ['', '0', '-1', '10001', '1.0', '1.5', '1e3', ' 5', '5 ', '+5', '0x10', 'abc', 'NaN'];
    it.each([...wrong, 'Infinity', '9'.repeat(30), '٣'])('400 for %j', async (sent) => {
      const example = 'Send a whole number from 1 to 10000, such as 1000.';
      await expectRefused(app.feed(kind), 'limit', sent, `a limit. ${example}`);
    });
  });
});

describe('LIMIT_MAX is a setting, and bounds the default of 1000 as well', () => {
  let service: TestService;
  let app: TestApplication;
  beforeAll(async () => {
    service = await TestService.start({ LIMIT_MAX: '2' });
    app = await service.application();
    await app.products(3);
  });
  afterAll(() => service.stop());

  it('without limit', async () => {
    expect((await app.feed('product').page()).ids.length).toBe(2);
  });

  it('a greater limit: 400', async () => {
    expect((await app.feed('product').ask({ to: NOW, limit: '2' })).status).toBe(200);
    const example = 'Send a whole number from 1 to 2, such as 2.';
    await expectRefused(app.feed('product'), 'limit', '3', `a limit. ${example}`);
  });
});
