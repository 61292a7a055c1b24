import fc from 'fast-check';
import { mongo } from 'mongoose';
import { isEmpty, type Window, windowQuery } from '../../../../../src/replication/feed/query/window.js';
import { runs } from '../../../../support/runs.js';

const moment = fc.integer({ min: 0, max: 20 }).map((ms) => new Date(ms));
const id = fc.integer({ min: 0, max: 20 }).map((n) => new mongo.ObjectId(n.toString(16).padStart(24, '0')));
const optional = <T>(arbitrary: fc.Arbitrary<T>) => fc.option(arbitrary, { nil: undefined });

const anyWindow: fc.Arbitrary<Window> = fc
  .tuple(optional(moment), moment, optional(id))
  .map(([from, to, lastoffsetid]) => ({
    ...{ to, limit: 10 },
    ...(from && { from }),
    ...(lastoffsetid && { lastoffsetid }),
  }));

/** What MongoDB makes of a condition on one field, as far as windows use it. */
function holds(condition: mongo.Document, value: string | number): boolean {
  return Object.entries(condition).every(([operator, bound]) => {
    const limit = bound instanceof Date ? bound.getTime() : (bound as mongo.ObjectId).toHexString();
    const tests: Record<string, boolean> = { $gt: value > limit, $gte: value >= limit, $lte: value <= limit };
    return tests[operator] ?? false;
  });
}

describe('windowQuery', () => {
  it('from < lastupdated <= to, _id > lastoffsetid', () => {
    fc.assert(
      fc.property(anyWindow, moment, id, (window, lastupdated, _id) => {
        const query = windowQuery(window);
        const found =
          holds(query['lastupdated'] as mongo.Document, lastupdated.getTime()) &&
          holds(query['_id'] as mongo.Document, _id.toHexString());
        const { from, to, lastoffsetid } = window;
        const inside =
          (from === undefined || lastupdated > from) &&
          lastupdated <= to &&
          (lastoffsetid === undefined || _id.toHexString() > lastoffsetid.toHexString());
        expect(found).toBe(inside);
      }),
      { numRuns: runs(500) },
    );
  });

  it('always bounds _id below by an ObjectId, so that no other _id is found', () => {
    fc.assert(
      fc.property(anyWindow, (window) => {
        const [[operator, bound]] = Object.entries(windowQuery(window)['_id'] as object) as [
          [string, unknown],
        ];
        expect(['$gt', '$gte']).toContain(operator);
        expect(bound).toBeInstanceOf(mongo.ObjectId);
      }),
    );
  });

  it('a window that is empty finds nothing, and others may find something', () => {
    fc.assert(
      fc.property(anyWindow, moment, (window, lastupdated) => {
        const found = holds(windowQuery(window)['lastupdated'] as mongo.Document, lastupdated.getTime());
        if (isEmpty(window)) expect(found).toBe(false);
        expect(isEmpty(window)).toBe(window.from !== undefined && window.from >= window.to);
      }),
    );
  });
});
