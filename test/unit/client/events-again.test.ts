import { Tidemark } from '../../../client/src/index.js';

const OPTIONS = { url: 'http://localhost', org: 'acme', app: 'shop', username: 'ann', password: 'secret' };
const FIRST_MS = 200;
const EVENT = 'event: max\nid: t1\ndata: t1\n\n';

let leaving: AbortController;
beforeEach(() => {
  leaving = new AbortController();
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] });
  // Of each wait the whole.
  jest.spyOn(Math, 'random').mockReturnValue(1);
});
afterEach(() => {
  leaving.abort();
  jest.restoreAllMocks();
  jest.useRealTimers();
});

/** Listens to streams that end at once, each with its text; behind the last one, to empty ones. */
function listens(...texts: string[]) {
  const fetch = jest.fn((): Promise<Response> => {
    const headers = { 'content-type': 'text/event-stream' };
    return Promise.resolve(new Response(texts.shift() ?? '', { headers }));
  });
  const retries = { firstMs: FIRST_MS, times: 4 };
  const listen = async () => {
    const client = new Tidemark({ ...OPTIONS, fetch, retries });
    for await (const { offset } of client.events('product', { signal: leaving.signal })) void offset;
  };
  return { fetch, end: listen() };
}

/** After so many milliseconds it is asked for once more, and not before. */
async function expectAgainAfter(ms: number, { fetch }: Pick<ReturnType<typeof listens>, 'fetch'>) {
  const before = fetch.mock.calls.length;
  await jest.advanceTimersByTimeAsync(ms - 1);
  expect(fetch).toHaveBeenCalledTimes(before);
  await jest.advanceTimersByTimeAsync(1);
  expect(fetch).toHaveBeenCalledTimes(before + 1);
}

describe('a stream of events that ends at once', () => {
  it('is asked for again more and more seldom, and then given up', async () => {
    const listening = listens();
    const given = expect(listening.end).rejects.toThrow('end as soon as they are asked for');
    await jest.advanceTimersByTimeAsync(0);
    for (const times of [1, 2, 4, 8]) await expectAgainAfter(FIRST_MS * times, listening);
    await given;
    expect(listening.fetch).toHaveBeenCalledTimes(5);
  });

  it('is asked for as soon as at first where it has told an event', async () => {
    const listening = listens('', '', EVENT, '');
    const left = expect(listening.end).rejects.toThrow('aborted');
    await jest.advanceTimersByTimeAsync(0);
    for (const times of [1, 2, 1, 2, 4]) await expectAgainAfter(FIRST_MS * times, listening);
    leaving.abort();
    await left;
  });

  it('is asked for later by as long as it says', async () => {
    const listening = listens('retry: 1000\n\n', 'retry: 1000\n\n');
    const left = expect(listening.end).rejects.toThrow('aborted');
    await jest.advanceTimersByTimeAsync(0);
    for (const times of [1, 2]) await expectAgainAfter(FIRST_MS * times + 1000, listening);
    await expectAgainAfter(FIRST_MS * 4, listening);
    leaving.abort();
    await left;
  });
});
