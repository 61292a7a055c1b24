import type { mongo } from 'mongoose';
import { LedgerSlices } from '../../src/replication/store/index.js';
import type { AsideApplication, PassProgress, WatchState } from '../../src/replication/protocol/index.js';
import { eventually, type TestApplication, type TestService, withoutWatcher } from '../support/index.js';

/** The token of an event that no log holds: one without an event would be the beginning of a log that is still whole. */
export const LOST_TOKEN = {
  _data: `8200000001000000012B022C0100296E5A1004${'11'.repeat(16)}46645F69640064${'22'.repeat(12)}0004`,
};

/** A pass over one application that is still to come. */
export function passToCome(more: Partial<PassProgress> = {}): PassProgress {
  return { reason: 'test', isRepair: true, started: new Date(), done: 0, total: 0, ...more };
}

/** Holds back work until it is released. */
export interface Held {
  isHeld: () => Promise<void>;
  release: () => void;
}

/** What tests do with passes over single applications. */
export class OwnPasses {
  constructor(private readonly service: TestService) {}

  get leases(): mongo.Collection<WatchState> {
    return this.service.db.collection<WatchState>('tidemark.leases');
  }

  async aside(): Promise<AsideApplication[]> {
    return (await this.leases.findOne({}))?.aside ?? [];
  }

  async term(): Promise<number | undefined> {
    return (await this.leases.findOne({}))?.term;
  }

  /** Stores the same entry in the lease for some applications. Call it while no instance leads. */
  async store(entry: object, ...apps: TestApplication[]): Promise<void> {
    await this.leases.updateOne({}, { $set: { aside: apps.map(({ tenant }) => ({ ...tenant, ...entry })) } });
  }

  /** The leader begins anew, and has to pass over each of these applications. */
  begin(pass: PassProgress, ...apps: TestApplication[]): Promise<void> {
    return withoutWatcher(this.service, () => this.store({ pass }, ...apps));
  }

  /** Waits until all applications are worked through together again. */
  async together(): Promise<void> {
    await this.service.watcher.caughtUp();
    await eventually(async () => (await this.aside()).length === 0);
    await this.service.watcher.caughtUp();
  }

  /** Holds back the passes over some applications, or over any, at their nth look for entries of the ledger. The last call counts. */
  hold({ apps, look = 1 }: { apps?: TestApplication[]; look?: number } = {}): Held {
    const slices = this.service.app.get(LedgerSlices, { strict: false });
    const next = LedgerSlices.prototype.nextOfTenant.bind(slices);
    const { held, isHeld, release } = gate();
    let looks = 0;
    jest.spyOn(slices, 'nextOfTenant').mockImplementation(async (...asked) => {
      const [{ appid }] = asked;
      const isMeant = apps === undefined || apps.some((app) => app.appid === appid);
      if (isMeant && ++looks >= look) await held();
      return next(...asked);
    });
    return { isHeld, release };
  }

  /** Makes the passes over single applications fail where they begin with the ledger, a number of times or until it is over. */
  fail(times = Infinity): { failures: () => number; over: () => void } {
    const slices = this.service.app.get(LedgerSlices, { strict: false });
    const next = LedgerSlices.prototype.nextOfTenant.bind(slices);
    let failures = 0;
    let left = times;
    jest.spyOn(slices, 'nextOfTenant').mockImplementation((...asked) => {
      if (left === 0) return next(...asked);
      left -= 1;
      failures += 1;
      return Promise.reject(new Error('a failure of the test'));
    });
    return { failures: () => failures, over: () => (left = 0) };
  }

  /** Holds back a pass over everything where it begins with the ledger. */
  holdAll(): Held {
    const slices = this.service.app.get(LedgerSlices, { strict: false });
    const next = slices.nextEntries.bind(slices);
    const { held, isHeld, release } = gate();
    jest.spyOn(slices, 'nextEntries').mockImplementation(async (...asked) => {
      await held();
      return next(...asked);
    });
    return { isHeld, release };
  }
}

/** Work that waits at `held` is held back until it is released. */
export function gate(): Held & { held: () => Promise<void> } {
  let isReached = false;
  let release!: () => void;
  const released = new Promise<void>((resolve) => (release = resolve));
  const held = () => {
    isReached = true;
    return released;
  };
  return { held, isHeld: () => eventually(() => Promise.resolve(isReached)), release };
}
