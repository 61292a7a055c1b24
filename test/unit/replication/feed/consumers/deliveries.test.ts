import type { StoredConsumer } from '../../../../../src/replication/feed/consumers/gathered.js';
import { deliveriesOf } from '../../../../../src/replication/feed/consumers/consumer-state.js';

const at = (second: number) => new Date(1_800_000_000_000 + second * 1000);
const STAMP = 900;
/** When the record was erased. */
const ERASED = 905;

type Facts = Partial<Pick<StoredConsumer, 'begun' | 'ended' | 'digested' | 'firstCall'>>;

function consumer(service: string, fields: Facts): StoredConsumer {
  return {
    _id: { organizationid: 'o', appid: 'a', username: 'u', kind: 'member', service },
    ...{ firstCall: at(0), lastCall: at(990), calls: 1, pages: 1, items: 1, errors: 0, harvests: 1 },
    ...fields,
  };
}

/** A window, and whether it was one of `changes`. */
const read = (from: number | undefined, to: number, hasDeletes?: true) => ({
  ended: {
    at: at(990),
    ...(from !== undefined && { from: at(from) }),
    to: at(to),
    ...(hasDeletes && { hasDeletes }),
  },
});
const begun = (from: number | undefined) => ({
  begun: { at: at(995), ...(from !== undefined && { from: at(from) }), to: at(999), times: 1 },
});
const digested = (to: number, isListing = false) => ({ digested: { at: at(996), to: at(to), isListing } });

/** The state, by what the consumer did with its service, and what its credential did with hard deletes. */
function state(own: Facts, hardDeletes: Facts = {}, stamp: Date | null = at(STAMP)): string | undefined {
  const all = new Map([['u', consumer('', hardDeletes)]]);
  const consumers = { consumers: [consumer('default', own)], hardDeletes: all };
  return deliveriesOf(consumers, { stamp, at: at(ERASED) })[0]?.state;
}

describe('how far a hard delete has come', () => {
  it.each<[string, Facts, Facts]>([
    ['it has read nothing to the end', begun(undefined), {}],
    ['its windows end before the stamp', read(880, STAMP - 1), read(880, STAMP)],
    ['its windows of hard deletes end before the stamp', read(880, STAMP), read(880, STAMP - 1)],
    ['it reads no hard deletes', { ...read(undefined, STAMP), ...begun(STAMP) }, {}],
    ['a digest alone, before it has read so far', { ...read(880, STAMP - 1), ...digested(STAMP) }, {}],
  ])('open: %s', (_what, own, hardDeletes) => {
    expect(state(own, hardDeletes)).toBe('open');
  });

  it('open: the hard delete does not exist yet', () => {
    expect(state({ ...read(880, 999, true), ...begun(999), ...digested(999) }, {}, null)).toBe('open');
  });

  it('delivered: a window that contains the stamp was read to the end, in three feeds or in one', () => {
    expect(state({ ...read(880, STAMP), ...begun(880) }, read(880, STAMP))).toBe('delivered');
    expect(state({ ...read(880, STAMP, true), ...begun(STAMP - 1) })).toBe('delivered');
  });

  it('returned: its last window begins at the stamp or after it, or it reads everything anew each time', () => {
    expect(state({ ...read(880, STAMP, true), ...begun(STAMP) })).toBe('returned');
    expect(state({ ...read(880, STAMP), ...begun(STAMP + 1) }, read(880, STAMP))).toBe('returned');
    expect(state({ ...read(undefined, STAMP), ...begun(undefined) }, read(undefined, STAMP))).toBe(
      'returned',
    );
  });

  it('proven: its last digest includes the stamp and lists no records', () => {
    expect(state({ ...read(880, STAMP), ...digested(STAMP) }, {})).toBe('proven');
    expect(state({ ...read(880, STAMP, true), ...digested(STAMP - 1) })).toBe('delivered');
    expect(state({ ...read(880, STAMP, true), ...digested(STAMP, true) })).toBe('delivered');
  });

  it('a consumer that first called after the erasure does not count', () => {
    expect(state({ firstCall: at(ERASED + 20) })).toBe('open');
    expect(state({ firstCall: at(ERASED + 21) })).toBeUndefined();
  });
});
