import { eventually, Gate, TestService } from '../support/index.js';
import { counts, ImportOperator } from './import-operator.js';

/** What the command sends: a read of products, the ids that a mirror has seen, and an insertion of products. */
const FIND = /find\0[^]{4}products\0/;
const SEEN = /insert\0[^]{4}tidemark\.imports\0/;
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

it.each([1, 3])(
  'a record that another program inserts at the same time is changed, and counts so: of %i',
  async (many) => {
    const { app } = operator;
    let isHeld = true;
    gate.hold((request) => isHeld && MERGE.test(request.toString('latin1')));
    const lines = ['b', 'c', 'd'].map((id) => ({ id, data: { n: 2 } }));
    const imported = operator.try(lines.slice(0, many), 'product', '--json');
    await eventually(() => gate.holding > 0);
    await app.product({ id: 'b', data: { n: 1 } });
    isHeld = false;
    const { code, output } = await imported;
    expect([code, JSON.parse(output)]).toEqual([0, counts(many - 1, 1)]);
    expect(await operator.stored('product', 'b')).toMatchObject({ data: { n: 2 } });
  },
);

it('a mirror that is interrupted after the file was read removes nothing', async () => {
  const controller = new AbortController();
  let isRead = false;
  function* lines() {
    yield `${JSON.stringify({ id: 'b', data: {} })}\n`;
    isRead = true;
  }
  gate.hold((request) => SEEN.test(request.toString('latin1')));
  const typed = { input: lines(), interrupted: controller.signal };
  const imported = operator.read(typed, 'product', '--mirror');
  await eventually(() => isRead && gate.holding > 0);
  controller.abort();
  gate.release();
  const { code, errors } = await imported;
  expect([code, errors]).toEqual([1, ['The import is not complete: interrupted; nothing was removed.']]);
  expect(await operator.stored('product', 'a')).not.toBeNull();
});
