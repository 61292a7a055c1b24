import fc from 'fast-check';
import { documentExample, example, textExample } from './arbitraries.js';
import {
  bare,
  binary,
  boolean,
  date,
  document,
  double,
  int64,
  list,
  NULL,
  regExp,
  text,
} from './raw-bson.js';
import { keyBytes, shown } from './text-bytes.js';
import { MEMBER_WITH_HASH, record, textOf, textOfValue } from './transcript.js';
import { runs } from '../../../support/runs.js';

describe('the JSON of a stored value', () => {
  it('is what contract §4 says, for every type, at any depth', () => {
    fc.assert(
      fc.property(documentExample, ({ stored, text }) => {
        expect(textOf(record({ data: stored }), MEMBER_WITH_HASH)).toContain(`"data":${text}`);
      }),
      { numRuns: runs(3000) },
    );
  });

  it('is the same under every key, in stored order, and in lists', () => {
    fc.assert(
      fc.property(example, keyBytes, ({ stored, text }, key) => {
        expect(textOfValue(stored, key)).toBe(`${shown(key)}:${text}`);
        expect(textOfValue(list([stored, NULL, stored]))).toBe(`"v":[${text},null,${text}]`);
      }),
      { numRuns: runs(3000) },
    );
  });

  it('keeps keys in stored order, whatever they are, and those that come twice', () => {
    const keys = ['b', '10', '2', '__proto__', 'a', '', 'b', '__proto__', 'toJSON'];
    const data = document(keys.map((key, index) => [key, double(index)] as const));
    expect(textOf(record({ data }))).toContain(
      '"data":{"b":0,"10":1,"2":2,"__proto__":3,"a":4,"":5,"b":6,"__proto__":7,"toJSON":8}',
    );
  });
});

describe('lists', () => {
  it('show their values in stored order, however long their keys are and whatever these say', () => {
    const sizes = [1, 1, 2, 35, 35, 3, 15, 16, 16, 17, 31, 32, 32, 33, 0, 64, 64, 1];
    const elements = sizes.map((size, index) => ['k'.repeat(size), double(index + 0.5)] as const);
    const expected = sizes.map((_size, index) => index + 0.5).join(',');
    expect(textOfValue(document(elements, 0x04))).toBe(`"v":[${expected}]`);
  });
});

describe('text', () => {
  it('has every character of one byte at every place of a vector', () => {
    for (let code = 0; code < 0x80; code++)
      for (let before = 0; before < 34; before++) {
        const characters = `${'x'.repeat(before)}${String.fromCharCode(code)}yz`;
        expect(textOfValue(text(characters))).toBe(`"v":${JSON.stringify(characters)}`);
      }
  });

  it('has characters beyond ASCII, and what decoders make of broken ones, at every place', () => {
    fc.assert(
      fc.property(textExample, fc.nat(40), ({ stored }, before) => {
        const bytes = Buffer.concat([Buffer.alloc(before, 'x'), stored.bytes.subarray(4, -1)]);
        expect(textOfValue(text(bytes))).toBe(`"v":${shown(bytes)}`);
      }),
      { numRuns: runs(2000) },
    );
  });

  it('shows every pair of bytes beyond ASCII as decoders do', () => {
    for (let first = 0x80; first < 0x100; first++) {
      const pairs = Array.from({ length: 0x100 }, (_, second) => [first, second, 0x80, 0x41]).flat();
      expect(textOfValue(text(Buffer.from(pairs)))).toBe(`"v":${shown(Buffer.from(pairs))}`);
    }
  });

  it('is whole where it begins a sequence that its end cuts', () => {
    const whole = Buffer.from('x😀');
    for (const cut of [1, 2, 3]) {
      const bytes = whole.subarray(0, whole.length - cut);
      expect(textOfValue(text(bytes))).toBe(`"v":${shown(bytes)}`);
    }
  });
});

describe('numbers', () => {
  it('are those of JavaScript, for all prices', () => {
    for (let cents = 0; cents < 100_000; cents += 7)
      expect(textOfValue(double(cents / 100))).toBe(`"v":${cents / 100}`);
  });

  it('have all their digits at every length', () => {
    for (let power = 0n; power < 19n; power++)
      for (const number of [10n ** power - 1n, 10n ** power, -(10n ** power)])
        expect(textOfValue(int64(number))).toBe(`"v":${number}`);
  });
});

describe('dates', () => {
  it('are right on every day of more than 400 years', () => {
    const days = Array.from({ length: 410 * 365 }, (_, day) => Date.UTC(1895, 0, 1, 12) + day * 86_400_000);
    const expected = JSON.stringify(days.map((day) => new Date(day)));
    expect(textOfValue(list(days.map((day) => date(day)))) === `"v":${expected}`).toBe(true);
  });
});

describe('what the driver refuses', () => {
  it('shows plainly: one odd value keeps no other away', () => {
    const scope = document([]).bytes.subarray(1);
    const bad = {
      type: 0x0f,
      bytes: Buffer.concat([Buffer.of(14, 0, 0, 0, 9, 0, 0, 0, 0), scope, Buffer.of(0)]),
    };
    expect(textOfValue(bad)).toBe('"v":null');
    expect(textOfValue(boolean(2))).toBe('"v":true');
    expect(textOfValue(regExp('a"b', 'zi'))).toBe('"v":"/a\\"b/iz"');
    expect(textOfValue(binary(Buffer.of(9, 0, 0, 0, 1), 2))).toBe('"v":"CQAAAAE="');
    expect(textOfValue(binary(Buffer.of(9, 0), 2))).toBe('"v":"CQA="');
    const minusTwo = document([
      ['v', binary(Buffer.of(0xfe, 0xff), 2)],
      [Buffer.of(0xff, 0xff), bare(0xff)],
    ]);
    expect(textOf(record({ data: minusTwo }))).toContain('"data":{"v":"/v8=",');
  });
});
