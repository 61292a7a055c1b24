import mongoose from 'mongoose';
import { effortFault } from '../../../src/application/pure.js';

const { BSONRegExp } = mongoose.mongo;

const faultOf = (pattern: string, options?: string) =>
  effortFault({ 'data.n': { $regex: pattern, ...(options !== undefined && { $options: options }) } });

describe('a regular expression whose work grows with the text is let pass', () => {
  it.each([
    ...[
      '',
      'erp',
      '^ERP-',
      '^5$',
      '0$',
      '^$',
      '^[A-Z]{2}[0-9]+$',
      '^[a-z]+-[0-9]+$',
      '^\\w+\\s\\w+$',
      'red|green|blue',
    ],
    ...[
      '@example\\.(com|de)$',
      '^(www\\.)?example\\.com$',
      '.*erp',
      '.*erp.*',
      '^.*erp.*',
      'erp.*',
      '\\s+',
      '[0-9]{4}-[0-9]{2}',
    ],
    ...[
      'foo\\s+bar',
      'erp: *[0-9]+;',
      '<[^<>]*>',
      '^.*erp$',
      '^.{0,50}$',
      '^.{1,1000}$',
      '^[a-z]+(?:,[a-z]+)*$',
    ],
    ...[
      '^(?!test)',
      '^(?=.*7)',
      '\\bkid\\b',
      '^(\\.[a-z]+)+$',
      '^\\d{3,}$',
      '[[:alpha:]][[:digit:]]',
      '^a(?:bc|de){1,3}$',
    ],
    ...[
      '^ä+ö',
      '\\x41\\x{1F431}',
      '[]a]',
      '[^]a]b',
      'a{b',
      '(?i)erp',
      '(?i:erp)x',
      '(?<year>[0-9]{4})',
      '^[^@]+@[^@]+$',
      '.*?erp',
    ],
    ...[
      '^[[:upper:]]+[[:lower:]]+$',
      '^[[:^upper:]]*[A-Z]',
      '#[0-9]{1,200};',
      'erp(?:-[a-z]+)?',
      'erp(?:, .*)?',
      '^(?=.*7.*)',
      '(.*)erp(.*)',
      '^[^x]{0,1000}x',
    ],
  ])('%s', (pattern) => {
    expect(faultOf(pattern)).toBeUndefined();
    expect(effortFault({ a: new BSONRegExp(pattern) })).toBeUndefined();
  });

  it.each([
    ['a # comment \n b', 'x'],
    ['^erp', 'i'],
    ['^erp', 'm'],
    ['.*erp', 's'],
  ])('%j with the option %s', (pattern, options) => {
    expect(faultOf(pattern, options)).toBeUndefined();
  });

  it('and what is no regular expression is left to MongoDB, which refuses it', () => {
    for (const pattern of ['(', '(a*', '[a', 'a)', 'a\\']) expect(faultOf(pattern)).toBeUndefined();
  });
});

describe('a regular expression whose work may grow faster than the text is refused with its place', () => {
  it.each([
    ...[
      'a*a*[!?]',
      '^a*a*[!?]',
      '(a+)+$',
      '^(a+)+$',
      '^(a|a)*$',
      '^(a|b|ab)*c',
      '^(a*)*$',
      '^(?:a?b?)*$',
      '^(\\w+\\s?)*$',
    ],
    ...[
      'a*[!?]',
      '[0-9]+$',
      'a.*b',
      '^.*a.*b',
      '^a.*b.*c',
      '.*.*a',
      '.+a',
      '[\\s\\S]*a',
      '^.*a|.*b.*c',
      'x|.*a',
    ],
    ...[
      '(?=a*!)a',
      '^a+(?=.*b)c',
      'foo(?=.*bar)x',
      '^(?:a(?=.*b))*c',
      '^(?:a{1,9})*b',
      '^(?:a+b?)+c',
      '^(ab|a)+c',
      'a*+b',
    ],
    ...[
      '^[a-z]+[0-9]*[a-z]+$',
      '^\\d+\\w+$',
      '^(.+),(.+)$',
      '\\p{L}+\\d',
      '^(?>a*)a*b',
      '(?>.*)a',
      '.*+a',
      '(?i)a+K',
    ],
    ...[
      '^(?:a*a*b)?',
      'x(?:(a+)+b)?',
      '^x(?:a*b|a)*',
      '(?=a*)[!?]',
      '(?!b|a*)c',
      '\\Ax|.*c',
      '^[[:^upper:]]*[a-z]*A',
      '^[^[:upper:]]*[a-z]*A',
      '^[^[:^lower:]]*[a-z]*A',
      '^(?:\\x{0000061})*a*!',
    ],
  ])('%s', (pattern) => {
    expect(faultOf(pattern)).toMatch(
      /^The regular expression at data\.n\.\$regex may take very long on a long text\. Begin /,
    );
  });

  it.each<[string, string, string]>([
    ['a letter in the other case', '^[a-z]+[A-Z]+$', 'i'],
    ['a letter that is one without case', '^K+[\\x{212A}]+!', 'i'],
    ['the beginning of a line', '^[^x]*y', 'm'],
    ['blanks that mean nothing', '^ a * a * b', 'x'],
    ['a comment before what repeats', '^a# so\n*a*b', 'x'],
    ['a class of one case', '^[[:upper:]]+[[:lower:]]+!', 'i'],
    ['the opposite of a class of one case', '^[[:^upper:]]+[[:digit:]]+!', 'i'],
  ])('by what an option makes of it: %s', (_name, pattern, options) => {
    expect(faultOf(pattern, options)).toContain('may take very long on a long text');
    expect(effortFault({ a: new BSONRegExp(pattern, options) })).toContain('at a may take very long');
  });

  it.each([
    ...[
      '(a)\\1',
      '(?R)',
      '(*COMMIT)a',
      '\\Qa\\E',
      'a**',
      '^*a',
      '(?#c)*a',
      '(?(1)a|b)',
      '(?-i)a',
      '(?s)a',
      '\\Ka',
      '\\Ra',
      'a{,3}',
    ],
    ...['[z-a]', '[[.a.]]', '[[:beta:]]', '*a', '(?i)*a', 'a{3,2}'],
    ...['[[:<:]]a', '^[a ]*[[:>:]][a ]*!', '\\x{}', '[\\x{ 41 }]'],
  ])('and so is one with a part that cannot be told of: %s', (pattern) => {
    expect(faultOf(pattern)).toMatch(
      /^The regular expression at data\.n\.\$regex has ".*", with which it may take very long;/,
    );
  });
});

it.each([
  ['a[9-0]', '9-0'],
  ['[ab\\x{7a}-a]', '\\x{7a}-a'],
  ['[ab[=c=]]', '[='],
  ['[[.a.]]', '[.'],
])('the error for %s quotes the part that is not understood', (pattern, part) => {
  expect(faultOf(pattern)).toContain(` has "${part}", with which`);
});

describe('the option x leaves out blanks', () => {
  it.each(['\u0085', '\u200e', '\u200f', '\u2028', '\u2029'])(
    'but one that is a blank to PCRE2 alone cannot be told of: %j',
    (blank) => {
      expect(faultOf(`^a*${blank}a*!`, 'x')).toContain(', with which it may take very long;');
      expect(faultOf(`^a+[${blank}]b`, 'x')).toBeUndefined();
      expect(faultOf(`^a+ # ${blank}\nb`, 'x')).toBeUndefined();
    },
  );

  it.each(['\u00a0', '\u1680', '\u2000', '\u202f', '\u205f', '\u3000', '\ufeff'])(
    'and no character that is a blank to JavaScript alone: %j',
    (letter) => {
      expect(faultOf(`^(?:${`${letter}|`.repeat(1500)}a)`, 'x')).toMatch(/take (?:over )?\d+ steps/);
      expect(faultOf(`^[^a]*${letter}{1,}!`, 'x')).toContain('may take very long on a long text');
    },
  );

  it.each([' ', '\t', '\n', '\v', '\f', '\r'])('of ASCII: %j', (blank) => {
    expect(faultOf(`^a*${blank}b${blank}*!`, 'x')).toBeUndefined();
    expect(faultOf(`^a*${blank}a*!`, 'x')).toContain('may take very long on a long text');
  });
});
