import { setTimeout as wait } from 'node:timers/promises';

const PAUSE_MS = 250;
const RUN_MS = 400;

/** Holds a server still again and again; the answer ends that, and the server runs. */
export function pausesOf(server) {
  let isOver = false;
  const pauses = (async () => {
    while (!isOver) {
      await wait(RUN_MS);
      server.process.pause();
      await wait(PAUSE_MS);
      server.process.resume();
    }
  })();
  return () => {
    isOver = true;
    return pauses;
  };
}
