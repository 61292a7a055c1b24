import { parentPid, startedByNpm } from '../config/plain.js';

const POLL_MS = 500;

/**
 * Calls back once when npm, which started this process, is gone without having passed a signal on (it was killed, or
 * its terminal closed). Does nothing where npm is not the parent. Answers how to stop looking.
 */
export function onOrphaned(callback: () => void): () => void {
  if (!startedByNpm()) return () => undefined;
  const parent = parentPid();
  const timer = setInterval(() => {
    if (parentPid() === parent) return;
    clearInterval(timer);
    callback();
  }, POLL_MS);
  timer.unref();
  return () => clearInterval(timer);
}
