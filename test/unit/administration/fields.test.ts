import { date, inSteps, listOf, removable, shaped } from '../../../src/administration/fields.js';
import { atOnce } from '../../../src/platform/common/index.js';

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
