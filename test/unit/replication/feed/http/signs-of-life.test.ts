import { settledWithin } from '../../../../../src/platform/common/waiting.js';
import { withSigns } from '../../../../../src/replication/feed/http/answer.js';

const DUE_MS = 10;

/** What comes out of a stream whose pieces the test gives out one by one. */
function slow() {
  let give: (piece: string) => void = () => undefined;
  let ended = false;
  async function* pieces(): AsyncGenerator<Buffer, void> {
    try {
      for (let count = 0; count < 2; count += 1)
        yield Buffer.from(await new Promise<string>((resolve) => (give = resolve)));
    } finally {
      ended = true;
    }
  }
  const next = async (stream: AsyncGenerator<Buffer, void>) => String((await stream.next()).value);
  return {
    stream: withSigns(pieces(), DUE_MS),
    give: (piece: string) => give(piece),
    next,
    isEnded: () => ended,
  };
}

it('blanks for as long as nothing comes, then what comes', async () => {
  const { stream, give, next } = slow();
  expect([await next(stream), await next(stream)]).toEqual([' ', ' ']);
  give('a');
  expect(await next(stream)).toBe('a');
  expect(await next(stream)).toBe(' ');
  give('b');
  expect(await next(stream)).toBe('b');
  expect(await stream.next()).toEqual({ value: undefined, done: true });
});

it('whoever stops listening ends what is behind it', async () => {
  const { stream, give, next, isEnded } = slow();
  await next(stream);
  const ended = stream.return();
  give('a');
  await ended;
  expect(isEnded()).toBe(true);
});

it('an error comes through', async () => {
  async function* fails(): AsyncGenerator<Buffer, void> {
    yield Buffer.from('a');
    await Promise.reject(new Error('no luck'));
  }
  const stream = withSigns(fails(), DUE_MS);
  await stream.next();
  await expect(stream.next()).rejects.toThrow('no luck');
});

it('what is there in time is what a promise gives', async () => {
  expect(await settledWithin(Promise.resolve({ a: 1 }), DUE_MS)).toEqual({ a: 1 });
  expect(await settledWithin(new Promise<object>(() => undefined), DUE_MS)).toBeUndefined();
  await expect(settledWithin(Promise.reject(new Error('no luck')), DUE_MS)).rejects.toThrow('no luck');
});
