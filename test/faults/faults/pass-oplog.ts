import { randomBytes } from 'node:crypto';
import type { mongo } from 'mongoose';
import { eventually } from '../../support/index.js';
import { persistently, type ServiceNode, type World } from '../world/index.js';

const ROLLED_MS = 60_000;
const BYTES = 512 * 1024;
const AT_ONCE = 8;

type How = 'stopped' | 'killed' | 'paused';

/** Nobody watches until the log no longer holds what happened meanwhile. */
export async function passOplog(world: World, { how }: { how: How }): Promise<void> {
  await Promise.all(world.services.map((service) => leave[how](service)));
  try {
    await roll(world);
  } finally {
    await Promise.all(world.services.map((service) => comeBack[how](service)));
  }
  await world.ready();
}

const leave: Record<How, (service: ServiceNode) => Promise<void>> = {
  stopped: (service) => service.stop(),
  killed: (service) => service.kill(),
  paused: (service) => Promise.resolve(service.pause()),
};

const comeBack: Record<How, (service: ServiceNode) => Promise<void>> = {
  stopped: (service) => service.start(),
  killed: (service) => service.start(),
  paused: (service) => Promise.resolve(service.resume()),
};

/** Writes to another database until the oldest entry of the log is younger than what was written before. */
async function roll({ source }: World): Promise<void> {
  const junk = source.client.db('aside').collection('junk');
  const log = source.client.db('local').collection<{ ts: mongo.Timestamp }>('oplog.rs');
  const before = await persistently(() => source.now());
  await eventually(async () => {
    const bytes = randomBytes(BYTES);
    return persistently(async () => {
      // New documents at each attempt: one that failed may have stored some of its own under their `_id`s.
      await junk.insertMany(Array.from({ length: AT_ONCE }, () => ({ bytes })));
      const oldest = await log.findOne({}, { sort: { $natural: 1 }, readConcern: { level: 'local' } });
      return oldest?.ts.greaterThan(before);
    });
  }, ROLLED_MS);
  await persistently(() => junk.drop());
}
