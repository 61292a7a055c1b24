import { EventEmitter } from 'node:events';
import type { Request } from 'express';
import { ListingLimiter } from '../../../../src/administration/http/administration.js';

const request = () => ({ res: new EventEmitter() }) as unknown as Request;
const of = (organizationid: string, appid = '*') => ({ scopes: [{ organizationid, appid }] });

/** Work that goes on until it is ended, and how much of it is under way. */
function held() {
  const ends: (() => void)[] = [];
  let working = 0;
  let most = 0;
  return {
    work: async () => {
      working += 1;
      most = Math.max(most, working);
      await new Promise<void>((resolve) => ends.push(resolve));
      working -= 1;
    },
    endOne: async () => {
      ends.shift()!();
      await new Promise(setImmediate);
    },
    working: () => working,
    most: () => most,
  };
}

describe('lists of services', () => {
  it('of one organization are made one after the other, whichever credential asks', async () => {
    const places = new ListingLimiter();
    const lists = held();
    const made = ['shop', 'other', '*', 'shop'].map((appid) =>
      places.during(request(), of('acme', appid), lists.work),
    );
    for (const _one of made) {
      expect(lists.working()).toBe(1);
      await lists.endOne();
    }
    await Promise.all(made);
    expect(lists.most()).toBe(1);
  });

  it('of another organization do not wait for them', async () => {
    const places = new ListingLimiter();
    const lists = held();
    const made = ['acme', 'acme', 'globex'].map((name) => places.during(request(), of(name), lists.work));
    expect(lists.working()).toBe(2);
    for (const _one of made) await lists.endOne();
    await Promise.all(made);
  });

  it('are refused where their turn does not come in time, and leave nothing behind', async () => {
    const places = new ListingLimiter();
    const lists = held();
    const first = places.during(request(), of('acme'), lists.work);
    await expect(places.during(request(), of('acme'), lists.work, 1)).rejects.toMatchObject({ status: 503 });
    await lists.endOne();
    await first;
    await places.during(request(), of('acme'), () => Promise.resolve());
  });

  it('fail with what their work throws', async () => {
    const failure = new Error('of the work');
    const work = () => Promise.reject(failure);
    await expect(new ListingLimiter().during(request(), of('acme'), work)).rejects.toBe(failure);
  });
});
