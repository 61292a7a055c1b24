import { withSigns } from '../../../../../src/replication/feed/http/answer.js';
import { whileAllowed } from '../../../../../src/replication/feed/page/changes-lines.js';

const SIGN_MS = 1;
const LONG_AGO_MS = 5000;

/** The pieces of an answer. Each comes long after the last check. */
async function* pieces(texts: string[]): AsyncGenerator<Buffer, void> {
  for (const text of texts) {
    const now = performance.now();
    jest.spyOn(performance, 'now').mockReturnValue(now + LONG_AGO_MS);
    yield await Promise.resolve(Buffer.from(text));
  }
}

async function textOf(body: AsyncGenerator<Buffer, void>): Promise<string> {
  let text = '';
  for await (const piece of body) text += piece.toString();
  return text;
}

afterEach(() => jest.restoreAllMocks());

it('a check of access that takes long puts no sign of life into an item', async () => {
  const slow = () => new Promise<void>((resolve) => setTimeout(resolve, 50 * SIGN_MS));
  const body = withSigns(whileAllowed(pieces(['{"n":"a', 'b"}\n']), slow), SIGN_MS);
  expect(await textOf(body)).toBe('{"n":"ab"}\n');
});

it('the answer ends once a check has failed', async () => {
  const refused = () => Promise.reject(new Error('revoked'));
  const body = whileAllowed(pieces(['1', '2', '3', '4']), refused);
  await expect(textOf(body)).rejects.toThrow('revoked');
});

it('no piece is sent before the check that is due has ended', async () => {
  const steps: string[] = [];
  const check = () => Promise.resolve(void steps.push('checked'));
  for await (const piece of whileAllowed(pieces(['1', '2']), check)) steps.push(piece.toString());
  expect(steps).toEqual(['', 'checked', '1', '', 'checked', '2']);
});
