import { setTimeout as wait } from 'node:timers/promises';
import type { Tenant } from '../../../src/record/index.js';
import type { AsideApplication, PassProgress, WatchState } from '../../../src/replication/protocol/index.js';
import { eventually } from '../../support/index.js';
import {
  type OwnPassPlan,
  type PassCut,
  type PassStage,
  Random,
  SERVICES,
  someWrites,
} from '../plan/index.js';
import { isExpected, type ServiceNode, type World } from '../world/index.js';
import { Workload } from '../workload/index.js';
import { editFilter } from './edit-filter.js';

/**
 * Before everything that any log holds. It is the place of an event: a server whose log still has its very first entry goes on from a mere
 * time before that.
 */
const LOST = {
  _data: `8200000001000000012B022C0100296E5A1004${'11'.repeat(16)}46645F69640064${'22'.repeat(12)}0004`,
};
/** How long a pass over everything is waited for (milliseconds). */
const SETTLED_MS = 60_000;
/** How long the next leader and the pass are waited for (milliseconds). */
const COMES_MS = 60_000;
const LOOK_MS = 5;
const ATTEMPTS = 5;
const EDIT_MS = 50;

/**
 * A leader ends. Before another takes the lease, an application has a pass of its own to come, or a place that the log does not hold.
 * The leaders that bring it about are killed, as the plan says. Of the two services one runs at a time, so it is the one that leads.
 */
export async function ownPass(world: World, plan: OwnPassPlan): Promise<void> {
  const one = new OwnPassFault(world, plan);
  let { running, down } = await one.store();
  const writes = [one.write()];
  for (const cut of plan.cuts) {
    if (!(await one.isAt(cut.stage))) break;
    writes.push(one.write());
    await wait(cut.after);
    await running.kill();
    await one.cutOff(cut);
    await down.start();
    [running, down] = [down, running];
  }
  if (await one.isAt('stored')) writes.push(one.write());
  await Promise.all([...writes, down.start()]);
  await Promise.all(world.services.map((service) => service.ready()));
}

class OwnPassFault {
  private readonly random: Random;
  private readonly workload: Workload;
  /** The last term that was ended. */
  private term: number | undefined;
  /** How many records and entries the pass was done with when its last leader was killed. */
  private done = 0;

  constructor(
    private readonly world: World,
    private readonly plan: OwnPassPlan,
  ) {
    this.random = new Random(plan.seed);
    this.workload = new Workload(world, { seed: plan.seed, maxesGiven: () => 0 });
  }

  /** Ends the leader and stores what no loop works off. Answers which service runs. */
  async store(): Promise<{ running: ServiceNode; down: ServiceNode }> {
    const { world, plan } = this;
    await eventually(async () => isSettled(await this.look()), SETTLED_MS).catch(() => undefined);
    const down = await world.leader();
    const [running = down] = world.services.filter((service) => service !== down);
    this.term = (await this.look())?.term;
    // A lease that is given up is taken at once.
    if (plan.ending === 'left') running.pause();
    try {
      await (plan.ending === 'left' ? down.stop() : down.kill());
      await this.change((lease) => this.begun(lease));
    } finally {
      running.resume();
    }
    return { running, down };
  }

  /** What other programs write at once, and an edit of a filter. */
  async write(): Promise<void> {
    const { random } = this;
    const steps = someWrites(random).map((operation) => ({ rest: 0, operation }));
    const views = random.chance(0.5) ? [0, 2, 7] : [3, 5, 10, 3];
    await Promise.all([
      this.workload.run(steps, new AbortController().signal),
      editFilter(this.world, { service: random.pick(SERVICES), views, pause: random.below(EDIT_MS) }),
    ]);
  }

  /** Waits until a next term is there, and the pass has come so far in it. False where none is under way any more. */
  async isAt(stage: PassStage): Promise<boolean> {
    for (const end = Date.now() + COMES_MS; Date.now() < end; await wait(LOOK_MS)) {
      const lease = await this.look();
      if (lease === undefined || lease.term === this.term) continue;
      const passes = passesOf(lease);
      const isToBegin = lease.aside?.some(({ token }) => isLost(token)) === true;
      if (lease.pass !== undefined || (passes.length === 0 && !isToBegin)) return false;
      if (passes.some((pass) => hasCome(pass, stage, this.done))) return true;
    }
    return false;
  }

  /** The leader of a pass was killed. */
  async cutOff({ isForgotten }: PassCut): Promise<void> {
    const lease = await this.look();
    this.term = lease?.term;
    this.done = Math.max(0, ...passesOf(lease).map(({ done }) => done));
    this.note(`cut off: ${JSON.stringify(lease?.aside)}`);
    if (isForgotten) await this.change(forgotten);
  }

  private begun({ aside = [], watched }: WatchState): AsideApplication[] | undefined {
    const { tenant, elsewhere } = this.world.source;
    const tenants = this.plan.isElsewhere ? [elsewhere, tenant] : [tenant, elsewhere];
    const isIn = (one: Tenant) => aside.some((entry) => isSame(entry, one));
    if (this.plan.isLost) {
      const placed = aside.find(({ pass }) => pass === undefined);
      if (placed !== undefined) return aside.map((one) => (one === placed ? { ...one, token: LOST } : one));
    }
    const free = tenants.find((one) => !isIn(one));
    if (free === undefined || watched === undefined) return undefined;
    const pass = { reason: 'fault', isRepair: true, started: new Date(), done: 0, total: 0 };
    return [...aside, this.plan.isLost ? { ...free, token: LOST, watched } : { ...free, pass }];
  }

  /** Changes what is aside, in the term that has ended. */
  private async change(make: (lease: WatchState) => AsideApplication[] | undefined): Promise<void> {
    const { leases } = this.world.source;
    for (let attempt = 0; attempt < ATTEMPTS; attempt += 1) {
      const lease = await this.look();
      const aside = lease?.term === this.term && isSettled(lease) ? make(lease) : undefined;
      if (lease === undefined || aside === undefined) break;
      const { _id, term } = lease;
      const unchanged = { aside: lease.aside ?? { $exists: false }, pass: { $exists: false } };
      const answer = await leases
        .updateOne({ _id, term, ...unchanged }, { $set: { aside } })
        .catch(orUnknown);
      if (answer?.matchedCount === 1) return this.note(`stored: ${JSON.stringify(aside)}`);
    }
    this.note('nothing is stored');
  }

  private async look(): Promise<WatchState | undefined> {
    return (await this.world.source.lease().catch(orUnknown)) ?? undefined;
  }

  private note(what: string): void {
    this.world.journal.noteForAll(`own pass ${what}`);
  }
}

/** Whether everything was passed over, so that a term goes on from its place. */
function isSettled(lease: WatchState | undefined): lease is WatchState {
  return lease?.pass === undefined && lease?.since !== undefined && lease.token !== undefined;
}

function hasCome({ reached, done }: PassProgress, stage: PassStage, before: number): boolean {
  return stage === 'stored' || (reached !== undefined && (stage === 'opened' || done > before));
}

/** What a pass has told last, which the log does not reach back to any more. */
function forgotten({ aside = [] }: WatchState): AsideApplication[] {
  return aside.map(({ pass, ...one }) => {
    if (pass?.reached === undefined) return { ...one, ...(pass && { pass }) };
    return { ...one, pass: { ...pass, reached: { ...pass.reached, token: LOST } } };
  });
}

function passesOf(lease: WatchState | undefined): PassProgress[] {
  return lease?.aside?.flatMap(({ pass }) => pass ?? []) ?? [];
}

function isLost(token: unknown): boolean {
  return (token as typeof LOST | undefined)?._data === LOST._data;
}

function isSame(one: Tenant, other: Tenant): boolean {
  return one.organizationid === other.organizationid && one.appid === other.appid;
}

function orUnknown(error: unknown): undefined {
  if (!isExpected(error)) throw error;
  return undefined;
}
