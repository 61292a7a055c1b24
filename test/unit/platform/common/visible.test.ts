import * as client from '../../../../client/src/command/visible.js';
import * as conformance from '../../../../conformance/src/visible.js';
import * as service from '../../../../src/platform/common/index.js';

/** Each package has its own function, since none depends on another. */
const PACKAGES = [
  ['the service', service.visible, (value: unknown) => service.visibleJson(JSON.stringify(value))],
  ['the client', client.visible, client.visibleJson],
  ['the conformance kit', conformance.visible, conformance.visibleJson],
] as const;

const SHOWN: [what: string, text: string, shown: string][] = [
  ['an escape', 'a\u001b[31mb', 'a\\u001b[31mb'],
  ['a command of the operating system', '\u001b]0;title\u0007', '\\u001b]0;title\\u0007'],
  ['a line of its own', 'one\r\n\ttwo', 'one\\r\\n\\ttwo'],
  ['DEL and C1', '\u007f \u0085 \u009b31m', '\\u007f \\u0085 \\u009b31m'],
  ['an override of the direction', 'a\u202egpj.exe', 'a\\u202egpj.exe'],
  ['an isolate', '\u2066a\u2069', '\\u2066a\\u2069'],
  ['marks of the direction', '\u061c\u200e\u200f', '\\u061c\\u200e\\u200f'],
  ['zero-width characters', 'a\u200bb\u200cc\u200dd\u2060', 'a\\u200bb\\u200cc\\u200dd\\u2060'],
  ['separators of lines and paragraphs', 'a\u2028b\u2029', 'a\\u2028b\\u2029'],
  ['a soft hyphen', 'ad\u00admin', 'ad\\u00admin'],
  ['a byte order mark', '\ufeffa', '\\ufeffa'],
  ['a tag', 'a\u{e0041}b', 'a\\udb40\\udc41b'],
  [
    'the ends of the block of tags',
    '\u{e0000}\u{e0002}\u{e007f}',
    '\\udb40\\udc00\\udb40\\udc02\\udb40\\udc7f',
  ],
  ['half a character', 'half \ud83d of \ude00', 'half \\ud83d of \\ude00'],
  [
    'other text as it is',
    'Zoë – zażółć 北京 💧 e\u0301 \\n ?to=1&limit=2',
    'Zoë – zażółć 北京 💧 e\u0301 \\n ?to=1&limit=2',
  ],
];

describe.each(PACKAGES)(
  'what a terminal acts on, or does not show, is written out: %s',
  (_name, visible, json) => {
    it.each(SHOWN)('%s', (_what, text, shown) => {
      expect(visible(text)).toBe(shown);
    });

    it.each(SHOWN)('%s: JSON means the same', (_what, text) => {
      const value = { [text]: [text], message: text };
      expect(visible(json(value))).toBe(json(value));
      expect(JSON.parse(json(value))).toEqual(value);
    });
  },
);

it('text of several lines keeps its line breaks', () => {
  for (const visibleLines of [service.visibleLines, client.visibleLines])
    expect(visibleLines('one\u0007\ntwo\r\n')).toBe('one\\u0007\ntwo\\r\n');
});

it('the client and the service write out the same, of every character', () => {
  const differing = Array.from({ length: 0x110000 }, (_, code) => String.fromCodePoint(code)).filter(
    (one) => service.visible(one) !== client.visible(one) || client.visible(one) !== conformance.visible(one),
  );
  expect(differing).toEqual([]);
});
