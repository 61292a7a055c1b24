import { visible, visibleJson, visibleLines } from '../../../src/admin/visible.js';

describe('what a terminal would obey is shown instead', () => {
  it.each([
    ['\u001b[2J\u001b]0;title\u0007', '\\u001b[2J\\u001b]0;title\\u0007'],
    ['a\nb\tc\rd', 'a\\nb\\tc\\rd'],
    ['\u009b31m \u0085 \u007f', '\\u009b31m \\u0085 \\u007f'],
    ['\u202edlrow\u2069', '\\u202edlrow\\u2069'],
    ['a\u2028b\u2029', 'a\\u2028b\\u2029'],
    ['half \ud83d of one', 'half \\ud83d of one'],
    ['zażółć 日本 👩‍👩‍👧 e\u0301 \\n', 'zażółć 日本 👩‍👩‍👧 e\u0301 \\n'],
  ])('%j', (text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it('line breaks of a text of several lines stay', () => {
    expect(visibleLines('a\n\u001b[1mb\r\n')).toBe('a\n\\u001b[1mb\\r\n');
  });

  it('JSON stays the same document', () => {
    const document = { a: '\u009b31m\u202e\u001b\u007f', '\u0085': ['日本'] };
    const json = visibleJson(JSON.stringify(document));
    expect(JSON.parse(json)).toEqual(document);
    expect(visible(json)).toBe(json);
  });
});
