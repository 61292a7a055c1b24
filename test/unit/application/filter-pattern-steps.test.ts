import { character, codes, repeat } from '../../../src/application/pattern/tree.js';
import { runInNewContext } from 'node:vm';
import mongoose from 'mongoose';
import { patternCost } from '../../../src/application/pattern/cost.js';
import { effortFault } from '../../../src/application/pure.js';

const { BSONRegExp } = mongoose.mongo;

/** After this time (milliseconds) a pattern counts as one that is never judged. */
const LONG_MS = 20_000;

const faultOf = (pattern: string) => effortFault({ 'data.n': { $regex: pattern } });

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

  it.each<[string, string]>([
    ['conditions that are tried at each place where a repetition may end', `^[a-z]*${'\\B'.repeat(110)}!`],
    ['alternatives that are tried there', `^[a-z]*(?:${'0|'.repeat(60)}1)`],
    ['optional parts', `${'a?'.repeat(60)}b`],
    ['groups', `^[ab]*(?:${`${'('.repeat(28)}c${')'.repeat(28)}|`.repeat(5)}d)`],
    ['what follows an empty alternative', `[a!](?:a|)(?:${'0|'.repeat(30)}1)`],
    ['what follows a short repetition', `[ab]{0,9}(?:${'0|'.repeat(7)}1)`],
    ['what follows a short repetition of a group', `(?:ab){0,8}(?:${'0|'.repeat(7)}1)`],
    ['what follows an unbounded repetition of a group', `^(?:ab)*(?:${'0|'.repeat(50)}1)`],
    ['each time of a group', '(?:a){40}b'],
    ['a long repetition of what it begins with', 'a[a-z]{0,1000}!'],
    ['several attempts that pass over the same characters', 'aa{0,18}b*c'],
    ['empty groups', '(?:){150}x'],
    ['anchors of some alternatives', `${'^a|'.repeat(60)}x`],
    ['what may follow a match', `^[a-z]*(?:(?:${'a|'.repeat(120)}b)c)*`],
    ['a text that may begin within itself', `${'a'.repeat(120)}b`],
  ])('of %s', (_name, pattern) => {
    expect(faultOf(pattern)).toMatch(
      /^The regular expressions up to data\.n\.\$regex take (?:over )?\d+ steps/,
    );
  });

  it('of long words, of which a text holds few', () => {
    const words = [
      'Krankenversicherungsbeitrag',
      'Donaudampfschiffahrt',
      'order confirmation',
      '\\binvoice\\b',
    ];
    expect(faultOf(words.join('|'))).toBeUndefined();
  });

  it('of several together, wherever they stand', () => {
    const some = (count: number) =>
      Array.from({ length: count }, (_, index) => new BSONRegExp(`name of number ${index}`, 'i'));
    expect(effortFault({ a: { $in: some(10) } })).toBeUndefined();
    expect(effortFault({ a: { $in: some(30) } })).toMatch(
      /^The regular expressions up to a\.\$in\[\d+\] take \d+ steps for each character of a text; at most 100 /,
    );
  });

  it('by their number, plain beginnings by their own', () => {
    const some = (count: number, text: string) => Array.from({ length: count }, () => new BSONRegExp(text));
    expect(effortFault({ a: { $in: some(100, '^x$') } })).toBeUndefined();
    expect(effortFault({ a: { $nin: some(101, '^x$') } })).toContain(
      'a.$nin[100] is one more than the maximum of 100 regular expressions; ',
    );
    expect(effortFault({ a: { $in: [...some(200, '^ERP-1'), ...some(100, '^x$')] } })).toBeUndefined();
    expect(
      effortFault({ $or: [{ b: { $in: some(100, '^ERP-1') } }, { a: { $in: some(101, '^ERP-1') } }] }),
    ).toMatch(
      /^\$or\[1\]\.a\.\$in\[100\] is one more than the maximum of 200 regular expressions that are "\^" and a /,
    );
  });

  it.each<[string, object]>([
    ['$or[1].data.n.$not', { $or: [{ a: 1 }, { 'data.n': { $not: /a*b/ } }] }],
    ['data.n.$all[0]', { 'data.n': { $all: [/a*b/] } }],
    ['rows.$elemMatch.n.$regex', { rows: { $elemMatch: { n: { $regex: /a*b/ } } } }],
    ['data.n.$ne', { 'data.n': { $ne: /a*b/ } }],
    ['$nor[0].a', { $nor: [{ a: new BSONRegExp('a*b', 's') }] }],
  ])('whichever operator takes it: %s', (place, filter) => {
    expect(effortFault(filter)).toContain(`at ${place} may take very long`);
  });

  it.each(['(a|', '[a-z]*', '(?:a', 'a{1,9}', '((((a*', '\\w+\\s?', '(?=a'])('of a long one: %s', (part) => {
    expect(faultOf(`^${part.repeat(5000)}!`)).toMatch(/^The regular expression/);
  });

  it('a count that never ends is read once, however long it is', () => {
    const digits = '1'.repeat(60_000);
    const judge = (pattern: string) =>
      runInNewContext('judge()', { judge: () => patternCost(pattern, '') }, { timeout: LONG_MS }) as number;
    expect(judge(`^a{${digits}`)).toBeGreaterThan(1000);
    expect(judge(`^a{${digits},${digits}`)).toBeGreaterThan(1000);
  });

  it('a long repetition of what may be empty is judged at once, whatever its count', () => {
    let asked = 0;
    const optional = repeat(character(codes(97, 97)), 0, 1);
    const counted = Object.defineProperty({ ...optional }, 'empties', {
      get: () => ((asked += 1), optional.empties),
    });
    for (const [min, max] of [
      [0, 0],
      [0, 1],
      [3, 3],
      [3, 65_535],
      [0, Infinity],
      [7, Infinity],
    ] as const) {
      const times = max === Infinity ? Math.max(min, 1) : max;
      const { idle, empties } = repeat(counted, min, max);
      expect([idle, empties]).toEqual([
        times * (1 + optional.idle),
        times - Math.max(min, 1) + (min === 0 ? 2 : 1),
      ]);
    }
    expect(asked).toBeLessThan(50);
  });

  it('and one with more characters is not judged', () => {
    expect(faultOf(`^[${'a'.repeat(3997)}]`)).toBeUndefined();
    expect(faultOf(`^[${'a'.repeat(3998)}]`)).toBe(
      'The regular expression at data.n.$regex has 4001 characters; at most 4000 are allowed.',
    );
    expect(faultOf(`^${'a'.repeat(5000)}`)).toBeUndefined();
  });
});
