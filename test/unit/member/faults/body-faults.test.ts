import { bodyFaults as faultsInSteps } from '../../../../src/member/body-faults.js';
import { atOnce } from '../../../../src/platform/common/index.js';

const parse = (text: string) => JSON.parse(text) as object;
const bodyFaults = (body: object) => atOnce(faultsInSteps(body));

describe('what no body may hold', () => {
  it.each([
    ['{"__proto__": {"x": 1}}', '/__proto__', 'not allowed'],
    ['{"constructor": 1}', '/constructor', 'not allowed'],
    ['{"a": {"_bsontype": "Long"}}', '/a/_bsontype', 'not allowed'],
    ['{"_bsontype": 5}', '/_bsontype', 'not allowed'],
    ['{"$set": 1}', '/$set', 'starts with $'],
    ['{"a.b": 1}', '/a.b', 'dot'],
    ['{"": 1}', '/', 'empty name'],
    ['{"a\\u0000b": 1}', '/a\0b', 'NUL'],
    ['{"extrafields": {"shop": {"$where": "x"}}}', '/extrafields/shop/$where', 'starts with $'],
    ['{"extrafields": {"a/b~c": {"x.y": "x"}}}', '/extrafields/a~1b~0c/x.y', 'dot'],
    ['{"contactname": "\\ud83d"}', '/contactname', 'surrogate'],
    ['{"channels": ["a", "\\udc31b"]}', '/channels/1', 'surrogate'],
    ['{"\\ud83d": 1}', '', 'surrogate'],
  ])('%s: 400 that names it', (text, pointer, sentence) => {
    expect(bodyFaults(parse(text))).toEqual([{ pointer, detail: expect.stringContaining(sentence) }]);
  });

  it('names over 1,000 characters are told at the place that holds them', () => {
    const faults = bodyFaults({ extrafields: { ['s'.repeat(1001)]: {} } });
    expect(faults).toEqual([{ pointer: '/extrafields', detail: expect.stringContaining('1000 characters') }]);
    expect(bodyFaults({ extrafields: { ['s'.repeat(1000)]: {} } })).toEqual([]);
  });

  it('takes what MongoDB and JavaScript mistake for something else in values, and whole characters in both', () => {
    const text = '{"a": "$set", "b": {"prototype": {"toString": "__proto__", "\u{1F431}": "\u{1F431}.$"}}}';
    expect(bodyFaults(parse(text))).toEqual([]);
  });

  it('does not recurse into nesting deeper than any shape', () => {
    const deep = parse(`{"a": ${'['.repeat(100_000)}${']'.repeat(100_000)}}`);
    expect(bodyFaults(deep)).toEqual([{ pointer: '/a/0/0', detail: expect.stringContaining('too deep') }]);
    expect(bodyFaults(parse('{"extrafields": {"shop": {"size": "M"}}}'))).toEqual([]);
  });

  it('lists 20 faults of however many', () => {
    const body = Object.fromEntries(Array.from({ length: 5000 }, (_, index) => [`$${index}`, 1]));
    expect(bodyFaults(body)).toHaveLength(20);
  });

  it('lets other requests run after each thousand values', () => {
    const steps = faultsInSteps({ channels: Array.from({ length: 3500 }, () => '') });
    expect(Array.from(steps)).toHaveLength(3);
  });
});
