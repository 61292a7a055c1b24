import { stopSets } from './replica-sets.mjs';

/** In a run without workers the files shared a service of this process. */
export default async function tearDown() {
  await globalThis.tidemarkShared?.end();
  await stopSets();
}
