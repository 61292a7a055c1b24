import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '../support/index.js';
import { Crowd } from './consumers/index.js';
import { inflict } from './faults/index.js';
import { judge } from './judge/index.js';
import { FOLLOWED_VIEWS, type HistoryPlan, planOf, type Round } from './plan/index.js';
import { stock, Workload } from './workload/index.js';
import { allEnded, World } from './world/index.js';

/** How long the first leader may take (milliseconds). */
const TAKEN_OVER_MS = 60_000;
/** How long an outage waits for an application that is put aside (milliseconds). */
const ASIDE_MS = 15_000;

/** Two versions that a history runs side by side, and how it ends. */
export interface Upgrade {
  /** The program of each service. */
  programs: readonly [string, string];
  /** What both run in the last third of the history. */
  back: string;
}

export interface HistoryOptions {
  operations: number;
  /** Milliseconds after which it fails. */
  within: number;
  upgrade?: Upgrade;
}

interface Cast {
  world: World;
  crowd: Crowd;
  workload: Workload;
}

/**
 * Lives through the history of a seed; throws where a change is lost, and where it has not ended in time. Answers what
 * happened, in words.
 */
export async function liveThrough(
  seed: number,
  { operations, within, upgrade }: HistoryOptions,
): Promise<string> {
  const begun = Date.now();
  const plan = planOf(seed, operations);
  const world = await World.start({ ...plan.theme, programs: upgrade?.programs }, async (empty) => {
    await furnish(empty, seed);
    if (upgrade !== undefined) await beginOn(empty, upgrade.back);
  });
  const end = new AbortController();
  const crowd = new Crowd(world, seed, end.signal);
  const workload = new Workload(world, { seed, maxesGiven: () => crowd.maxes });
  const cast = { world, crowd, workload };
  const reached = new Reached(begun);
  const lives = [crowd.follow(), happen(plan, cast, { reached, signal: end.signal, back: upgrade?.back })];
  try {
    await Promise.race([...lives, lateEnd(begun + within, reached, end.signal)]);
    return await summary(plan, cast, Date.now() - begun);
  } catch (error) {
    process.stdout.write(`${(error as Error).stack}\n${await world.lastWords()}`);
    throw error;
  } finally {
    end.abort();
    await Promise.allSettled(lives);
    await world.end();
  }
}

async function furnish(world: World, seed: number): Promise<void> {
  await stock(world, seed);
  for (const [name, view] of FOLLOWED_VIEWS) await world.operator.register(name, view);
  if (!world.operator.createsKinds) return;
  await world.operator.registerDear();
  for (const kind of ['order', 'price'] as const) await world.operator.createKind(kind);
}

/** The version to go back to has made the database, and its storage format is in force. */
async function beginOn({ services }: World, program: string): Promise<void> {
  const service = services.find((one) => one.program === program);
  await service!.start();
  await eventually(() => service!.leads(), TAKEN_OVER_MS);
  await service!.stop();
}

/** How far a history has come, for one that does not end in time. */
class Reached {
  private readonly parts: string[] = [];

  constructor(private readonly begun: number) {}

  note(part: string): void {
    this.parts.push(`${((Date.now() - this.begun) / 1000).toFixed(0)} s ${part}`);
  }

  toString(): string {
    return this.parts.join(', ');
  }
}

/** Throws at a time. A history that has ended by then is not kept waiting. */
async function lateEnd(at: number, reached: Reached, signal: AbortSignal): Promise<void> {
  await wait(at - Date.now(), undefined, { signal });
  throw new Error(`The history did not end in time: ${String(reached)}`);
}

async function happen(
  { rounds }: HistoryPlan,
  cast: Cast,
  { reached, signal, back }: { reached: Reached; signal: AbortSignal; back: string | undefined },
): Promise<void> {
  const last = Math.floor((rounds.length * 2) / 3);
  for (const [index, round] of rounds.entries()) {
    if (back !== undefined && index === last) {
      reached.note('back to one version');
      await goBack(cast.world, back);
    }
    reached.note(`round ${index + 1} of ${rounds.length} with ${round.outage.do}`);
    await livePart(round, cast, { reached, signal });
  }
  reached.note('judged');
  await cast.world.ready();
  await judge(cast.world, cast.crowd);
}

/** Every service of another version is stopped, and the one to go back to is started in its place. */
async function goBack({ services }: World, program: string): Promise<void> {
  for (const service of services) {
    if (service.program === program) continue;
    await service.stop();
    service.program = program;
    await service.start();
    await service.ready();
  }
}

/** The writers write while the outage and, one after the other, the disturbances happen. */
async function livePart(
  round: Round,
  { world, workload }: Cast,
  { reached, signal }: { reached: Reached; signal: AbortSignal },
): Promise<void> {
  const written = async () => {
    await workload.run(round.steps, signal);
    reached.note('written');
  };
  const outage = async () => {
    if (round.awaitsAside) await world.aside.isThere(ASIDE_MS);
    await inflict(world, round.outage);
    reached.note('healed');
  };
  const disturbances = async () => {
    for (const disturbance of round.disturbances) await inflict(world, disturbance);
  };
  await allEnded([written(), outage(), disturbances()]);
}

async function summary(
  { seed, theme, rounds }: HistoryPlan,
  cast: Cast,
  milliseconds: number,
): Promise<string> {
  const { source } = cast.world;
  const faults = rounds.reduce((sum, { disturbances }) => sum + disturbances.length + 1, 0);
  const records = await Promise.all(
    cast.world.kinds(source.tenant).map((kind) => source.records(kind).countDocuments()),
  );
  const { done, refused } = cast.workload.done;
  const { lateWrites, aside, passesOfKinds } = cast.world;
  const floods = rounds.flatMap(({ disturbances }) => disturbances).filter((one) => one.do === 'flood');
  return (
    `seed ${seed} (${theme.name}): ${done} operations done, ${refused} refused, ${faults} faults, ` +
    `${cast.crowd.harvests} harvests; all copies equal to ${records.join(' + ')} records ` +
    `after ${(milliseconds / 1000).toFixed(0)} s; ${floods.length} floods, ` +
    `aside ${aside.seen.times} times for ${aside.seen.seconds.toFixed(1)} s; ` +
    `passes of one application: ${aside.passes.begun} begun, ${aside.passes.ended} ended, ` +
    `${aside.passes.cutOff} cut off` +
    (passesOfKinds.length > 0 ? `; leaders of passes of kinds: ${passesOfKinds.join(', ')}` : '') +
    (lateWrites.length > 0 ? `; writes behind their term: ${lateWrites.join(', ')}` : '')
  );
}
