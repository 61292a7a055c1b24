import { afterRestores, wasAnnouncedByReplaced } from '../../../../src/replication/protocol/index.js';

const at = (minute: number) => new Date(Date.UTC(2026, 10, 20, 10, minute));
const restores = [
  { after: at(10), until: at(20) },
  { after: at(30), until: at(40) },
];

describe('times of a database that a restore has replaced', () => {
  it.each([11, 19, 35])('10:%i is one', (minute) =>
    expect(wasAnnouncedByReplaced(at(minute), restores)).toBe(true),
  );

  it.each([5, 10, 20, 25, 30, 40, 50])('10:%i is not', (minute) =>
    expect(wasAnnouncedByReplaced(at(minute), restores)).toBe(false),
  );

  it.each([undefined, null, 'restored', [null], [{}], [{ after: 'x', until: 5 }]])(
    'none is where the field is %j',
    (stored) => expect(wasAnnouncedByReplaced(at(15), stored)).toBe(false),
  );

  it('a consumer continues after all restores that a time lies in', () => {
    const overlapping = [...restores, { after: at(15), until: at(35) }, null];
    expect(afterRestores(at(12), overlapping)).toEqual(at(40));
    expect(afterRestores(at(5), overlapping)).toEqual(at(5));
    expect(afterRestores(at(40), overlapping)).toEqual(at(40));
    expect(afterRestores(at(12), 'restored')).toEqual(at(12));
  });

  it('a malformed entry does not hide the others', () => {
    expect(wasAnnouncedByReplaced(at(15), [null, ...restores])).toBe(true);
  });
});
