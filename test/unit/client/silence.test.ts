import { Tidemark } from '../../../client/src/index.js';

const OPTIONS = { url: 'http://localhost', org: 'acme', app: 'shop', username: 'ann', password: 'secret' };
const SILENCE_MS = 60_000;

beforeEach(() => jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask', 'setImmediate'] }));
afterEach(() => jest.useRealTimers());

/** An answer whose body arrives piece by piece, as a test says. */
function slowAnswer() {
  let body!: ReadableStreamDefaultController<Uint8Array>;
  const stream = new ReadableStream<Uint8Array>({ start: (controller) => (body = controller) });
  const fetch: typeof globalThis.fetch = (_input, init) => {
    init?.signal?.addEventListener('abort', () => body.error(init.signal?.reason));
    return Promise.resolve(new Response(stream));
  };
  const say = async (text: string) => {
    body.enqueue(new TextEncoder().encode(text));
    await jest.advanceTimersByTimeAsync(SILENCE_MS - 1);
  };
  return { fetch, say, end: () => body.close() };
}

describe('the limit is on silence, not on the whole', () => {
  it('a page that sends blanks for minutes is read to its end', async () => {
    const { fetch, say, end } = slowAnswer();
    const max = new Tidemark({ ...OPTIONS, fetch }).max('product');
    for (let minutes = 0; minutes < 30; minutes += 1) await say(' ');
    await say('{"offset":');
    await say('"2026-11-20T10:00:00.000Z"}');
    end();
    expect(await max).toEqual({ offset: '2026-11-20T10:00:00.000Z' });
  });

  it('may be as long as one likes', async () => {
    const { fetch, say, end } = slowAnswer();
    const max = new Tidemark({ ...OPTIONS, fetch, silenceMs: Infinity, retries: { times: 0 } }).max(
      'product',
    );
    await say('{"offset":"2026-11-20T10:00:00.000Z"}');
    end();
    expect(await max).toEqual({ offset: '2026-11-20T10:00:00.000Z' });
  });

  it('one of which nothing is heard any more is given up', async () => {
    const { fetch, say } = slowAnswer();
    const max = new Tidemark({ ...OPTIONS, fetch, retries: { times: 0 } }).max('product');
    const given = expect(max).rejects.toThrow('nothing was heard for 60000 ms');
    await say(' ');
    await jest.advanceTimersByTimeAsync(1);
    await given;
  });

  it('nothing is left behind an answer', async () => {
    const { fetch, say, end } = slowAnswer();
    const { signal } = new AbortController();
    const gone = jest.spyOn(signal, 'removeEventListener');
    const max = new Tidemark({ ...OPTIONS, fetch }).max('product', { signal });
    await say('{"offset":"x"}');
    end();
    await max;
    expect([jest.getTimerCount(), gone.mock.calls.length]).toEqual([0, 1]);
  });
});
