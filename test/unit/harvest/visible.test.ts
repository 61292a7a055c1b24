import { visible, visibleJson, visibleLines } from '../../../client/src/command/visible.js';

describe('what a terminal shows has no characters that move its cursor, colour it, or change the order of a line', () => {
  it.each([
    ['an escape', 'a\u001b[31mb', 'a\\u001b[31mb'],
    ['a command of the operating system', '\u001b]0;title\u0007', '\\u001b]0;title\\u0007'],
    ['a control character of the second set', 'a\u009b31mb', 'a\\u009b31mb'],
    ['an override of the direction', 'abc\u202etxt.exe', 'abc\\u202etxt.exe'],
    ['a zero-width space', 'ad\u200bmin', 'ad\\u200bmin'],
    ['a line break, which would be a line of its own', 'a\nb', 'a\\u000ab'],
    ['a tag beyond the first plane', 'a\u{e0041}b', 'a\\udb40\\udc41b'],
    ['other text as it is', 'Zoë – 北京 💧', 'Zoë – 北京 💧'],
  ])('%s', (_what, text, shown) => {
    expect(visible(text)).toBe(shown);
  });

  it('lines of its own stay lines', () => {
    expect(visibleLines('one\u0007\ntwo')).toBe('one\\u0007\ntwo');
  });

  it('JSON means the same', () => {
    const value = { message: 'a\u009bb\u202ec\nd', id: '\u{e0041}' };
    expect(visibleJson(value)).toBe('{"message":"a\\u009bb\\u202ec\\nd","id":"\\udb40\\udc41"}');
    expect(JSON.parse(visibleJson(value))).toEqual(value);
  });
});
