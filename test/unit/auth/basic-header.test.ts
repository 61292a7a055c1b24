import fc from 'fast-check';
import { parseBasicHeader } from '../../../src/auth/credential.js';

const encoded = (text: string) => Buffer.from(text).toString('base64');
const basic = (text: string) => `Basic ${encoded(text)}`;

describe('User name up to the first colon, password all that follows (RFC 7617), UTF-8', () => {
  it.each([
    ['ann:secret', 'ann', 'secret'],
    ['ann:', 'ann', ''],
    ['ann::', 'ann', ':'],
    ['ann:a:b', 'ann', 'a:b'],
    ['Jürgen:pässwörd-密码', 'Jürgen', 'pässwörd-密码'],
    [' ann : b ', ' ann ', ' b '],
  ])('%j', (text, username, password) => {
    expect(parseBasicHeader(basic(text))).toEqual({ username, password });
  });

  it('of any two texts, whatever stands in them', () => {
    const username = fc.string({ unit: 'grapheme', minLength: 1 }).filter((text) => !text.includes(':'));
    fc.assert(
      fc.property(username, fc.string({ unit: 'grapheme' }), (name, password) => {
        expect(parseBasicHeader(basic(`${name}:${password}`))).toEqual({ username: name, password });
      }),
    );
  });
});

it.each(['bAsIc', 'BASIC', 'basic', 'Basic   '])('takes the scheme %s', (scheme) => {
  expect(parseBasicHeader(`${scheme} ${encoded('a:b')}  `)).toEqual({ username: 'a', password: 'b' });
});

it.each([
  undefined,
  '',
  'Basic',
  'Basic ',
  `Bearer ${encoded('a:b')}`,
  `Basic${encoded('a:b')}`,
  'Basic %%%',
  'Basic YTpi YTpi',
  basic('no colon'),
  basic(':no name'),
  'Basic =',
])('takes no login from %j', (header) => {
  expect(parseBasicHeader(header)).toBeUndefined();
});

it('is quick with a header of any length', () => {
  expect(parseBasicHeader(`Basic ${' '.repeat(50_000)}x!`)).toBeUndefined();
});
