import { previewFilter } from '../../src/administration/index.js';
import { type Answer, send, type SendOptions, type TestApplication, TestService } from '../support/index.js';

let service: TestService;
let app: TestApplication;
let root: string;

beforeAll(async () => {
  service = await TestService.start();
  app = await service.application();
  root = await app.credential({ level: 'admin', scopes: [{ organizationid: '*', appid: '*' }] });
});
afterAll(() => service.stop());

const admin = (method: string, path: string, options: SendOptions = {}): Promise<Answer> =>
  send(`${service.url}/admin/v1/${path}`, method, { user: root, ...options });
describe('A preview of a filter', () => {
  it('counts who matches and who does not, who enters and who leaves, and what is delivered again', async () => {
    const mine = await service.application({ organizationid: app.organizationid });
    await mine.products(30, (index) => ({ id: `p-${String(index).padStart(2, '0')}`, data: { n: index } }));
    await mine.filter('product', 'low', { 'data.n': { $lt: 20 } });
    const path = `applications/${mine.organizationid}/${mine.appid}/preview/product`;
    const body = { name: 'low', filter: { 'data.n': { $gte: 8 } } };
    expect((await admin('POST', path, { body })).json).toEqual({
      records: 30,
      matching: {
        count: 22,
        ids: Array.from({ length: 10 }, (_, n) => `p-${String(n + 8).padStart(2, '0')}`),
      },
      others: { count: 8, ids: Array.from({ length: 8 }, (_, n) => `p-0${n}`) },
      entering: { count: 10, ids: Array.from({ length: 10 }, (_, n) => `p-${n + 20}`) },
      leaving: { count: 8, ids: Array.from({ length: 8 }, (_, n) => `p-0${n}`) },
      restamps: 18,
    });
    const same = { name: 'low', filter: { $and: [{ 'data.n': { $lt: 20 } }] } };
    expect((await admin('POST', path, { body: same })).json).toMatchObject({ restamps: 0 });
    expect((await admin('POST', path, { body: { filter: { $where: '1' } } })).status).toBe(400);
  });

  it('estimates where exact counts take too long, and says to how many records', async () => {
    const many = await service.application();
    await many.products(30_000, (index) => ({ data: { n: index } }));
    const of = { ...many.tenant, kind: 'product' } as const;
    const filter = { 'data.n': { $gte: 10_000 } };
    const preview = await previewFilter(service.db, of, filter, { maxTimeMS: 1, estimateMs: 30_000 });
    const { error = 0 } = preview;
    expect(error).toBeGreaterThan(0);
    expect(error).toBeLessThan(1000);
    expect(preview.records).toBe(30_000);
    expect(Math.abs(preview.matching.count - 20_000)).toBeLessThan(3 * error);
    expect(preview.matching.count + preview.others.count).toBeGreaterThanOrEqual(29_999);
  });
});
