import { linesOf } from '../../../../../../src/replication/feed/page/changes-lines.js';
import { pageFrom } from '../../stored.js';

const SECOND_MS = 1000;
const LIMIT = 10;
const quick = { replyHolds: 100, mostSlow: 5, isListed: false, sizes: 100 };
const form = { cursor: () => '{"op":"cursor"}\n', end: () => '{"op":"end"}\n' };
const refused = () => Promise.reject(new Error('refused'));

async function begun(count: number, mayGoOn: () => Promise<void>, behaviour = quick) {
  const records = Array.from({ length: count }, () => ({ isMatch: true, isSlow: false }));
  const { reader, reading, taken } = pageFrom(records, behaviour);
  const { budget, shape } = reading;
  const window = { to: new Date('2025-03-04T05:06:07.008Z'), limit: LIMIT };
  const readings = [{ ...reading, shape: { ...shape, asLines: true } }];
  const { body } = await linesOf({ reader, readings, window, budget }, form, mayGoOn);
  return { body, budget, taken };
}

/** The lines that came, until there were no more or they broke off. */
async function taken(body: AsyncIterable<Buffer>, slowly = () => {}) {
  let text = '';
  const all = (async () => {
    for await (const piece of body) {
      text += piece.toString();
      slowly();
    }
  })();
  const error = await all.then(
    () => undefined,
    (reason: Error) => reason.message,
  );
  return { lines: text.split('\n').slice(0, -1), error };
}

afterEach(() => jest.restoreAllMocks());

it('before each stretch but the first it is asked whether its reader would get another page', async () => {
  const mayGoOn = jest.fn(() => Promise.resolve());
  const { body, budget } = await begun(25, mayGoOn);
  const { lines } = await taken(body);
  expect(mayGoOn).toHaveBeenCalledTimes(2);
  expect(lines).toHaveLength(25 + 2 + 1);
  expect([lines.at(-1), budget.goesOn]).toEqual(['{"op":"end"}', false]);
});

it('where it would not, nothing is read behind the cursor, and the window has not ended', async () => {
  const { body, budget, taken: asked } = await begun(25, refused);
  const { lines, error } = await taken(body);
  expect([lines.length, lines.at(-1), error]).toEqual([LIMIT + 1, '{"op":"cursor"}', 'refused']);
  expect(budget.goesOn).toBe(true);
  expect(asked).toHaveLength(1);
});

it('a stretch that is taken slowly breaks off as well: it is asked once a second', async () => {
  let now = 0;
  jest.spyOn(performance, 'now').mockImplementation(() => now);
  const slowly = () => (now += SECOND_MS / 4);
  const mayGoOn = jest.fn(() => Promise.resolve());
  const oneByOne = { ...quick, replyHolds: 1, sizes: 1 };
  await taken((await begun(LIMIT - 1, mayGoOn, oneByOne)).body, slowly);
  expect(mayGoOn.mock.calls.length).toBe(4);
  const { lines, error } = await taken((await begun(LIMIT - 1, refused, oneByOne)).body, slowly);
  expect([lines.length, error]).toEqual([2, 'refused']);
});
