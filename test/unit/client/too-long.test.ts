import { exitCodeOf, sentenceOf } from '../../../client/src/command/failure.js';
import { ConnectionError, Tidemark } from '../../../client/src/index.js';

const OPTIONS = { url: 'http://localhost', org: 'acme', app: 'shop', username: 'ann', password: 'secret' };
const SENTENCE =
  'GET product/default/changes has an answer that is too long for one text (over 512 MiB). Ask for a smaller limit.';

afterEach(() => jest.restoreAllMocks());

/** A piece of an answer, or what the platform says of it. */
type Read = () => Promise<{ done: boolean; value: Uint8Array }>;

/** How a page of changes whose body is read like this fails, and how often it was asked for. */
async function failureOf(read: Read): Promise<{ error: unknown; asked: number }> {
  const body = { getReader: () => ({ read, cancel: () => Promise.resolve() }) };
  const headers = new Headers({ 'content-type': 'application/json' });
  const fetch = jest.fn(() => Promise.resolve({ ok: true, status: 200, headers, body } as never));
  const pages = new Tidemark({ ...OPTIONS, fetch, retries: { firstMs: 1, times: 2 } })
    .changes('product', 'default')
    .pages();
  const error = await pages[Symbol.asyncIterator]()
    .next()
    .catch((failure: unknown) => failure);
  return { error, asked: fetch.mock.calls.length };
}

describe('an answer that no text can hold is told as such, and is not asked for again', () => {
  it.each<[string, () => Read]>([
    [
      'a body of many pieces',
      () => {
        // Doubled texts share their halves: they take no memory.
        jest.spyOn(TextDecoder.prototype, 'decode').mockReturnValue(' '.repeat(2 ** 28));
        return () => Promise.resolve({ done: false, value: new Uint8Array(1) });
      },
    ],
    ['a piece that is too long itself', () => () => Promise.reject(new RangeError('Invalid string length'))],
    [
      'what Node.js says of one',
      () => () =>
        Promise.reject(
          Object.assign(new Error('Cannot create a string longer than 0x1fffffe8 characters'), {
            code: 'ERR_STRING_TOO_LONG',
          }),
        ),
    ],
  ])('%s', async (_name, reading) => {
    const { error, asked } = await failureOf(reading());
    expect(error).toBeInstanceOf(ConnectionError);
    expect((error as Error).message).toBe(SENTENCE);
    expect((error as Error).cause).toBeInstanceOf(Error);
    expect(asked).toBe(1);
    expect([exitCodeOf(error), sentenceOf(error)]).toEqual([2, SENTENCE]);
  });

  it('and any other failure of a body is asked for again', async () => {
    const { error, asked } = await failureOf(() => Promise.reject(new Error('terminated')));
    expect((error as Error).message).toBe('GET product/default/changes has no whole answer: terminated');
    expect(asked).toBe(3);
  });
});
