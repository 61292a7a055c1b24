import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '../../support/index.js';
import type { HeldCommandPlan, LeaderWrite } from '../plan/index.js';
import { type CommandHold, objectIdsIn, persistently, type SentCommand, type World } from '../world/index.js';
import { Chase } from '../workload/index.js';

const WRITES = new Set(['insert', 'update', 'delete', 'findAndModify']);
const LEASES = 'tidemark.leases';
/** How long the write is waited for before any other of the leader's is taken instead (milliseconds). */
const COMES_MS = 6000;
const ANY_MS = 30_000;
/** Longer than the silence after which a term is given up, and the lease. */
const OVER_MS = 60_000;
/** The server's answer to what was held is not seen: it has come by then. */
const LANDED_MS = 300;
const ALL = 1000;

/**
 * A write of the leader is held on its way to the server until another term leads, and lands in that one. What it is about
 * changes meanwhile and afterwards.
 */
export async function holdCommand(world: World, plan: HeldCommandPlan): Promise<void> {
  const leader = await world.leader();
  const way = world.way(world.services.indexOf(leader) === 0 ? 0 : 1);
  const term = await termOf(world);
  const chase = new Chase(world);
  let held = way.hold(isWrite(plan.write));
  let lease: CommandHold | undefined;
  try {
    await chase.insertWithoutId();
    if (!(await hasCaught(held, COMES_MS))) {
      held.release();
      held = way.hold(isAnyWrite);
      await hasCaught(held, ANY_MS);
    }
    world.journal.noteForAll(`held: ${held.caught.map(shown).join()}`);
    if (plan.ending === 'unrenewed')
      lease = way.hold((command) => command.collection === LEASES && WRITES.has(command.name), ALL);
    if (plan.ending === 'killed') await leader.kill();
    if (await isOver(world, term)) world.lateWrites.push(...held.caught.map((one) => nameOf(one, plan)));
    chase.follow(held.caught.flatMap(({ documents }) => objectIdsIn(documents)));
    await chase.take(plan.before);
  } finally {
    held.release();
    lease?.release();
    world.journal.noteForAll('what was held goes on');
  }
  await wait(LANDED_MS);
  await chase.take(plan.after);
  if (plan.ending === 'killed') await leader.start();
  await leader.ready();
}

function isWrite(write: LeaderWrite): (command: SentCommand) => boolean {
  if (write === 'commit') return ({ name }) => name === 'commitTransaction';
  return ({ name, collection }) => collection === write && WRITES.has(name);
}

function isAnyWrite({ name, collection }: SentCommand): boolean {
  return name === 'commitTransaction' || (WRITES.has(name) && collection !== LEASES);
}

async function hasCaught({ caught }: CommandHold, within: number): Promise<boolean> {
  return eventually(() => caught.length > 0, within).then(
    () => true,
    () => false,
  );
}

async function termOf({ source }: World): Promise<unknown> {
  const lease = await persistently(() => source.db.collection(LEASES).findOne());
  return lease?.['term'];
}

/** Waits for the next term. A write that no term waits for ends none. */
async function isOver(world: World, term: unknown): Promise<boolean> {
  return eventually(async () => (await termOf(world)) !== term, OVER_MS).then(
    () => true,
    () => false,
  );
}

function nameOf({ name, collection }: SentCommand, { ending }: HeldCommandPlan): string {
  return `${name === 'commitTransaction' ? name : `${name} ${collection}`} (${ending})`;
}

function shown({ name, collection, documents }: SentCommand): string {
  return `${name} ${collection} ${JSON.stringify(documents.slice(-2)).slice(0, 600)}`;
}
