import { parentPid, startedByNpm } from '../platform/config/plain.js';

const POLL_MS = 500;

/**
 * Calls back once when npm, which started this process, has ended without forwarding a signal (it was killed, or its
 * terminal closed). Has no effect if npm is not the parent. Returns a function that ends the check.
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
