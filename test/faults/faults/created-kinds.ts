import { setTimeout as wait } from 'node:timers/promises';
import { eventually } from '../../support/index.js';
import { type CreatedKind, type KindPassCut, type KindPassPlan, LATE_KIND } from '../plan/index.js';
import type { World } from '../world/index.js';
import { passOplog } from './pass-oplog.js';
import { pauseLeader } from './pause-leader.js';

/** How long the pass is waited for (milliseconds). */
const BEGUN_MS = 30_000;

/** An operator removes a kind, and creates it again. */
export async function recreateKind(
  { operator }: World,
  { kind, away }: { kind: CreatedKind; away: number },
): Promise<void> {
  if (!operator.createsKinds) return;
  await operator.removeKind(kind);
  await wait(away);
  await operator.createKind(kind);
}

/** An operator creates a kind, over whose records a pass begins. The leaders that run it end. */
export async function kindPass(world: World, { cuts, away }: KindPassPlan): Promise<void> {
  if (world.operator.createsKinds) {
    await recreateKind(world, { kind: LATE_KIND, away });
    for (const cut of cuts) {
      if (!(await isUnderWay(world))) break;
      await wait(cut.after);
      const entry = await entryOf(world).catch(() => undefined);
      world.passesOfKinds.push(`${cut.how}${entry?.since === undefined ? '' : ' afterwards'}`);
      await end[cut.how](world);
    }
  }
  await Promise.all(world.services.map((service) => service.ready()));
}

const end: Record<KindPassCut['how'], (world: World) => Promise<void>> = {
  killed: async (world) => {
    const leader = await world.leader();
    await leader.kill();
    await leader.start();
  },
  paused: pauseLeader,
  forgotten: (world) => passOplog(world, { how: 'killed' }),
};

/** Waits until a pass over the records of the kind is stored. False if none comes, or if it has ended. */
async function isUnderWay(world: World): Promise<boolean> {
  let isOver = false;
  const look = async () => {
    const entry = await entryOf(world).catch(() => undefined);
    isOver = entry?.since !== undefined;
    return isOver || entry?.pass !== undefined;
  };
  const hasBegun = await eventually(look, BEGUN_MS).then(
    () => true,
    () => false,
  );
  return hasBegun && !isOver;
}

async function entryOf({ source }: World) {
  const [document, lease] = await Promise.all([
    source.db.collection('kinds').findOne({ name: LATE_KIND }),
    source.lease(),
  ]);
  return lease?.kinds?.find(
    (one) => one.kind === LATE_KIND && one.document.startsWith(String(document?._id)),
  );
}
