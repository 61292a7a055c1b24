import {
  date,
  flag,
  inSteps,
  listOf,
  readParameters,
  removable,
  required,
  shaped,
} from '../../../../src/platform/http/input.js';
import { type InputError, Problem } from '../../../../src/platform/http/pure.js';
import { atOnce } from '../../../../src/platform/common/index.js';

describe('a removable field takes null, whatever reads its values', () => {
  const of = {
    date: removable(date()),
    list: removable(listOf({ date: date() }, 1)),
    steps: removable(
      inSteps({}, function* (value) {
        yield;
        return typeof value === 'number' ? { value } : { fault: 'is no number.' };
      }),
    ),
  };

  it('null', () => {
    const nulls = { date: null, list: null, steps: null };
    expect(atOnce(shaped(of, nulls))).toEqual(nulls);
  });

  it('a value, which its own reader judges', () => {
    expect(atOnce(shaped(of, { list: [{ date: '2027-01-31T18:00:00Z' }], steps: 1 }))).toEqual({
      date: undefined,
      list: [{ date: new Date('2027-01-31T18:00:00Z') }],
      steps: 1,
    });
    expect(() => atOnce(shaped(of, { list: [{}, {}] }))).toThrow();
    expect(() => atOnce(shaped(of, { steps: 'one' }))).toThrow();
  });
});

function errorsOf(work: () => unknown): InputError[] {
  try {
    work();
  } catch (error) {
    expect(error).toBeInstanceOf(Problem);
    return (error as Problem).extras.errors ?? [];
  }
  throw new Error('It was valid.');
}

describe('a body: a 400 names each wrong property', () => {
  const fields = { enabled: required(flag(), 'must be true or false'), keep: flag() };
  const errorsIn = (body: object) => errorsOf(() => atOnce(shaped(fields, body)));
  const unknown = 'is an unknown property. Known properties: enabled, keep.';

  it('a required one that is not sent gets its own sentence', () => {
    expect(errorsIn({ keep: 1 })).toEqual([
      { pointer: '/enabled', detail: 'must be true or false' },
      { pointer: '/keep', detail: 'is not true or false.' },
    ]);
  });

  it('an unknown one by its JSON pointer, with the known ones', () => {
    expect(errorsIn({ enabled: true, 'a/b~c': 1 })).toEqual([{ pointer: '/a~1b~0c', detail: unknown }]);
    const [longest, longer] = [1000, 1001].map((length) => 'n'.repeat(length));
    expect(errorsIn({ enabled: true, [longest!]: 1, [longer!]: 1 })).toEqual([
      { pointer: `/${longest}`, detail: unknown },
      { pointer: `/${'n'.repeat(80)}…`, detail: unknown },
    ]);
  });

  it('in valid Unicode', () => {
    expect(
      errorsIn({ enabled: true, '\ud800x': 1, [`${'n'.repeat(79)}${'\u{1F431}'.repeat(1000)}`]: 1 }),
    ).toEqual([
      { pointer: '/\ufffdx', detail: unknown },
      { pointer: `/${'n'.repeat(79)}\ufffd…`, detail: unknown },
    ]);
  });

  it('twenty at most, the unknown ones first', () => {
    const names = Array.from({ length: 25 }, (_, index) => `n${index}`);
    const errors = errorsIn(Object.fromEntries(names.map((name) => [name, 1])));
    expect(errors).toEqual(names.slice(0, 20).map((name) => ({ pointer: `/${name}`, detail: unknown })));
  });
});

describe('a query string: a 400 names each wrong parameter', () => {
  const parse = (text: string) => (text === 'on' ? { value: true } : { error: 'is not on.' });

  it('a parameter that is not sent is undefined', () => {
    expect(readParameters({ one: 'on' }, (read) => [read('one', parse), read('two', parse)])).toEqual([
      true,
      undefined,
    ]);
  });

  it('wrong, repeated, wrong with another one, and missing', () => {
    const errors = errorsOf(() =>
      readParameters({ one: 'off', two: ['on', 'on'], three: { on: 'on' } }, (read, more) => {
        for (const name of ['one', 'two', 'three']) read(name, parse);
        read('four', parse, 'is missing. Send four=on.');
        more.push({ parameter: 'five', detail: 'goes with nothing.' });
      }),
    );
    expect(errors).toEqual([
      { parameter: 'one', detail: 'is not on.' },
      { parameter: 'two', detail: 'is given more than once. Send it once.' },
      { parameter: 'three', detail: 'is given more than once. Send it once.' },
      { parameter: 'five', detail: 'goes with nothing.' },
      { parameter: 'four', detail: 'is missing. Send four=on.' },
    ]);
  });
});
