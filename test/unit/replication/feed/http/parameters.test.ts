import fc from 'fast-check';
import { mongo } from 'mongoose';
import { Problem } from '../../../../../src/platform/http/index.js';
import { parseParameters } from '../../../../../src/replication/feed/http/parameters.js';
import type { Window } from '../../../../../src/replication/feed/query/window.js';

const LIMIT_MAX = 10_000;
const TO = '2025-03-04T05:06:07.008Z';

function refused(query: Record<string, unknown>, limitMax = LIMIT_MAX): string[] {
  try {
    parseParameters(query, limitMax);
  } catch (error) {
    if (!(error instanceof Problem) || error.status !== 400) throw error;
    return (error.extras.errors ?? []).map((one) => ('parameter' in one ? one.parameter : ''));
  }
  return [];
}

describe('parseParameters', () => {
  it('reads to, and the default of 1000 for limit', () => {
    expect(parseParameters({ to: TO }, LIMIT_MAX)).toEqual({ to: new Date(TO), limit: 1000 });
  });

  it('reads all four', () => {
    const lastoffsetid = '6740a1b2c3d4e5f601234567';
    expect(parseParameters({ to: TO, from: '2025-03-04', lastoffsetid, limit: '5' }, LIMIT_MAX)).toEqual({
      to: new Date(TO),
      from: new Date('2025-03-04T00:00:00.000Z'),
      lastoffsetid: new mongo.ObjectId(lastoffsetid),
      limit: 5,
    });
  });

  it('lastoffsetid: empty = omitted', () => {
    expect(parseParameters({ to: TO, lastoffsetid: '' }, LIMIT_MAX)).not.toHaveProperty('lastoffsetid');
  });

  it('limit: integer 1..LIMIT_MAX', () => {
    fc.assert(
      fc.property(fc.integer({ min: -5, max: 120 }), fc.integer({ min: 1, max: 100 }), (limit, limitMax) => {
        const wrong = refused({ to: TO, limit: String(limit) }, limitMax);
        expect(wrong).toEqual(limit >= 1 && limit <= limitMax ? [] : ['limit']);
      }),
    );
  });

  it('the default is never over LIMIT_MAX', () => {
    expect(parseParameters({ to: TO }, 7).limit).toBe(7);
    expect(parseParameters({ to: TO }, 1000).limit).toBe(1000);
  });

  it.each(['to', 'from', 'lastoffsetid', 'limit'])('%s given twice is wrong', (parameter) => {
    expect(refused({ to: TO, [parameter]: [TO, TO] })).toEqual([parameter]);
  });

  it('tells all that is wrong at once, a missing to last', () => {
    expect(refused({ from: 'x', lastoffsetid: 'y', limit: 'z' })).toEqual([
      'from',
      'lastoffsetid',
      'limit',
      'to',
    ]);
  });

  it('whatever comes is read within bounds or refused by name', () => {
    const value = fc.oneof(fc.string(), fc.array(fc.string()), fc.constantFrom(TO, '5', '', '2025-03-04'));
    const query = fc.dictionary(fc.constantFrom('to', 'from', 'lastoffsetid', 'limit', 'other'), value);
    fc.assert(
      fc.property(query, (sent) => {
        const wrong = refused(sent);
        for (const parameter of wrong) expect(['to', 'from', 'lastoffsetid', 'limit']).toContain(parameter);
        if (wrong.length > 0) return;
        const { to, limit }: Window = parseParameters(sent, LIMIT_MAX);
        expect(Number.isNaN(to.getTime())).toBe(false);
        expect(limit).toBeGreaterThanOrEqual(1);
        expect(limit).toBeLessThanOrEqual(LIMIT_MAX);
      }),
    );
  });
});
