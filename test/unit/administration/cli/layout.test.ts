import fc from 'fast-check';
import {
  asIs,
  cutTo,
  inLines,
  laidOut,
  padTo,
  PLAIN,
  toned,
  widthOf,
  wrapped,
} from '../../../../src/administration/cli/layout.js';

describe('the cells that a text takes', () => {
  it.each([
    ['abc', 3],
    ['日本語', 6],
    ['👩‍👩‍👧‍👦', 2],
    ['e\u0301', 1],
    ['한국어', 6],
  ])('%s: %d', (text, cells) => {
    expect(widthOf(text)).toBe(cells);
  });

  it('are no more than there are, and what is cut ends with …', () => {
    expect(cutTo(5, 'abcde')).toBe('abcde');
    expect(cutTo(5, 'abcdef')).toBe('abcd…');
    expect(cutTo(5, '日本語')).toBe('日本…');
    expect(cutTo(4, '日本語')).toBe('日…');
    expect(cutTo(3, '👩‍👩‍👧‍👦👩‍👩‍👧‍👦')).toBe('👩‍👩‍👧‍👦…');
    expect(cutTo(3, 'e\u0301e\u0301e\u0301')).toBe('e\u0301e\u0301e\u0301');
    expect(padTo(6, '日本')).toBe('日本  ');
  });

  it('of any text, cut to any width', () => {
    fc.assert(
      fc.property(fc.string({ unit: 'grapheme' }), fc.integer({ min: 1, max: 30 }), (text, width) => {
        const cut = cutTo(width, text);
        expect(widthOf(cut)).toBeLessThanOrEqual(width);
        if (cut !== text) expect(text.startsWith(cut.slice(0, -1))).toBe(true);
      }),
    );
  });
});

describe('lines', () => {
  it('break between words, and go on behind an indent', () => {
    expect(wrapped('one two three four', 9, 2)).toEqual(['one two', '  three', '  four']);
    expect(wrapped('one  two', 20)).toEqual(['one  two']);
    expect(wrapped('averylongword is', 5)).toEqual(['averylongword', 'is']);
    expect(inLines(['--org ORG', '[--app APP]'], 12, 2)).toEqual(['--org ORG', '  [--app APP]']);
  });
});

describe('colours', () => {
  it('are there only where they may be', () => {
    expect(toned('behind', 'yellow', PLAIN)).toBe('behind');
    expect(toned('behind', 'yellow', { ...PLAIN, colours: true })).toBe('\u001b[33mbehind\u001b[39m');
    expect(toned('', 'red', { ...PLAIN, colours: true })).toBe('');
  });

  it('a file stays as it is, byte for byte, but on a terminal', () => {
    const file = 'title: \u200fשלום\u200f\n';
    expect(laidOut(asIs(file), PLAIN)).toBe(file);
    expect(laidOut(asIs(file), { ...PLAIN, columns: 80 })).toBe('title: \\u200fשלום\\u200f\n');
  });

  it('in what is stored are shown as text', () => {
    expect(laidOut('a\n\u001b[31mb', { ...PLAIN, colours: true })).toBe('a\n\\u001b[31mb');
  });
});
