import { parseBasicHeader } from '../../../../src/auth/credential.js';
import { atOnce, parseDate } from '../../../../src/platform/common/index.js';
import { Problem } from '../../../../src/platform/http/index.js';
import { CREATE_MEMBER, memberBody } from '../../../../src/member/bodies.js';
import { isJson } from '../../../../src/platform/http/request-body.js';
import { allows } from '../../../../src/platform/http/answer.js';
import { parseParameters } from '../../../../src/replication/feed/http/parameters.js';

/** More than Node takes as the headers of a request, and less than a body. */
const BYTES = 100_000;
/** No pattern that takes more than one step a character sees a longer text. */
const LONGEST = 256;

const hostile = ['T', '-', 'T0', '1:', ' ', 'T ', '"', 'W/', '+', '+json', '0', 'a', 'A=', ';', '@', '%'].map(
  (unit) => unit.repeat(BYTES / unit.length),
);
const texts = [...hostile, ...hostile.map((text) => `2025-01-01T${text} 00:0`), `Basic ${hostile[4]}!`];

/** How long the longest text is that is given to any pattern meanwhile, by the pattern. */
function longestSeen(work: () => void): Record<string, number> {
  const longest: Record<string, number> = {};
  const exec = Reflect.get<RegExp, 'exec'>(RegExp.prototype, 'exec');
  const spy = jest.spyOn(RegExp.prototype, 'exec').mockImplementation(function (this: RegExp, text: string) {
    longest[this.source] = Math.max(longest[this.source] ?? 0, text.length);
    return exec.call(this, text);
  });
  try {
    work();
  } finally {
    spy.mockRestore();
  }
  return longest;
}

describe('the length of a text is looked at before any pattern', () => {
  it.each([
    ['a date', (text: string) => parseDate(text)],
    ['a content type', (text: string) => isJson(`application/json${text}`)],
  ])('%s', (_what, read) => {
    const seen = longestSeen(() => texts.forEach(read));
    expect(Object.entries(seen).filter(([, length]) => length > LONGEST)).toEqual([]);
  });

  it('a date that is too long is refused with a clear sentence', () => {
    const parsed = parseDate('T'.repeat(15_500));
    expect(parsed).toEqual({
      error: `"${'T'.repeat(80)}…" is not a date. Send one such as 2026-11-20T10:00:00.000Z or 2026-11-20.`,
    });
  });
});

describe('patterns that begin at the start and count their characters', () => {
  it.each(['to', 'from', 'lastoffsetid', 'limit'])('refuse a long %s', (name) => {
    for (const text of texts)
      expect(() => parseParameters({ to: '2025-01-01', [name]: text }, 10)).toThrow(Problem);
  });

  it('refuse a long e-mail', () => {
    const body = { accountnumber: '1', email: `${'a'.repeat(BYTES)}@${'b'.repeat(BYTES)}` };
    expect(() => atOnce(memberBody(CREATE_MEMBER, body))).toThrow(Problem);
  });
});

it('what has no length of its own is read in one go', () => {
  for (const text of texts) {
    expect(parseBasicHeader(`Basic ${text}!`)).toBeUndefined();
    expect(allows(text, '"etag"')).toBe(false);
  }
});
