import { harmless } from '../../../src/common/index.js';

describe('a text of others on a terminal', () => {
  it.each([
    ['an escape sequence', '\x1b[31mred', '\\u001b[31mred'],
    ['one in a single character', '\x9b2J', '\\u009b2J'],
    ['a line of its own', 'one\r\ntwo', 'one\\u000d\\u000atwo'],
    ['what turns the order of letters around', 'a\u202egpj.exe', 'a\\u202egpj.exe'],
    ['what nobody sees', 'a\u200bb\u{e0001}', 'a\\u200bb\\ue0001'],
  ])('%s is shown, not acted on', (_what, text, shown) => {
    expect(harmless(text)).toBe(shown);
  });

  it.each(['/acme/shop?to=2026-11-20&limit=2', 'Zoë Ålund, 東京 🚲'])('stays as it is: %s', (text) => {
    expect(harmless(text)).toBe(text);
  });
});
