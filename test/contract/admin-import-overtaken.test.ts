import { eventually, Gate, TestService } from '../support/index.js';
import { counts, ImportOperator } from './import-operator.js';

/** A read of products, and an insertion into them, by the driver. */
const FIND = /find\0[^]{4}products\0/;
const MERGE = /\$merge\0[^]*products\0/;
const LINE = { id: 'a', data: { n: 2 } };

let service: TestService;
let operator: ImportOperator;
let gate: Gate;

beforeAll(async () => {
  service = await TestService.shared();
  gate = await Gate.to(service.uri);
});
beforeEach(async () => {
  await gate.open();
  operator = new ImportOperator(service, await service.application(), gate.uri);
  await operator.app.product({ id: 'a', data: { n: 1 } });
});
afterEach(async () => {
  gate.release();
  await gate.shut();
});

/** Imports the line while the record is removed between the two reads of each of the first attempts. */
async function overtaken(attempts: number) {
  const products = service.db.collection('products');
  const record = await products.findOne({ ...operator.app.tenant, id: 'a' });
  const passed = new Set<Buffer>();
  let waiting: Buffer | undefined;
  gate.hold((request) => {
    if (passed.has(request) || !FIND.test(request.toString('latin1'))) return false;
    waiting = request;
    return true;
  });
  const imported = operator.try([LINE], 'product', '--json');
  for (let read = 0; read < 2 * attempts; read += 1) {
    await eventually(() => waiting !== undefined && !passed.has(waiting));
    if (read % 2 === 0) await products.replaceOne({ _id: record!._id }, record!, { upsert: true });
    else await products.deleteOne({ _id: record!._id });
    passed.add(waiting!);
  }
  gate.release();
  return imported;
}

it('a record that another program removes at the same time is created, and counts so', async () => {
  const { code, output } = await overtaken(1);
  expect([code, JSON.parse(output)]).toEqual([0, counts(1)]);
  expect(await operator.stored('product', 'a')).toMatchObject(LINE);
});

it('after three attempts, the line is refused, with the reason', async () => {
  const { code, errors } = await overtaken(3);
  expect(code).toBe(1);
  expect(JSON.parse(errors[0]!)).toEqual({
    line: 1,
    error: 'another program removes the record at the same time',
  });
});

it('a record that another program inserts at the same time is changed, and counts so', async () => {
  const { app } = operator;
  let isHeld = true;
  gate.hold((request) => isHeld && MERGE.test(request.toString('latin1')));
  const imported = operator.try([{ id: 'b', data: { n: 2 } }], 'product', '--json');
  await eventually(() => gate.holding > 0);
  await app.product({ id: 'b', data: { n: 1 } });
  isHeld = false;
  const { code, output } = await imported;
  expect([code, JSON.parse(output)]).toEqual([0, counts(0, 1)]);
  expect(await operator.stored('product', 'b')).toMatchObject({ data: { n: 2 } });
});
