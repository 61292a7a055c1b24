import { runInNewContext } from 'node:vm';
import mongoose from 'mongoose';
import { patternsFault } from '../../../src/application/pure.js';

const { BSONRegExp } = mongoose.mongo;

/** After this time (milliseconds) a pattern counts as one that is never judged. */
const LONG_MS = 20_000;

const faultOf = (pattern: string, options?: string) =>
  patternsFault({ 'data.n': { $regex: pattern, ...(options !== undefined && { $options: options }) } });

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
  ])('%s', (pattern) => {
    expect(faultOf(pattern)).toBeUndefined();
    expect(patternsFault({ a: new BSONRegExp(pattern) })).toBeUndefined();
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
  ])('by what an option makes of it: %s', (_name, pattern, options) => {
    expect(faultOf(pattern, options)).toContain('may take very long on a long text');
    expect(patternsFault({ a: new BSONRegExp(pattern, options) })).toContain('at a may take very long');
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
  ])('and so is one with a part that cannot be told of: %s', (pattern) => {
    expect(faultOf(pattern)).toMatch(
      /^The regular expression at data\.n\.\$regex has ".*", with which it may take very long;/,
    );
  });
});

describe('the steps of all regular expressions of a filter are bounded', () => {
  it.each([
    ...[
      '[ab]{0,60}[ab]{0,60}c',
      '^(a?){30}b',
      '^(?:a{0,50}){0,50}c',
      '(a|ab){9}c',
      'a{5000}',
      '^(ab?){1001}$',
    ],
    Array.from({ length: 301 }, (_, index) => `${index}`).join('|'),
  ])('of one: %s', (pattern) => {
    expect(faultOf(pattern)).toMatch(/^The regular expressions? (up to|at) data\.n\.\$regex /);
  });

  it('of several together, wherever they stand', () => {
    const some = (count: number) =>
      Array.from({ length: count }, (_, index) => new BSONRegExp(`name of number ${index}`, 'i'));
    expect(patternsFault({ a: { $in: some(10) } })).toBeUndefined();
    expect(patternsFault({ a: { $in: some(30) } })).toMatch(
      /^The regular expressions up to a\.\$in\[\d+\] take \d+ steps for each character of a text; at most 300 /,
    );
  });

  it('by their number, of which plain beginnings do not count', () => {
    const some = (count: number, text: string) => Array.from({ length: count }, () => new BSONRegExp(text));
    expect(patternsFault({ a: { $in: some(100, 'x') } })).toBeUndefined();
    expect(patternsFault({ a: { $nin: some(101, 'x') } })).toContain(
      'a.$nin[100] is one regular expression more',
    );
    expect(patternsFault({ a: { $in: some(1000, '^ERP-1') } })).toBeUndefined();
  });

  it.each<[string, object]>([
    ['$or[1].data.n.$not', { $or: [{ a: 1 }, { 'data.n': { $not: /a*b/ } }] }],
    ['data.n.$all[0]', { 'data.n': { $all: [/a*b/] } }],
    ['rows.$elemMatch.n.$regex', { rows: { $elemMatch: { n: { $regex: /a*b/ } } } }],
    ['data.n.$ne', { 'data.n': { $ne: /a*b/ } }],
    ['$nor[0].a', { $nor: [{ a: new BSONRegExp('a*b', 's') }] }],
  ])('whichever operator takes it: %s', (place, filter) => {
    expect(patternsFault(filter)).toContain(`at ${place} may take very long`);
  });

  it.each(['(a|', '[a-z]*', '(?:a', 'a{1,9}', '((((a*', '\\w+\\s?', '(?=a'])('of a long one: %s', (part) => {
    expect(faultOf(`^${part.repeat(5000)}!`)).toMatch(/^The regular expression/);
  });

  it('a count that never ends is read once, however long it is', () => {
    const digits = '1'.repeat(300_000);
    const judge = (pattern: string) =>
      runInNewContext('judge()', { judge: () => faultOf(pattern) }, { timeout: LONG_MS }) as string;
    expect(judge(`^a{${digits}`)).toMatch(/^The regular expressions/);
    expect(judge(`^a{${digits},${digits}`)).toMatch(/^The regular expressions/);
  });
});
