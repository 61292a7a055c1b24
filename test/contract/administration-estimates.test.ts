import { type Preview, previewFilter } from '../../src/administration/index.js';
import { type TestApplication, TestService } from '../support/index.js';

/** Where 95 of 100 are right, fewer than 174 of 200 are so once in a million runs. */
const ESTIMATES = 200;
const LEAST_WITHIN = 174;
const AT_A_TIME = 4;
const RECORDS = 5000;
const LARGE = 1000;
const SAMPLE_SIZE = 400;

let service: TestService;
let app: TestApplication;

/** Those that match are ten times as large as the others, and lie beside one another. */
beforeAll(async () => {
  service = await TestService.shared();
  app = await service.application();
  const other = await service.application();
  await other.products(6000, () => ({ data: { isLarge: true } }));
  await app.products(RECORDS, (index) => ({
    data: { n: index, isLarge: index < LARGE, text: 'x'.repeat(index < LARGE ? 5000 : 500) },
  }));
});

const filter = { 'data.isLarge': true };
const inForce = { 'data.n': { $lt: LARGE + 250 } };

/** Without any time for exact counts. */
const estimate = (sampleSize = SAMPLE_SIZE) =>
  previewFilter(
    service.db,
    { ...app.tenant, kind: 'product' },
    { filter },
    {
      inForce: { filter: inForce },
      maxTimeMS: 0,
      estimateMs: 30_000,
      sampleSize,
    },
  );

describe('An estimate by a random sample', () => {
  const all: Preview[] = [];
  beforeAll(async () => {
    while (all.length < ESTIMATES)
      all.push(...(await Promise.all(Array.from({ length: AT_A_TIME }, () => estimate()))));
  });

  const within = (truth: number, of: (preview: Preview) => [number | null, number | undefined]) =>
    all.filter((preview) => {
      const [count, error] = of(preview);
      return Math.abs(count! - truth) <= error!;
    }).length;

  it.each<[string, number, (preview: Preview) => [number | null, number | undefined]]>([
    ['who match', LARGE, ({ matching: { count, error } }) => [count, error]],
    ['who do not', RECORDS - LARGE, ({ others: { count, error } }) => [count, error]],
    ['who leave', 250, ({ leaving }) => [leaving!.count, leaving!.error]],
    ['what is delivered again', 250, ({ restamps, error }) => [restamps, error]],
  ])('is right to its error in 95 of 100 cases: %s', (_name, truth, of) => {
    expect(within(truth, of)).toBeGreaterThanOrEqual(LEAST_WITHIN);
  });

  it('knows how many there are, is not cut off, and shows some', () => {
    for (const preview of all) {
      expect(preview).toMatchObject({ records: RECORDS, isCutOff: false, entering: { ids: [] } });
      expect(preview.error).toBeLessThan(RECORDS / 15);
      expect(preview.matching.count! + preview.others.count!).toBe(RECORDS);
      expect([preview.matching.ids.length, preview.others.ids.length]).toEqual([10, 10]);
    }
  });

  it('is none where it looks at all of them', async () => {
    const whole = await estimate(RECORDS);
    expect(whole).toMatchObject({ matching: { count: LARGE }, leaving: { count: 250 }, restamps: 250 });
    expect([whole.error, whole.matching.error]).toEqual([undefined, undefined]);
  });
});
